"""What the trail holds of decisions and approvals: written so, and compared so by `verify_trail`."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from audit.comparing import Told, told
from audit.log import Departure, Recorded
from reviews.models import Approval, Decision, RetentionRecord, User
from reviews.standing import told as told_of
from verifier.models import Finding, FindingVerdict


def decision_details(decision: Decision) -> dict[str, Any]:
    """Who decided what, and what stood on the screen. `verify_trail` compares the row with it."""
    finding, verdict, author = decision.finding, decision.verdict, decision.author
    return {
        "decision_id": str(decision.id),
        **on_screen(finding, verdict),
        "author_id": author.pk,
        "kind": str(decision.kind),
        "outcome": str(decision.outcome),
        "reason_code": decision.reason_code,
        "reason": decision.reason,
        "evidence": decision.evidence,
        "needs_second": decision.needs_second,
        "reverses": str(decision.reverses_id) if decision.reverses_id else None,
        "decided_at": decision.decided_at.isoformat(timespec="microseconds"),
    }


def on_screen(finding: Finding, verdict: FindingVerdict | None) -> dict[str, Any]:
    """What a person had before them: the finding, the verdict's row and run, and what the page said of both."""
    return {
        "finding_id": finding.finding_id,
        "finding_row_id": str(finding.id),
        "content_sha256": finding.content_sha256,
        "verdict_id": str(verdict.id) if verdict else None,
        "verification_id": str(verdict.verification_id) if verdict else None,
        "shown": shown(finding, verdict),
    }


def shown(finding: Finding, verdict: FindingVerdict | None) -> dict[str, Any]:
    now = told_of(verdict)
    return {
        "severity": finding.severity,
        "material_type": finding.material_type or None,
        "verdict": now.verdict,
        "cause": now.cause,
        "evidence_sha256": now.evidence_sha256 or None,
        "simulated": verdict.simulated if verdict else False,
        "provider": verdict.provider if verdict else "",
        "model": verdict.model if verdict else None,
        "prompt_id": verdict.prompt_id if verdict else None,
        "source_trust": finding.source_trust,
        "corroboration_count": finding.corroboration_count,
    }


def approval_details(approval: Approval) -> dict[str, Any]:
    """The second person's word, and what it answers as it stood before them."""
    decision = approval.decision
    return {
        "approval_id": str(approval.id),
        "decision_id": str(decision.id),
        **on_screen(decision.finding, decision.verdict),
        "decided": {
            "author": decision.author.username,
            "kind": str(decision.kind),
            "outcome": str(decision.outcome),
            "reason_code": decision.reason_code,
            "reason": decision.reason,
            "evidence": decision.evidence,
        },
        "author_id": approval.decision_author_id,
        "by_id": approval.by_id,
        "approved": approval.approved,
        "reason": approval.reason,
        "approved_at": approval.approved_at.isoformat(timespec="microseconds"),
    }


def decision_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """For `verify_trail`: every decision as its event must show it."""
    rows = Decision.objects.select_related("finding", "verdict", "author").filter(tenant_id=tenant_id)
    for decision in rows.order_by("event_id").iterator(chunk_size=500):
        yield Recorded(decision.event_id, decision_details(decision))


def approval_rows(tenant_id: UUID) -> Iterator[Recorded]:
    related = ("decision__finding", "decision__verdict", "decision__author")
    rows = Approval.objects.select_related(*related).filter(tenant_id=tenant_id)
    for approval in rows.order_by("event_id").iterator(chunk_size=500):
        yield Recorded(approval.event_id, approval_details(approval))


def retention_details(record: RetentionRecord) -> dict[str, Any]:
    return {
        "record_id": str(record.id),
        "ended_on": record.ended_on.isoformat() if record.ended_on else None,
        "reason": record.reason,
    }


def retention_rows(tenant_id: UUID) -> Iterator[Recorded]:
    rows = RetentionRecord.objects.filter(tenant_id=tenant_id).order_by("event_id")
    for record in rows.iterator(chunk_size=500):
        yield Recorded(record.event_id, retention_details(record))


NEW_PASSWORD = ("password_changed", "password_reset", "password_rehashed")
PEOPLE = ("user_created", "role_changed", "user_deactivated", *NEW_PASSWORD)


def person_details(user: User) -> dict[str, Any]:
    """A person as an account was made for them."""
    return {
        "user_id": user.pk,
        "username": user.username,
        "display_name": user.display_name,
        "role": str(user.role),
        "trained": user.trained_at.isoformat() if user.trained_at else None,
        "active": True,
        "password_fingerprint": user.password_fingerprint,
    }


def person_departures(tenant_id: UUID) -> Iterator[Departure]:
    """People who are not as was last recorded of them: their names, role, password, or whether they may act at all."""
    recorded: dict[int, tuple[dict[str, Any], Told]] = {}
    for event in told(tenant_id, *PEOPLE):
        user_id = int(event.details.get("user_id") or 0)
        before = recorded[user_id][0] if user_id in recorded else {}
        recorded[user_id] = (before | changes(event), event)
    for user in User.objects.filter(tenant_id=tenant_id):
        said, last = recorded.pop(user.pk, (None, None))
        if said is None or last is None:
            yield Departure(None, f"{user.username} was never recorded")
            continue
        stands = person_details(user) | {"active": user.is_active}
        wrong = [name for name, value in stands.items() if said.get(name) != value]
        if wrong:
            yield Departure(last.event_id, f"{user.username}: {', '.join(wrong)} is not what was last recorded")
    yield from (Departure(last.event_id, f"{said.get('username')} is gone") for said, last in recorded.values())


def changes(event: Told) -> dict[str, Any]:
    if event.event_type == "role_changed":
        return {"role": event.details.get("to")}
    if event.event_type == "user_deactivated":
        return {"active": False}
    if event.event_type in NEW_PASSWORD:
        return {"password_fingerprint": event.details.get("password_fingerprint")}
    return event.details
