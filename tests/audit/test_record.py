"""`record()`: it writes, it is refused, and what fails leaves nothing."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.db import DataError, connection, transaction
from django.db.transaction import TransactionManagementError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.chain import genesis, link_hash, microseconds, read_body
from audit.log import EVERY_TENANT, record, set_current_tenant, tenant_scope
from audit.models import ActorType, AuditEvent, AuditSeal, ChainHead, Tenant
from audit.sealed import Opened, open_event
from tests.audit.trails import AT, append, append_many, run, seal

pytestmark = pytest.mark.django_db


def computed(event: AuditEvent, stored: AuditSeal) -> bytes:
    return link_hash(
        previous_hash=bytes(stored.previous_hash),
        tenant=event.tenant_id.bytes,
        sequence=stored.sequence,
        microseconds=microseconds(event.recorded_at),
        body=event.body.encode(),
    )


def test_it_writes_the_event_as_canonical_json_with_both_clocks(tenant: Tenant) -> None:
    case_id = uuid4()
    event = append(tenant, case_id=case_id, outcome="contradicted", details={"verdict": "contradicted"})

    stored = AuditEvent.objects.get(id=event.id)
    assert stored.sealed is not None
    assert read_body(stored.body) == {
        "v": 2,
        "event_id": str(event.id),
        "event_type": "case_viewed",
        "tenant_id": str(tenant.id),
        "actor": "m.tamm",
        "actor_type": "person",
        "actor_role": "officer",
        "case_id": str(case_id),
        "subject": "",
        "outcome": "contradicted",
        "app_at": "2026-11-30T14:02:13.204567+00:00",
        "details": {},
        "sealed": {
            "sha256": sha256(stored.sealed).hexdigest(),
            "commitment": read_body(stored.body)["sealed"]["commitment"],
        },
    }
    assert (stored.subject, stored.outcome) == ("", "contradicted")
    assert open_event(stored) == Opened("INV-2026-0412", {"verdict": "contradicted"})
    assert abs(event.recorded_at - datetime.now(UTC)) < timedelta(minutes=5)


def test_it_refuses_to_write_outside_a_transaction(tenant: Tenant) -> None:
    with patch.object(connection, "in_atomic_block", False), pytest.raises(TransactionManagementError):
        record(tenant_id=tenant.id, event_type="x", actor="a", actor_type=ActorType.SYSTEM, at=AT)

    assert not AuditEvent.objects.filter(tenant=tenant).exists()


def test_what_the_event_could_not_say_is_undone_with_it(tenant: Tenant) -> None:
    with pytest.raises(DataError), transaction.atomic():
        other = Tenant.objects.create(slug="undone")
        record(tenant_id=other.id, event_type="x" * 81, actor="a", actor_type=ActorType.SYSTEM, at=AT)

    assert not Tenant.objects.filter(slug="undone").exists()


def test_it_refuses_what_json_cannot_hold(tenant: Tenant) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        append(tenant, details={"score": float("nan")})


def test_nul_stays_escaped_in_the_content_and_is_replaced_beside_it(tenant: Tenant) -> None:
    event = append(tenant, actor="a\0b", subject="s\0")
    seal()

    stored = AuditEvent.objects.get(id=event.id)
    assert (stored.actor, stored.subject) == ("a\ufffdb", "s\ufffd")
    assert read_body(stored.body)["actor"] == "a\0b"


def test_the_first_link_starts_from_the_tenants_genesis_and_each_next_from_the_one_before(tenant: Tenant) -> None:
    append_many(tenant, 3)

    seals = list(AuditSeal.objects.filter(tenant=tenant).order_by("sequence"))
    assert [each.sequence for each in seals] == [1, 2, 3]
    assert bytes(seals[0].previous_hash) == genesis(tenant.id)
    assert [bytes(each.previous_hash) for each in seals[1:]] == [bytes(each.event_hash) for each in seals[:2]]
    head = ChainHead.objects.get(tenant=tenant)
    assert (head.sequence, bytes(head.event_hash)) == (3, bytes(seals[-1].event_hash))


def test_several_events_of_one_transaction_stand_in_the_order_they_were_written(tenant: Tenant) -> None:
    with transaction.atomic():
        written = [append(tenant, details={"n": n}).id for n in range(5)]
    seal()

    assert (
        list(AuditSeal.objects.filter(tenant=tenant).order_by("sequence").values_list("event_id", flat=True)) == written
    )


odd_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
odd_details = st.dictionaries(odd_text, odd_text | st.integers() | st.booleans() | st.none(), max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actor=odd_text, subject=odd_text, details=odd_details)
def test_the_database_computes_the_same_link_hash(
    tenant: Tenant, actor: str, subject: str, details: dict[str, Any]
) -> None:
    event = append(tenant, actor=actor, subject=subject, details=details)
    seal()

    stored = AuditSeal.objects.select_related("event").get(event_id=event.id)
    assert computed(stored.event, stored) == bytes(stored.event_hash)


@pytest.mark.parametrize(
    "text", ["\0", "\u2028\u2029", "\U0001f600" * 50_000, "ẞ\u0301", "\\u0000", '"', "x" * 1_000_000]
)
def test_the_database_computes_the_same_link_hash_over_odd_and_long_bodies(tenant: Tenant, text: str) -> None:
    event = append(tenant, details={"text": text})
    seal()

    stored = AuditSeal.objects.select_related("event").get(event_id=event.id)
    assert computed(stored.event, stored) == bytes(stored.event_hash)


@pytest.mark.parametrize(
    "moment", ["1969-12-31 23:59:59.999999+00", "2026-11-30 14:02:13.000001+00", "9999-12-31 23:59:59.999999+00"]
)
def test_the_database_and_python_count_the_same_microseconds(tenant: Tenant, moment: str) -> None:
    run("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_event_stamp")
    event = insert_at(tenant, moment)
    seal()

    stored = AuditSeal.objects.select_related("event").get(event_id=event)
    assert computed(stored.event, stored) == bytes(stored.event_hash)


def insert_at(tenant: Tenant, moment: str) -> UUID:
    """An event as a writer would send it who has his own idea of the database's clock."""
    event_id = uuid4()
    run(
        "INSERT INTO audit_auditevent (id, tenant_id, event_type, actor, actor_type, subject, body, recorded_at)"
        " VALUES (%s, %s, 'x', 'a', 'system', '', '{}', %s)",
        event_id,
        tenant.id,
        moment,
    )
    return event_id


