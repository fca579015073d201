import pytest

from verifier.domain.titles import is_about_network, is_clear_result

CLEAR = [
    "No matches found on consolidated lists",
    "EU sanctions screening: no designation evidenced",
    "Sanctions screening clear",
    "Screening result: clear",
    "No hits",
    "NO MATCHES FOUND",
    "Not sanctioned",
    "Subject not designated on EU list",
    "Subject is not on any sanctions list",
    "No sanctions or PEP matches found",
    "PEP screening: no match",
    "No adverse media found for Acme Trading OÜ",
    "Acme Trading OÜ: no sanctions matches found",
    "Sanctions screening completed - no hits",
    "Sanctions screening returned no matches",
    "Clean sanctions screening",
    "0 matches against OFAC, EU and UN lists",
    "UN/EU/OFAC screening clear",
    "Sanctions: none",
    "Sanctions screening: negative",
    "Entity cleared of sanctions",
    "No matches found for director",
    "No enforcement actions identified",
    "No enforcement action found",
    "No regulatory actions found",
    "No criminal proceedings found",
    "No criminal charges against director",
    "No relevant adverse media identified",
]
NOT_CLEAR = [
    "No matches found for director, but subject designated",
    "No matches found for director; subject listed by OFAC",
    "No matches found for director subject designated",
    "No matches found for director \u2013 subject: hit",
    "No matches found while Acme is on the SDN list",
    "NO MATCHES FOUND FOR DIRECTOR BUT SUBJECT DESIGNATED",
    "NO MATCHES FOUND AFTER RENAMING",
    "No match found on EU list; OFAC designation confirmed",
    "No matches found for old name. Acme Trading is on OFAC list",
    "Cleared funds from sanctioned bank",
    "Clear link to sanctioned bank",
    "Clear evidence of sanctions evasion",
    "Clear hit",
    "Sanctions screening clear except OFAC SDN",
    "Company not clear of sanctions",
    "Unclear sanctions status",
    "No longer clear: subject designated",
    "No further matches found",
    "No exact match found",
    "No doubt: match",
    "No sanctions screening performed",
    "No coverage of sanctions lists",
    "No clear answer on designation",
    "Sanctions screening completed",
    "Negative news",
    "Media negative on Acme Trading",
    "Acme Bribes Minister: No Matches Found",
    "Director convicted: no sanctions matches",
    "Subject designated on an EU sanctions list",
    "Not a false positive",
    "No action",
    "No charges",
    "No action taken on the sanctions hit",
    "No pending criminal proceedings",
    "No confirmed enforcement action",
    "No sanctions coverage found",
    "No enforcement action yet",
    "No matches found on " + "consolidated " * 30 + "lists",
    "",
]


@pytest.mark.parametrize("title", CLEAR)
def test_a_title_that_is_wholly_a_clear_result_is_told(title: str) -> None:
    assert is_clear_result(title)


@pytest.mark.parametrize("title", NOT_CLEAR)
def test_a_title_with_anything_else_in_it_is_not_clear(title: str) -> None:
    assert not is_clear_result(title)


@pytest.mark.parametrize(
    "title",
    [
        "Network entities flagged for sanctions review",
        "Related companies under sanctions",
        "Two connected persons designated by OFAC",
        "Associated entities require sanctions review",
        "Sanctions review required for network entities",
        "Sanctions exposure in the wider network",
        "Network entities: two connected companies sanctioned",
        "Network-level sanctions exposure",
        "Entities in the network were flagged for sanctions",
        "Affiliates in the ownership network hit a sanctions list",
        "Possible sanctions hits among related parties",
    ],
)
def test_a_title_about_the_network_is_told(title: str) -> None:
    assert is_about_network(title)


@pytest.mark.parametrize(
    "title",
    [
        "Related parties and subject designated",
        "Network entities flagged; Acme Trading designated",
        "Network of shell companies laundered money",
        "Linked company owner arrested",
        "Linked to sanctioned bank",
        "Subject designated together with related companies",
        "Director designated in network",
        "Network entities: subject sanctioned",
        "Network entities: the director is designated",
        "Companies in the group and the subject designated",
        "Members of the group charged",
        "Acme Trading designated",
    ],
)
def test_a_title_that_also_speaks_of_the_subject_is_not_about_the_network(title: str) -> None:
    assert not is_about_network(title)
