"""Decisions on a finding as a page shows them, with what became of each."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reviews.models import Decision, Standing
from reviews.rules import REASON_CODES
from reviews.standing import Word, approval_of, reversal_of, status_of, words_on
from reviews.words import beside_verdict
from verifier.models import Case, Finding


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as shown, with what became of it."""

    id: UUID
    outcome: str
    kind: str
    status: str
    reason: str
    reason_code_words: str
    by: str
    decided_at: datetime
    evidence_words: str
    second: str
    note: str
    beside: str  # what it does to the verdict it was made under
    newest: Word  # the newest thing said: the decision itself, or what became of it


def decisions_of(case: Case, names: Collection[str]) -> list[Decision]:
    """On the findings of these ids, newest first."""
    related = ("finding", "verdict", "author", "approval__by", "reversed_by__author")
    made = Decision.objects.filter(case=case, reverses=None, finding__finding_id__in=names)
    return list(made.select_related(*related).defer("finding__content", "verdict__evidence").order_by("-decided_at"))


def decided(decision: Decision, finding: Finding, standing: Standing | None) -> Decided:
    second, withdrawal = approval_of(decision), reversal_of(decision)
    said = ""
    if second is not None:
        said = f"{'Approved' if second.approved else 'Refused'} by {second.by}: {second.reason}"
    if withdrawal is not None:
        said += f"{' ' if said else ''}Taken back by {withdrawal.author}: {withdrawal.reason}"
    return Decided(
        id=decision.id,
        outcome=decision.outcome,
        kind=decision.kind,
        status=status_of(decision),
        reason=decision.reason,
        reason_code_words=code_words(decision.outcome, decision.reason_code),
        by=str(decision.author),
        decided_at=decision.decided_at,
        evidence_words="; ".join(decision.evidence),
        second=said,
        note=no_longer(decision, finding, standing),
        beside=beside_verdict(decision.kind, decision.verdict.verdict if decision.verdict else ""),
        newest=max(words_on(decision), key=lambda word: (word.at, word.id)),
    )


def no_longer(decision: Decision, finding: Finding, standing: Standing | None) -> str:
    """Why a decision in effect no longer answers the finding, so that nobody wonders why it is back."""
    if status_of(decision) == "reversed" or standing is None:
        return ""
    if standing.decision_id != decision.id:
        return (
            "A newer decision has taken its place." if standing.decision_id else "The finding's text has changed since."
        )
    if not standing.answered and not standing.awaiting_second and decision.outcome in {"stands", "does_not_stand"}:
        return "The verdict has changed since, so the finding waits again."
    return ""


def code_words(outcome: str, code: str) -> str:
    return REASON_CODES.get(outcome, {}).get(code) or code.replace("_", " ")
