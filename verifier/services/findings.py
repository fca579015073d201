"""Re-verifies the decision-driving findings of one case (ADR-0111): serially, most severe first, capped, in one budget.

Whatever goes wrong leaves more for a human, never less: a finding that was not re-checked gets an explicit
indeterminate verdict, and one whose verdict could not be recorded has none and waits.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, transaction

from audit.log import EVERY_TENANT, record, tenant_scope
from audit.models import ActorType
from verifier.domain.findings import MaterialType, read_finding
from verifier.domain.json_text import load
from verifier.domain.subjects import Subject, read_subject
from verifier.domain.verdicts import Outcome, deadline, over_cap, stopped
from verifier.models import Finding, FindingVerdict, ScreeningRecord, Switch, Verification
from verifier.services.locks import run_lock
from verifier.services.recheck import Recheck, not_rechecked, recheck
from verifier.services.recorded import verdict_details

logger = logging.getLogger(__name__)
ACTOR = "verifier"
SWITCH = "FINDING_CORRECTNESS_VERIFICATION_ENABLED"
LEAST_SECONDS = 5.0  # no re-check is started with less than this left
Status = Verification.Status
BATCH = 200  # verdicts without a re-check that are recorded in one transaction
Clock = Callable[[], datetime]
Unchecked = tuple[Finding, Recheck, datetime]


@dataclass(frozen=True, slots=True)
class Run:
    """One verification under way, and what does not change while it runs."""

    verification: Verification
    subject: Subject
    clock: Clock

    def remaining(self) -> float:
        """Seconds left of the budget, which counts from the first start, whoever made it."""
        started_at = self.verification.started_at
        assert started_at is not None
        return settings.FINDING_CORRECTNESS_BUDGET_SECONDS - (self.clock() - started_at).total_seconds()


def verify_case(*, verification_id: UUID, clock: Clock) -> None:
    """Runs a queued verification to its end, or picks up one whose worker died. Does nothing when it is
    running elsewhere or has ended. Raises OperationalError when the database is gone; the relay then queues it again.
    """
    with tenant_scope(EVERY_TENANT), run_lock(verification_id) as ours:
        if not ours:
            return
        verification = Verification.objects.select_related("report", "case").filter(id=verification_id).first()
        if verification is None or verification.ended:
            return
        with tenant_scope(verification.tenant_id):
            start(verification, clock())
            try:
                run = Run(verification, read_subject(load(verification.report.subject)), clock)
                verify_findings(run)
                end(verification, Status.FINISHED, clock())
            except (OperationalError, InterfaceError):
                raise
            except Exception as problem:
                logger.exception("verification failed: case=%s", verification.case_id)
                end(verification, Status.FAILED, clock(), failure=type(problem).__name__)


def start(verification: Verification, at: datetime) -> None:
    with transaction.atomic():
        verification.status = Status.RUNNING
        verification.started_at = verification.started_at or at
        verification.attempts += 1
        verification.save(update_fields=["status", "started_at", "attempts"])
        note(verification, "verification_started", at, {"attempts": verification.attempts})


def end(verification: Verification, status: str, at: datetime, failure: str = "") -> None:
    with transaction.atomic():
        verification.status, verification.finished_at, verification.failure = status, at, failure
        verification.working_on, verification.working_since = None, None
        verification.save(update_fields=["status", "finished_at", "failure", "working_on", "working_since"])
        note(verification, f"verification_{status}", at, {"failure": failure} if failure else {})


def note(verification: Verification, event_type: str, at: datetime, details: dict[str, object]) -> None:
    record(
        tenant_id=verification.tenant_id,
        event_type=event_type,
        actor=ACTOR,
        actor_type=ActorType.SYSTEM,
        case_id=verification.case_id,
        subject=verification.case.report_id,
        details={"verification_id": str(verification.id), **details},
        at=at,
    )


def verify_findings(run: Run) -> None:
    """In order. Those that are not re-checked may be thousands: their verdicts are recorded many at a time."""
    selected = run.verification.report.findings.filter(selected=True).order_by("recheck_position")
    recorded = set(run.verification.verdicts.values_list("finding_id", flat=True))
    unchecked: list[Unchecked] = []
    reason_not_to: Outcome | None = None
    for place, finding in enumerate(selected):
        if finding.id in recorded:
            continue
        if not unchecked or place < settings.FINDING_CORRECTNESS_MAX_RECHECKS:  # over the cap it is asked once a batch
            reason_not_to = why_not(run, place)
        if reason_not_to is None:
            verify_finding(run, finding)
            continue
        unchecked.append((finding, not_rechecked(reason_not_to), run.clock()))
        if len(unchecked) == BATCH:
            record_unchecked(run, unchecked)
            unchecked = []
    record_unchecked(run, unchecked)


def verify_finding(run: Run, finding: Finding) -> None:
    started_at = run.clock()
    show_progress(run.verification, finding, started_at)
    result = recheck(
        finding=read_finding(load(finding.content)),
        subject=run.subject,
        material_type=MaterialType(finding.material_type) if finding.material_type else None,
        case_id=str(finding.case_id),
        remaining=run.remaining,
    )
    record_result(run, finding, result, started_at)


def record_unchecked(run: Run, unchecked: list[Unchecked]) -> None:
    """One transaction for all, and where that fails one for each, so that one that can't be recorded keeps no other."""
    try:
        with transaction.atomic():
            verdicts = [verdict_with_event(run, *each) for each in unchecked]
            FindingVerdict.objects.bulk_create(verdicts)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        for each in unchecked:
            record_result(run, *each)


