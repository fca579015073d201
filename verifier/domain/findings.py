"""What a report says of one finding, its kind, and whether it drives a decision and so is re-checked (ADR-0111).

Kind comes from the taxonomy (`category`, `type`), never from prose. Of prose only the title counts, and only where the
whole of it is a clear result or is about other entities (see `titles`). What isn't known adds scrutiny.
"""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from verifier.domain.taxonomy import (
    GRAVEST,
    MaterialType,
    is_coverage_marker,
    is_network_scoped,
    is_screening,
    material_type_of,
    may_be_grave,
    vocabulary,
)
from verifier.domain.titles import is_about_network, is_clear_result, speaks_against

__all__ = [
    "MaterialType",
    "ReportedFinding",
    "Selection",
    "Why",
    "classify_material_type",
    "is_adverse",
    "read_finding",
    "recheck_order",
    "select",
    "severity_rank",
]

SUBJECT_LANE = "subject"
CLEAN_SEVERITIES = {"low", "info", "informational", "none", "verified", "verified_clear"}
SEVERITY_RANKS = {"critical": 0, "high": 1, "medium": 2, "low": 3} | dict.fromkeys(CLEAN_SEVERITIES - {"low"}, 4)
UNKNOWN_SEVERITY_RANK = 1  # one nobody knows is as urgent as a high one
MOST_SEVERE = 1

HIT_STATUSES = vocabulary("hit warning match matched")
CLEAR_STATUSES = vocabulary("clear cleared clean no_hit no_hits no_match no_matches verified_clear")
UNSCREENED_STATUSES = vocabulary(
    "not_screened unscreened not_searched not_checked not_run error failed timeout indeterminate unavailable incomplete"
    " degraded skipped"
)


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """The keys of a finding that our rules read. Everything else stays in the report's own text."""

    finding_id: str
    title: str
    description: str
    severity: str
    category: str
    type: str
    source: str
    provider: str  # `_provider`
    target: str | None  # None: the subject
    attribution_lane: str
    hit: bool | None
    status: str


def read_finding(data: Mapping[str, Any]) -> ReportedFinding:
    """Tolerant of odd types: what isn't a text counts as absent."""
    return ReportedFinding(
        finding_id=text_of(data, "id"),
        title=text_of(data, "title"),
        description=text_of(data, "description"),
        severity=text_of(data, "severity"),
        category=text_of(data, "category"),
        type=text_of(data, "type"),
        source=text_of(data, "source"),
        provider=text_of(data, "_provider"),
        target=text_of(data, "target") or None,
        attribution_lane=text_of(data, "attribution_lane").casefold() or SUBJECT_LANE,
        hit=read_hit(data.get("hit")),
        status=text_of(data, "status"),
    )


def text_of(data: Mapping[str, Any], key: str) -> str:
    """The text without blanks around it; U+0000, which neither providers nor the database take, is shown as U+FFFD."""
    value = data.get(key)
    return value.strip().replace("\0", "\ufffd") if isinstance(value, str) else ""


def read_hit(value: object) -> bool | None:
    """True and False as such. The word "true" claims a hit as well; any other value says nothing, so it can't clear."""
    if isinstance(value, bool):
        return value
    return True if isinstance(value, str) and value.strip().casefold() == "true" else None


def classify_material_type(finding: ReportedFinding) -> MaterialType | None:
    """The kind of claim, which decides how it is re-checked. None: a gap in coverage, or nothing we can re-derive."""
    if is_coverage_marker(finding.category, finding.type):
        return None
    return material_type_of(finding.category, finding.type)


def is_adverse(material_type: MaterialType) -> bool:
    """Whether a search of publications is the re-check; otherwise it is a screening."""
    return material_type is not MaterialType.SANCTIONS


class Why(StrEnum):
    """Why a finding is, or isn't, re-checked. A stable code that callers see."""

    SEVERITY = "severity"
    MATERIAL_TYPE = "material_type"
    NOT_SELECTED_CLEAN = "not_selected_clean"
    NOT_SELECTED_NETWORK = "not_selected_network"
    NOT_SELECTED_COVERAGE = "not_selected_coverage"
    NOT_SELECTED_OTHER = "not_selected_other"


