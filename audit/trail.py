"""Reads the trail for its pages: one page of the list, one event with its proof."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan

from audit import chain
from audit.filters import Filters, Place
from audit.log import case_names
from audit.models import AuditEvent, AuditSeal
from audit.sealed import Closed, Opened, open_event
from audit.words import actor_kind, event_in_words

PAGE = 50
VALUES = (
    "id",
    "recorded_at",
    "event_type",
    "actor",
    "actor_type",
    "subject",
    "case_id",
    "seal__sequence",
    "seal__event_hash",
)
CASE = VALUES.index("case_id")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list, every value as it is shown."""

    id: UUID
    sequence: int | None
    time: str
    iso_time: str
    words: str
    code: str
    actor: str
    icon: str
    actor_kind: str
    subject: str
    case_id: UUID | None
    hash_prefix: str


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Row]
    older: str | None  # the address of the next page

    @property
    def count(self) -> int:
        return len(self.rows)


def read_page(*, tenant_id: UUID, filters: Filters) -> Page:
    """Newest first. One row more than shown tells whether there are older ones."""
    found = list(matching(tenant_id, filters).values_list(*VALUES)[: PAGE + 1])
    references = references_of(tenant_id, (values[CASE] for values in found))
    older = None
    if len(found) > PAGE:
        event_id, recorded_at = found[PAGE - 1][:2]
        older = filters.older(Place(recorded_at, event_id))
    return Page([to_row(*values, references=references) for values in found[:PAGE]], older)


def matching(tenant_id: UUID, filters: Filters) -> QuerySet[AuditEvent]:
    events = AuditEvent.objects.filter(tenant_id=tenant_id).order_by("-recorded_at", "-id")
    if filters.actor:
        events = events.filter(actor=filters.actor)
    if filters.type:
        events = events.filter(event_type=filters.type)
    if filters.about:
        events = events.filter(about(tenant_id, filters))
    if filters.start:
        events = events.filter(recorded_at__gte=filters.start)
    if filters.place:
        before = (filters.place.recorded_at, filters.place.event_id)
        events = events.filter(TupleLessThan(Tuple(F("recorded_at"), F("id")), before))
    return events


def about(tenant_id: UUID, filters: Filters) -> Q:
    """A case's events keep its name sealed: the app that holds the cases says which ones are meant."""
    if filters.sequence is not None:
        return Q(seal__sequence=filters.sequence)
    if filters.case_id:
        return Q(case_id=filters.case_id)
    return Q(subject__icontains=filters.about) | Q(case_id__in=case_names.find(tenant_id, filters.about))


def references_of(tenant_id: UUID, case_ids: Iterable[UUID | None]) -> dict[UUID, str]:
    wanted = {case_id for case_id in case_ids if case_id is not None}
    return case_names.of(tenant_id, wanted) if wanted else {}


def to_row(
    event_id: UUID,
    recorded_at: datetime,
    event_type: str,
    actor: str,
    actor_type: str,
    subject: str,
    case_id: UUID | None,
    sequence: int | None,
    event_hash: bytes | None,
    *,
    references: dict[UUID, str],
) -> Row:
    icon, kind = actor_kind(actor_type)
    return Row(
        id=event_id,
        sequence=sequence,
        time=clock_time(recorded_at),
        iso_time=recorded_at.isoformat(),
        words=event_in_words(event_type),
        code=event_type,
        actor=actor,
        icon=icon,
        actor_kind=kind,
        subject=references.get(case_id, "") if case_id else subject,
        case_id=case_id,
        hash_prefix=bytes(event_hash).hex()[:8] if event_hash else "",
    )


def clock_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


@dataclass(frozen=True, slots=True)
class Proof:
    """What the chain says of an event, computed now from what is stored now."""

    sequence: int
    previous_hash: str
    event_hash: str
    computed_hash: str
    disagreement: str | None  # between the event's content and the columns beside it
    follows_predecessor: bool  # it names the hash of the event before it (the first: of its tenant's genesis)

    @property
    def holds(self) -> bool:
        return self.event_hash == self.computed_hash and self.follows_predecessor and not self.disagreement


def prove(event: AuditEvent, predecessor: AuditSeal | None) -> Proof | None:
    """None while the event has no place in the chain."""
    seal: AuditSeal | None = getattr(event, "seal", None)
    if seal is None:
        return None
    link = to_link(event, seal)
    before = bytes(predecessor.event_hash) if predecessor else chain.genesis(seal.tenant_id)
    return Proof(
        sequence=link.sequence,
        previous_hash=link.previous_hash.hex(),
        event_hash=link.event_hash.hex(),
        computed_hash=link.computed_hash().hex(),
        disagreement=chain.disagreement(link),
        follows_predecessor=link.previous_hash == before and (predecessor is not None or link.sequence == 1),
    )


def to_link(event: AuditEvent, seal: AuditSeal) -> chain.Link:
    return chain.Link(
        tenant=event.tenant_id.bytes,
        sequence=seal.sequence,
        microseconds=chain.microseconds(event.recorded_at),
        body=event.body.encode(),
        previous_hash=bytes(seal.previous_hash),
        event_hash=bytes(seal.event_hash),
        event_id=event.id.bytes,
        case_id=event.case_id.bytes if event.case_id else None,
        beside=tuple(getattr(event, name) for name in chain.REPEATED),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """One event with everything its page shows."""

    row: Row
    tenant: str
    content: list[tuple[str, str]]
    closed: str  # why what the event said beside its columns can't be read: `erased`, `unreadable`, or empty
    body: str
    proof: Proof | None
    earlier: AuditSeal | None
    later: AuditSeal | None


def read_event(*, tenants: list[UUID], event_id: UUID) -> Shown | None:
    """The event when it stands in one of these tenants' trails."""
    event = AuditEvent.objects.select_related("seal", "tenant").filter(id=event_id, tenant__in=tenants).first()
    if event is None:
        return None
    seal: AuditSeal | None = getattr(event, "seal", None)
    around = neighbours(seal) if seal else {}
    earlier = around.get(seal.sequence - 1) if seal else None
    opened = open_event(event)
    return Shown(
        row=row_of(event, seal, opened),
        tenant=event.tenant.slug,
        content=list(readable(event.body, opened)),
        closed=opened.value if isinstance(opened, Closed) else "",
        body=event.body,
        proof=prove(event, earlier),
        earlier=earlier,
        later=around.get(seal.sequence + 1) if seal else None,
    )


def row_of(event: AuditEvent, seal: AuditSeal | None, opened: Opened | Closed) -> Row:
    place = (seal.sequence, seal.event_hash) if seal else (None, None)
    references = {event.case_id: opened.subject} if event.case_id and isinstance(opened, Opened) else {}
    values = [getattr(event, name) for name in VALUES if not name.startswith("seal")]
    return to_row(*values, *place, references=references)


def neighbours(seal: AuditSeal) -> dict[int, AuditSeal]:
    beside = AuditSeal.objects.filter(tenant_id=seal.tenant_id, sequence__in=[seal.sequence - 1, seal.sequence + 1])
    return {each.sequence: each for each in beside}


def readable(body: str, opened: Opened | Closed) -> Iterator[tuple[str, str]]:
    """The content as names and values, in the order of the names; nested names are joined by a dot."""
    try:
        content = chain.read_body(body)
        if isinstance(opened, Opened):
            content |= {"subject": opened.subject, "details": opened.details}
        yield from flattened("", content)
    except (ValueError, RecursionError):
        return


def flattened(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from flattened(f"{name}[{place}]", inner)
    else:
        yield chain.printable(name), chain.printable(value if isinstance(value, str) else json.dumps(value))
