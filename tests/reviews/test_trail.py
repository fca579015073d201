"""Decisions and approvals are held against their events: an owner who rewrites one is found out."""

import threading
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction

from audit.verification import verify_tenant
from reviews import administration, decisions
from reviews.decisions import StaleDecision, StaleVerdict
from reviews.models import Decision, Standing, User
from tests import factories as make
from verifier.models import Finding, Verification

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _on(transactional_db: None) -> None:
    make.switches()


@pytest.fixture
def tenant(transactional_db: None) -> Any:
    return make.tenant()


@pytest.fixture
def approved(tenant: Any) -> Decision:
    on = make.finding_of(make.verified(tenant, f1="contradicted"))
    decision = make.decide(make.user(tenant), on, "does_not_stand")
    decisions.approve(user=make.user(tenant), decision=decision, reason=make.REASON, at=make.later())
    return decision


def owner_does(owner: psycopg.Connection[Any], table: str, statement: str) -> None:
    owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    owner.execute(statement)
    named = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal"
    for (trigger,) in owner.execute(named, [table]).fetchall():
        owner.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}")


def find(tenant: Any, comparer: str) -> Any:
    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken
    return broken if broken and broken.detail.startswith(comparer) else None


def test_what_was_decided_agrees_with_the_trail(tenant: Any, approved: Decision) -> None:
    decisions.reverse(user=approved.author, decision=approved, reason=make.REASON, at=make.later(2))
    assert find(tenant, "decision") is None
    assert find(tenant, "approval") is None


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("reviews_decision", "outcome = 'stands'"),
        ("reviews_decision", "reason = reason || ' And more.'"),
        ("reviews_decision", "evidence = '[\"Nothing\"]'"),
        ("reviews_decision", "needs_second = false"),
        ("reviews_decision", "verdict_id = NULL"),
        ("reviews_decision", "decided_at = decided_at - interval '1 day'"),
        ("reviews_approval", "approved = false"),
        ("reviews_approval", "reason = 'Something else was said here.'"),
    ],
)
def test_a_rewritten_row_is_found(
    tenant: Any, approved: Decision, owner_connection: psycopg.Connection[Any], table: str, change: str
) -> None:
    owner_does(owner_connection, table, f"UPDATE {table} SET {change}")
    broken = find(tenant, table.removeprefix("reviews_"))
    assert broken is not None
    assert broken.kind == "row_disagrees"
    assert broken.sequence is not None


def test_a_removed_row_is_found(tenant: Any, approved: Decision, owner_connection: psycopg.Connection[Any]) -> None:
    owner_does(owner_connection, "reviews_approval", "DELETE FROM reviews_approval")
    assert find(tenant, "approval") is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE reviews_user SET role = 'admin'", "role is not what was last recorded"),
        ("UPDATE reviews_user SET is_active = false", "active is not what was last recorded"),
        ("DELETE FROM reviews_user", "is gone"),
        ("UPDATE reviews_user SET username = 'somebody.else'", "username is not what was last recorded"),
        ("UPDATE reviews_user SET display_name = 'Another Name'", "display_name is not what was last recorded"),
        ("UPDATE reviews_user SET trained_at = '2026-01-01'", "trained is not what was last recorded"),
    ],
)
def test_a_person_who_is_not_as_last_recorded_is_found(
    tenant: Any, owner_connection: psycopg.Connection[Any], change: str, words: str
) -> None:
    make.user(tenant)
    assert find(tenant, "person") is None
    owner_does(owner_connection, "reviews_user", change)

    broken = find(tenant, "person")
    assert broken is not None
    assert broken.kind == "row_disagrees"
    assert words in broken.detail


def test_a_person_whom_nobody_added_is_found(tenant: Any) -> None:
    User.objects.create(tenant=tenant, username="somebody", role="officer")

    broken = find(tenant, "person")
    assert broken is not None
    assert broken.detail == "person: somebody was never recorded"


def test_people_as_admins_made_and_changed_them_agree_with_the_trail(tenant: Any) -> None:
    admin = make.user(tenant, "admin")
    made = administration.create_user(admin=admin, username="ines", display_name="Ines", role="officer", at=make.AT)
    administration.change_role(admin=admin, user=made.user, role="auditor", at=make.AT)
    administration.deactivate(admin=admin, user=made.user, at=make.AT)
    assert find(tenant, "person") is None


