"""Reads one event for its page: what it says, what stood on the screen, and its proof."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from audit import chain, checkpoints
from audit.log import case_names
from audit.models import AuditEvent, AuditSeal, WrittenCheckpoint
from audit.sealed import Closed, Opened, open_event
from audit.signing import UnusableKey
from audit.trail import VALUES, Row, application_clock, clock_time, clocks_apart, findings_in, to_row


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
class Covering:
    """The first checkpoint that an event stands under, read again just now."""

    written: WrittenCheckpoint
    problem: str  # why it can't be relied on, or empty

    @property
    def time(self) -> str:
        return clock_time(self.written.written_at)


def covering(seal: AuditSeal, tenant: str) -> Covering | None:
    after = WrittenCheckpoint.objects.filter(tenant_id=seal.tenant_id, sequence__gte=seal.sequence)
    written = after.order_by("sequence").first()
    return None if written is None else Covering(written, problem_of(written, tenant))


def problem_of(written: WrittenCheckpoint, tenant: str) -> str:
    """Whether it still stands in its store as signed, and the trail still holds the hash that it signed."""
    try:
        place = checkpoints.store()
        name = f"{written.sequence:012}.json"
        kept = checkpoints.judged(place, checkpoints.keyring(place), name, tenant, written.tenant_id)
    except (UnusableKey, OSError) as problem:
        return str(problem)
    if kept.checkpoint is None:
        return kept.problem
    last = AuditSeal.objects.filter(tenant_id=written.tenant_id, sequence=written.sequence).first()
    if last is None or bytes(last.event_hash) != kept.checkpoint.head_hash:
        return f"event {written.sequence} is not the one that it signed"
    return ""


@dataclass(frozen=True, slots=True)
class Clocks:
    """When: by the database, which sets the order, and by the application."""

    database: str
    application: str
    apart: str


def clocks_of(event: AuditEvent) -> Clocks:
    application = application_clock(event.body)
    return Clocks(
        database=clock_time(event.recorded_at),
        application=clock_time(application) if application else "",
        apart=clocks_apart(event.body, event.recorded_at, timedelta(0)),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """One event with everything its page shows."""

    row: Row
    tenant: str
    clocks: Clocks
    role: str  # of who acted, at that time
    details: dict[str, Any]  # what it says beside its columns; empty where that can't be read
    content: list[tuple[str, str]]
    closed: str  # why what the event said beside its columns can't be read: `erased`, `unreadable`, or empty
    body: str
    proof: Proof | None
    covering: Covering | None
    earlier: AuditSeal | None
    later: AuditSeal | None

    @property
    def next_hash(self) -> str:
        return bytes(self.later.event_hash).hex() if self.later else ""


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
        clocks=clocks_of(event),
        role=role_of(event),
        details=opened.details if isinstance(opened, Opened) else {},
        content=list(readable(event.body, opened)),
        closed=opened.value if isinstance(opened, Closed) else "",
        body=event.body,
        proof=prove(event, earlier),
        covering=covering(seal, event.tenant.slug) if seal else None,
        earlier=earlier,
        later=around.get(seal.sequence + 1) if seal else None,
    )


def row_of(event: AuditEvent, seal: AuditSeal | None, opened: Opened | Closed) -> Row:
    """As in the list, but called by the event's own words where they can be read."""
    values = {name: getattr(event, name) for name in VALUES if not name.startswith("seal")}
    place = {"seal__sequence": seal.sequence if seal else None, "seal__event_hash": seal.event_hash if seal else None}
    names = case_names.of(event.tenant_id, [event.case_id]) if event.case_id else {}
    if event.case_id in names and isinstance(opened, Opened):
        names = {event.case_id: opened.subject}
    return to_row(values | place, names, findings_in([event], [opened]))


def role_of(event: AuditEvent) -> str:
    try:
        return str(chain.read_body(event.body).get("actor_role") or "")
    except ValueError:
        return ""


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
