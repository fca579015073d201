"""Where a finding stands in the queue, and what stands beside it there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, RowRange, Window
from django.db.models.functions import FirstValue, Lag, Lead, RowNumber

from audit.models import Tenant
from reviews.models import User
from reviews.queues import MOST_URGENT_FIRST, Filters, everything, narrow


@dataclass(frozen=True, slots=True)
class Neighbour:
    case_id: UUID
    finding_pk: UUID | None  # None: the whole case waits


@dataclass(frozen=True, slots=True)
class Place:
    """A finding's number in the queue, from 1, and of how many."""

    number: int
    of: int
    previous: Neighbour | None
    next: Neighbour | None


def place_of(tenant: Tenant, finding_pk: UUID, filters: Filters, *, user: User, at: datetime) -> Place | None:
    """Under these filters; one query, whose answer is one row. None: they don't show it, or it doesn't wait."""
    waiting = narrow(everything(tenant, forced=True), filters, user, at)
    listed = waiting.annotate(
        itself=over(FirstValue("finding_id"), frame=RowRange(0, 0)),  # so that the filter follows the numbering
        number=over(RowNumber()),
        matching=Window(Count("id")),
        case_before=over(Lag("case_id")),
        finding_before=over(Lag("finding_id")),
        case_after=over(Lead("case_id")),
        finding_after=over(Lead("finding_id")),
    )
    found: Any = listed.filter(itself=finding_pk).order_by().first()
    if found is None:
        return None
    return Place(
        number=found.number,
        of=found.matching,
        previous=Neighbour(found.case_before, found.finding_before) if found.case_before else None,
        next=Neighbour(found.case_after, found.finding_after) if found.case_after else None,
    )


def over(function: Any, **options: Any) -> Window:
    return Window(function, order_by=MOST_URGENT_FIRST, **options)
