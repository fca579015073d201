"""What a newer report says otherwise than the one before it. Nothing is weighed up: every difference is told, and where
the newer report says less than the older one, that comes first.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from verifier.domain.findings import SUBJECT_LANE, read_finding, read_hit
from verifier.domain.json_text import load


class Aspect(StrEnum):
    """In what a finding differs, in the order in which differences are told. A stable code."""

    GONE = "gone"
    SEVERITY_LOWERED = "severity_lowered"
    NO_LONGER_DRIVING = "no_longer_driving"
    HIT_WITHDRAWN = "hit_withdrawn"
    CANDIDATE_ONLY = "candidate_only"
    NO_SECOND_OFFICER = "no_second_officer"
    OTHER_TARGET = "other_target"
    OTHER_KIND = "other_kind"
    LESS_CORROBORATED = "less_corroborated"
    SOURCE_GONE = "source_gone"
    TITLE = "title"
    DESCRIPTION = "description"
    SEVERITY_REWORDED = "severity_reworded"
    SOURCE_CHANGED = "source_changed"
    SEVERITY_RAISED = "severity_raised"
    NOW_DRIVING = "now_driving"
    HIT_CLAIMED = "hit_claimed"
    VERIFIED_SUBJECT = "verified_subject"
    SECOND_OFFICER = "second_officer"
    MORE_CORROBORATED = "more_corroborated"
    SOURCE_ADDED = "source_added"
    OTHER_KEY = "other_key"
    NEW = "new"


PLACES = {aspect: place for place, aspect in enumerate(Aspect)}
WEAKER = frozenset(list(Aspect)[: PLACES[Aspect.TITLE]])  # the newer report says less, or says it of something else
SOURCES = ("_provider", "source", "source_url")
OF_KEY = {"title": Aspect.TITLE, "description": Aspect.DESCRIPTION}
READ_BY_RULES = {"id", "severity", "hit", "attribution_lane", "target", *SOURCES}  # each has an aspect of its own
ENVELOPE = {"findings", "report_id", "iteration"}  # what is told for itself
FIRST_FIELDS = ("quality_gate", "subject", "recommendation", "decision", "answer")
LAST_FIELDS = ("created_at",)  # another one in every report


@dataclass(frozen=True, slots=True)
class Told:
    """A finding as a report told it and as it was read when it came."""

    row: UUID
    finding_id: str
    position: int
    severity: str
    severity_rank: int
    content: str  # its JSON text
    selected: bool
    material_type: str
    lane: str
    two_persons: bool
    corroboration_count: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    aspect: Aspect
    key: str = ""  # of the finding's JSON object, where the difference is one key's


@dataclass(frozen=True, slots=True)
class Change:
    """One finding that the two reports tell differently, or only one of them tells."""

    before: Told | None
    after: Told | None
    differences: list[Difference]

    @property
    def place(self) -> tuple[int, int, int]:
        """What says less first, then the more severe, then as reported."""
        told = self.before or self.after
        assert told is not None, "one of the reports tells it"
        return PLACES[self.differences[0].aspect], told.severity_rank, told.position


def changes(before: Iterable[Told], after: Iterable[Told], *, subject_before: str, subject_after: str) -> list[Change]:
    """By the report's own ids, in linear time. Findings that both reports tell alike may be left out of both."""
    left = {one.finding_id: one for one in before}
    found: list[Change] = []
    for newer in after:
        older = left.pop(newer.finding_id, None)
        if older is None:
            found.append(Change(None, newer, [Difference(Aspect.NEW)]))
        elif differences := compare(older, newer, subject_before, subject_after):
            found.append(Change(older, newer, differences))
    found += [Change(older, None, [Difference(Aspect.GONE)]) for older in left.values()]
    return sorted(found, key=lambda one: one.place)


