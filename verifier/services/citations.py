"""Citations against the corpus: to which provision of which state, or what of them is missing."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from verifier.law import instruments
from verifier.law.citations.finding import Missing, find
from verifier.law.citations.grammar import Basis, Target, Ungrammatical, parse
from verifier.models import LawArticle, LawText


@dataclass(slots=True)
class Resolution:
    """`state` as in the interface: resolved, or why not; of several provisions some may be missing."""

    citation: str
    state: str = "resolved"
    provisions: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    reason: str = ""
    applicability: str = "unknown"
    failures: list[str] = field(default_factory=list)

    def miss(self, state: str, what: str) -> None:
        self.failures.append(state)
        self.missing.append(what)

    def as_json(self) -> dict[str, Any]:
        return {
            "citation": self.citation,
            "state": self.state,
            "provisions": self.provisions,
            "missing": self.missing,
            "reason": self.reason,
            "applicability": self.applicability,
        }


def resolve(citation: str, *, instrument: str = "", as_of: date | None = None, today: date) -> Resolution:
    """`instrument`: its key, where the text itself names none or is not to decide."""
    found = Resolution(citation)
    parsed = parse(citation)
    if isinstance(parsed, Ungrammatical):
        found.state, found.reason = "ungrammatical", f"{parsed.sentence} (at {parsed.offset})"
        return found
    for basis in parsed.bases:
        resolve_basis(basis, instrument, as_of, found)
    if found.failures:
        found.state = "partly_resolved" if found.provisions else found.failures[0]
    keys = {each["instrument"] for each in found.provisions}
    told = {instruments.applicability(key, as_of or today) for key in keys}
    found.applicability = told.pop() if len(told) == 1 else "unknown"
    return found


def resolve_basis(basis: Basis, instrument: str, as_of: date | None, found: Resolution) -> None:
    if not basis.targets:
        found.reason = "It names no article, so it grounds nothing."
        return found.miss("ungrammatical", basis.instrument)
    keys = [instrument] if instrument else instruments.named(basis.instrument)
    if not keys:
        return found.miss("no_such_instrument", basis.instrument)
    if len(keys) > 1:
        found.reason = f"“{basis.instrument}” is a name of {' and of '.join(keys)}."
        return found.miss("ambiguous", basis.instrument)
    text = text_of(keys[0], as_of)
    if text is None:
        return found.miss("not_in_corpus", keys[0])
    for target in basis.targets:
        resolve_target(text, target, found)
    return None


def text_of(key: str, as_of: date | None) -> LawText | None:
    """The state at that day, else the newest; none that is later stands in for it."""
    texts = LawText.objects.filter(instrument=key)
    then = texts.filter(as_of__lte=as_of) if as_of else texts
    english_first = sorted(
        then.order_by("-as_of", "-revision")[:20], key=lambda text: (-text.as_of.toordinal(), text.language != "en")
    )
    return english_first[0] if english_first else None


def resolve_target(text: LawText, target: Target, found: Resolution) -> None:
    articles = list(LawArticle.objects.filter(law=text, container="", number__iexact=target.number)[:2])
    if not articles:
        return found.miss("no_such_article", f"{text.instrument} {target}")
    if len(articles) > 1:
        return found.miss("ambiguous", f"{text.instrument} {target}")
    [article] = articles
    part = find(article.parts, article.sha256, target)
    if isinstance(part, Missing):
        return found.miss(part.state, f"{text.instrument} {target}: {part.part}")
    found.provisions.append(
        {
            "instrument": text.instrument,
            "version": text.as_of.isoformat(),
            "article": article.number,
            "paragraph": target.paragraph or None,
            "point": "".join(f"({label})" for label in target.points) or None,
            "title": article.heading,
            "sha256": part.sha256,
        }
    )
    return None
