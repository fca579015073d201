"""What an officer may say of a finding: a new row each time, in one transaction with its event; none is ever edited."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet

from audit.log import record
from audit.models import ActorType, AuditEvent
from reviews.models import Approval, Decision, Standing, User
from reviews.permissions import Refused, check_can_decide, check_can_reverse, check_can_second
from reviews.recorded import approval_details, decision_details
from reviews.rules import (
    REASON_CODES,
    InvalidDecision,
    StaleDecision,
    StaleVerdict,
    check_kind,
    check_reason,
    check_words,
    needs_second,
)
from reviews.standing import Kind, Outcome, Told, approval_of, kind_of, newest_word, reversal_of, status_of, told
from verifier.models import Case, Finding, FindingVerdict

__all__ = [
    "REASON_CODES",
    "InvalidDecision",
    "StaleDecision",
    "StaleVerdict",
    "approve",
    "decide",
    "kind_of",
    "refuse",
    "reverse",
]

WITHDRAWN = "withdrawn"  # the reason code of a row that takes a decision back


def decide(
    *,
    user: User,
    finding: Finding,
    verdict_id: UUID | None,
    newest_word_id: UUID | None,
    outcome: str,
    reason_code: str,
    reason: str,
    evidence: Sequence[str],
    form_token: UUID,
    at: datetime,
    kind: str = "",
) -> Decision:
    """Records one decision about one finding under the verdict that was shown (None: an unrecorded one).

    `newest_word_id` names the newest thing that was shown to have been said of it (see `standing.newest_word`; None:
    nothing was), so that nobody overrides a colleague unseen. The same form sent again gives the decision it made the
    first time. Raises Refused, InvalidDecision, StaleVerdict or StaleDecision.
    """
    with transaction.atomic():
        case = lock_case(finding.case_id)
        check_can_decide(user, case)
        earlier = sent_before(user, finding, form_token)
        if earlier is not None:
            return earlier
        words = check_words(outcome, reason_code, reason, evidence)
        standing = check_current(case, finding, verdict_id, newest_word_id)
        check_kind(kind, standing.verdict, outcome)
        decision = Decision(
            tenant_id=case.tenant_id,
            case=case,
            finding=finding,
            verdict=standing.verdict_row,
            kind=kind_of(standing.verdict, outcome),
            outcome=words.outcome,
            reason_code=words.reason_code,
            reason=words.reason,
            evidence=words.evidence,
            needs_second=needs_second(finding, outcome),
            author=user,
            decided_at=after_earlier(finding, at),
            form_token=form_token,
        )
        return save_with_event(decision, "decision_recorded", user, at)


def lock_case(case_id: UUID) -> Case:
    """Until the transaction ends no other decision is made. A verdict may still come in, and opens the finding again:
    to hold it back would be to wait for each other, since it holds the chain when its foreign keys ask for the case.
    """
    return Case.objects.select_for_update(no_key=True).get(id=case_id)


def sent_before(user: User, finding: Finding, form_token: UUID) -> Decision | None:
    decision = Decision.objects.filter(form_token=form_token).first()
    if decision is None:
        return None
    if decision.author_id != user.pk or decision.finding_id != finding.pk:
        raise InvalidDecision({"form_token": "This form was sent for another finding. Open the finding again."})
    return decision


CHANGED = "The verdict has changed since you opened the page."
SAME = "A newer re-check has ended since you opened the page. It says the same; look at its evidence."


def check_current(case: Case, finding: Finding, verdict_id: UUID | None, newest_word_id: UUID | None) -> Standing:
    """How the finding stands, if that is what was shown. Only under the case's lock it stays so."""
    standing = Standing.objects.select_related("verdict_row").filter(finding=finding).first()
    if standing is None and finding.report_id != case.current_report_id:
        raise StaleVerdict(shown_then(finding, verdict_id), None, "A newer report of this case has arrived.")
    if standing is None:
        raise Refused("This finding was not selected for a re-check, so there is no verdict to decide under.")
    now = told(standing.verdict_row, standing.verdict, standing.cause)
    if now.id != verdict_id:
        before = shown_then(finding, verdict_id)
        raise StaleVerdict(before, now, SAME if before and before.says_the_same_as(now) else CHANGED)
    if standing.verdict == "pending":
        raise Refused("The re-check of this finding hasn't ended. Decide once its verdict is there.")
    check_nothing_newer(finding, newest_word_id)
    return standing


def check_nothing_newer(finding: Finding, newest_word_id: UUID | None) -> None:
    newest = newest_word(with_words(about(finding)))
    if newest is not None and newest.id != newest_word_id:
        raise StaleDecision(f"{newest.sentence} since you opened the page.")
    if newest is None and newest_word_id is not None:
        raise InvalidDecision({"newest_word_id": "This form was made for another finding. Open the finding again."})


def shown_then(finding: Finding, verdict_id: UUID | None) -> Told | None:
    if verdict_id is None:
        return told(None)
    verdict = FindingVerdict.objects.filter(id=verdict_id, finding=finding).first()
    return told(verdict) if verdict else None


def after_earlier(finding: Finding, at: datetime) -> datetime:
    """`at`, but later than all that was said of the finding, whatever the hosts' clocks say: the newest counts."""
    newest = newest_word(with_words(about(finding)))
    return at if newest is None or newest.at < at else newest.at + timedelta(microseconds=1)


