from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.domain.samples import finding
from verifier.domain.subjects import Subject, claim_text, media_query, read_subject, screening_query

ACME = {"name": "Acme Trading OÜ", "entity_type": "company", "country": "EE", "registration_number": "12345678"}
TITLE = "Prosecutor charged Acme Trading OÜ with money laundering"


def subject(**keys: Any) -> Subject:
    return read_subject({"name": "Acme Trading OÜ", **keys})


@pytest.mark.parametrize(
    ("entity_type", "schema"),
    [
        ("person", "Person"),
        ("Individual", "Person"),
        ("natural person", "Person"),
        ("NATURAL-PERSON", "Person"),
        ("company", "Company"),
        (None, "Company"),
        ("", "Company"),
        (7, "Company"),
        ("something new", "Company"),
        ("unknown", "LegalEntity"),
        ("organisation", "Organization"),
        ("public_body", "Organization"),
        ("vessel", "Vessel"),
        ("aircraft", "Airplane"),
    ],
)
def test_the_entity_type_chooses_what_is_screened(entity_type: object, schema: str) -> None:
    assert screening_query(finding(), subject(entity_type=entity_type)).schema == schema


def test_a_company_is_asked_about_by_name_and_numbers() -> None:
    asked = read_subject(
        {**ACME, "identifiers": {"LEI": "529900T8BM49AURSDO55", "vat_number": ["EE1", "EE2"], "x": "1"}}
    )
    query = screening_query(finding(), asked)
    assert query.properties == {
        "name": ["Acme Trading OÜ"],
        "jurisdiction": ["ee"],
        "registrationNumber": ["12345678"],
        "leiCode": ["529900T8BM49AURSDO55"],
        "taxNumber": ["EE1", "EE2"],
    }
    assert query.notes == ("An identifier was not used: x.",)


def test_a_person_is_asked_about_by_birth_date_and_nationality() -> None:
    asked = subject(
        entity_type="person",
        country="DE",
        birth_date="07.04.1961",
        nationality="RU",
        identifiers={"passport": "AB12", "national_id": 361040},
    )
    query = screening_query(finding(), asked)
    assert query.properties == {
        "name": ["Acme Trading OÜ"],
        "birthDate": ["1961-04-07"],
        "nationality": ["ru"],
        "passportNumber": ["AB12"],
        "idNumber": ["361040"],
    }


def test_an_ambiguous_birth_date_gives_the_year_and_a_note() -> None:
    query = screening_query(finding(), subject(entity_type="person", birth_date="02/01/1984"))
    assert query.properties["birthDate"] == ["1984"]
    assert query.notes == ("Birth date: day and month could be either way round; only the year was used.",)


def test_a_birth_date_that_is_none_is_not_sent() -> None:
    query = screening_query(finding(), subject(entity_type="person", birth_date="n/a"))
    assert "birthDate" not in query.properties
    assert query.notes


def test_other_names_are_sent_as_aliases() -> None:
    asked = subject(aliases=["Acme", "ACME  Trading OÜ", " ", "Acme", 5, None])
    assert screening_query(finding(), asked).properties["alias"] == ["Acme", "5"]


@pytest.mark.parametrize(
    "target", [None, "", "  ", "Acme Trading OÜ", "ACME  TRADING oü", "Acme Trading O\u0055\u0308"]
)
def test_the_target_is_the_subject(target: str | None) -> None:
    query = screening_query(finding(target=target), read_subject(ACME))
    assert query.schema == "Company"
    assert query.properties["registrationNumber"] == ["12345678"]


def test_another_target_is_screened_by_name_alone() -> None:
    query = screening_query(finding(target=" Acme  Holding "), read_subject(ACME))
    assert (query.schema, query.properties) == ("LegalEntity", {"name": ["Acme Holding"]})


@pytest.mark.parametrize("name", ["", "   ", "---", "…", None, [], {}])
def test_without_a_name_nothing_is_asked(name: object) -> None:
    asked = subject(name=name)
    assert screening_query(finding(), asked).properties == {"name": []}
    assert media_query(finding(), asked) == ""


@pytest.mark.parametrize(
    ("keys", "query"),
    [
        ({"title": TITLE}, '"Acme Trading OÜ" Prosecutor charged money laundering'),
        ({"title": TITLE, "target": "Jane Doe"}, '"Jane Doe" Prosecutor charged Acme Trading OÜ money laundering'),
        ({"title": "Acme Trading OÜ", "category": "adverse_media"}, '"Acme Trading OÜ" adverse media'),
        ({"title": "", "category": "unheard_of"}, '"Acme Trading OÜ"'),
        ({"title": 'site:x "quoted" -not OR'}, '"Acme Trading OÜ" site quoted'),
        ({"title": "Fined", "target": 'The "Big" One'}, '"The Big One" Fined'),
    ],
)
def test_a_search_names_the_target_in_quotes_and_what_is_claimed(keys: dict[str, Any], query: str) -> None:
    assert media_query(finding(**keys), subject()) == query


def test_the_judge_is_told_who_and_what() -> None:
    told = claim_text(finding(title=TITLE, description="Two managers were charged too."), read_subject(ACME))
    assert told.split("\n") == [
        "Entity: Acme Trading OÜ (company, country EE, registration number 12345678)",
        f"Claim: {TITLE}",
        "As the report describes it: Two managers were charged too.",
    ]


def test_the_judge_is_told_nothing_of_the_subject_when_another_is_claimed_about() -> None:
    told = claim_text(finding(title=TITLE, description=f"{TITLE}.", target="Jane Doe"), read_subject(ACME))
    assert told == f"Entity: Jane Doe\nClaim: {TITLE}"


ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=500) | st.lists(st.text(max_size=9) | st.integers())
KEYS = ["name", "entity_type", "country", "registration_number", "birth_date", "nationality", "aliases"]
SUBJECTS = st.fixed_dictionaries(
    {},
    optional={**dict.fromkeys(KEYS, ODD), "identifiers": ODD | st.dictionaries(st.text(max_size=9), ODD, max_size=3)},
)


@given(SUBJECTS, st.text(max_size=600), st.none() | st.text(max_size=600))
def test_any_subject_gives_questions_that_can_be_sent(data: dict[str, Any], title: str, target: str | None) -> None:
    asked, claimed = read_subject(data), finding(title=title, target=target)
    query = screening_query(claimed, asked)
    assert all(value.strip() for values in query.properties.values() for value in values)
    assert len(media_query(claimed, asked)) < 380
    assert len(claim_text(claimed, asked)) < 4000
