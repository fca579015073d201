"""How findings stand, read from the one view that says so; and the words of a decision that follow from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reviews.models import Approval, Decision, Standing
from verifier.models import Case, FindingVerdict

Kind, Outcome = Decision.Kind, Decision.Outcome

# What the machine's word amounts to, for the two outcomes that settle a finding. Where it says nothing
# (indeterminate, or no verdict at all) there is nothing to agree with: either way is the officer's own judgement.
AGREES_WITH = {
    "confirmed": Outcome.STANDS,
    "contradicted": Outcome.DOES_NOT_STAND,
    "unsupported": Outcome.DOES_NOT_STAND,
}


def kind_of(verdict: str, outcome: str) -> Decision.Kind:
    """What a decision of this outcome does to a verdict of this word."""
    if outcome == Outcome.NEEDS_MORE:
        return Kind.ASK_FOR_MORE
    if outcome == Outcome.ESCALATED:
        return Kind.ESCALATE
    return Kind.AGREE if AGREES_WITH.get(verdict) == outcome else Kind.OVERRIDE


def standings(case: Case) -> dict[UUID, Standing]:
    """By finding row: how the decision-driving findings of the case stand, also those only an earlier report holds."""
    return {
        standing.finding_id: standing
        for standing in Standing.objects.filter(case=case, tenant_id=case.tenant_id).select_related("run")
    }


@dataclass(frozen=True, slots=True)
class Told:
    """A verdict as far as a decision depends on it; an unrecorded one has no row."""

    id: UUID | None
    verdict: str
    cause: str
    evidence_sha256: str
    reason: str
    simulated: bool = False

    def says_the_same_as(self, other: "Told") -> bool:
        return (self.verdict, self.cause, self.reason) == (other.verdict, other.cause, other.reason)


def told(verdict: FindingVerdict | None, word: str = "indeterminate", cause: str = "unrecorded") -> Told:
    if verdict is None:
        return Told(None, word, cause, "", "")
    return Told(verdict.id, verdict.verdict, verdict.cause, verdict.evidence_sha256, verdict.reason, verdict.simulated)


def approval_of(decision: Decision) -> Approval | None:
    """The second person's word, without a query where it was selected with the decision."""
    try:
        return decision.approval
    except Approval.DoesNotExist:
        return None


def reversal_of(decision: Decision) -> Decision | None:
    try:
        return decision.reversed_by
    except Decision.DoesNotExist:
        return None


@dataclass(frozen=True, slots=True)
class Word:
    """The newest thing somebody said about a finding: a decision, a second person's word on it, or its taking back."""

    id: UUID
    at: datetime
    decision: Decision

    @property
    def sentence(self) -> str:
        second, withdrawal = approval_of(self.decision), reversal_of(self.decision)
        if withdrawal is not None and withdrawal.id == self.id:
            return f"{withdrawal.author} has taken a decision on this finding back"
        if second is not None and second.id == self.id:
            return f"{second.by} has {'approved' if second.approved else 'refused'} a decision on this finding"
        return f"{self.decision.author} has decided about this finding"


def newest_word(decisions: Iterable[Decision]) -> Word | None:
    """Of all decisions on one finding (those that take one back come with the one they take back)."""
    said = [word for decision in decisions for word in words_on(decision)]
    return max(said, key=lambda word: (word.at, word.id), default=None)


def words_on(decision: Decision) -> Iterator[Word]:
    second, withdrawal = approval_of(decision), reversal_of(decision)
    yield Word(decision.id, decision.decided_at, decision)
    if second is not None:
        yield Word(second.id, second.approved_at, decision)
    if withdrawal is not None:
        yield Word(withdrawal.id, withdrawal.decided_at, decision)


def status_of(decision: Decision) -> str:
    """`reversed` (taken back, or refused by the second person), `awaiting_second` or `effective`."""
    second = approval_of(decision)
    if reversal_of(decision) is not None or (second is not None and not second.approved):
        return "reversed"
    return "awaiting_second" if decision.needs_second and second is None else "effective"
