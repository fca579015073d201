"""A verdict and a decision as JSON values."""

from collections.abc import Mapping
from typing import Any

from reviews.models import Decision
from reviews.standing import approval_of, reversal_of, status_of
from reviews.text import moment
from verifier.domain.verdicts import unrecorded
from verifier.models import FindingVerdict

NO_VERDICT: dict[str, Any] = {
    "id": None,
    "verification_id": None,
    "verdict": str(unrecorded().verdict),
    "cause": str(unrecorded().cause),
    "reason": unrecorded().reason,
    "provider": "",
    "started_at": None,
    "duration_ms": None,
    "slot_wait_ms": None,
    "recorded_at": None,
    "evidence_sha256": None,
    "model": None,
    "prompt_id": None,
    "prompt_sha256": None,
    "quote": "",
    "near_misses": [],
    "not_used": [],
    "partial": [],
    "simulated": False,
    "evidence": None,
}


def verdict_values(verdict: FindingVerdict) -> dict[str, Any]:
    evidence: Mapping[str, Any] = verdict.evidence
    return {
        "id": str(verdict.id),
        "verification_id": str(verdict.verification_id),
        "verdict": verdict.verdict,
        "cause": verdict.cause,
        "reason": verdict.reason,
        "provider": verdict.provider,
        "started_at": moment(verdict.started_at),
        "duration_ms": verdict.duration_ms,
        "slot_wait_ms": verdict.slot_wait_ms,
        "recorded_at": moment(verdict.recorded_at),
        "evidence_sha256": verdict.evidence_sha256,
        "model": verdict.model,
        "prompt_id": verdict.prompt_id,
        "prompt_sha256": verdict.prompt_sha256,
        "quote": verdict.quote,
        "near_misses": evidence.get("near_misses") or [],
        "not_used": evidence.get("not_used") or [],
        "partial": evidence.get("partial") or [],
        "simulated": verdict.simulated,
        "evidence": evidence,
    }


def decision_values(decision: Decision) -> dict[str, Any]:
    second, withdrawal = approval_of(decision), reversal_of(decision)
    return {
        "id": str(decision.id),
        "kind": decision.kind,
        "outcome": decision.outcome,
        "reason_code": decision.reason_code,
        "reason": decision.reason,
        "evidence": decision.evidence,
        "status": status_of(decision),
        "by": decision.author.username,
        "second": second
        and {
            "by": second.by.username,
            "approved": second.approved,
            "reason": second.reason,
            "at": moment(second.approved_at),
        },
        "needs_second": decision.needs_second,
        "answers_verdict": str(decision.verdict_id) if decision.verdict_id else None,
        "decided_at": moment(decision.decided_at),
        "reversed_by": withdrawal
        and {
            "by": withdrawal.author.username,
            "reason": withdrawal.reason,
            "at": moment(withdrawal.decided_at),
        },
    }
