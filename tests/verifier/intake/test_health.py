"""Readiness is a promise: each part that is missing is named in plain words, and nothing secret is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection, transaction
from django.test import Client

from audit.log import record
from audit.models import ActorType, Tenant
from tests.verifier.intake.reports import AT


def ready(client: Client) -> tuple[int, dict[str, Any]]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json()


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def verified(tenant: Tenant, outcome: str) -> None:
    with transaction.atomic():
        record(
            tenant_id=tenant.id,
            event_type="trail_verified",
            actor="clock",
            actor_type=ActorType.CLOCK,
            outcome=outcome,
            at=AT,
        )


def test_the_process_is_up_without_asking_anybody(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_it_is_ready_when_everything_is_there(client: Client, db: None) -> None:
    assert ready(client) == (200, {"status": "ready"})


def test_it_is_ready_for_the_application_role(client: Client, as_application: Callable[[], Any]) -> None:
    with as_application():
        assert ready(client) == (200, {"status": "ready"})


def test_it_says_that_the_database_does_not_answer(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    status, answer = ready(client)
    assert (status, answer) == (503, {"status": "unavailable", "reasons": ["the database does not answer"]})


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:1/0", "unix:///nowhere/broker.sock?db=0", "redis://:secret@127.0.0.1:1/0"]
)
def test_it_says_that_the_broker_does_not_answer(client: Client, db: None, settings: Any, url: str) -> None:
    settings.REDIS_URL = url
    assert ready(client) == (503, {"status": "unavailable", "reasons": ["the broker does not answer"]})


def test_it_names_the_migration_that_is_not_applied(client: Client, db: None) -> None:
    run("DELETE FROM django_migrations WHERE app = 'verifier' AND name = '0001_initial'")
    status, answer = ready(client)
    assert (status, answer["reasons"]) == (503, ["migration verifier.0001_initial is not applied"])


def test_it_names_the_guard_that_is_gone(client: Client, db: None) -> None:
    run("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_auditevent_append_only")
    status, answer = ready(client)
    assert status == 503
    assert len(answer["reasons"]) == 1 and "audit_auditevent_append_only" in answer["reasons"][0]


def test_it_names_all_reasons_together_and_no_secret(client: Client, db: None, settings: Any) -> None:
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    run("ALTER TABLE verifier_case NO FORCE ROW LEVEL SECURITY; ALTER TABLE verifier_case DISABLE ROW LEVEL SECURITY")
    status, answer = ready(client)
    assert status == 503 and len(answer["reasons"]) == 2
    text = str(answer)
    assert "secret" not in text and configured.DATABASES["default"]["PASSWORD"] not in text


def test_a_trail_found_broken_is_degraded_until_it_is_found_whole(client: Client, db: None) -> None:
    acme, other = (Tenant.objects.create(slug=slug) for slug in ("acme", "other"))
    for tenant in (acme, other):
        verified(tenant, "ok")
    assert ready(client)[1]["status"] == "ready"
    verified(acme, "broken")
    broken = (200, {"status": "degraded", "reasons": ["the trail of acme is broken"]})
    assert ready(client) == broken
    verified(other, "ok")  # says nothing of the other one
    assert ready(client) == broken
    verified(acme, "ok")
    assert ready(client) == (200, {"status": "ready"})
