"""An act as it was read: articles with their paragraphs and points, and one hash for each of them.

The same state of an act gives the same hashes whichever official format it was read from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from verifier.law.normalise import sha256_of


@dataclass(frozen=True, slots=True)
class Point:
    """`label` as printed, without brackets or dots: `a`, `ii`, `1°`."""

    label: str
    text: str
    points: tuple["Point", ...] = ()

    @property
    def whole_text(self) -> str:
        """With its label and all its points, a line each."""
        return "\n".join([f"({self.label}) {self.text}", *(each.whole_text for each in self.points)])

    @property
    def sha256(self) -> str:
        return sha256_of(self.whole_text)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`number` is empty for one without. `text` holds its own words; those of its points stand with them."""

    number: str
    text: str
    points: tuple[Point, ...] = ()

    @property
    def whole_text(self) -> str:
        """With its number and all its points, a line each."""
        own = f"{self.number}. {self.text}" if self.number else self.text
        return "\n".join(block for block in (own, *(each.whole_text for each in self.points)) if block)

    @property
    def sha256(self) -> str:
        return sha256_of(self.whole_text)


@dataclass(frozen=True, slots=True)
class Article:
    """`number` folded: `18a`, `7-1bis`, `L561-10-2`. `container`: empty for the act's own, else `annex I` and such."""

    number: str
    paragraphs: tuple[Paragraph, ...]
    heading: str = ""
    container: str = ""
    deleted: bool = False  # present as a number, without a text
    line: int = 0  # of the file, where it begins; 0: not known

    @property
    def key(self) -> tuple[str, str]:
        return self.container, self.number

    @property
    def text(self) -> str:
        return "\n".join(block for block in (each.whole_text for each in self.paragraphs) if block)

    @property
    def sha256(self) -> str:
        return sha256_of(self.text)


@dataclass(frozen=True, slots=True)
class Act:
    """One text of one act, in one language, at one state."""

    format: str
    language: str  # ISO 639-1
    articles: tuple[Article, ...]
    title: str = ""
    identifiers: dict[str, str] = field(default_factory=dict)  # celex, eli, bwb and such, by the publisher's own name
    version_date: date | None = None  # of a consolidated text, what it says it stands at
    excerpt: bool = False
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Article]:
        return iter(self.articles)

    @property
    def sha256(self) -> str:
        """Of all articles in their order."""
        return sha256_of_act((each.container, each.number, each.text) for each in self.articles)


def sha256_of_act(articles: Iterable[tuple[str, str, str]]) -> str:
    """Of container, number and text of all its articles, in their order."""
    return sha256_of("\n".join("\n".join(each) for each in articles))


class Unreadable(Exception):
    """Why nothing was read: `kind` for programs, `place` (a line or an element) and a sentence for people."""

    def __init__(self, kind: str, sentence: str, place: str = "") -> None:
        super().__init__(f"{place}: {sentence}" if place else sentence)
        self.kind, self.sentence, self.place = kind, sentence, place
