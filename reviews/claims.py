"""Who works on a case just now, and who has looked at it. A claim lapses by itself and decides nothing."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from audit.log import Said, append, record
from audit.models import ActorType, AuditEvent
from audit.sealed import Opened, open_events
from reviews.models import Claim, User
from reviews.permissions import check_can_claim, check_can_view_case
from verifier.models import Case

LEASE = timedelta(minutes=30)
ONE_VIEW = timedelta(hours=1)


class Held(Exception):
    """Someone else holds the case: `holder`, `since` and `until` say who and when, the text says it in words."""

    def __init__(self, claim: Claim) -> None:
        self.holder = claim.holder
        self.since = claim.claimed_at
        self.until = claim.expires_at
        super().__init__(f"{claim.holder.display_name} holds this case since {claim.claimed_at:%H:%M} UTC.")


class NotHeld(Exception):
    """The person doesn't hold the case any more, in a sentence that says what became of the claim."""


def claim(*, user: User, case: Case, at: datetime) -> Claim:
    """Takes the case for half an hour, or renews one's own claim. Of two at once one gets it; the other gets Held."""
    check_can_claim(user, case)
    with transaction.atomic():
        lock(case)
        current = read(case)
        if current is not None and current.holder_id != user.pk and current.expires_at > at:
            raise Held(current)
        renewed = current is not None and current.holder_id == user.pk and current.expires_at > at
        mine, _ = Claim.objects.update_or_create(
            case=case,
            defaults={
                "tenant_id": case.tenant_id,
                "holder": user,
                "claimed_at": current.claimed_at if renewed and current else at,
                "expires_at": at + LEASE,
            },
        )
        if not renewed:
            lapsed = current.holder.username if current else None
            note(user, case, "claim_taken", {"until": mine.expires_at.isoformat(), "lapsed_holder": lapsed}, at)
        return mine


def release(*, user: User, case: Case, at: datetime) -> None:
    """Gives one's claim back. Raises NotHeld when it lapsed or someone else has the case by now."""
    check_can_claim(user, case)
    with transaction.atomic():
        lock(case)
        check_held(user=user, case=case, at=at)
        Claim.objects.filter(case=case).delete()
        note(user, case, "claim_released", {}, at)


def check_held(*, user: User, case: Case, at: datetime) -> Claim:
    """The person's own live claim; raises NotHeld and says what became of it."""
    current = read(case)
    if current is None:
        raise NotHeld("Nobody holds this case. Take it first.")
    if current.holder_id != user.pk and current.expires_at > at:
        raise NotHeld(f"{current.holder.display_name} took this case at {current.claimed_at:%H:%M} UTC.")
    if current.holder_id != user.pk or current.expires_at <= at:
        raise NotHeld(
            f"This case was held until {current.expires_at:%H:%M} UTC, half an hour without a sign. Take it again."
        )
    return current


def holder(*, case: Case, at: datetime) -> Claim | None:
    """The live claim on a case, whoever's it is."""
    current = read(case)
    return current if current is not None and current.expires_at > at else None


def read(case: Case) -> Claim | None:
    return Claim.objects.select_related("holder").filter(case=case).first()


def lock(case: Case) -> None:
    """Claims of one case pass one after the other; verdicts may be recorded meanwhile."""
    Case.objects.select_for_update(no_key=True).get(id=case.id)


def note_view(*, user: User, case: Case, session: str, at: datetime) -> None:
    """Records that a person read a case: once for each person, case and session within an hour."""
    note_views(user=user, cases=[case], session=session, at=at)


def note_views(*, user: User, cases: Sequence[Case], session: str, at: datetime) -> None:
    """Of several cases that one page shows. Each event stands alone, so that no chain is held while a page is made."""
    for case in cases:
        check_can_view_case(user, case)
    visit = hashlib.sha256(session.encode()).hexdigest()[:16]
    if {case.id for case in cases} <= read_within_the_hour(user, cases, visit, at):
        return
    with one_reading_at_a_time(user):
        known = read_within_the_hour(user, cases, visit, at)
        for case in {case.id: case for case in cases if case.id not in known}.values():
            append(**said(user, case, "case_viewed", {"visit": visit}, at))


def read_within_the_hour(user: User, cases: Sequence[Case], visit: str, at: datetime) -> set[UUID | None]:
    seen = AuditEvent.objects.filter(
        tenant_id=user.tenant_id,
        case_id__in=[case.id for case in cases],
        event_type="case_viewed",
        actor=user.username,
        recorded_at__gt=at - ONE_VIEW,
    )
    events = list(seen)
    views = zip(events, open_events(events), strict=True)
    return {event.case_id for event, view in views if isinstance(view, Opened) and view.details.get("visit") == visit}


@contextmanager
def one_reading_at_a_time(user: User) -> Iterator[None]:
    """Two tabs opened at once leave one event, not two. The lock is the connection's, for each event commits alone."""
    name = f"second-look:views:{user.pk}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
    try:
        yield
    finally:
        if not connection.needs_rollback:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def note(user: User, case: Case, event_type: str, details: dict[str, object], at: datetime) -> None:
    record(**said(user, case, event_type, details, at))


def said(user: User, case: Case, event_type: str, details: dict[str, object], at: datetime) -> Said:
    return {
        "tenant_id": case.tenant_id,
        "event_type": event_type,
        "actor": user.username,
        "actor_type": ActorType.PERSON,
        "actor_role": user.role,
        "case_id": case.id,
        "subject": case.report_id,
        "details": details,
        "at": at,
    }
