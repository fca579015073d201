"""What the trail holds of verdicts and reports, and how `verify_trail` holds the rows against it."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import BinaryField, F, Func, OuterRef, Prefetch, Q, Subquery

from audit.chain import canonical
from audit.comparing import Told, told
from audit.log import Departure, Recorded
from audit.models import SYSTEM_TENANT_ID
from verifier.models import ApiKey, Case, Finding, FindingVerdict, Report, Switch, Verification

MOST_FOUND = 200
REPORTS_AT_ONCE = 10  # with all their findings, which may be megabytes
FINDING_COLUMNS = (
    "position",
    "finding_id",
    "title",
    "severity",
    "severity_rank",
    "content",
    "content_sha256",
    "selected",
    "selection_why",
    "material_type",
    "recheck_position",
    "lane",
    "two_persons",
    "claim_sha256",
    "source_trust",
    "corroboration_group",
    "corroboration_count",
)


def verdict_details(verdict: FindingVerdict) -> dict[str, Any]:
    """The verdict without names and quotes; a hash stands for what can hold them."""
    return {
        "verdict_id": str(verdict.id),
        "verification_id": str(verdict.verification_id),
        "finding_id": verdict.finding.finding_id,
        "finding_row_id": str(verdict.finding_id),
        "material_type": verdict.finding.material_type or None,
        "verdict": str(verdict.verdict),
        "cause": str(verdict.cause),
        "provider": verdict.provider,
        "evidence_sha256": verdict.evidence_sha256,
        "model": verdict.model,
        "prompt_id": verdict.prompt_id,
        "prompt_sha256": verdict.prompt_sha256,
        "duration_ms": verdict.duration_ms,
        "slot_wait_ms": verdict.slot_wait_ms,
        "simulated": verdict.simulated,
        "content_sha256": content_sha256(verdict),
    }


def content_sha256(verdict: FindingVerdict) -> str:
    """Of what the row holds beyond this: its sentence, its quote and its stored evidence."""
    held = {"reason": verdict.reason, "quote": verdict.quote, "evidence": verdict.evidence}
    return hashlib.sha256(canonical(held).encode()).hexdigest()


def verdict_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """Every verdict of a tenant as its event must show it, in the order of the events' ids."""
    rows = FindingVerdict.objects.select_related("finding").filter(tenant_id=tenant_id).order_by("event_id")
    for verdict in rows.iterator(chunk_size=500):
        yield Recorded(verdict.event_id, verdict_details(verdict))


def report_details(report: Report, findings: Sequence[Finding]) -> dict[str, Any]:
    """A report as it was taken in. One hash stands for all that was read out of its bytes and stands in columns."""
    return {
        "report_id": report.case.report_id,
        "report_sha256": report.sha256,
        "iteration": report.iteration,
        "advisory_only": report.advisory_only,
        "forces_review": report.forces_review,
        "corroboration_labels": report.corroboration_labels,
        "received_at": report.received_at.isoformat(timespec="microseconds"),
        "findings": len(findings),
        "selected": sum(finding.selected for finding in findings),
        "read_sha256": read_sha256(report, findings),
    }


def read_sha256(report: Report, findings: Iterable[Finding]) -> str:
    """Of the subject, the gate and every finding's columns, in the order of the report."""
    told = hashlib.sha256(canonical({"subject": report.subject, "quality_gate": report.quality_gate}).encode())
    for finding in findings:
        told.update(canonical({name: getattr(finding, name) for name in FINDING_COLUMNS}).encode())
    return told.hexdigest()


def report_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """Every report as its event must show it: its bytes hashed anew by the database, its findings as they stand."""
    rows = Report.objects.select_related("case").filter(tenant_id=tenant_id).order_by("event_id").defer("content")
    rows = rows.annotate(hashed=Func("content", function="sha256", output_field=BinaryField()))
    in_order = Prefetch("findings", Finding.objects.order_by("position"))
    for report in rows.prefetch_related(in_order).iterator(chunk_size=REPORTS_AT_ONCE):
        details = report_details(report, list(report.findings.all()))
        if bytes(report.hashed).hex() != report.sha256:
            details["report_sha256"] = ""  # whatever the column says, these are other bytes
        yield Recorded(report.event_id, details)


def case_departures(tenant_id: UUID) -> Iterator[Departure]:
    """Cases that don't point to their newest report and its newest run."""
    newest = Report.objects.filter(case=OuterRef("pk")).order_by("-iteration")
    run = Verification.objects.filter(case=OuterRef("pk"), report=OuterRef("current_report")).order_by("-queued_at")
    cases = Case.objects.filter(tenant_id=tenant_id).annotate(
        newest=Subquery(newest.values("id")[:1]),
        event=Subquery(newest.values("event_id")[:1]),
        run=Subquery(run.values("id")[:1]),
    )
    elsewhere = ~Q(current_report=F("newest")) | ~Q(current_verification=F("run"))
    nowhere = Q(current_report=None) | Q(current_verification=None) | Q(run=None)
    for case in cases.filter(elsewhere | nowhere).iterator():
        what = "newest report" if case.current_report_id != case.newest else "newest run"
        yield Departure(case.event, f"case {case.id} doesn't show its {what}")


def key_departures(tenant_id: UUID) -> Iterator[Departure]:
    """API keys that are not as they were made, or that were given back after they were revoked."""
    made: dict[str, Told] = {}
    revoked: dict[str, Told] = {}
    for event in told(tenant_id, "api_key_created", "api_key_revoked"):
        (made if event.event_type == "api_key_created" else revoked)[str(event.details.get("key_id"))] = event
    for key in ApiKey.objects.filter(tenant_id=tenant_id):
        creation, revocation = made.pop(str(key.id), None), revoked.get(str(key.id))
        if creation is None:
            yield Departure(None, f"key {key.id} was never recorded")
        elif creation.details != key.told():
            yield Departure(creation.event_id, f"key {key.id} is not the one that was made")
        elif (key.revoked_at is None) != (revocation is None):
            wrong = "revoked without its event" if revocation is None else "in force again"
            yield Departure((revocation or creation).event_id, f"key {key.id} is {wrong}")
    yield from (Departure(event.event_id, f"key {key_id} is gone") for key_id, event in made.items())


def switch_departures(tenant_id: UUID) -> Iterator[Departure]:
    """Switches that stand otherwise than they were last set; all of them are set on the system's chain."""
    if tenant_id != SYSTEM_TENANT_ID:
        return
    latest = {event.details.get("switch"): event for event in told(tenant_id, "switch_changed")}
    for switch in Switch.objects.all():
        event = latest.pop(switch.name, None)
        if event is None:
            yield Departure(None, f"{switch.name} was never recorded")
        elif event.details != switch.told():
            yield Departure(event.event_id, f"{switch} is not what was last set")
    yield from (Departure(event.event_id, f"{name} is gone") for name, event in latest.items())


def references_of(tenant_id: UUID, case_ids: Iterable[UUID]) -> dict[UUID, str]:
    """What people call these cases, for the pages of the trail."""
    return dict(Case.objects.filter(tenant_id=tenant_id, id__in=list(case_ids)).values_list("id", "report_id"))


def find_cases(tenant_id: UUID, text: str) -> Iterable[UUID]:
    """The newest cases whose reference holds `text`."""
    found = Case.objects.filter(tenant_id=tenant_id, report_id__icontains=text).order_by("-created_at", "-id")
    return found.values_list("id", flat=True)[:MOST_FOUND]
