"""Sealing at a real COMMIT: many processes, several connections, rollbacks, a writer that dies."""

import signal
import subprocess
import sys
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection, transaction

from audit.chain import canonical
from audit.models import AuditEvent, AuditSeal, Tenant
from audit.verification import verify_tenant
from tests.audit.trails import append, run, seal
from tests.paths import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)
PROCESSES, TRANSACTIONS = 4, 45


def start_writer(tenant: Tenant, environment: dict[str, str], count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.audit.writer", str(tenant.id), str(count)],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def sequences(tenant: Tenant) -> list[int]:
    return list(AuditSeal.objects.filter(tenant=tenant).order_by("sequence").values_list("sequence", flat=True))


def assert_whole(tenant: Tenant) -> None:
    result = verify_tenant(tenant=tenant, missing_guards=[])
    assert result.broken is None
    assert sequences(tenant) == list(range(1, result.events + 1))


def test_many_processes_write_one_chain_without_gap_or_fork(
    make_tenant: Any, product_environment: dict[str, str]
) -> None:
    tenants = [make_tenant(), make_tenant()]
    writers = [start_writer(tenants[n % 2], product_environment, TRANSACTIONS) for n in range(PROCESSES)]
    acknowledged = {UUID(line) for writer in writers for line in writer.communicate(timeout=100)[0].split()}

    assert [writer.returncode for writer in writers] == [0] * PROCESSES
    assert set(AuditEvent.objects.filter(tenant__in=tenants).values_list("id", flat=True)) == acknowledged
    assert len(acknowledged) == PROCESSES * 60
    for tenant in tenants:
        assert_whole(tenant)


def test_a_killed_writer_loses_nothing_that_was_acknowledged(
    tenant: Tenant, product_environment: dict[str, str]
) -> None:
    writer, other = (start_writer(tenant, product_environment, 10_000) for _ in range(2))
    assert writer.stdout is not None and other.stdout is not None
    acknowledged = [writer.stdout.readline() for _ in range(20)] + [other.stdout.readline() for _ in range(5)]
    for process in (writer, other):
        process.send_signal(signal.SIGKILL)
        acknowledged += process.communicate(timeout=30)[0].splitlines()

    wait_until_gone(tenant)
    # The last line may have been cut by the kill.
    whole = {UUID(line.strip()) for line in acknowledged if len(line.strip()) == 36}
    assert whole <= set(AuditEvent.objects.filter(tenant=tenant).values_list("id", flat=True))
    assert len(whole) >= 25
    assert_whole(tenant)


def wait_until_gone(tenant: Tenant) -> None:
    """The server ends what its dead clients had begun: the head's lock is free when it has."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '30s'")
        cursor.execute("SELECT sequence FROM audit_chainhead WHERE tenant_id = %s FOR UPDATE", [tenant.id])


def insert(writer: psycopg.Connection[Any], tenant: Tenant) -> UUID:
    event_id = uuid4()
    body = canonical(
        {
            "v": 2,
            "event_id": str(event_id),
            "event_type": "case_viewed",
            "tenant_id": str(tenant.id),
            "actor": "m.tamm",
            "actor_type": "person",
            "actor_role": "",
            "case_id": None,
            "subject": "",
            "outcome": "",
            "app_at": "2026-11-30T14:02:13.000000+00:00",
            "details": {},
        }
    )
    writer.execute("SELECT set_config('app.current_tenant', %s, false)", [str(tenant.id)])
    writer.execute(
        "INSERT INTO audit_auditevent (id, tenant_id, event_type, actor, actor_type, subject, body)"
        " VALUES (%s, %s, 'case_viewed', 'm.tamm', 'person', '', %s)",
        [event_id, tenant.id, body],
    )
    return event_id


def test_two_connections_of_one_request_do_not_wait_for_each_other(tenant: Tenant, application_url: str) -> None:
    """Both hold an unsealed event of the same tenant, and one commits inside the other's transaction."""
    with psycopg.connect(application_url) as outer, psycopg.connect(application_url) as inner:
        for each in (outer, inner):
            each.execute("SET lock_timeout = '5s'")
        first = insert(outer, tenant)
        second = insert(inner, tenant)
        inner.commit()
        outer.commit()

    seals = AuditSeal.objects.filter(tenant=tenant).order_by("sequence")
    assert [each.event_id for each in seals] == [second, first]  # in the order of commits
    assert_whole(tenant)


def test_an_open_transaction_holds_no_tenants_chain(tenant: Tenant, application_url: str) -> None:
    """A provider may be asked while an event waits for its commit; others go on."""
    with psycopg.connect(application_url) as slow:
        insert(slow, tenant)
        for _ in range(3):
            append(tenant)
        slow.commit()

    assert_whole(tenant)
    assert len(sequences(tenant)) == 4


def test_a_rollback_leaves_no_gap(tenant: Tenant) -> None:
    append(tenant)
    with transaction.atomic():
        append(tenant)
        transaction.set_rollback(True)
    append(tenant)

    assert sequences(tenant) == [1, 2]
    assert_whole(tenant)


def test_a_rolled_back_savepoint_leaves_no_gap(tenant: Tenant) -> None:
    with transaction.atomic():
        append(tenant)
        with transaction.atomic():
            append(tenant)
            transaction.set_rollback(True)
        append(tenant)

    assert sequences(tenant) == [1, 2]
    assert_whole(tenant)


def test_a_connection_lost_before_its_commit_leaves_nothing(tenant: Tenant, application_url: str) -> None:
    lost = psycopg.connect(application_url)
    insert(lost, tenant)
    lost.close()
    append(tenant)

    assert sequences(tenant) == [1]
    assert_whole(tenant)


def test_a_stricter_isolation_fails_loudly_instead_of_forking(tenant: Tenant, application_url: str) -> None:
    append(tenant)
    with psycopg.connect(application_url) as strict:
        strict.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        insert(strict, tenant)
        append(tenant)
        with pytest.raises(psycopg.errors.SerializationFailure):
            strict.commit()

    assert_whole(tenant)


def test_psql_seals_as_the_application_does(tenant: Tenant, app_connection: psycopg.Connection[Any]) -> None:
    """The trigger knows no client: a bare connection in autocommit has its event sealed at once."""
    event_id = insert(app_connection, tenant)

    assert AuditSeal.objects.get(event_id=event_id).sequence == 1
    assert_whole(tenant)


@pytest.mark.parametrize("noted", ["one", "several", "", "nonsense"])
def test_a_note_of_how_many_events_there_are_lets_none_go_unsealed(tenant: Tenant, noted: str) -> None:
    """The note is for speed alone, and anybody may write it."""
    with transaction.atomic():
        append(tenant)
        append(tenant)
        run("SELECT set_config('second_look.events', %s, true)", noted)
        append(tenant)
        run("SELECT set_config('second_look.events', %s, true)", noted)
        seal()
    assert sequences(tenant) == [1, 2, 3]
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


def test_an_event_after_constraints_were_checked_early_is_sealed_too(tenant: Tenant) -> None:
    with transaction.atomic():
        append(tenant)
        seal()
        append(tenant)
        append(tenant)
        seal()
    assert sequences(tenant) == [1, 2, 3]


def test_an_event_that_was_rolled_back_leaves_no_note(tenant: Tenant) -> None:
    with transaction.atomic():
        for _ in range(2):
            point = transaction.savepoint()
            append(tenant)
            transaction.savepoint_rollback(point)
        append(tenant)
        append(tenant)
        seal()
    assert sequences(tenant) == [1, 2]
