"""What may come into the corpus as it is, and what somebody has to accept first. Nothing here is a matter of taste:
each reason is a way in which an official-looking file was found to hold less, or other, than the law.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from verifier.law.texts import Act, Article

LEAST_OF_BEFORE = 0.5  # of the letters of the text before
MOST_NAMED = 10
LEADING = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Before:
    """The text of the same act and language that came last before, or that stands at the same date."""

    letters: int
    same_date: bool
    sha256: str


@dataclass(frozen=True, slots=True)
class Hold:
    kind: str
    sentence: str


def holds(act: Act, before: Before | None) -> list[Hold]:
    """Why the text is held until somebody accepts it; empty: it comes in."""
    found = []
    if act.excerpt or more_missing_than_there(act):
        found.append(Hold("excerpt", "It is an excerpt: a citation of what it leaves out would look wrong."))
    if before is None:
        return found
    if before.same_date and before.sha256 != act.sha256:
        found.append(Hold("another_text", "Another text of this act, language and date is in the corpus already."))
    letters = count_letters(act)
    if letters < before.letters * LEAST_OF_BEFORE:
        part = f"{100 * letters // max(before.letters, 1)} %"
        found.append(Hold("much_shorter", f"It holds {part} of the letters of the text before it."))
    return found


def more_missing_than_there(act: Act) -> bool:
    own = next((numbers for container, numbers in numbers_by_container(act.articles) if not container), set())
    articles = sum(not article.container for article in act.articles)
    return bool(own) and max(own) - min(own) + 1 > 2 * articles


def count_letters(act: Act) -> int:
    return sum(len(article.text) for article in act.articles)


def gaps(act: Act) -> list[str]:
    """Warnings for numbers left out between two that are there. Some acts in force have such gaps."""
    told = []
    for container, numbers in numbers_by_container(act.articles):
        missing = sorted(set(range(min(numbers), max(numbers) + 1)) - numbers) if numbers else []
        if missing:
            named = ", ".join(map(str, missing[:MOST_NAMED])) + (" and more" if len(missing) > MOST_NAMED else "")
            told.append(f"No article {named}{f' in {container}' if container else ''}.")
    return told


def numbers_by_container(articles: Iterable[Article]) -> Iterator[tuple[str, set[int]]]:
    """Of numbers that begin with a whole number; others have no order of their own."""
    found: dict[str, set[int]] = {}
    for article in articles:
        whole = LEADING.match(article.number)
        if whole and len(whole[0]) < 6:
            found.setdefault(article.container, set()).add(int(whole[0]))
    yield from found.items()
