"""The trail's only writer, and the tenant a database connection works for."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NotRequired, TypedDict, Unpack
from uuid import UUID

from django.db import DatabaseError, connection
from django.db.transaction import TransactionManagementError
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from audit.chain import canonical, printable
from audit.models import ActorType, AuditEvent
from audit.sealed import CaseErased, key_of, seal

EVERY_TENANT = "*"
BODY_VERSION = 2
SUBJECT_LENGTH = 200
CLEAR = frozenset(
    {"case_erased", "trail_exported", "export_downloaded"}
)  # events of a case that outlive its key, and so name nobody
INSERT = """
INSERT INTO audit_auditevent
    (id, tenant_id, event_type, actor, actor_type, case_id, subject, outcome, sealed, body)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING recorded_at
"""
# The same as a whole transaction of one statement, whose commit does not wait for the disk.
INSERT_ALONE = """
WITH unflushed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO audit_auditevent
    (id, tenant_id, event_type, actor, actor_type, case_id, subject, outcome, sealed, body)
SELECT %s::uuid, %s::uuid, %s, %s, %s, %s::uuid, %s, %s, %s::bytea, %s FROM unflushed RETURNING recorded_at
"""
# A message in the write-ahead log, whose commit waits until everything before it is on disk.
FLUSH = "SELECT pg_logical_emit_message(true, 'second-look', '')"
SCOPE = "SELECT coalesce(current_setting('app.current_tenant', true), ''), set_config('app.current_tenant', %s, false)"


@contextmanager
def tenant_scope(tenant_id: UUID | str) -> Iterator[None]:
    """Row security shows the application role this tenant's rows until the block ends (`*`: all tenants').

    A lost connection loses the setting and sees nothing, which is the safe side.
    """
    previous = set_current_tenant(str(tenant_id))
    try:
        yield
    finally:
        restore_tenant(previous)


def set_current_tenant(value: str) -> str:
    """Sets the tenant this connection works for and returns the one before."""
    with connection.cursor() as cursor:
        cursor.execute(SCOPE, [value])
        previous: str = cursor.fetchone()[0]
        return previous


def restore_tenant(previous: str) -> None:
    """In a failed transaction there is nothing to do: its rollback takes the setting back with everything else.

    Where the setting can't be taken back the connection is closed, so that the next user of it starts without any.
    """
    if connection.connection is None or connection.needs_rollback or transaction_failed():
        return
    try:
        set_current_tenant(previous)
    except DatabaseError:
        if connection.in_atomic_block:
            raise
        connection.close()


def transaction_failed() -> bool:
    return bool(connection.connection.info.transaction_status == TransactionStatus.INERROR)


class Said(TypedDict):
    """What an event says. `at` is the application's clock; the database writes its own beside it. `details` holds
    JSON values only.

    Of an event of a case, `subject` and `details` are kept under the case's key (`audit.sealed`) and read by
    `open_event`; all else stays in clear, so `outcome` is a word and `actor` an account.
    """

    tenant_id: UUID
    event_type: str
    actor: str
    actor_type: ActorType
    at: datetime
    actor_role: NotRequired[str]
    case_id: NotRequired[UUID | None]
    subject: NotRequired[str]
    outcome: NotRequired[str]
    details: NotRequired[dict[str, Any] | None]


def record(**said: Unpack[Said]) -> AuditEvent:
    """Appends one event inside the caller's transaction; the database seals it into the chain at commit.

    Raises CaseErased where an erased case's details could not be kept any more, and what the database raises; then
    the caller's transaction must not commit.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError("an event is written in the transaction of what it records")
    event = compose(said)
    insert(event, INSERT)
    return event


def append(**said: Unpack[Said]) -> AuditEvent:
    """`record` for an event that stands alone, in a transaction of its own. It is on disk when this returns.

    That transaction commits without waiting for the disk, so that the tenant's chain is not held through the wait;
    then one flush waits for it, shared with whoever else waits. Inside a caller's transaction it is plain `record`.
    """
    if connection.in_atomic_block:
        return record(**said)
    event = compose(said)
    connection.ensure_connection()
    insert(event, INSERT_ALONE)
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(FLUSH, prepare=True)
    return event