def about(finding: Finding) -> "QuerySet[Decision]":
    """Every decision on this finding of the case, in whichever report it came."""
    return Decision.objects.filter(case_id=finding.case_id, finding__finding_id=finding.finding_id)


def with_words(decisions: "QuerySet[Decision]") -> "QuerySet[Decision]":
    """The decisions themselves, each with the second person's word and its taking back."""
    return decisions.filter(reverses=None).select_related("author", "approval__by", "reversed_by__author")


def save_with_event(decision: Decision, event_type: str, user: User, at: datetime) -> Decision:
    details, outcome = decision_details(decision), str(decision.outcome)
    decision.event_id = note(decision.case, decision.finding, event_type, user, outcome, details, at).id
    decision.save(force_insert=True)
    return decision


def note(
    case: Case, finding: Finding, event_type: str, user: User, outcome: str, details: dict[str, Any], at: datetime
) -> AuditEvent:
    return record(
        tenant_id=case.tenant_id,
        event_type=event_type,
        actor=user.username,
        actor_type=ActorType.PERSON,
        actor_role=user.role,
        case_id=case.id,
        subject=f"{case.report_id} · {finding.finding_id}",
        outcome=outcome,
        details=details,
        at=at,
    )


def approve(*, user: User, decision: Decision, reason: str, at: datetime) -> Approval:
    """A second officer agrees: the decision takes effect. Raises Refused, InvalidDecision or StaleVerdict."""
    return second(user=user, decision=decision, approved=True, reason=reason, at=at)


def refuse(*, user: User, decision: Decision, reason: str, at: datetime) -> Approval:
    """A second officer disagrees: the decision falls, and the finding waits again."""
    return second(user=user, decision=decision, approved=False, reason=reason, at=at)


def second(*, user: User, decision: Decision, approved: bool, reason: str, at: datetime) -> Approval:
    with transaction.atomic():
        case = lock_case(decision.case_id)
        decision = read_decision(decision.pk)
        check_can_second(user, decision)
        check_awaiting(case, decision)
        approval = Approval(
            tenant_id=case.tenant_id,
            decision=decision,
            decision_author_id=decision.author_id,
            approved=approved,
            reason=check_reason(reason),
            by=user,
            approved_at=after_earlier(decision.finding, at),
        )
        outcome = "approved" if approved else "refused"
        details = approval_details(approval)
        approval.event_id = note(case, decision.finding, f"decision_{outcome}", user, outcome, details, at).id
        approval.save(force_insert=True)
        return approval


def read_decision(decision_id: UUID) -> Decision:
    """The decision as it stands now, with what its status and its event are made of."""
    related = ("finding", "verdict", "author", "approval", "reversed_by")
    return Decision.objects.select_related(*related).get(id=decision_id)


def check_awaiting(case: Case, decision: Decision) -> None:
    """A second word is given only on a decision that still waits for it, under the verdict it was made under."""
    if approval_of(decision) is not None:
        raise Refused("A second officer has already answered this decision.")
    if status_of(decision) != "awaiting_second":
        raise Refused("This decision doesn't wait for a second officer.")
    standing = Standing.objects.select_related("verdict_row").filter(case=case, decision=decision).first()
    if standing is None:
        raise Refused("A newer decision or a newer report has taken this decision's place.")
    if not standing.awaiting_second:
        now = told(standing.verdict_row, standing.verdict, standing.cause)
        raise StaleVerdict(told(decision.verdict), now, "The verdict has changed since this was decided.")


def reverse(*, user: User, decision: Decision, reason: str, at: datetime, form_token: UUID | None = None) -> Decision:
    """Takes a decision back by a further row; the finding waits again. Raises Refused or InvalidDecision.

    Any officer may: it only ever adds scrutiny, so it needs no second person.
    """
    with transaction.atomic():
        case = lock_case(decision.case_id)
        decision = read_decision(decision.pk)
        check_can_reverse(user, decision)
        earlier = reversal_of(decision)
        if earlier is not None and form_token is not None and earlier.form_token == form_token:
            return earlier
        check_reversible(decision)
        withdrawal = Decision(
            tenant_id=case.tenant_id,
            case=case,
            finding=decision.finding,
            verdict=decision.verdict,
            kind=Kind.ASK_FOR_MORE,
            outcome=Outcome.NEEDS_MORE,
            reason_code=WITHDRAWN,
            reason=check_reason(reason),
            evidence=[f"Decision {decision.id}"],
            needs_second=False,
            reverses=decision,
            author=user,
            decided_at=after_earlier(decision.finding, at),
            form_token=form_token or uuid4(),
        )
        return save_with_event(withdrawal, "decision_reversed", user, at)


def check_reversible(decision: Decision) -> None:
    if decision.reverses_id is not None:
        raise Refused("This row takes a decision back; decide about the finding anew instead.")
    if status_of(decision) == "reversed":
        raise Refused("This decision was taken back or refused already.")
    newer = about(decision.finding).filter(decided_at__gt=decision.decided_at, reversed_by=None)
    if newer.exclude(approval__approved=False).exists():
        raise Refused("A newer decision on this finding has taken its place.")
