"""The trail's only writer, and the tenant a database connection works for."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from audit.chain import canonical
from audit.models import ActorType, AuditEvent

EVERY_TENANT = "*"
BODY_VERSION = 1


@contextmanager
def tenant_scope(tenant_id: UUID | str) -> Iterator[None]:
    """Row security shows the application role this tenant's rows until the block ends (`*`: all tenants').

    A lost connection loses the setting and sees nothing, which is the safe side.
    """
    previous = current_tenant()
    set_current_tenant(str(tenant_id))
    try:
        yield
    finally:
        if connection.connection is not None and not connection.needs_rollback:
            set_current_tenant(previous)


def current_tenant() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('app.current_tenant', true), '')")
        return cursor.fetchone()[0]


def set_current_tenant(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.current_tenant', %s, false)", [value])


def record(
    *,
    tenant_id: UUID,
    event_type: str,
    actor: str,
    actor_type: ActorType,
    at: datetime,
    actor_role: str = "",
    case_id: UUID | None = None,
    subject: str = "",
    details: dict[str, Any] | None = None,
) -> AuditEvent:
    """Appends one event inside the caller's transaction; the database seals it into the chain at commit.

    `at` is the application's clock; the database writes its own beside it. `details` holds JSON values only.
    Write it last: every moment after it is a moment of the tenant's chain lock at commit. Raises what the
    database raises, and then the caller's transaction must not commit.
    """
    assert connection.in_atomic_block, "an event is written in the transaction of what it records"
    event = AuditEvent(
        tenant_id=tenant_id,
        event_type=event_type,
        actor=actor,
        actor_type=actor_type,
        case_id=case_id,
        subject=subject[:200],
    )
    event.body = canonical(
        {
            "v": BODY_VERSION,
            "event_id": str(event.id),
            "event_type": event_type,
            "tenant_id": str(tenant_id),
            "actor": actor,
            "actor_type": str(actor_type),
            "actor_role": actor_role,
            "case_id": str(case_id) if case_id else None,
            "subject": subject[:200],
            "app_at": at.isoformat(timespec="microseconds"),
            "details": details or {},
        }
    )
    event.save(force_insert=True)
    return event

