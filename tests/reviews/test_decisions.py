"""What an officer may say of a finding: it works, it is refused, and without its event it isn't there."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from audit.models import AuditEvent
from audit.sealed import Opened, open_event
from reviews import decisions, queues
from reviews.decisions import InvalidDecision, StaleDecision, StaleVerdict
from reviews.models import Approval, Decision, Standing
from reviews.permissions import Refused
from reviews.rules import REASON_CODES
from reviews.standing import status_of
from tests import factories as make
from verifier.models import FindingVerdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches()


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


@pytest.fixture
def officer(tenant: Any) -> Any:
    return make.user(tenant)


@pytest.fixture
def other(tenant: Any) -> Any:
    return make.user(tenant)


def contradicted(tenant: Any) -> Any:
    return make.finding_of(make.verified(tenant, f1="contradicted"))


def events(*types: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(event_type__in=types).order_by("recorded_at"))


def details(event: AuditEvent) -> Any:
    said = open_event(event)
    assert isinstance(said, Opened)
    return said.details


@pytest.fixture
def trail_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event can't be written, as when the database refuses it."""

    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.decisions.record", refuse)


# Deciding


def test_it_records_who_decided_what_and_what_stood_on_the_screen(tenant: Any, officer: Any) -> None:
    on = contradicted(tenant)
    decision = make.decide(officer, on, "stands")
    (event,) = events("decision_recorded")
    assert decision.event_id == event.id
    told = details(event)
    verdict = FindingVerdict.objects.get(finding=on)
    assert told["verdict_id"] == str(verdict.id)
    assert told["shown"]["evidence_sha256"] == verdict.evidence_sha256
    assert (told["kind"], told["outcome"], told["reason"]) == ("override", "stands", make.REASON)
    assert event.actor == officer.username


def test_it_is_not_there_without_its_event(tenant: Any, officer: Any, trail_fails: None) -> None:
    on = contradicted(tenant)
    with pytest.raises(DatabaseError):
        make.decide(officer, on)
    assert not Decision.objects.exists()


KINDS = [
    ("confirmed", "stands", "agree"),
    ("confirmed", "does_not_stand", "override"),
    ("contradicted", "does_not_stand", "agree"),
    ("contradicted", "stands", "override"),
    ("unsupported", "does_not_stand", "agree"),
    ("unsupported", "stands", "override"),
    ("indeterminate", "stands", "override"),
    ("indeterminate", "does_not_stand", "override"),
    *[(word, "needs_more", "ask_for_more") for word in make.CAUSES],
    *[(word, "escalated", "escalate") for word in make.CAUSES],
]


@pytest.mark.parametrize(("word", "outcome", "kind"), KINDS)
def test_what_a_decision_is_follows_from_verdict_and_outcome(
    tenant: Any, officer: Any, word: str, outcome: str, kind: str
) -> None:
    on = make.finding_of(make.verified(tenant, f1=word))
    assert make.decide(officer, on, outcome).kind == kind
    wrong = "agree" if kind != "agree" else "override"
    with pytest.raises(InvalidDecision) as refused:
        make.decide(officer, on, outcome, kind=wrong)
    assert list(refused.value.problems) == ["kind"]


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_only_officers_decide(tenant: Any, role: str) -> None:
    with pytest.raises(Refused, match="officers"):
        make.decide(make.user(tenant, role), contradicted(tenant))
    assert not Decision.objects.exists()


def test_someone_deactivated_decides_nothing(tenant: Any) -> None:
    with pytest.raises(Refused, match="not active"):
        make.decide(make.user(tenant, is_active=False), contradicted(tenant))


