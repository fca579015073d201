"""Takes in a report or a wish for a re-check: saved and recorded in one transaction. The queued row is the outbox.

Both functions open the tenant's scope themselves, so a caller needs none.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from audit.chain import printable
from audit.log import record, tenant_scope
from audit.models import ActorType, AuditEvent
from audit.sealed import CaseErased, check_kept
from verifier.domain.corroboration import group_fingerprint, label
from verifier.domain.findings import (
    claim_fingerprint,
    needs_two_persons,
    read_finding,
    recheck_order,
    select,
    severity_rank,
)
from verifier.domain.json_text import Problem
from verifier.domain.search import search_text
from verifier.domain.subjects import names_of, read_subject
from verifier.models import Case, Finding, Report, SearchText, Switch, Verification
from verifier.reading import InvalidReport, ParsedReport, ReportTooLarge, parse
from verifier.services.recorded import report_details

__all__ = ["Accepted", "InvalidReport", "ReportConflict", "ReportTooLarge", "accept_report", "request_recheck"]

VERIFICATION_SWITCH = "FINDING_CORRECTNESS_VERIFICATION_ENABLED"
LABELS_SWITCH = "FINDING_CORROBORATION_ENABLED"
CHANNEL = "verification_queued"
GREATEST_STEP = 1_000_000  # how far an iteration may lie above the newest one
Status = Verification.Status


class ReportConflict(Exception):
    """Another report of this `report_id` is here already, and this one's iteration isn't higher."""

    def __init__(self, case: Case, iteration: int) -> None:
        super().__init__(
            f"Another report with this report_id is here already, with iteration {iteration}. "
            "Send a changed report with a higher iteration."
        )
        self.case = case
        self.iteration = iteration  # the highest that is here


@dataclass(frozen=True, slots=True)
class Accepted:
    case: Case
    verification: Verification
    created: bool  # False: the same bytes were here before


@dataclass(frozen=True, slots=True)
class Receipt:
    """Who handed something in, for whom, and when: what every event and row of one intake has in common."""

    tenant_id: UUID
    actor: str
    actor_type: ActorType
    actor_role: str
    at: datetime

    def note(self, event_type: str, case: Case, details: dict[str, Any]) -> AuditEvent:
        return record(
            tenant_id=self.tenant_id,
            event_type=event_type,
            actor=self.actor,
            actor_type=self.actor_type,
            actor_role=self.actor_role,
            case_id=case.id,
            subject=case.report_id,
            details=details,
            at=self.at,
        )


def accept_report(
    *, tenant_id: UUID, content: bytes, received_by: str, actor_type: ActorType, actor_role: str = "", at: datetime
) -> Accepted:
    """Keeps a report and queues its verification; the same bytes again change nothing and give the same ids.

    Raises ReportTooLarge, InvalidReport or ReportConflict.
    """
    parsed = parse(content)
    receipt = Receipt(tenant_id, received_by, actor_type, actor_role, at)
    with tenant_scope(tenant_id):
        try:
            with transaction.atomic():
                return take_in(parsed, receipt)
        except ReportConflict as conflict:
            with transaction.atomic():
                receipt.note(
                    "report_conflicted", conflict.case, {"iteration": parsed.iteration, "report_sha256": parsed.sha256}
                )
            raise
        except CaseErased:
            raise InvalidReport(
                [Problem("$.report_id", "is that of a case that has been erased: send it under another")]
            ) from None


def request_recheck(
    *, case: Case, requested_by: str, actor_type: ActorType, actor_role: str = "", at: datetime
) -> Verification:
    """Queues another run over the case's current report; one that hasn't ended yet is returned instead."""
    receipt = Receipt(case.tenant_id, requested_by, actor_type, actor_role, at)
    with tenant_scope(case.tenant_id), transaction.atomic():
        locked = Case.objects.select_for_update(no_key=True).get(id=case.id)
        current = locked.current_verification  # only now: a join would not see the run of whoever had the lock
        assert current is not None, "a case is saved together with its first run"
        if not current.ended:
            return current
        check_kept(case.id)
        enabled = Switch.is_on(VERIFICATION_SWITCH)
        verification = new_verification(locked, current.report_id, receipt, enabled=enabled)
        save_and_announce(verification)
        move_pointers(locked, verification)
        receipt.note("recheck_requested", locked, {"verification_id": str(verification.id)})
        note_verification(locked, verification, receipt)
        return verification


def take_in(parsed: ParsedReport, receipt: Receipt) -> Accepted:
    """Inside a transaction: finds what is here of this `report_id`, and adds the report if it is new."""
    report_id = parsed.value["report_id"]
    wait_for_others(receipt.tenant_id, report_id)
    mine = Case.objects.filter(tenant_id=receipt.tenant_id, report_id=report_id)
    case = mine.select_for_update(no_key=True).first()  # a stronger lock would wait for verdicts, and they for it
    if case is not None:
        check_kept(case.id)
        known = case.reports.filter(sha256=parsed.sha256).defer("content").order_by("iteration").first()
        if known is not None:
            return Accepted(case, known.verifications.earliest("queued_at"), created=False)
        highest = case.reports.latest("iteration").iteration
        if parsed.iteration <= highest:
            raise ReportConflict(case, highest)
        check_step(parsed.iteration, highest)
    else:
        check_step(parsed.iteration, 0)
    return add_report(case or new_case(parsed, receipt), parsed, receipt)


def check_step(iteration: int, highest: int) -> None:
    """Without a bound one mistyped iteration would leave no room for any later report of its `report_id`."""
    if iteration > highest + GREATEST_STEP:
        so_far = f"the newest report here is iteration {highest:,}" if highest else "there is no report of it here yet"
        raise InvalidReport([Problem("$.iteration", f"may be at most {highest + GREATEST_STEP:,}: {so_far}")])


def wait_for_others(tenant_id: UUID, report_id: str) -> None:
    """Two deliveries of one `report_id` at the same moment pass one after the other."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"second-look:report:{tenant_id}:{report_id}"]
        )


