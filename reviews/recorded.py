"""What the trail holds of decisions and approvals: written so, and compared so by `verify_trail`."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from audit.log import Recorded
from reviews.models import Approval, Decision
from reviews.standing import told
from verifier.models import Finding, FindingVerdict


def decision_details(decision: Decision) -> dict[str, Any]:
    """Who decided what, and what stood on the screen. `verify_trail` compares the row with it."""
    finding, verdict, author = decision.finding, decision.verdict, decision.author
    return {
        "decision_id": str(decision.id),
        "finding_id": finding.finding_id,
        "content_sha256": finding.content_sha256,
        "author_id": author.pk,
        "verdict_id": str(verdict.id) if verdict else None,
        "verification_id": str(verdict.verification_id) if verdict else None,
        "shown": shown(finding, verdict),
        "kind": str(decision.kind),
        "outcome": str(decision.outcome),
        "reason_code": decision.reason_code,
        "reason": decision.reason,
        "evidence": decision.evidence,
        "needs_second": decision.needs_second,
        "reverses": str(decision.reverses_id) if decision.reverses_id else None,
        "decided_at": decision.decided_at.isoformat(timespec="microseconds"),
    }


def shown(finding: Finding, verdict: FindingVerdict | None) -> dict[str, Any]:
    now = told(verdict)
    return {
        "severity": finding.severity,
        "material_type": finding.material_type or None,
        "verdict": now.verdict,
        "cause": now.cause,
        "evidence_sha256": now.evidence_sha256 or None,
        "simulated": verdict.simulated if verdict else False,
        "source_trust": finding.source_trust,
        "corroboration_count": finding.corroboration_count,
    }


def approval_details(approval: Approval) -> dict[str, Any]:
    decision = approval.decision
    return {
        "approval_id": str(approval.id),
        "decision_id": str(decision.id),
        "finding_id": decision.finding.finding_id,
        "author_id": approval.decision_author_id,
        "by_id": approval.by_id,
        "approved": approval.approved,
        "reason": approval.reason,
    }


def decision_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """For `verify_trail`: every decision as its event must show it."""
    rows = Decision.objects.select_related("finding", "verdict", "author").filter(tenant_id=tenant_id)
    for decision in rows.order_by("event_id").iterator(chunk_size=500):
        yield Recorded(decision.event_id, decision_details(decision))


def approval_rows(tenant_id: UUID) -> Iterator[Recorded]:
    rows = Approval.objects.select_related("decision__finding").filter(tenant_id=tenant_id)
    for approval in rows.order_by("event_id").iterator(chunk_size=500):
        yield Recorded(approval.event_id, approval_details(approval))
