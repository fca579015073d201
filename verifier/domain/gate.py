"""What the correctness check says to the quality gate, and why a finding waits for a person (ADR-0111).

It only ever adds a reason to review. Nothing here is averaged with a score, and nothing lifts the structural gate.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from verifier.domain.answers import Cause
from verifier.domain.verdicts import Verdict


class ReviewReason(StrEnum):
    """Why a case waits. A stable code that callers see."""

    STRUCTURAL_GATE = "structural_gate"
    FINDING_CONTRADICTED = "finding_contradicted"
    FINDING_UNSUPPORTED = "finding_unsupported"
    FINDING_INDETERMINATE = "finding_indeterminate"
    SCREENING_WARNING = "screening_warning"
    VERIFICATION_PENDING = "verification_pending"
    VERIFICATION_FAILED = "verification_failed"


OF_VERDICT = {
    Verdict.CONTRADICTED: ReviewReason.FINDING_CONTRADICTED,
    Verdict.UNSUPPORTED: ReviewReason.FINDING_UNSUPPORTED,
    Verdict.INDETERMINATE: ReviewReason.FINDING_INDETERMINATE,
}
SENTENCES = {
    ReviewReason.STRUCTURAL_GATE: "The report's own quality gate asks for a review.",
    ReviewReason.FINDING_CONTRADICTED: "A fresh check contradicts this finding.",
    ReviewReason.FINDING_UNSUPPORTED: "A fresh check found no support for this finding.",
    ReviewReason.FINDING_INDETERMINATE: "A fresh check of this finding came to no result.",
    ReviewReason.SCREENING_WARNING: "A list match bears this finding out, but the match is open to doubt.",
    ReviewReason.VERIFICATION_PENDING: "This finding is waiting for its re-check.",
    ReviewReason.VERIFICATION_FAILED: "The re-check broke off.",
}


@dataclass(frozen=True, slots=True)
class CheckedFinding:
    """A selected finding with its latest verdict; `verdict` None: there is none yet."""

    finding_id: str
    material_type: str | None
    verdict: Verdict | None
    cause: Cause | None


def correctness_needs_review(verdicts: Iterable[Verdict | None], *, run_failed: bool = False) -> bool:
    """ADR-0111's any(): a verdict that isn't confirmed, or is missing, asks for review; so does a run that broke."""
    return run_failed or any(verdict is not Verdict.CONFIRMED for verdict in verdicts)


def correctness_verdicts(checked: Iterable[CheckedFinding]) -> list[dict[str, str | None]]:
    """The gate's own list, in the order of re-checks, which is the order given. Who has no verdict yet is not in it."""
    return [
        {
            "finding_id": one.finding_id,
            "material_type": one.material_type or None,
            "verdict": str(one.verdict),
            "cause": str(one.cause),
        }
        for one in checked
        if one.verdict is not None
    ]


def finding_reason(verdict: Verdict | None, cause: Cause | None) -> ReviewReason | None:
    """Why a selected finding waits for a person, before any decision is looked at. None: confirmed beyond doubt."""
    if verdict is None:
        return ReviewReason.VERIFICATION_PENDING
    if verdict is Verdict.CONFIRMED:
        return ReviewReason.SCREENING_WARNING if cause is Cause.SCREENING_WARNING else None
    return OF_VERDICT[verdict]


def forces_review(*, structural: bool, advisory_only: bool, correctness: bool) -> bool:
    """The structural gate's word always stands; ours forces only where the gate is enforcing."""
    return structural or (correctness and not advisory_only)
