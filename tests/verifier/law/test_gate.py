"""What is held until somebody accepts it, and what is only said."""

import pytest

from verifier.law.gate import Before, gaps, holds
from verifier.law.texts import Act, Article, Paragraph


def act(*numbers: str, text: str = "Entities shall keep records.", **changes: object) -> Act:
    articles = tuple(Article(number, (Paragraph("", text),)) for number in numbers)
    return Act("test", "en", articles, **changes)  # type: ignore[arg-type]


def kinds(found: Act, before: Before | None = None) -> list[str]:
    return [hold.kind for hold in holds(found, before)]


def test_a_first_whole_text_comes_in() -> None:
    assert kinds(act("1", "2")) == []


def test_an_excerpt_is_held() -> None:
    assert kinds(act("8", excerpt=True)) == ["excerpt"]


def test_a_text_with_more_numbers_missing_than_there_is_an_excerpt() -> None:
    assert kinds(act("1", "2", "3", "4", "521")) == ["excerpt"]
    assert kinds(act("1", "2", "4", "57")) == ["excerpt"]
    assert kinds(act("1", "3", "5")) == []


@pytest.mark.parametrize(("letters", "held"), [(56, False), (112, False), (113, True), (100_000, True)])
def test_less_than_half_of_the_text_before_is_held(letters: int, held: bool) -> None:
    before = Before(letters, same_date=False, sha256="another")
    assert (kinds(act("1", "2"), before) == ["much_shorter"]) is held


def test_another_text_of_the_same_date_is_held_and_the_same_one_is_not() -> None:
    found = act("1", "2")
    assert kinds(found, Before(56, same_date=True, sha256="another")) == ["another_text"]
    assert kinds(found, Before(56, same_date=True, sha256=found.sha256)) == []
    assert kinds(found, Before(56, same_date=False, sha256="another")) == []


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        (("1", "2", "3"), []),
        (("1", "2a", "3"), []),
        (("55", "57"), ["No article 56."]),
        (("1", "4", "7-1bis"), ["No article 2, 3, 5, 6."]),
        (("L561-10-2", "premier"), []),
        (("1", "20"), ["No article 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and more."]),
    ],
)
def test_a_gap_is_only_said(numbers: tuple[str, ...], told: list[str]) -> None:
    assert gaps(act(*numbers)) == told
