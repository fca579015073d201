"""National law in its own formats: counted, with the numbers, labels and days that the files themselves give."""

import random

import pytest

from tests.verifier.law.files import LAW, act, path
from verifier.law.reading import read_law
from verifier.law.texts import Act, Article, Unreadable

# Articles, language, format, the day the text stands at.
COUNTS: dict[str, tuple[int, str, str, str | None]] = {
    "CZ_253-2008/SB-2008-253@2026-01-11*": (112, "cs", "markdown", "2026-01-11"),
    "CZ_253-2008/history/*2008-09-01*": (59, "cs", "markdown", "2008-09-01"),
    "CZ_253-2008/history/*2018-01-13*": (69, "cs", "markdown", "2018-01-13"),
    "CZ_253-2008/history/*2021-05-01*": (82, "cs", "markdown", "2021-05-01"),
    "NL_Wwft/*2012-10-01.nl.md": (58, "nl", "markdown", None),
    "NL_Wwft/*2012.bwb.xml": (58, "nl", "bwb", None),
    "NL_Wwft/*excerpt*": (1, "nl", "markdown", "2022-11-01"),
    "LU_AML_2004/*.xml": (45, "fr", "akn", "2026-07-27"),
    "_samples/clml/ukpga_20020016_en.xml": (84, "en", "clml", None),
    "_samples/clml/uksi_20140333_en.xml": (33, "en", "clml", "2014-02-13"),
    "_samples/clml/uksi-2014-2080*": (1, "en", "clml", "2019-03-27"),
    "_samples/ecfr/*.xml": (288, "en", "ecfr", "2022-12-29"),
}


def article(text: Act, number: str) -> Article:
    [found] = [each for each in text if each.key == ("", number)]
    return found


@pytest.mark.parametrize("pattern", COUNTS)
def test_it_is_read_whole(pattern: str) -> None:
    count, language, form, day = COUNTS[pattern]
    found = act(pattern)
    assert (len(found.articles), found.language, found.format) == (count, language, form)
    assert (found.version_date.isoformat() if found.version_date else None) == day


def test_every_file_of_the_corpus_is_read() -> None:
    files = [
        each
        for each in LAW.rglob("*")
        if each.suffix in {".xml", ".html", ".md"} and "_pitfalls" not in each.parts and ".doc." not in each.name
    ]
    assert len(files) > 25
    for file in files:
        if file.name.upper() != "README.MD":
            assert read_law(file.read_bytes()).articles, file.name


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("CZ_253-2008/SB-2008-253@2026-01-11*", ["9a", "29ba"]),
        ("LU_AML_2004/*.xml", ["7-1bis", "2-1"]),
        ("_samples/ecfr/*.xml", ["1.1", "603.18"]),
    ],
)
def test_inserted_numbers_come_from_the_text(pattern: str, numbers: list[str]) -> None:
    assert all(article(act(pattern), number).text for number in numbers)


def test_the_czech_act_has_no_56_and_9a_only_since_2021() -> None:
    assert "56" not in [each.number for each in act("CZ_253-2008/SB-2008-253@2026-01-11*")]
    assert "9a" not in [each.number for each in act("CZ_253-2008/history/*2018-01-13*")]
    assert article(act("CZ_253-2008/history/*2021-01-01*"), "9a").text


def labels(text: Article, number: str) -> list[str]:
    [paragraph] = [each for each in text.paragraphs if each.number == number]
    return [each.label for each in paragraph.points]


def test_paragraphs_and_points_have_their_places() -> None:
    czech = article(act("CZ_253-2008/SB-2008-253@2026-01-11*"), "9")
    assert czech.heading == "Kontrola klienta"
    assert labels(czech, "2")[:3] == ["a", "b", "c"]
    first = next(each for each in czech.paragraphs if each.number == "1")
    assert [each.label for each in first.points[0].points] == ["1", "2", "3", "4", "5", "6"]
    dutch = article(act("NL_Wwft/*2012.bwb.xml"), "8")
    assert labels(dutch, "2") == ["a", "b", "c"]
    luxembourg = article(act("LU_AML_2004/*.xml"), "7-1bis")
    assert labels(luxembourg, "2") == ["a", "b", "c", "d"]
    pension = article(act("_samples/clml/ukpga_20020016_en.xml"), "1")
    assert (pension.heading, labels(pension, "2")) == ("Entitlement", ["a", "b", "c"])


def test_the_official_dutch_text_and_its_conversion_number_the_same_paragraphs() -> None:
    official, converted = article(act("NL_Wwft/*2012.bwb.xml"), "8"), article(act("NL_Wwft/*2012-10-01.nl.md"), "8")
    assert [each.number for each in official.paragraphs if each.number][:3] == ["1", "2", "3"]
    assert [each.number for each in converted.paragraphs if each.number][:3] == ["1", "2", "3"]


def test_no_address_of_another_publisher_enters_the_text() -> None:
    assert not [each.number for each in act("LU_AML_2004/*.xml") if "data.legilux" in each.text]


def test_an_excerpt_says_so() -> None:
    assert act("NL_Wwft/*excerpt*").excerpt
    assert act("_samples/clml/uksi-2014-2080*").excerpt
    assert not act("NL_Wwft/*2012.bwb.xml").excerpt


@pytest.mark.parametrize(
    "pattern", ["LU_AML_2004/*.xml", "NL_Wwft/*2012.bwb.xml", "_samples/clml/ukpga_20020016_en.xml"]
)
def test_a_file_that_was_cut_is_refused(pattern: str) -> None:
    content, chance = path(pattern).read_bytes(), random.Random(7)
    for _ in range(20):
        with pytest.raises(Unreadable):
            read_law(content[: chance.randrange(len(content) - 20)])