def test_an_officer_of_another_tenant_decides_nothing(tenant: Any) -> None:
    with pytest.raises(Refused, match="another organisation"):
        make.decide(make.user(make.tenant()), contradicted(tenant))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("outcome", "maybe"),
        ("outcome", ""),
        ("reason_code", ""),
        ("reason_code", "not_listed"),  # of another outcome
        ("reason_code", "withdrawn"),
        ("reason", ""),
        ("reason", "Because I say so."),
        ("reason", " " * 40),
        ("reason", "\u00a0".join("a" for _ in range(9))),
        ("reason", "x" * 10_001),
        ("evidence", []),
        ("evidence", ["  ", ""]),
        ("evidence", [f"Item {number}" for number in range(51)]),
    ],
)
def test_it_is_refused_without_what_a_decision_needs(tenant: Any, officer: Any, field: str, value: Any) -> None:
    on = contradicted(tenant)
    values = {"reason_code": "source_states_it", "outcome": "stands", field: value}
    with pytest.raises(InvalidDecision) as refused:
        decisions.decide(
            user=officer,
            finding=on,
            verdict_id=Standing.objects.get(finding=on).verdict_row_id,
            newest_word_id=None,
            at=make.AT,
            form_token=uuid4(),
            **{"reason": make.REASON, "evidence": ["The report itself"], **values},
        )
    assert field in refused.value.problems
    assert not Decision.objects.exists()


def test_every_problem_is_told_at_once(tenant: Any, officer: Any) -> None:
    with pytest.raises(InvalidDecision) as refused:
        make.decide(officer, contradicted(tenant), reason="", reason_code="", evidence=[])
    assert set(refused.value.problems) == {"reason", "reason_code", "evidence"}


def test_a_verdict_that_changed_meanwhile_is_refused_with_both(tenant: Any, officer: Any) -> None:
    on = contradicted(tenant)
    old = Standing.objects.get(finding=on).verdict_row_id
    make.rerun(on.case, make.later(), f1="unsupported")
    with pytest.raises(StaleVerdict) as stale:
        make.decide(officer, on, verdict_id=old)
    assert stale.value.old is not None
    assert stale.value.new is not None
    assert (stale.value.old.verdict, stale.value.new.verdict) == ("contradicted", "unsupported")
    assert not Decision.objects.exists()


def test_a_newer_report_is_refused_as_stale(tenant: Any, officer: Any) -> None:
    told = make.report()
    on = make.finding_of(make.accept(tenant, told).case)
    verdict = make.verdict(on)
    make.accept(tenant, {**told, "iteration": 2}, make.later())
    with pytest.raises(StaleVerdict, match="newer report"):
        make.decide(officer, on, verdict_id=verdict.id)


@pytest.mark.parametrize("verdict_id", [None, UUID(int=7)])
def test_a_verdict_that_was_never_this_findings_is_refused(tenant: Any, officer: Any, verdict_id: UUID | None) -> None:
    with pytest.raises(StaleVerdict):
        make.decide(officer, contradicted(tenant), verdict_id=verdict_id)


def test_nothing_is_decided_before_the_recheck_has_ended(tenant: Any, officer: Any) -> None:
    on = make.finding_of(make.case(tenant))
    with pytest.raises(Refused, match="hasn't ended"):
        make.decide(officer, on, verdict_id=None)


def test_a_finding_that_was_not_selected_is_not_decided(tenant: Any, officer: Any) -> None:
    case = make.case(tenant, make.clean("n1"))
    make.end(make.run_of(case))
    with pytest.raises(Refused, match="not selected"):
        make.decide(officer, make.finding_of(case, "n1"), verdict_id=None)


def test_an_unrecorded_finding_is_decided_without_a_verdict(tenant: Any, officer: Any) -> None:
    case = make.case(tenant)
    make.end(make.run_of(case))
    decision = make.decide(officer, make.finding_of(case), verdict_id=None)
    assert decision.verdict is None
    assert decision.kind == "override", "there is nothing to agree with"