def test_a_form_sent_twice_at_once_is_recorded_once(tenant: Any) -> None:
    on = make.finding_of(make.verified(tenant, f1="contradicted"))
    officer, token, start, made = make.user(tenant), uuid4(), threading.Barrier(4), []

    def send() -> None:
        start.wait()
        try:
            made.append(make.decide(officer, on, form_token=token).id)
        finally:
            connection.close()

    together(send, 4)
    assert len(made) == 4
    assert len(set(made)) == 1
    assert Decision.objects.count() == 1


def test_of_two_officers_who_decide_at_once_one_is_recorded(tenant: Any) -> None:
    on = make.finding_of(make.verified(tenant, f1="contradicted"))
    start, told = threading.Barrier(2), []
    officers = [(make.user(tenant), "stands"), (make.user(tenant), "does_not_stand")]

    def send() -> None:
        officer, outcome = officers.pop()
        start.wait()
        try:
            told.append(make.decide(officer, on, outcome, newest_word_id=None).author)
        except StaleDecision as late:
            told.append(late.sentence)
        finally:
            connection.close()

    together(send, 2)
    (made,) = Decision.objects.all()
    assert set(map(str, told)) == {
        str(made.author),
        f"{made.author} has decided about this finding since you opened the page.",
    }


def test_a_verdict_is_recorded_while_a_decision_holds_its_case(tenant: Any) -> None:
    """At commit a verdict's foreign keys ask for the case, and it holds the chain that the decision will want."""
    case = make.verified(tenant, f1="contradicted")
    run = make.rerun(case, make.later())
    with transaction.atomic():
        decisions.lock_case(case.id)
        thread = threading.Thread(target=record_verdict, args=(make.finding_of(case), run))
        thread.start()
        thread.join(10)
        assert run.verdicts.count() == 1


def record_verdict(on: Finding, run: Verification) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '3s'")
        make.verdict(on, "unsupported", run=run, at=make.later())
    finally:
        connection.close()


def test_of_two_second_persons_at_once_one_answers(tenant: Any) -> None:
    on = make.finding_of(make.verified(tenant, f1="contradicted"))
    decision = make.decide(make.user(tenant), on, "does_not_stand")
    start, said = threading.Barrier(2), []
    seconds = [(make.user(tenant), decisions.approve), (make.user(tenant), decisions.refuse)]

    def answer() -> None:
        user, word = seconds.pop()
        start.wait()
        try:
            word(user=user, decision=decision, reason=make.REASON, at=make.later())
            said.append("answered")
        except decisions.Refused:
            said.append("refused")
        finally:
            connection.close()

    together(answer, 2)
    assert sorted(said) == ["answered", "refused"]


def test_a_verdict_recorded_while_one_decides_opens_the_finding_again(
    tenant: Any, owner_connection: psycopg.Connection[Any]
) -> None:
    case = make.verified(tenant, f1="contradicted")
    on = make.finding_of(case)
    old = Standing.objects.get(finding=on).verdict_row_id
    run = make.rerun(case, make.later(), ended=False)
    run.status = "running"
    run.save()
    same = "tenant_id, case_id, finding_id, reason, provider, started_at, duration_ms, slot_wait_ms, evidence, quote"
    same += ", evidence_sha256, simulated, recorded_at"
    with owner_connection.transaction():
        owner_connection.execute(
            f"INSERT INTO verifier_findingverdict (id, event_id, verification_id, verdict, cause, {same})"
            f" SELECT gen_random_uuid(), gen_random_uuid(), %s, 'unsupported', 'no_hits', {same}"
            " FROM verifier_findingverdict WHERE id = %s",
            [run.id, old],
        )
        make.decide(make.user(tenant), on, verdict_id=old)
        assert not Standing.objects.get(finding=on).open
    assert Standing.objects.get(finding=on).open
    with pytest.raises(StaleVerdict):
        make.decide(make.user(tenant), on, verdict_id=old)


def together(act: Any, count: int) -> None:
    threads = [threading.Thread(target=act) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
