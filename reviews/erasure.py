"""Erases a case when its time of keeping is over: `manage.py erase_case`, run as the owner of the tables."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from audit.erasing import connected_as_owner, erase, vacuum
from audit.log import EVERY_TENANT, record, tenant_scope
from audit.models import AuditEvent
from reviews.models import Claim
from reviews.retention import Hand, Retention, retention_of
from verifier.models import Case, SearchText, Verification


class NotErased(Exception):
    """Why the case stays as it is, in a sentence."""


@dataclass(frozen=True, slots=True)
class Erased:
    event: AuditEvent
    rows: int  # blanked


def erase_case(*, case_id: UUID, reason: str, hand: Hand, at: datetime) -> Erased:
    """The key destroyed, the copies blanked, the event appended, in one transaction. Raises NotErased.

    `reason` stays readable in the trail, so it names nobody.
    """
    if not reason.strip():
        raise NotErased("Say why: the reason stands in the trail.")
    if not connected_as_owner():
        raise NotErased("Erasing is the table owner’s alone. Set DATABASE_OWNER_URL.")
    with tenant_scope(EVERY_TENANT):
        with transaction.atomic():
            case = Case.objects.select_for_update().filter(id=case_id).first()
            if case is None:
                raise NotErased(f"There is no case {case_id}.")
            retention = check_due(case, at)
            blanked = erase(tenant_id=case.tenant_id, case_id=case.id, at=at)
            forget_search_and_claim(case)
            event = note(case, retention, blanked, reason.strip(), hand, at)
        vacuum()
    return Erased(event, sum(blanked.values()))


def check_due(case: Case, at: datetime) -> Retention:
    retention = retention_of(case)
    refusal = retention.refusal(at.date())
    if refusal is not None:
        raise NotErased(refusal)
    if Verification.objects.filter(case=case, finished_at=None).exists():
        raise NotErased("A re-check of this case has not ended yet.")
    return retention


def forget_search_and_claim(case: Case) -> None:
    """The case is still found by its reference, and by nothing that its reports said."""
    for kept in SearchText.objects.filter(case=case):
        SearchText.objects.filter(case=case).update(text=kept.text.split("\n", 1)[0])
    Claim.objects.filter(case=case).delete()


def note(
    case: Case, retention: Retention, blanked: dict[str, int], reason: str, hand: Hand, at: datetime
) -> AuditEvent:
    assert retention.ended_on is not None, "due only from an end on"
    return record(
        tenant_id=case.tenant_id,
        event_type="case_erased",
        actor=hand.actor,
        actor_type=hand.actor_type,
        case_id=case.id,
        details={
            "reason": reason,
            "ended_on": retention.ended_on.isoformat(),
            "retention_years": settings.RETENTION_YEARS,
            "rows_blanked": blanked,
        },
        at=at,
    )
