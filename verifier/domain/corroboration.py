"""Corroboration labels (ADR-0151): how much a finding's source is trusted, and how many sources say the same.

Additive only. Findings are the same matter when target, lane, category and normalised title are equal: exactly, so
that rather too few are grouped than too many. An absent source never adds to a count.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from verifier.domain.findings import ReportedFinding

UNKNOWN_TRUST = 0.75  # ADR-0151's default, a number that nobody measured
PROVIDER_TRUST = {
    "opensanctions": 0.96,
    "brightdata serp": 0.72,
    "tavily": 0.70,
    "exa": 0.70,
    "kbo": 0.98,
    "gleif": 0.97,
    "sanctions resolver": 0.96,
    "nbb": 0.95,
    "vies": 0.93,
    "eori": 0.93,
    "peppol": 0.90,
    "northdata": 0.85,
    "opencorporates": 0.84,
    "llm extraction": 0.75,
    "brightdata": 0.72,
    "crawl4ai": 0.70,
}
# One source under several names counts once. A name is recognised wherever it stands as whole words.
ALIASES = {
    "nbb": ("nbb", "nbb cbso", "nbb annual", "nationale bank"),
    "kbo": ("kbo", "kbo bce", "kruispuntbank", "crossroads"),
    "gazette": ("gazette", "staatsblad", "moniteur belge"),
    "inhoudingsplicht": ("inhoudingsplicht", "withholding obligation"),
    "opensanctions": ("opensanctions", "open sanctions"),
    "brightdata serp": ("brightdata serp", "bright data serp"),
    "brightdata": ("brightdata", "bright data"),
    "northdata": ("north data",),
    "opencorporates": ("open corporates",),
}
SEPARATORS = re.compile(r"[\W_]+")


class Labels(NamedTuple):
    """The four keys of ADR-0151, and the sources that were counted."""

    source_trust: float
    corroboration_count: int
    corroborated: bool
    uncorroborated: bool
    sources: tuple[str, ...]


class Source(NamedTuple):
    trust: float
    number: int  # 0 for an absent source


def compile_aliases() -> list[tuple[re.Pattern[str], str]]:
    pairs = [(alias, name) for name, aliases in ALIASES.items() for alias in aliases]
    longest_first = sorted(pairs, key=lambda pair: -len(pair[0]))
    return [(re.compile(rf"(?<!\S){re.escape(alias)}(?!\S)"), name) for alias, name in longest_first]


ALIAS_PATTERNS = compile_aliases()
SHORT = 200  # characters; nothing longer is remembered, or a report could fill the memory


def source_name(source: str) -> str:
    """A source's name for counting: folded, and one name for its aliases. Empty: absent."""
    return short_source_name(source) if len(source) <= SHORT else read_source_name(source)


@lru_cache(maxsize=4096)
def short_source_name(source: str) -> str:
    return read_source_name(source)


def read_source_name(source: str) -> str:
    folded = " ".join(SEPARATORS.sub(" ", unicodedata.normalize("NFKC", source).casefold()).split())
    return next((name for pattern, name in ALIAS_PATTERNS if pattern.search(folded)), folded)


def trust_for(source: str) -> tuple[float, bool]:
    """The trust in a source, and whether we know it. An unknown one's number is a default."""
    name = source_name(source)
    return PROVIDER_TRUST.get(name, UNKNOWN_TRUST), name in PROVIDER_TRUST


def source_of(finding: ReportedFinding) -> str:
    """The provider's own stamp, else the source as displayed."""
    return finding.provider or finding.source


def normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def group_fingerprint(finding: ReportedFinding, *, subject: str = "") -> str:
    """The same for two findings of a report exactly when `label` counts them together. SHA-256, hex."""
    of_whom, what = normalise(finding.target or subject), finding.category or finding.type
    exact = "\0".join((of_whom, finding.attribution_lane, what, normalise(finding.title)))
    return hashlib.sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()


class Sources:
    """The distinct sources of one report, each with a number of its own, from 1."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.known: dict[str, Source] = {}

    def read(self, spelled: str) -> Source:
        name = source_name(spelled)
        number = self.numbers.setdefault(name, len(self.numbers) + 1) if name else 0
        self.known[spelled] = source = Source(trust_for(spelled)[0], number)
        return source


class Groups:
    """The sources seen in each group. Most have one: only those with more get a set, so that all stays linear."""

    def __init__(self) -> None:
        self.first: list[int] = []
        self.more: dict[int, set[int]] = {}

    def add(self, place: int, number: int) -> None:
        """Another finding of a group that is known."""
        first = self.first[place]
        if number == first or not number:
            return
        if not first:
            self.first[place] = number
        elif place in self.more:
            self.more[place].add(number)
        else:
            self.more[place] = {first, number}


def label(findings: Sequence[ReportedFinding], *, subject: str = "") -> list[Labels]:
    """One label a finding, in their order. `subject` is the name that an absent target stands for.

    Each title is normalised once; a group is an index into `Groups`. Nothing is made for a finding that an earlier one
    of the same trust and sources already has.
    """
    sources, found = Sources(), Groups()
    known, first = sources.known, found.first
    contexts: dict[tuple[str | None, str, str], dict[str, int]] = {}
    by_target: dict[tuple[str, str, str], dict[str, int]] = {}
    places: list[int] = []
    told: list[Source] = []
    to_nfkc = unicodedata.normalize
    for finding in findings:
        spelled = finding.provider or finding.source
        source = known.get(spelled) or sources.read(spelled)
        context = (finding.target, finding.attribution_lane, finding.category or finding.type)
        groups = contexts.get(context)
        if groups is None:
            exact = (normalise(finding.target or subject), context[1], context[2])
            groups = contexts[context] = by_target.setdefault(exact, {})
        title = " ".join(to_nfkc("NFKC", finding.title).casefold().split())  # normalise(), without its call
        place = groups.setdefault(title, len(first))
        if place == len(first):
            first.append(source.number)
        elif source.number != first[place]:
            found.add(place, source.number)
        places.append(place)
        told.append(source)
    return stamp(sources, found, places, told)


def stamp(sources: Sources, found: Groups, places: list[int], told: list[Source]) -> list[Labels]:
    several = {place: tuple(sorted(numbers)) for place, numbers in found.more.items()}
    names = ["", *sources.numbers]
    made: dict[tuple[float, int | tuple[int, ...]], Labels] = {}
    labels: list[Labels] = []
    for place, (trust, _) in zip(places, told, strict=True):
        key = (trust, several.get(place) or found.first[place])
        known = made.get(key)
        if known is None:
            numbers = key[1] if isinstance(key[1], tuple) else (key[1],) if key[1] else ()
            count = len(numbers)
            seen = tuple(sorted(names[number] for number in numbers))
            known = made[key] = Labels(trust, count, count >= 2, count < 2, seen)
        labels.append(known)
    return labels
