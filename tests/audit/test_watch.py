"""Verification by the clock: what is due is verified whatever happens to others, and people are told what it found."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection

from audit import log, watch
from audit.log import Recorded, register_comparer
from audit.models import SYSTEM_TENANT_ID, ActorType, AuditEvent, Tenant
from audit.verification import TrailResult, verify_tenant
from audit.watch import NotVerified, broken_trails, verify_all, verify_due
from tests.audit.trails import append_many, event_id_at, run, seal

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def apart(settings: Any, tmp_path: Path) -> Iterator[None]:
    """Without other apps' rows and without checkpoints, which have tests of their own."""
    settings.CHECKPOINT_KEY, settings.CHECKPOINT_DIR = "", tmp_path
    with patch.dict(log._comparers, clear=True), patch.dict(log._states, clear=True):
        yield


def now() -> datetime:
    return datetime.now(UTC)


def later(**passed: float) -> watch.Clock:
    return lambda: now() + timedelta(**passed)


def slugs(results: list[TrailResult]) -> set[str]:
    return {result.tenant for result in results}


def verified(tenant: Tenant) -> list[str]:
    events = AuditEvent.objects.filter(tenant=tenant, event_type="trail_verified").order_by("recorded_at")
    return list(events.values_list("outcome", flat=True))


def test_a_trail_is_due_once_its_last_result_is_old_enough(tenant: Tenant) -> None:
    append_many(tenant, 2)
    assert slugs(verify_due(clock=now)) == {tenant.slug, "system"}, "never verified: due"
    seal()
    assert verify_due(clock=later(hours=settings.TRAIL_VERIFICATION_INTERVAL_HOURS - 1)) == []
    assert slugs(verify_due(clock=later(hours=settings.TRAIL_VERIFICATION_INTERVAL_HOURS))) == {tenant.slug, "system"}
    assert verified(tenant) == ["ok", "ok"]


def test_a_broken_trail_is_told_until_it_is_found_whole(tenant: Tenant) -> None:
    append_many(tenant, 3)
    run("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_auditevent_append_only")
    for actor, told in (("somebody.else", [tenant.slug]), ("m.tamm", [])):
        run("UPDATE audit_auditevent SET actor = %s WHERE id = %s", actor, event_id_at(tenant, 2))
        with patch("audit.watch.missing_guards", list):
            verify_all(clock=now, tenants=[tenant])
        seal()
        assert broken_trails() == told
        assert broken_trails([SYSTEM_TENANT_ID]) == []
    assert verified(tenant) == ["broken", "ok"]


def test_who_asked_for_a_verification_is_recorded_with_its_result(tenant: Tenant) -> None:
    verify_all(clock=now, tenants=[tenant], actor="k.saar", actor_type=ActorType.PERSON, actor_role="auditor")
    event = AuditEvent.objects.get(tenant=tenant, event_type="trail_verified")
    assert (event.actor, event.actor_type, event.outcome) == ("k.saar", "person", "ok")


def test_a_trail_that_can_not_be_verified_keeps_no_other_back_and_fails_loudly(make_tenant: Any) -> None:
    first, second = make_tenant("a-first"), make_tenant("b-second")

    def fail_for_first(*, tenant: Tenant, missing_guards: list[str]) -> TrailResult:
        if tenant == first:
            raise RuntimeError("half way")
        return verify_tenant(tenant=tenant, missing_guards=missing_guards)

    with patch("audit.watch.verify_tenant", fail_for_first), pytest.raises(NotVerified, match="a-first$"):
        verify_all(clock=now, tenants=[first, second])

    assert (verified(first), verified(second)) == ([], ["ok"]), "what could not run is no pass"


@pytest.mark.django_db(transaction=True)
def test_of_two_verifications_at_once_one_runs(tenant: Tenant, application_url: str) -> None:
    import psycopg

    with psycopg.connect(application_url, autocommit=True) as another:
        another.execute(watch.LOCK)
        assert verify_all(clock=now, tenants=[tenant]) == []
        assert verified(tenant) == []
    while not slugs(verify_all(clock=now, tenants=[tenant])):
        pass  # until the server has seen that the other one left
    assert verified(tenant) == ["ok"]


def test_a_row_that_can_not_be_read_disagrees_and_the_other_tables_are_looked_at(tenant: Tenant) -> None:
    append_many(tenant, 2)
    looked = []

    def unreadable(tenant_id: UUID) -> Iterator[Recorded]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 'infinity'::timestamptz")
            yield Recorded(cursor.fetchone()[0], {})

    def readable(tenant_id: UUID) -> Iterator[Recorded]:
        looked.append(tenant_id)
        return iter(())

    register_comparer("thing", unreadable, event_types=("thing_made",))
    register_comparer("other", readable, event_types=("other_made",))

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence, broken.detail) == (
        "row_disagrees",
        None,
        "thing: a row can't be read (DataError)",
    )
    assert looked == [tenant.id]
