"""Citations as people write them, each down to what it names and no further."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import SHARED
from verifier.law.citations.grammar import Basis, Citation, Target, Ungrammatical, canonical, parse


def bases(text: str) -> list[tuple[str, list[str]]]:
    parsed = parse(text)
    assert isinstance(parsed, Citation), parsed
    return [(basis.instrument, [str(target) for target in basis.targets]) for basis in parsed.bases]


@pytest.mark.parametrize(
    ("text", "instrument", "targets"),
    [
        ("AMLR Art. 22", "AMLR", ["22"]),
        ("Art. 22 AMLR", "AMLR", ["22"]),
        ("AMLR Art. 22/34", "AMLR", ["22", "34"]),
        ("AMLR Art. 42–44", "AMLR", ["42", "43", "44"]),
        ("AMLR Art. 33(1), point (a)", "AMLR", ["33(1)(a)"]),
        ("AMLR Art. 34(1) and (4)", "AMLR", ["34(1)", "34(4)"]),
        ("AMLR Art. 8(5)(a)-(c)", "AMLR", ["8(5)(a)", "8(5)(b)", "8(5)(c)"]),
        ("Regulation (EU) 2024/1624, Article 34(1) and (4)", "Regulation (EU) 2024/1624", ["34(1)", "34(4)"]),
        ("Czech AML Act s. 9a", "Czech AML Act", ["9a"]),
        ("§ 9 odst. 2 písm. b) zákona č. 253/2008 Sb.", "zákona č. 253/2008 Sb", ["9(2)(b)"]),
        ("artikel 8, vijfde lid, onderdeel c, Wwft", "Wwft", ["8(5)(c)"]),
        ("AMLR", "AMLR", []),
    ],
)
def test_what_a_citation_names(text: str, instrument: str, targets: list[str]) -> None:
    assert bases(text) == [(instrument, targets)]


def test_several_bases_and_one_that_carries_on() -> None:
    assert bases("AMLR Art. 20 + AMLD6 Art. 4; Art. 5") == [("AMLR", ["20"]), ("AMLD6", ["4"]), ("AMLD6", ["5"])]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("AMLR " * 300, "too_long"),
        ("AMLR Art. 44-42", "reversed_range"),
        ("AMLR Art. 1-9999", "wide_range"),
        ("AMLR Art. 9a-9c", "open_range"),
        ("AMLR Art. 5 + ", "empty_basis"),
        ("AMLR Art. 5 and so on", "unread"),
        ("123", "no_instrument"),
    ],
)
def test_what_cannot_be_read_is_a_result_with_its_place(text: str, code: str) -> None:
    problem = parse(text)
    assert isinstance(problem, Ungrammatical)
    assert problem.code == code
    assert problem.sentence.endswith(".")
    assert 0 <= problem.offset <= len(text)


def test_every_published_citation_is_read_and_comes_back_from_its_one_spelling() -> None:
    table = (SHARED / "citations/published_rules.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(table))
    lines = (SHARED / "citations/dev.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [row["regulatory_basis"] for row in rows] + [json.loads(line)["citation"] for line in lines]
    assert len(texts) > 100
    for text in texts:
        parsed = parse(text)
        if isinstance(parsed, Citation):
            assert parse(canonical(parsed)) == parsed, text
        else:
            assert text in {"AMLR Art. 44-42", "--"}


LABELS = st.sampled_from("abcdefgh")
TARGETS = st.builds(
    Target,
    st.integers(1, 200).map(str),
    st.one_of(st.just(""), st.integers(1, 30).map(str)),
    st.one_of(st.just(()), st.tuples(LABELS)),
)
ONE = st.builds(
    Basis, st.sampled_from(["AMLR", "Wwft", "Directive (EU) 2015/849"]), st.lists(TARGETS, min_size=1).map(tuple)
)


@given(st.lists(ONE, min_size=1, max_size=3).map(lambda found: Citation(tuple(found))))
def test_a_citation_comes_back_from_its_one_spelling(citation: Citation) -> None:
    told = canonical(citation)
    if len(told) <= 1000:
        assert parse(told) == citation


PIECES = ["Art. ", "§ ", "s. ", "(", ")", "-", "+", ";", "/", "1", "42", "a", "premier", " lid", "point ", "AMLR", " "]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_no_text_is_too_strange_to_be_answered(text: str) -> None:
    parsed = parse(text)
    assert isinstance(parsed, Citation | Ungrammatical)