def test_the_same_form_sent_twice_is_recorded_once(tenant: Any, officer: Any) -> None:
    on, token = contradicted(tenant), uuid4()
    verdict_id = Standing.objects.get(finding=on).verdict_row_id
    first = make.decide(officer, on, form_token=token)
    make.rerun(on.case, make.later(), f1="unsupported")
    again = make.decide(officer, on, form_token=token, verdict_id=verdict_id, reason="")
    assert again == first
    assert len(events("decision_recorded")) == 1


def test_anothers_form_is_not_taken_for_ones_own(tenant: Any, officer: Any, other: Any) -> None:
    on, token = contradicted(tenant), uuid4()
    make.decide(officer, on, form_token=token)
    with pytest.raises(InvalidDecision):
        make.decide(other, on, form_token=token)


def test_the_newest_decision_counts_even_when_clocks_differ(tenant: Any, officer: Any, other: Any) -> None:
    on = contradicted(tenant)
    make.decide(officer, on, "stands", at=make.later(5))
    make.decide(other, on, "needs_more", at=make.later(1))
    assert Standing.objects.get(finding=on).open


def test_an_answer_to_a_confirmed_finding_does_not_change_the_verdict(tenant: Any, officer: Any) -> None:
    on = make.finding_of(make.verified(tenant, f1="confirmed"))
    make.decide(officer, on, "does_not_stand")
    assert FindingVerdict.objects.get(finding=on).verdict == "confirmed"


# Two persons


TYPES = [
    (make.finding("f1"), True),
    (make.criminal("f1"), True),
    (make.media("f1"), False),
    (make.finding("f1", category="", type="sanctions_exposure_of_owner", severity="critical"), True),
    (make.finding("f1", category="Criminal record", type="", severity="critical"), True),
    (
        make.finding("f1", category="registry", type="identity_mismatch", severity="critical"),
        True,
    ),  # of no kind we know
    (make.finding("f1", category="sanctions_2026", type="ofac_sdn_hit_v2", severity="high"), True),
    (make.finding("f1", category="s\u0430nctions", type="", severity="high"), True),  # a Cyrillic letter
]


@pytest.mark.parametrize(("told", "two"), TYPES)
def test_setting_a_sanctions_or_criminal_finding_aside_needs_two(
    tenant: Any, officer: Any, told: Any, two: bool
) -> None:
    case = make.case(tenant, told)
    on = make.finding_of(case)
    make.verdict(on)
    make.end(make.run_of(case))
    decision = make.decide(officer, on, "does_not_stand")
    assert decision.needs_second is two
    assert status_of(decision) == ("awaiting_second" if two else "effective")
    assert Standing.objects.get(finding=on).open is two


@pytest.mark.parametrize("outcome", ["stands", "needs_more", "escalated"])
def test_what_sets_nothing_aside_needs_one(tenant: Any, officer: Any, outcome: str) -> None:
    assert make.decide(officer, contradicted(tenant), outcome).needs_second is False


def test_with_the_switch_off_one_person_suffices(tenant: Any, officer: Any) -> None:
    make.switches(maker_checker=False)
    assert make.decide(officer, contradicted(tenant), "does_not_stand").needs_second is False


def test_switching_it_off_frees_no_decision_that_waits(tenant: Any, officer: Any) -> None:
    on = contradicted(tenant)
    make.decide(officer, on, "does_not_stand")
    make.switches(maker_checker=False)
    assert Standing.objects.get(finding=on).awaiting_second


@pytest.fixture
def awaiting(tenant: Any, officer: Any) -> Decision:
    return make.decide(officer, contradicted(tenant), "does_not_stand")


def test_another_officer_approves(awaiting: Decision, other: Any) -> None:
    approval = decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later())
    (event,) = events("decision_approved")
    assert approval.event_id == event.id
    assert details(event)["decision_id"] == str(awaiting.id)
    assert not Standing.objects.get(finding=awaiting.finding).open