def compose(said: Said) -> AuditEvent:
    """The event as it will be stored."""
    case_id, subject = said.get("case_id"), said.get("subject", "")[:SUBJECT_LENGTH]
    event = AuditEvent(
        tenant_id=said["tenant_id"],
        event_type=said["event_type"],
        actor=printable(said["actor"]),
        actor_type=said["actor_type"],
        case_id=case_id,
        outcome=said.get("outcome", ""),
    )
    content = {"subject": subject, "details": said.get("details") or {}}
    in_clear = case_id is None or event.event_type in CLEAR
    event.body = canonical(
        {
            "v": BODY_VERSION,
            "event_id": str(event.id),
            "event_type": event.event_type,
            "tenant_id": str(event.tenant_id),
            "actor": said["actor"],
            "actor_type": str(event.actor_type),
            "actor_role": said.get("actor_role", ""),
            "case_id": str(case_id) if case_id else None,
            "outcome": event.outcome,
            "app_at": said["at"].isoformat(timespec="microseconds"),
            **(clear(event, content) if in_clear else sealed(event, content)),
        }
    )
    return event


def insert(event: AuditEvent, statement: str) -> None:
    """One prepared statement: an event stands beside everything that is done, so its own cost is kept small."""
    connection.validate_no_broken_transaction()
    clear_columns = (event.id, event.tenant_id, event.event_type, event.actor, event.actor_type, event.case_id)
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        values = [*clear_columns, event.subject, event.outcome, event.sealed, event.body]
        cursor.execute(statement, values, prepare=True)
        ((event.recorded_at,),) = cursor.fetchall()
    event._state.adding = False


def clear(event: AuditEvent, said: dict[str, Any]) -> dict[str, Any]:
    event.subject = printable(said["subject"])
    return said


def sealed(event: AuditEvent, said: dict[str, Any]) -> dict[str, Any]:
    """What the body shows of a case's event. Of an erased case only that it happened can be kept."""
    assert event.case_id is not None
    hidden: dict[str, Any] = {"subject": "", "details": {}}
    try:
        key = key_of(event.tenant_id, event.case_id)
    except CaseErased:
        if said["details"]:
            raise
        return hidden
    content = seal(key=key, event_id=event.id, **said)
    event.sealed = content.ciphertext
    return {**hidden, "sealed": content.in_body()}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A row as its event must show it: the event it names, and the values the event's `details` hold for it."""

    event_id: UUID
    details: dict[str, Any]


# Given a tenant: its rows in the order of their event id.
RowReader = Callable[[UUID], Iterable[Recorded]]


@dataclass(frozen=True, slots=True)
class Comparer:
    """How rows of one table are held against the events that recorded them (`manage.py verify_trail`).

    Each row must have its event among those of `event_types`, and each of these events its row.
    """

    name: str
    rows: RowReader
    event_types: tuple[str, ...]


_comparers: dict[str, Comparer] = {}


def register_comparer(name: str, fn: RowReader, *, event_types: tuple[str, ...]) -> None:
    """Other apps call this in `ready()`: the trail knows none of their tables."""
    _comparers[name] = Comparer(name, fn, event_types)


def comparers() -> list[Comparer]:
    return list(_comparers.values())


@dataclass(frozen=True, slots=True)
class Departure:
    """A row that is not what the trail last said of it: the event concerned, where there is one, and a sentence."""

    event_id: UUID | None
    sentence: str


# Given a tenant: what of its rows departs from the trail.
StateReader = Callable[[UUID], Iterable[Departure]]
_states: dict[str, StateReader] = {}


def register_state(name: str, fn: StateReader) -> None:
    """For rows that change, so that no single event shows them: `fn` holds them against what was said last."""
    _states[name] = fn


def states() -> dict[str, StateReader]:
    return dict(_states)


# Given a tenant and case ids: the word people know each case by.
References = Callable[[UUID, Iterable[UUID]], dict[UUID, str]]
# Given a tenant and a part of such a word: the cases it fits.
CaseFinder = Callable[[UUID, str], Iterable[UUID]]


@dataclass(slots=True)
class CaseNames:
    """How pages call the cases of a trail, which itself keeps no case's name in clear."""

    of: References = field(default=lambda tenant_id, case_ids: {})
    find: CaseFinder = field(default=lambda tenant_id, text: ())


case_names = CaseNames()


def register_references(*, of: References, find: CaseFinder) -> None:
    """The app that keeps the cases calls this in `ready()`."""
    case_names.of, case_names.find = of, find
