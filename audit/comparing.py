"""Holds the rows of other apps against the events that recorded them: a row changed behind the application is found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import DataError, transaction

from audit import chain
from audit.chain import Break, Kind
from audit.log import Comparer, Recorded, StateReader, comparers, states
from audit.models import AuditEvent, AuditSeal
from audit.sealed import ERASED, Closed, Opened, open_event, open_events

BATCH = 500


@dataclass(frozen=True, slots=True)
class Witness:
    """An event as a comparer's row is held against it."""

    event_id: UUID
    sequence: int | None
    said: Opened | Closed


def first_disagreement(tenant_id: UUID) -> Break | None:
    """The disagreement between rows and events that stands earliest in the chain."""
    looks = [(comparer.name, partial(disagreements, comparer, tenant_id)) for comparer in comparers()]
    looks += [(name, partial(departures, name, read, tenant_id)) for name, read in states().items()]
    found = [wrong for name, look in looks for wrong in legible(name, look)]
    return min(found, key=lambda wrong: (wrong.sequence is None, wrong.sequence or 0), default=None)


def legible(name: str, look: Callable[[], list[Break]]) -> list[Break]:
    """A row that can't even be read is not what any event recorded; the other tables are looked at all the same."""
    try:
        with transaction.atomic():
            return look()
    except (DataError, ValueError, LookupError, TypeError, AttributeError) as problem:
        return [Break(Kind.ROW_DISAGREES, None, f"{name}: a row can't be read ({type(problem).__name__})")]


def disagreements(comparer: Comparer, tenant_id: UUID) -> list[Break]:
    """The earliest one of a table, or none: memory stays the same however many there are."""
    earliest: Break | None = None
    for row, event in side_by_side(comparer.rows(tenant_id), witnesses(comparer.event_types, tenant_id)):
        detail = difference(row, event)
        if detail is None:
            continue
        wrong = Break(Kind.ROW_DISAGREES, event.sequence if event else None, f"{comparer.name}: {detail}")
        if earliest is None or (wrong.sequence or 0) < (earliest.sequence or 0) or earliest.sequence is None:
            earliest = wrong
    return [earliest] if earliest else []


def departures(name: str, read: StateReader, tenant_id: UUID) -> list[Break]:
    """The earliest one of a table, or none."""
    earliest: Break | None = None
    for departure in read(tenant_id):
        seal = AuditSeal.objects.filter(event=departure.event_id).first() if departure.event_id else None
        wrong = Break(Kind.ROW_DISAGREES, seal.sequence if seal else None, f"{name}: {departure.sentence}")
        if earliest is None or earliest.sequence is None or (wrong.sequence or earliest.sequence) < earliest.sequence:
            earliest = wrong
    return [earliest] if earliest else []


@dataclass(frozen=True, slots=True)
class Told:
    """One event in clear, for a reader of states."""

    event_id: UUID
    event_type: str
    details: dict[str, Any]


def told(tenant_id: UUID, *event_types: str) -> Iterator[Told]:
    """A tenant's events of these types in the order of the chain."""
    events = AuditEvent.objects.filter(tenant_id=tenant_id, event_type__in=event_types, seal__isnull=False)
    for event in events.order_by("seal__sequence").iterator(chunk_size=BATCH):
        said = open_event(event)
        yield Told(event.id, event.event_type, said.details if isinstance(said, Opened) else {})


def witnesses(event_types: tuple[str, ...], tenant_id: UUID) -> Iterator[Witness]:
    """In the order of their ids, opened a batch at a time: memory stays the same, and keys are asked for together."""
    events = AuditEvent.objects.filter(tenant_id=tenant_id, event_type__in=event_types).order_by("id")
    stream = events.select_related("seal").iterator(chunk_size=BATCH)
    while batch := list(islice(stream, BATCH)):
        for event, said in zip(batch, open_events(batch, fresh=True), strict=True):
            seal = getattr(event, "seal", None)
            yield Witness(event.id, seal.sequence if seal else None, said)


def side_by_side(
    rows: Iterable[Recorded], events: Iterable[Witness]
) -> Iterator[tuple[Recorded | None, Witness | None]]:
    """Merges both by event id; both come in its order."""
    row_stream, event_stream = iter(rows), iter(events)
    row, event = next(row_stream, None), next(event_stream, None)
    while row is not None or event is not None:
        if event is None or (row is not None and row.event_id < event.event_id):
            yield row, None
            row = next(row_stream, None)
        elif row is None or event.event_id < row.event_id:
            yield None, event
            event = next(event_stream, None)
        else:
            yield row, event
            row, event = next(row_stream, None), next(event_stream, None)


def difference(row: Recorded | None, event: Witness | None) -> str | None:
    """In words, where a row and its event differ; one of the two is there."""
    if event is None:
        assert row is not None
        return f"a row names event {row.event_id}, which the trail doesn't hold"
    if row is None:
        return "the row that the event recorded is gone"
    if event.said is ERASED:
        return None  # that the case was erased at all is held against its event apart
    if not isinstance(event.said, Opened):
        return "what the event recorded can't be read"
    recorded = event.said.details
    for key, value in row.details.items():
        if key not in recorded or chain.canonical({key: value}) != chain.canonical({key: recorded[key]}):
            return f"the row's {key} is not what the event recorded"
    return None