def test_another_officer_refuses_and_it_waits_again(awaiting: Decision, other: Any) -> None:
    decisions.refuse(user=other, decision=awaiting, reason=make.REASON, at=make.later())
    assert len(events("decision_refused")) == 1
    assert status_of(decisions.read_decision(awaiting.id)) == "reversed"
    standing = Standing.objects.get(finding=awaiting.finding)
    assert standing.open
    assert not standing.awaiting_second


@pytest.mark.parametrize("word", [decisions.approve, decisions.refuse])
def test_a_second_word_is_not_there_without_its_event(
    awaiting: Decision, other: Any, trail_fails: None, word: Any
) -> None:
    with pytest.raises(DatabaseError):
        word(user=other, decision=awaiting, reason=make.REASON, at=make.later())
    assert not Approval.objects.exists()


@pytest.mark.parametrize("word", [decisions.approve, decisions.refuse])
def test_nobody_is_their_own_second(awaiting: Decision, officer: Any, word: Any) -> None:
    with pytest.raises(Refused, match="Another officer"):
        word(user=officer, decision=awaiting, reason=make.REASON, at=make.later())


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_no_role_is_exempt(awaiting: Decision, tenant: Any, role: str) -> None:
    with pytest.raises(Refused):
        decisions.approve(user=make.user(tenant, role), decision=awaiting, reason=make.REASON, at=make.later())


def test_an_officer_of_another_tenant_is_no_second(awaiting: Decision) -> None:
    with pytest.raises(Refused, match="another organisation"):
        decisions.approve(user=make.user(make.tenant()), decision=awaiting, reason=make.REASON, at=make.later())


def test_a_second_person_says_why(awaiting: Decision, other: Any) -> None:
    with pytest.raises(InvalidDecision):
        decisions.approve(user=other, decision=awaiting, reason="Fine.", at=make.later())


def test_a_second_word_is_given_once(awaiting: Decision, other: Any, tenant: Any) -> None:
    decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later())
    with pytest.raises(Refused, match="already"):
        decisions.refuse(user=make.user(tenant), decision=awaiting, reason=make.REASON, at=make.later())


def test_a_decision_in_effect_needs_no_second_word(tenant: Any, officer: Any, other: Any) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")
    with pytest.raises(Refused, match="doesn't wait"):
        decisions.approve(user=other, decision=decision, reason=make.REASON, at=make.later())


def test_a_decision_that_was_overtaken_is_not_approved(awaiting: Decision, other: Any) -> None:
    make.decide(other, awaiting.finding, "needs_more", at=make.later())
    with pytest.raises(Refused, match="newer decision"):
        decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later(2))


def test_a_decision_under_a_verdict_that_changed_is_not_approved(awaiting: Decision, other: Any) -> None:
    make.rerun(awaiting.case, make.later(), f1="confirmed")
    with pytest.raises(StaleVerdict):
        decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later(2))


def test_a_refused_decision_gives_way_to_the_one_before(tenant: Any, officer: Any, other: Any) -> None:
    on = contradicted(tenant)
    make.decide(officer, on, "stands")
    newer = make.decide(officer, on, "does_not_stand", at=make.later())
    assert Standing.objects.get(finding=on).open, "while it waits for a second person nothing is settled"
    decisions.refuse(user=other, decision=newer, reason=make.REASON, at=make.later(2))
    assert not Standing.objects.get(finding=on).open


def test_the_second_persons_list_shows_ones_own_and_lets_only_others_act(
    awaiting: Decision, officer: Any, other: Any
) -> None:
    (mine,) = queues.second_person(awaiting.tenant, officer)
    (theirs,) = queues.second_person(awaiting.tenant, other)
    assert (mine.own, mine.actionable) == (True, False)
    assert (theirs.own, theirs.actionable) == (False, True)
    assert queues.count_second(awaiting.tenant, officer) == 0
    assert queues.count_second(awaiting.tenant, other) == 1
    admin = make.user(awaiting.tenant, "admin")
    assert not queues.second_person(awaiting.tenant, admin)[0].actionable


