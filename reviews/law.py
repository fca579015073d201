"""The corpus of law as people read it: acts with their texts, an article beside its other states, and a search."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from django.db.models import OuterRef, QuerySet, Subquery

from verifier.models import LawArticle, LawImport, LawText

PAGE = 200  # articles, or texts, on one page
FOUND = 50
IMPORTS = 20
LONGEST_DIFFERENCE = 40_000  # letters of both together; above it the two stand undivided


@dataclass(frozen=True, slots=True)
class Instrument:
    """One act in one language, its newest text first."""

    key: str
    language: str
    title: str
    texts: list[LawText]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words that both states have, or that one of them has: `same`, `gone` or `new`."""

    kind: str
    words: str


def instruments() -> list[Instrument]:
    texts = LawText.objects.select_related("source").defer("source__content")
    listed = texts.order_by("instrument", "language", "-as_of", "-revision")[: PAGE * 5]
    found = []
    for (key, language), group in groupby(listed, key=lambda text: (text.instrument, text.language)):
        versions = list(group)
        found.append(Instrument(key, language, versions[0].title, versions))
    return found


def imports() -> list[LawImport]:
    return list(LawImport.objects.defer("content").order_by("-imported_at", "-id")[:IMPORTS])


def in_force() -> "QuerySet[LawArticle]":
    """The articles of each act's newest text in each language."""
    newer = LawText.objects.filter(instrument=OuterRef("law__instrument"), language=OuterRef("law__language"))
    newest = Subquery(newer.order_by("-as_of", "-revision").values("id")[:1])
    return LawArticle.objects.select_related("law").filter(law_id=newest)


def search(text: str) -> list[LawArticle]:
    """Articles that hold every one of the words, in the newest texts."""
    found = in_force()
    for word in text.split():
        found = found.filter(text__icontains=word)
    return list(found.order_by("law__instrument", "law__language", "position")[:FOUND])


def states_of(article: LawArticle) -> list[LawArticle]:
    """The same article in every text of its act and language, newest first."""
    same = LawArticle.objects.select_related("law").filter(
        law__instrument=article.law.instrument,
        law__language=article.law.language,
        container=article.container,
        number=article.number,
    )
    return list(same.defer("parts").order_by("-law__as_of", "-law__revision"))


def difference(before: str, after: str) -> list[Piece]:
    """Word by word, in the order of reading."""
    if len(before) + len(after) > LONGEST_DIFFERENCE:
        return [Piece("gone", before), Piece("new", after)]
    old, new = before.split(), after.split()
    return [
        piece
        for step in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for piece in told(step, old, new)
    ]


def told(step: tuple[str, int, int, int, int], old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    tag, old_from, old_to, new_from, new_to = step
    if tag == "equal":
        return [Piece("same", " ".join(old[old_from:old_to]))]
    pieces = [Piece("gone", " ".join(old[old_from:old_to])), Piece("new", " ".join(new[new_from:new_to]))]
    return [piece for piece in pieces if piece.words]
