"""Trails to test with: events through the product's own writer, and the bypass of one who owns the tables."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from audit.log import record
from audit.models import ActorType, AuditEvent, Tenant

AT = datetime(2026, 11, 30, 14, 2, 13, 204567, UTC)
TABLES = ("audit_auditevent", "audit_auditseal", "audit_chainhead", "audit_tenant")


def append(tenant: Tenant, **given: Any) -> AuditEvent:
    """One event in a transaction of its own."""
    values: dict[str, Any] = {
        "event_type": "case_viewed",
        "actor": "m.tamm",
        "actor_type": ActorType.PERSON,
        "actor_role": "officer",
        "subject": "INV-2026-0412",
        "at": AT,
    }
    with transaction.atomic():
        return record(tenant_id=tenant.id, **(values | given))


def append_many(tenant: Tenant, count: int) -> list[AuditEvent]:
    events = [append(tenant, case_id=uuid4(), details={"place": place}) for place in range(1, count + 1)]
    seal()
    return events


def seal() -> None:
    """Inside a test's transaction: what COMMIT does, the deferred seals."""
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("SET CONSTRAINTS ALL DEFERRED")


def run(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return cursor.fetchall() if cursor.description else []


def bypass_guards() -> None:
    """What an owner of the tables can do inside one transaction: switch guards and constraints off."""
    for table in TABLES[:2]:
        run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    for table, constraint in run(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint"
        " WHERE conrelid IN ('audit_auditseal'::regclass, 'audit_chainhead'::regclass) AND contype IN ('p', 'u', 'f')"
    ):
        run(f"ALTER TABLE {table} DROP CONSTRAINT {constraint} CASCADE")


def event_id_at(tenant: Tenant, sequence: int) -> UUID:
    event_id: UUID = run(
        "SELECT event_id FROM audit_auditseal WHERE tenant_id = %s AND sequence = %s", tenant.id, sequence
    )[0][0]
    return event_id