# Deciding after somebody else


def said(officer: Any, other: Any, on: Any, what: str) -> None:
    """Something said of the finding after the page was opened, all by `other` where a page is about it."""
    if what == "decided":
        make.decide(other, on, "stands", at=make.later())
        return
    made = make.decide(officer, on, "does_not_stand")
    word = {"approved": decisions.approve, "refused": decisions.refuse, "taken back": decisions.reverse}[what]
    word(user=other, decision=made, reason=make.REASON, at=make.later())


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("decided", "has decided about this finding"),
        ("approved", "has approved a decision on this finding"),
        ("refused", "has refused a decision on this finding"),
        ("taken back", "has taken a decision on this finding back"),
    ],
)
def test_nobody_overrides_a_colleague_unseen(tenant: Any, officer: Any, other: Any, what: str, sentence: str) -> None:
    on = contradicted(tenant)
    said(officer, other, on, what)
    before = Decision.objects.count()
    first = Decision.objects.filter(reverses=None).first()
    unseen = {None, first.id if first and what != "decided" else None}
    for shown in unseen:
        with pytest.raises(StaleDecision, match=f"{other.display_name} {sentence} since you opened the page."):
            make.decide(officer, on, "needs_more", newest_word_id=shown, at=make.later(2))
    assert Decision.objects.count() == before
    make.decide(officer, on, "needs_more", at=make.later(2))
    assert Decision.objects.count() == before + 1


def test_a_clock_that_is_behind_hides_no_second_word(tenant: Any, officer: Any, other: Any) -> None:
    on = contradicted(tenant)
    made = make.decide(officer, on, "does_not_stand", at=make.later(5))
    decisions.approve(user=other, decision=made, reason=make.REASON, at=make.AT)
    with pytest.raises(StaleDecision, match="has approved"):
        make.decide(officer, on, "stands", newest_word_id=made.id, at=make.later(6))


def test_a_word_on_another_finding_is_none_on_this_one(tenant: Any, officer: Any) -> None:
    case = make.verified(tenant, f1="contradicted", f2="contradicted")
    elsewhere = make.decide(officer, make.finding_of(case, "f1"), "stands")
    make.decide(officer, make.finding_of(case, "f2"), "stands", newest_word_id=None)
    with pytest.raises(InvalidDecision):
        make.decide(officer, make.finding_of(make.verified(tenant, f1="contradicted")), newest_word_id=elsewhere.id)


# Taking back


def test_a_decision_is_taken_back_by_a_further_row(tenant: Any, officer: Any, other: Any) -> None:
    on = contradicted(tenant)
    decision = make.decide(officer, on, "stands")
    withdrawal = decisions.reverse(user=other, decision=decision, reason=make.REASON, at=make.later())
    assert withdrawal.reverses == decision
    assert status_of(decisions.read_decision(decision.id)) == "reversed"
    assert Standing.objects.get(finding=on).open
    (event,) = events("decision_reversed")
    assert details(event)["reverses"] == str(decision.id)


def test_taking_back_is_not_there_without_its_event(tenant: Any, officer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")

    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.decisions.record", refuse)
    with pytest.raises(DatabaseError):
        decisions.reverse(user=officer, decision=decision, reason=make.REASON, at=make.later())
    assert status_of(decisions.read_decision(decision.id)) == "effective"


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_only_officers_take_back(tenant: Any, officer: Any, role: str) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")
    with pytest.raises(Refused):
        decisions.reverse(user=make.user(tenant, role), decision=decision, reason=make.REASON, at=make.later())


def test_a_decision_is_taken_back_once_and_a_withdrawal_never(tenant: Any, officer: Any) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")
    withdrawal = decisions.reverse(user=officer, decision=decision, reason=make.REASON, at=make.later())
    for done in (decision, withdrawal):
        with pytest.raises(Refused):
            decisions.reverse(user=officer, decision=done, reason=make.REASON, at=make.later(2))


def test_the_same_withdrawal_sent_twice_is_recorded_once(tenant: Any, officer: Any) -> None:
    decision, token = make.decide(officer, contradicted(tenant), "stands"), uuid4()
    first, again = (
        decisions.reverse(user=officer, decision=decision, reason=make.REASON, form_token=token, at=make.later())
        for _ in range(2)
    )
    assert first == again


def test_a_decision_that_waits_can_be_taken_back_and_is_then_not_approved(
    awaiting: Decision, officer: Any, other: Any
) -> None:
    decisions.reverse(user=officer, decision=awaiting, reason=make.REASON, at=make.later())
    assert queues.second_person(awaiting.tenant, other) == []
    with pytest.raises(Refused):
        decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later(2))