@dataclass(frozen=True, slots=True)
class Selection:
    selected: bool
    why: Why
    material_type: MaterialType | None


def select(finding: ReportedFinding) -> Selection:
    """Whether the finding drives a decision.

    A type that marks a gap in coverage, or the network around the subject, makes no claim about the subject that a
    re-check could test: these two are left out even with `hit: true`. Any other claimed hit is selected, whatever
    severity, status or title say.
    """
    material_type = classify_material_type(finding)
    excluded = why_excluded(finding, material_type)
    if excluded is not None:
        return Selection(False, excluded, material_type)
    if severity_rank(finding.severity) <= MOST_SEVERE:
        return Selection(True, Why.SEVERITY, material_type)
    if material_type is not None or claims_hit(finding):
        return Selection(True, Why.MATERIAL_TYPE, material_type)
    return Selection(False, Why.NOT_SELECTED_OTHER, material_type)


def why_excluded(finding: ReportedFinding, material_type: MaterialType | None) -> Why | None:
    """The first reason to leave the finding alone. Wording and severity exclude only what comes from a screening or a
    search, so that nothing else that is severe is dropped by them.
    """
    screened = material_type is not None or is_screening(finding.category, finding.type)
    if is_coverage_marker(finding.category, finding.type):
        return Why.NOT_SELECTED_COVERAGE
    if is_network_scoped(finding.category, finding.type):
        return Why.NOT_SELECTED_NETWORK
    if claims_hit(finding) or (screened and word(finding.status) in HIT_STATUSES):
        return None
    if word(finding.status) in UNSCREENED_STATUSES and is_screening(finding.category, finding.type):
        return Why.NOT_SELECTED_COVERAGE
    if finding.hit is False or word(finding.status) in CLEAR_STATUSES:
        return Why.NOT_SELECTED_CLEAN
    if screened and (word(finding.severity) in CLEAN_SEVERITIES or is_told_clear(finding)):
        return Why.NOT_SELECTED_CLEAN
    if screened and is_about_network(finding.title):
        return Why.NOT_SELECTED_NETWORK
    return None


def is_told_clear(finding: ReportedFinding) -> bool:
    """By its whole title, unless its description says otherwise. A description alone clears nothing."""
    return is_clear_result(finding.title) and not speaks_against(finding.description)


def needs_two_persons(finding: ReportedFinding, material_type: MaterialType | None) -> bool:
    """Whether one officer alone must not set the finding aside: a sanctions or criminal claim by either of its codes,
    one of a kind we don't know, and whatever could be one in a spelling we don't know.
    """
    if material_type is None or material_type in GRAVEST:
        return True
    return any(may_be_grave(code) for code in (finding.category, finding.type))


def claim_fingerprint(finding: ReportedFinding, material_type: MaterialType | None, subject_name: str) -> str:
    """Of whom the finding says which kind of thing: under the same id, another one is another claim. SHA-256, hex."""
    of_whom = " ".join(unicodedata.normalize("NFKC", finding.target or subject_name).casefold().split())
    return hashlib.sha256(f"{material_type or ''}\n{finding.attribution_lane}\n{of_whom}".encode()).hexdigest()


def claims_hit(finding: ReportedFinding) -> bool:
    return finding.hit is True


def word(text: str) -> str:
    """A status or severity for comparing: "Not screened", "not-screened" and "NOT_SCREENED" are one."""
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())


def severity_rank(severity: str) -> int:
    """0 is the most severe."""
    return SEVERITY_RANKS.get(word(severity), UNKNOWN_SEVERITY_RANK)


def recheck_order(pairs: Sequence[tuple[ReportedFinding, Selection]]) -> list[int]:
    """Indexes of the selected findings in the order of their re-checks: most severe first, then sanctions and criminal
    claims, then as reported.
    """

    def urgency(index: int) -> tuple[int, bool, int]:
        finding, selection = pairs[index]
        gravest = selection.material_type in {MaterialType.SANCTIONS, MaterialType.CRIMINAL}
        return severity_rank(finding.severity), not gravest, index

    return sorted((index for index, (_, selection) in enumerate(pairs) if selection.selected), key=urgency)
