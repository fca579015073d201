"""Whether an article has the paragraph and the point that a citation names. Nothing is widened to the article."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from verifier.law.citations.grammar import Target

Parts = list[dict[str, Any]]  # as `verifier.models.LawArticle.parts` holds them


@dataclass(frozen=True, slots=True)
class Found:
    sha256: str


@dataclass(frozen=True, slots=True)
class Missing:
    state: str  # no_such_paragraph | no_such_point
    part: str  # as cited


def find(parts: Parts, whole_sha256: str, target: Target) -> Found | Missing:
    """`whole_sha256`: the article's own, for a citation of nothing below it."""
    if not target.paragraph and not target.points:
        return Found(whole_sha256)
    pieces, sha256, points = parts, whole_sha256, list(target.points)
    if target.paragraph:
        within = paragraph(parts, target.paragraph)
        if within is not None:
            pieces, sha256 = within, within[0]["sha256"]
        elif (point := labelled(unnumbered(parts), target.paragraph)) is not None:
            pieces, sha256 = [point], point["sha256"]  # a list of numbers, as definitions have
        else:
            return Missing("no_such_paragraph", f"({target.paragraph})")
    for label in points:
        point = labelled(pieces, label)
        if point is None:
            return Missing("no_such_point", f"({label})")
        pieces, sha256 = [point], point["sha256"]
    return Found(sha256)


def paragraph(parts: Parts, number: str) -> Parts | None:
    """The paragraph with the unnumbered ones that go on with it."""
    for place, part in enumerate(parts):
        if part["number"].casefold() == number.casefold():
            after = parts[place + 1 :]
            own = next((step for step, each in enumerate(after) if each["number"]), len(after))
            return [part, *after[:own]]
    return None


def unnumbered(parts: Parts) -> Parts:
    return [part for part in parts if not part["number"]]


def labelled(pieces: Parts, label: str) -> dict[str, Any] | None:
    wanted = label.casefold().removesuffix("°")
    return next((each for each in points_of(pieces) if each["label"].casefold().removesuffix("°") == wanted), None)


def points_of(pieces: Parts) -> Iterator[dict[str, Any]]:
    for piece in pieces:
        yield from piece["points"]
