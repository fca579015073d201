"""Verifies trails by the clock or on demand, records what was found, and says what was found last.

The result of each tenant's verification is an event of its own trail.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from audit.checks import missing_guards
from audit.log import EVERY_TENANT, record, tenant_scope
from audit.models import ActorType, AuditEvent, Tenant
from audit.verification import TrailResult, verify_tenant

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]
EVENT = "trail_verified"
SOUND, BROKEN = "ok", "broken"
LOOK_EVERY = timedelta(hours=1)  # so often the clock asks which trails are due
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
    """Verifies these trails (all, unless told) and records each result. Empty when another verification runs.

    A trail that can't be verified keeps no other one back; then NotVerified is raised at the end.
    """
    with only_one() as ours:
        if not ours:
            return []
        guards = missing_guards()
        results, failed = [], []
        for tenant in tenants if tenants is not None else Tenant.objects.order_by("slug"):
            try:
                result = verify_tenant(tenant=tenant, missing_guards=guards)
                note(tenant, result, actor=actor, actor_type=actor_type, actor_role=actor_role, at=clock())
            except Exception:
                logger.exception("the trail could not be verified: tenant=%s", tenant.slug)
                failed.append(tenant.slug)
            else:
                results.append(result)
        if failed:
            raise NotVerified(failed)
        return results


class NotVerified(Exception):
    """The trails that a verification could not finish, which is not to say that anything is wrong with them."""

    def __init__(self, slugs: list[str]) -> None:
        super().__init__(f"not verified: {', '.join(slugs)}")


def verify_due(*, clock: Clock) -> list[TrailResult]:
    """Verifies each trail whose last result is older than TRAIL_VERIFICATION_INTERVAL_HOURS, or that has none.

    What is due is read from the trails: a clock that is restarted every day would else never come to it.
    """
    tenants = list(Tenant.objects.order_by("slug"))
    last = last_verified([tenant.id for tenant in tenants])
    # A verification takes its time, so that a result is a little younger than the look that led to it.
    longest = timedelta(hours=settings.TRAIL_VERIFICATION_INTERVAL_HOURS) - LOOK_EVERY / 2
    now = clock()
    due = [each for each in tenants if each.id not in last or now - last[each.id].recorded_at >= longest]
    return verify_all(clock=clock, tenants=due)


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
            subject=result.in_short(),
            outcome=outcome_of(result),
            details=result.as_json(),
            at=at,
        )


def outcome_of(result: TrailResult) -> str:
    return BROKEN if result.broken else SOUND


def last_verified(tenant_ids: list[UUID]) -> dict[UUID, AuditEvent]:
    """The newest result of each of these trails that was ever verified."""
    with tenant_scope(EVERY_TENANT):
        return newest_results(tenant_ids)


def newest_results(tenant_ids: list[UUID]) -> dict[UUID, AuditEvent]:
    """The same, of trails that the connection sees as it is: every page asks this."""
    events = AuditEvent.objects.filter(tenant_id__in=tenant_ids, event_type=EVENT)
    newest = events.order_by("tenant_id", "-recorded_at", "-id").distinct("tenant_id")
    return {event.tenant_id: event for event in newest}


def broken_trails(tenant_ids: list[UUID] | None = None) -> list[str]:
    """The slugs of these tenants (all, unless told) whose trail was found broken when it was last verified."""
    slugs = dict(Tenant.objects.values_list("id", "slug"))
    wanted = list(slugs) if tenant_ids is None else tenant_ids
    return sorted(slugs[tenant] for tenant, event in last_verified(wanted).items() if event.outcome == BROKEN)
