"""Texts of the European Union from EUR-Lex and in Formex: counted, compared between formats, and refused."""

import random
from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.verifier.law.files import act, path
from verifier.law.reading import read_law
from verifier.law.texts import Act, Article, Unreadable

AI, AMLD4 = "AIAct_2024-1689/32024r1689@2026-07-27*", "AMLD4_2015-849/32015l0849@{}*"
COUNTS = {
    "AMLR_2024-1624/*/en.xml": (90, "en", "32024R1624"),
    "AMLR_2024-1624/*/fr.xml": (90, "fr", "32024R1624"),
    "AMLD6_2024-1640/*/en.xml": (80, "en", "32024L1640"),
    "AIAct_2024-1689/32024r1689@2024-06-13*/en.xml": (113, "en", "32024R1689"),
    f"{AI}/en.html": (119, "en", "32024R1689"),
    f"{AI}/en.fmx4/*.0001.xml": (119, "en", "32024R1689"),
    AMLD4.format("2015-05-20") + "/en.xml": (69, "en", "32015L0849"),
    AMLD4.format("2018-07-09") + "/en.html": (78, "en", "32015L0849"),
    AMLD4.format("2021-06-30") + "/en.html": (78, "en", "32015L0849"),
    AMLD4.format("2024-12-30") + "/en.html": (81, "en", "32015L0849"),
    "AMLD5_2018-843/*/en.xml": (6, "en", "32018L0843"),
}
BOTH = [AI, *(AMLD4.format(day) for day in ("2018-07-09", "2021-06-30", "2024-12-30"))]
# What each file of a kind that misleads comes to: articles by container, or why it is refused.
PITFALLS: dict[str, dict[str, int] | str] = {
    "ai_omnibus_amending*": {"": 4},
    "amld3_repealed*": {"": 47},
    "annex_articles_dup_titles*": {"": 84, "annex i": 6},
    "articles_in_annex_oj*": {"": 2, "annex i": 16},
    "dup_art_69a*": {"": 76},
    "english_url_czech_text*": "wrong_language",
    "legacy_TXT_TE*": {"": 1},
    "portal_page_none*": "no_articles",
    "quoted_59-a_title*": {"": 2},
    "title_with_trailing_comma*": {"": 9},
}


def article(text: Act, number: str, container: str = "") -> Article:
    [found] = [each for each in text if each.key == (container, number)]
    return found


@pytest.mark.parametrize("pattern", COUNTS)
def test_it_has_its_official_articles(pattern: str) -> None:
    count, language, celex = COUNTS[pattern]
    found = act(pattern)
    assert len(found.articles) == count
    assert (found.language, found.identifiers["celex"]) == (language, celex)
    assert found.version_date is not None
    assert all(each.text for each in found if not each.deleted)


@pytest.mark.parametrize("state", BOTH)
def test_both_formats_of_one_state_give_the_same_hashes(state: str) -> None:
    page, formex = act(f"{state}/en.html"), act(f"{state}/en.fmx4/*.0001.xml")
    assert [each.key for each in page] == [each.key for each in formex]
    for one, other in zip(page, formex, strict=True):
        assert one.sha256 == other.sha256, one.number
        assert [each.sha256 for each in one.paragraphs] == [each.sha256 for each in other.paragraphs], one.number
    assert page.version_date == formex.version_date


def test_what_was_deleted_is_not_in_it() -> None:
    for pattern in (f"{AI}/en.html", f"{AI}/en.fmx4/*.0001.xml"):
        assert "5" not in [each.number for each in article(act(pattern), "10").paragraphs]


def test_paragraphs_and_points_have_their_places() -> None:
    text = article(act("AMLR_2024-1624/*/en.xml"), "34")
    assert [each.number for each in text.paragraphs if each.number][:2] == ["1", "2"]
    second = next(each for each in text.paragraphs if each.number == "2")
    assert [each.label for each in second.points][:3] == ["a", "b", "c"]
    assert second.points[1].text == "the transaction is unusually large;"
    assert text.heading == "Scope of application of enhanced due diligence measures"


def test_inserted_numbers_are_kept() -> None:
    assert article(act(AMLD4.format("2024-12-30") + "/en.html"), "18a").text
    both = [each.number for each in act("_pitfalls/dup_art_69a*") if each.number.startswith("69")]
    assert both == ["69", "69a", "69-a", "69b"]


@pytest.mark.parametrize("name", PITFALLS)
def test_what_misleads_has_its_outcome(name: str) -> None:
    outcome = PITFALLS[name]
    if isinstance(outcome, str):
        with pytest.raises(Unreadable) as refused:
            read_law(path(f"_pitfalls/{name}").read_bytes())
        assert refused.value.kind == outcome
        return
    found: dict[str, int] = {}
    for each in act(f"_pitfalls/{name}"):
        found[each.container] = found.get(each.container, 0) + 1
    assert found == outcome


def test_quoted_law_is_outside_the_text() -> None:
    """The act that inserts an article into another one quotes it whole."""
    amending = act("AMLD5_2018-843/*/en.xml")
    assert [each.number for each in amending] == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize(
    "pattern", ["AMLD4_2015-849/*2018-07-09*/en.html", "AMLD4_2015-849/*2018-07-09*/en.fmx4/*.0001.xml"]
)
def test_a_file_that_was_cut_or_spoiled_is_whole_or_refused_with_its_place(pattern: str) -> None:
    content, whole = path(pattern).read_bytes(), act(pattern)
    chance = random.Random(7)
    spoiled = [content[: chance.randrange(len(content))] for _ in range(50)]
    for _ in range(150):
        place = chance.randrange(len(content))
        spoiled.append(content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :])
    for each in spoiled:
        try:
            found = read_law(each)
        except Unreadable as refused:
            assert refused.sentence
            continue
        assert len(found.articles) == len(whole.articles), "never a part of it"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "no_articles"),
        (b"   ", "no_articles"),
        (b"not a law", "unknown_format"),
        (b"<root/>", "unknown_format"),
        (b"<html><body><p>Hello</p></body></html>", "no_articles"),
        (b"<html><script>window.awsWafCookieDomainList = []; awswaf</script></html>", "challenge_page"),
        (b"<html><body><p>Article 1</p><p>Text", "broken"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><ACT>&x;</ACT>', "unsafe"),
        (b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;">]><ACT>&z;</ACT>', "unsafe"),
        (b"<ACT>" + b"<P>" * 5000 + b"</P>" * 5000 + b"</ACT>", "broken"),
        (b"PK\x03\x04 not a zip", "broken"),
    ],
)
def test_what_is_no_text_of_law_is_refused(content: bytes, kind: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_law(content)
    assert refused.value.kind == kind


def test_a_file_too_large_is_refused() -> None:
    with pytest.raises(Unreadable, match="larger than"):
        read_law(b"<" + b" " * 33 * 1024 * 1024)


def zipped(**members: bytes) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", 8) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.xml", content)
    return file.getvalue()


def test_an_archive_is_read_for_its_body() -> None:
    folder = f"{AI}/en.fmx4/"
    files = {"body": path(f"{folder}*.0001.xml").read_bytes(), "doc": path(f"{folder}*.doc.xml").read_bytes()}
    assert read_law(zipped(**files)).sha256 == act(f"{folder}*.0001.xml").sha256


def test_an_archive_that_swells_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        read_law(zipped(bomb=b" " * 40 * 1024 * 1024))
    assert refused.value.kind == "unsafe"
