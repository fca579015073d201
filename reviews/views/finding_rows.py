"""The findings of a case as its list shows them, and where the re-check did not run: never as anything like a pass."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from reviews import words
from reviews.models import Standing
from verifier.models import Case, Finding, FindingVerdict, Verification

SWITCHED_OFF = "Not re-checked: the re-check is switched off."
NOT_ASKED_THEN = "Not re-checked: the re-check was switched off when this report arrived."
UNCHECKED = "as reported, not re-checked"


@dataclass(frozen=True, slots=True)
class Row:
    """A finding in the list."""

    id: UUID
    title: str
    severity: str
    severity_rank: int
    driving: bool  # whether a re-check is meant for it
    verdict_code: str
    earlier_from: datetime | None  # of a verdict that an earlier re-check gave, while the newest has not answered
    simulated: bool
    state: str
    url: str
    current: bool
    gone: str  # which report told it last, where the newest one doesn't


def row(
    finding: Finding,
    standing: Standing | None,
    verdicts: Mapping[UUID, FindingVerdict],
    in_view: Finding | None,
    query: str,
    case: Case,
) -> Row:
    verdict = in_force(standing, verdicts)
    address = reverse("case", args=[case.id])
    return Row(
        id=finding.id,
        title=finding.title,
        severity=finding.severity,
        severity_rank=finding.severity_rank,
        driving=standing is not None or finding.selected,
        verdict_code=standing.verdict if standing else "none",
        earlier_from=earlier_from(standing, verdict),
        simulated=bool(verdict and verdict.simulated),
        state=row_state(finding, standing),
        url=f"{address}?finding={finding.id}{'&' if query else ''}{query}",
        current=finding == in_view,
        gone=gone(finding, case),
    )


def gone(finding: Finding, case: Case) -> str:
    """Which report told a finding last that the newest no longer holds as one to re-check."""
    return "" if finding.report_id == case.current_report_id else f"report {finding.report.iteration}"


def earlier_from(standing: Standing | None, verdict: FindingVerdict | None) -> datetime | None:
    """When the verdict in force was given, if it is not the newest run's own."""
    if standing is None or verdict is None or verdict.verification_id == standing.run_id:
        return None
    return verdict.started_at


def row_state(finding: Finding, standing: Standing | None) -> str:
    if standing is None:
        return UNCHECKED if finding.selected else words.say("selection", finding.selection_why)
    if standing.awaiting_second:
        return "waits for a second person"
    if standing.answered:
        return "decided"
    if standing.verdict == "pending":
        return "its re-check has not ended"
    if not standing.open:
        return "nothing waits"
    return "needs review" if standing.forced else "advisory: would need review"


def in_force(standing: Standing | None, verdicts: Mapping[UUID, FindingVerdict]) -> FindingVerdict | None:
    return verdicts.get(standing.verdict_row_id) if standing and standing.verdict_row_id else None


def was_checked(case: Case) -> bool:
    """Whether a re-check was ever asked for of the newest report."""
    asked = Verification.objects.filter(case=case, report=case.current_report, correctness_enabled=True)
    return asked.exists()


def unchecked_notice(*, unchecked: int, any_checked: bool, switched_on: bool) -> str:
    """What is said on top of a case that was not re-checked, or can't be at present. Nothing where neither is so."""
    if unchecked:
        many = "1 finding that drives a decision stands" if unchecked == 1 else f"{unchecked} findings stand"
        said = NOT_ASKED_THEN if switched_on else SWITCHED_OFF
        return f"{said} {many} as reported, and no source was asked."
    if switched_on:
        return ""
    if any_checked:
        return "The re-check is switched off. The verdicts here are those of the last one, each with its time."
    return SWITCHED_OFF