def new_case(parsed: ParsedReport, receipt: Receipt) -> Case:
    return Case(tenant_id=receipt.tenant_id, report_id=parsed.value["report_id"], created_at=receipt.at)


def add_report(case: Case, parsed: ParsedReport, receipt: Receipt) -> Accepted:
    switches = Switch.states()
    report = new_report(case, parsed, receipt, labelled=switches[LABELS_SWITCH])
    verification = new_verification(case, report.id, receipt, enabled=switches[VERIFICATION_SWITCH])
    findings = make_findings(parsed, report)
    case.subject_name = printable(parsed.value["subject"]["name"])
    report.event_id = receipt.note("report_received", case, report_details(report, findings)).id
    report.save(force_insert=True)  # foreign keys are checked at commit: a new case's row may come after its report's
    Finding.objects.bulk_create(findings)
    save_and_announce(verification)
    move_pointers(case, verification)  # last, because the database lets them point to what is there only
    keep_search_text(case, parsed, findings)
    note_verification(case, verification, receipt)
    return Accepted(case, verification, created=True)


def keep_search_text(case: Case, parsed: ParsedReport, findings: list[Finding]) -> None:
    """A case is found by what any of its reports said."""
    known = SearchText.objects.filter(case=case).first() or SearchText(case=case, tenant_id=case.tenant_id)
    subject = read_subject(parsed.value["subject"])
    known.text = search_text([case.report_id, *names_of(subject), *words_of(parsed)], before=known.text)
    known.save(force_insert=known._state.adding)


def words_of(parsed: ParsedReport) -> Iterator[str]:
    for value in parsed.value["findings"]:
        finding = read_finding(value)
        yield from (finding.title, finding.description, finding.target or "")


def new_report(case: Case, parsed: ParsedReport, receipt: Receipt, *, labelled: bool) -> Report:
    gate = parsed.value.get("quality_gate") or {}
    return Report(
        tenant_id=receipt.tenant_id,
        case=case,
        iteration=parsed.iteration,
        content=parsed.content,
        sha256=parsed.sha256,
        subject=parsed.subject,
        quality_gate=parsed.quality_gate,
        advisory_only=gate.get("advisory_only", False),
        forces_review=gate.get("forces_review", False),
        corroboration_labels=labelled,
        received_at=receipt.at,
        received_by=receipt.actor,
    )


def make_findings(parsed: ParsedReport, report: Report) -> list[Finding]:
    """The rows of a report's findings, in its order, with what selection and labels say of each."""
    reported = [read_finding(value) for value in parsed.value["findings"]]
    selections = [select(finding) for finding in reported]
    order = recheck_order(list(zip(reported, selections, strict=True)))
    turns = {index: turn for turn, index in enumerate(order)}
    subject = read_subject(parsed.value["subject"])
    labels = label(reported, subject=subject.name) if report.corroboration_labels else []
    findings = []
    values = zip(parsed.value["findings"], selections, parsed.findings, strict=True)
    for position, (value, selection, content) in enumerate(values):
        finding = reported[position]
        findings.append(
            Finding(
                tenant_id=report.tenant_id,
                case_id=report.case_id,
                report=report,
                position=position,
                finding_id=value["id"],
                title=printable(value["title"]),
                severity=printable(value["severity"]),
                severity_rank=severity_rank(value["severity"]),
                content=content,
                content_sha256=hashlib.sha256(content.encode()).hexdigest(),
                selected=selection.selected,
                selection_why=selection.why,
                material_type=selection.material_type or "",
                recheck_position=turns.get(position),
                lane=finding.attribution_lane,
                two_persons=needs_two_persons(finding, selection.material_type),
                claim_sha256=claim_fingerprint(finding, selection.material_type, subject.name),
                corroboration_group=group_fingerprint(finding, subject=subject.name) if labels else "",
                source_trust=labels[position].source_trust if labels else None,
                corroboration_count=labels[position].corroboration_count if labels else None,
            )
        )
    return findings


def new_verification(case: Case, report_id: UUID, receipt: Receipt, *, enabled: bool) -> Verification:
    """A queued run; with the switch off one that has ended, so that nothing waits for it."""
    return Verification(
        tenant_id=receipt.tenant_id,
        case=case,
        report_id=report_id,
        status=Status.QUEUED if enabled else Status.FINISHED,
        correctness_enabled=enabled,
        requested_by=receipt.actor,
        queued_at=receipt.at,
        started_at=None if enabled else receipt.at,
        finished_at=None if enabled else receipt.at,
    )


def save_and_announce(verification: Verification) -> None:
    """The relay hears of a queued run at commit."""
    verification.save(force_insert=True)
    if not verification.ended:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(verification.id)])


def move_pointers(case: Case, verification: Verification) -> None:
    case.current_report_id = verification.report_id
    case.current_verification = verification
    case.save()


def note_verification(case: Case, verification: Verification, receipt: Receipt) -> None:
    receipt.note(
        f"verification_{verification.status}" if verification.correctness_enabled else "verification_switched_off",
        case,
        {"verification_id": str(verification.id), "correctness_enabled": verification.correctness_enabled},
    )
