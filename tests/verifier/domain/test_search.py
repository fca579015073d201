"""What differs only by capitals, accents or marks nobody sees is found by either spelling."""

import pytest

from verifier.domain.search import folded, search_text

SAME = [
    ("Müller", "MULLER"),
    ("Acme Trading OÜ", "acme trading ou"),
    ("Łódź", "lodz"),
    ("Ørsted", "orsted"),
    ("Straße", "STRASSE"),
    ("İstanbul", "istanbul"),
    ("Ⅷ", "viii"),
    ("ＡＣＭＥ", "acme"),
    ("Ё-моё", "е-мое"),
    ("ΑΘΉΝΑ", "αθηνα"),
    ("Σίσυφος", "ΣΙΣΥΦΟΣ"),
    ("مُحَمَّد", "محمد"),
    ("محـــمد", "محمد"),
    ("שָׁלוֹם", "שלום"),
    ("O’Brien", "O'Brien"),
    ("e\u0301", "\u00e9"),
    ("a\u202eb\u200bc", "abc"),
    ("  two \n words ", "two words"),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=[one for one, _ in SAME])
def test_two_spellings_of_one_text_are_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("Иванов", "Ivanov"), ("王", "玉"), ("Anna", "Ana"), ("김", "이")])
def test_other_letters_stay_other(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize("text", sorted({one for pair in SAME for one in pair}))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_what_an_earlier_report_was_found_by_stays_and_nothing_is_kept_twice() -> None:
    assert search_text(["B", "C", "\0"], before="a\nb") == "a\nb\nc"