# What the database says when the rules are not asked


def copy_of(decision: Decision, **changes: Any) -> Decision:
    values = {field.attname: getattr(decision, field.attname) for field in Decision._meta.concrete_fields}
    return Decision(**{**values, "id": uuid4(), "form_token": uuid4(), "event_id": uuid4(), **changes})


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("decision_has_reason", {"reason_code": ""}),
        ("decision_says_why", {"reason": "Too short."}),
        ("decision_says_why", {"reason": f"Short.{' ' * 30}"}),
        ("decision_relies_on_evidence", {"evidence": []}),
        ("decision_relies_on_evidence", {"evidence": {}}),
        ("decision_relies_on_evidence", {"evidence": "all of it"}),
        ("decision_kind_fits_outcome", {"kind": "agree", "outcome": "escalated"}),
        ("decision_kind_fits_outcome", {"kind": "escalate", "outcome": "stands"}),
    ],
)
def test_the_database_refuses_a_decision_without_its_parts(tenant: Any, officer: Any, name: str, changes: Any) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        copy_of(decision, **changes).save(force_insert=True)


def test_the_database_refuses_an_author_of_another_tenant(tenant: Any, officer: Any) -> None:
    decision = make.decide(officer, contradicted(tenant), "stands")
    stranger = make.user(make.tenant())
    with pytest.raises(IntegrityError, match="decision_author_of_tenant"), transaction.atomic():
        copy_of(decision, author_id=stranger.pk).save(force_insert=True)


def approval_of(decision: Decision, **changes: Any) -> Approval:
    values = {"decision": decision, "decision_author": decision.author, "approved": True, "reason": make.REASON}
    return Approval(
        **{**values, "tenant_id": decision.tenant_id, "approved_at": make.AT, "event_id": uuid4(), **changes}
    )


@pytest.mark.parametrize("told_as_another", [False, True])
def test_the_database_refuses_an_author_as_second(awaiting: Decision, other: Any, told_as_another: bool) -> None:
    author = {"decision_author": other} if told_as_another else {}
    name = "approval_of_its_author" if told_as_another else "approval_by_another_person"
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        approval_of(awaiting, by=awaiting.author, **author).save(force_insert=True)


def test_the_database_refuses_a_second_of_another_tenant(awaiting: Decision) -> None:
    stranger = make.user(make.tenant())
    with pytest.raises(IntegrityError, match="approval_by_of_tenant"), transaction.atomic():
        approval_of(awaiting, by=stranger).save(force_insert=True)


@pytest.mark.parametrize("table", ["reviews_decision", "reviews_approval"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET reason = reason || '!'", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_the_database_refuses_to_change_what_was_decided(
    awaiting: Decision, other: Any, table: str, statement: str
) -> None:
    decisions.approve(user=other, decision=awaiting, reason=make.REASON, at=make.later())
    connection.check_constraints()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table))


def test_reason_codes_are_told_for_every_outcome() -> None:
    assert set(REASON_CODES) == set(Decision.Outcome.values)
    assert all("other" in codes for codes in REASON_CODES.values())
