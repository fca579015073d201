"""Verifies trails by the clock or on demand, records what was found, and says what was found last.

The result of each tenant's verification is an event of its own trail.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from audit.checks import missing_guards
from audit.log import EVERY_TENANT, record, tenant_scope
from audit.models import ActorType, AuditEvent, Tenant
from audit.verification import TrailResult, verify_tenant

Clock = Callable[[], datetime]
EVENT = "trail_verified"
SOUND, BROKEN = "ok", "broken"
LOCK = "SELECT pg_try_advisory_lock(hashtextextended('second-look:verify-trails', 0))"
UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('second-look:verify-trails', 0))"


def verify_all(
    *,
    clock: Clock,
    tenants: list[Tenant] | None = None,
    actor: str = "clock",
    actor_type: ActorType = ActorType.CLOCK,
    actor_role: str = "",
) -> list[TrailResult]:
    """Verifies these trails (all, unless told) and records each result. Empty when another verification runs."""
    with only_one() as ours:
        if not ours:
            return []
        guards = missing_guards()
        results = []
        for tenant in tenants if tenants is not None else Tenant.objects.order_by("slug"):
            result = verify_tenant(tenant=tenant, missing_guards=guards)
            note(tenant, result, actor=actor, actor_type=actor_type, actor_role=actor_role, at=clock())
            results.append(result)
        return results


@contextmanager
def only_one() -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        (ours,) = cursor.fetchone()
    try:
        yield bool(ours)
    finally:
        if ours:
            with connection.cursor() as cursor:
                cursor.execute(UNLOCK)


def note(
    tenant: Tenant, result: TrailResult, *, actor: str, actor_type: ActorType, actor_role: str, at: datetime
) -> None:
    with tenant_scope(tenant.id), transaction.atomic():
        record(
            tenant_id=tenant.id,
            event_type=EVENT,
            actor=actor,
            actor_type=actor_type,
            actor_role=actor_role,
            subject=result.in_words(),
            outcome=outcome_of(result),
            details=result.as_json(),
            at=at,
        )


def outcome_of(result: TrailResult) -> str:
    return BROKEN if result.broken else SOUND


def last_verified(tenant_ids: list[UUID]) -> dict[UUID, AuditEvent]:
    """The newest result of each of these trails that was ever verified."""
    with tenant_scope(EVERY_TENANT):
        events = AuditEvent.objects.filter(tenant_id__in=tenant_ids, event_type=EVENT)
        newest = events.order_by("tenant_id", "-recorded_at", "-id").distinct("tenant_id")
        return {event.tenant_id: event for event in newest}


def broken_trails(tenant_ids: list[UUID] | None = None) -> list[str]:
    """The slugs of these tenants (all, unless told) whose trail was found broken when it was last verified."""
    slugs = dict(Tenant.objects.values_list("id", "slug"))
    wanted = list(slugs) if tenant_ids is None else tenant_ids
    return sorted(slugs[tenant] for tenant, event in last_verified(wanted).items() if event.outcome == BROKEN)