def why_not(run: Run, place: int) -> Outcome | None:
    """The verdict of a finding that is not re-checked at all, or None when it is its turn."""
    if not Switch.is_on(SWITCH):
        return stopped()
    if place >= settings.FINDING_CORRECTNESS_MAX_RECHECKS:
        return over_cap()
    if run.remaining() < LEAST_SECONDS:
        return deadline()
    return None


def show_progress(verification: Verification, finding: Finding, at: datetime) -> None:
    verification.working_on, verification.working_since = finding, at
    verification.save(update_fields=["working_on", "working_since"])


def record_result(run: Run, finding: Finding, result: Recheck, started_at: datetime) -> None:
    """Keeps the screening answer, then the verdict with its event. If the event can't be written the verdict
    doesn't exist and the finding waits as unrecorded; the other findings go on.
    """
    try:
        if result.screening is not None:
            record_screening(run, finding, result, started_at)
        record_verdict(run, finding, result, started_at)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError as problem:
        logger.error("verdict not recorded: case=%s cause=%s", finding.case_id, type(problem).__name__)


def record_screening(run: Run, finding: Finding, result: Recheck, started_at: datetime) -> None:
    assert result.screening is not None
    ScreeningRecord.objects.create(
        tenant_id=finding.tenant_id,
        case_id=finding.case_id,
        verification=run.verification,
        finding=finding,
        provider=result.provider,
        status=result.screening.status,
        answer=result.screening.answer,
        simulated=result.simulated,
        started_at=started_at,
        duration_ms=result.duration_ms,
    )


def record_verdict(run: Run, finding: Finding, result: Recheck, started_at: datetime) -> None:
    """One transaction: the verdict and its `finding_correctness_verified` event."""
    with transaction.atomic():
        verdict_with_event(run, finding, result, started_at).save(force_insert=True)


def verdict_with_event(run: Run, finding: Finding, result: Recheck, started_at: datetime) -> FindingVerdict:
    """Inside a transaction: records the event, and gives the verdict to be saved beside it."""
    at = run.clock()
    verdict = FindingVerdict(
        tenant_id=finding.tenant_id,
        case_id=finding.case_id,
        verification=run.verification,
        finding=finding,
        verdict=result.outcome.verdict,
        cause=result.outcome.cause,
        reason=result.outcome.reason,
        provider=result.provider,
        started_at=started_at,
        duration_ms=result.duration_ms,
        slot_wait_ms=result.slot_wait_ms,
        evidence=result.evidence,
        evidence_sha256=result.evidence_sha256,
        quote=result.quote,
        model=result.model,
        prompt_id=result.prompt_id,
        prompt_sha256=result.prompt_sha256,
        simulated=result.simulated,
        recorded_at=at,
    )
    verdict.event_id = record(
        tenant_id=finding.tenant_id,
        event_type="finding_correctness_verified",
        actor=ACTOR,
        actor_type=ActorType.SYSTEM,
        case_id=finding.case_id,
        subject=f"{run.verification.case.report_id} · {finding.finding_id}",
        outcome=str(verdict.verdict),
        details=verdict_details(verdict),
        at=at,
    ).id
    return verdict