def test_nobody_sets_the_database_clock_of_an_event(tenant: Tenant) -> None:
    event_id = insert_at(tenant, "2001-01-01T00:00:00Z")

    assert AuditEvent.objects.get(id=event_id).recorded_at.year > 2001


def test_a_clock_going_backwards_does_not_change_the_order(tenant: Tenant) -> None:
    run("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_event_stamp")
    later, earlier = insert_at(tenant, "2026-11-30T14:00:00Z"), insert_at(tenant, "2026-11-30T13:00:00Z")
    seal()

    seals = AuditSeal.objects.filter(tenant=tenant).order_by("sequence")
    assert [each.event_id for each in seals] == [later, earlier]


# Whose rows a connection sees


def test_the_application_sees_the_rows_of_its_tenant_and_of_the_system_only(
    tenant: Tenant, make_tenant: Any, as_application: Any
) -> None:
    other = make_tenant()
    append_many(tenant, 1)
    append_many(other, 2)

    with as_application(), tenant_scope(tenant.id):
        assert set(AuditEvent.objects.values_list("tenant_id", flat=True)) == {tenant.id}
        assert AuditSeal.objects.count() == 1


def test_the_application_sees_nothing_without_a_tenant_and_all_with_the_star(
    tenant: Tenant, as_application: Any
) -> None:
    append_many(tenant, 2)

    with as_application():
        with tenant_scope(""):
            assert not AuditEvent.objects.exists()
        with tenant_scope(EVERY_TENANT):
            assert AuditEvent.objects.filter(tenant=tenant).count() == 2


def test_a_scope_ends_with_its_block_even_when_that_fails(tenant: Tenant) -> None:
    set_current_tenant("outer")
    with pytest.raises(DataError), transaction.atomic(), tenant_scope(tenant.id):
        run("SELECT 1 / 0")

    assert set_current_tenant("") == "outer"