def compare(before: Told, after: Told, subject_before: str, subject_after: str) -> list[Difference]:
    """In the order of the aspects; none where nothing but the spelling as JSON differs."""
    old, new = load(before.content), load(after.content)
    found = [Difference(aspect) for aspect in (*as_read(before, after), *as_claimed(old, new))]
    if of_whom(old, subject_before) != of_whom(new, subject_after):
        found.append(Difference(Aspect.OTHER_TARGET))
    found += by_keys(old, new)
    return sorted(found, key=lambda one: PLACES[one.aspect])


def as_read(before: Told, after: Told) -> Iterator[Aspect]:
    """In what our rules read the two differently."""
    if before.severity_rank != after.severity_rank:
        lowered = after.severity_rank > before.severity_rank
        yield Aspect.SEVERITY_LOWERED if lowered else Aspect.SEVERITY_RAISED
    elif before.severity != after.severity:
        yield Aspect.SEVERITY_REWORDED
    if before.selected != after.selected:
        yield Aspect.NO_LONGER_DRIVING if before.selected else Aspect.NOW_DRIVING
    if before.lane != after.lane:
        yield Aspect.CANDIDATE_ONLY if before.lane == SUBJECT_LANE else Aspect.VERIFIED_SUBJECT
    if before.two_persons != after.two_persons:
        yield Aspect.NO_SECOND_OFFICER if before.two_persons else Aspect.SECOND_OFFICER
    if before.material_type != after.material_type:
        yield Aspect.OTHER_KIND
    counts = before.corroboration_count, after.corroboration_count
    if counts[0] is not None and counts[1] is not None and counts[0] != counts[1]:  # None: taken in without labels
        yield Aspect.LESS_CORROBORATED if counts[1] < counts[0] else Aspect.MORE_CORROBORATED


def as_claimed(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Aspect]:
    claimed, claims = read_hit(old.get("hit")), read_hit(new.get("hit"))
    if claimed != claims:
        yield Aspect.HIT_CLAIMED if claims is True or claimed is False else Aspect.HIT_WITHDRAWN


def of_whom(finding: Mapping[str, Any], subject: str) -> str:
    """The target for comparing; a finding that names none is about the subject."""
    named = read_finding(finding).target or subject
    return " ".join(unicodedata.normalize("NFKC", named).casefold().split())


def by_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for key in SOURCES:
        was, now = said(old.get(key)), said(new.get(key))
        if was != now:
            aspect = Aspect.SOURCE_CHANGED if was and now else Aspect.SOURCE_GONE if was else Aspect.SOURCE_ADDED
            yield Difference(aspect, key)
    for key in dict.fromkeys((*old, *new)):
        if key not in READ_BY_RULES and said(old.get(key)) != said(new.get(key)):
            yield Difference(OF_KEY.get(key, Aspect.OTHER_KEY), key)


def said(value: Any) -> Any:
    """A value for comparing: `null` says no more than an absent key."""
    return value.strip() if isinstance(value, str) else value


def fields_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The path of everything outside the findings that the newer report says otherwise, down to the keys of objects:
    the gate, the subject and the report's conclusions first, the time of its making last.
    """
    names = [name for name in dict.fromkeys((*before, *after)) if name not in ENVELOPE]
    ordered = [name for name in FIRST_FIELDS if name in names]
    ordered += [name for name in names if name not in {*FIRST_FIELDS, *LAST_FIELDS}]
    ordered += [name for name in LAST_FIELDS if name in names]
    return [path for name in ordered for path in paths_changed(name, before.get(name), after.get(name))]


def paths_changed(name: str, old: Any, new: Any) -> Iterator[tuple[str, ...]]:
    if said(old) == said(new):
        return
    if all(one is None or isinstance(one, dict) for one in (old, new)):
        old, new = old or {}, new or {}
        keys = dict.fromkeys((*old, *new))
        yield from ((name, key) for key in keys if said(old.get(key)) != said(new.get(key)))
    else:
        yield (name,)
