"""Holds the stored trail against its own arithmetic, its rows and its guards: `manage.py verify_trail`.

Streams, in constant memory, whatever the length of a trail: the stored bytes are hashed as they come, never
re-serialised. What it can't see is a tail cut together with the head and every row that names its events.
"""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db import connection, transaction

from audit import chain, checkpoints
from audit.chain import Break, Kind, Link
from audit.checkpoints import CheckpointStore, Kept
from audit.comparing import first_disagreement
from audit.log import EVERY_TENANT, tenant_scope
from audit.models import AuditEvent, AuditSeal, ChainHead, Tenant, WrittenCheckpoint
from audit.payloads import first_unsound
from audit.signing import Keyring, UnusableKey
from audit.walk import Walked, walk

MICROSECONDS_1970_TO_2000 = 946_684_800_000_000  # PostgreSQL counts from 2000 on
COPY_LINKS = """
COPY (
    SELECT e.tenant_id, s.sequence,
           CASE WHEN e.recorded_at < '200000-01-01' THEN e.recorded_at ELSE '-infinity' END,
           coalesce(e.body, ''), coalesce(s.previous_hash, ''), coalesce(s.event_hash, ''), e.id, e.case_id,
           e.event_type, e.actor, e.actor_type, e.subject, e.outcome
    FROM audit_auditseal s JOIN audit_auditevent e ON e.id = s.event_id
    WHERE s.tenant_id = %s
    ORDER BY s.sequence, s.event_id
) TO STDOUT (FORMAT BINARY)
"""
# What the columns are read as: ids and the body stay the bytes they are, the time its count of microseconds.
READ_AS = ["bytea", "int8", "int8", *["bytea"] * 5, *["text"] * len(chain.REPEATED)]


@dataclass(frozen=True, slots=True)
class TrailResult:
    """What was found of one tenant's trail."""

    tenant: str
    events: int
    head_hash: str | None
    broken: Break | None
    signed_until: int = 0  # the last event that a checkpoint covers; after it a cut tail can't be seen
    unwatched: str = ""  # why no checkpoint could be compared at all

    def as_json(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "events": self.events,
            "ok": self.broken is None,
            "first_bad_sequence": self.broken.sequence if self.broken else None,
            "kind": str(self.broken.kind) if self.broken else None,
            "head_hash": self.head_hash,
        }

    def in_words(self) -> str:
        return self.in_short() if self.broken else f"{self.in_short()} {self.how_far()}"

    def in_short(self) -> str:
        events = "1 event" if self.events == 1 else f"{self.events} events"
        if self.broken is None:
            last = f" Last hash {self.head_hash}." if self.head_hash else ""
            return f"{self.tenant}: {events}, nothing is wrong.{last}"
        place = "" if self.broken.sequence is None else f" at event {self.broken.sequence}"
        return f"{self.tenant}: {events}, BROKEN{place} ({self.broken.kind}): {self.broken.detail}."

    def how_far(self) -> str:
        if self.unwatched:
            return f"No checkpoint was compared ({self.unwatched}): a cut tail or an older backup can't be seen."
        if not self.signed_until:
            return "No checkpoint has been written yet: a cut tail or an older backup can't be seen."
        return f"Checkpoints cover it up to event {self.signed_until}."


def verify_tenant(*, tenant: Tenant, missing_guards: list[str]) -> TrailResult:
    """Walks one tenant's whole trail in one snapshot. The first thing wrong is reported; the chain comes first."""
    watched = Watched.of(tenant)  # before the snapshot: what was signed by then, the snapshot holds
    with snapshot(), tenant_scope(EVERY_TENANT):
        walked = walk(tenant.id, watched.kept())
        result = chain.ChainResult(walked.events, walked.head_hash, None) if walked.sound else closely(tenant.id)
        if not walked.sound and result.broken is None:  # the quick way took a column's odd spelling for another text
            walked = walk(tenant.id, watched.kept(), columns=False)
        head = ChainHead.objects.filter(tenant=tenant).first()
        broken = (
            (look_further(result.broken, tenant.id) if result.broken else None)
            or wrong_end(result, head)
            or against_checkpoints(walked, watched, tenant)
            or outside_the_chain(result.events, tenant.id)
            or first_unsound(tenant.id)
            or first_disagreement(tenant.id)
            or unguarded(missing_guards)
        )
        return TrailResult(
            tenant=tenant.slug,
            events=result.events if broken is None else AuditSeal.objects.filter(tenant=tenant).count(),
            head_hash=bytes(head.event_hash).hex() if head else None,
            broken=broken,
            signed_until=walked.signed_until,
            unwatched=watched.problem,
        )


def closely(tenant_id: UUID) -> chain.ChainResult:
    """The slow way, which names what is wrong."""
    # Closed here whatever happens: a COPY left half read would keep the connection from ending its transaction.
    with closing(read_links(tenant_id)) as links:
        return chain.verify(links, tenant_id)


@dataclass(frozen=True, slots=True)
class Watched:
    """A tenant's checkpoints as far as they can be reached, and why they can't."""

    tenant: Tenant
    names: list[str]
    place: CheckpointStore | None = None
    ring: Keyring | None = None
    problem: str = ""

    @classmethod
    def of(cls, tenant: Tenant) -> Self:
        try:
            place = checkpoints.store()
            ring, names = checkpoints.keyring(place), place.names(tenant.slug)
        except (UnusableKey, OSError) as problem:
            return cls(tenant, [], problem=str(problem))
        return cls(tenant, names, place, ring, "" if ring.keys or names else "no CHECKPOINT_KEY is set")

    def sequences_now(self) -> set[int | None]:
        """Listed once more, inside the snapshot: the store holds each checkpoint before the table does."""
        assert self.place is not None
        return {checkpoints.sequence_of(name) for name in self.place.names(self.tenant.slug)}

    def kept(self) -> Iterator[Kept]:
        """Oldest first, one in memory at a time."""
        for name in self.names:
            assert self.place is not None
            assert self.ring is not None
            yield checkpoints.judged(self.place, self.ring, name, self.tenant.slug, self.tenant.id)


def against_checkpoints(walked: Walked, watched: Watched, tenant: Tenant) -> Break | None:
    """What a checkpoint says otherwise, and checkpoints that were written and are gone."""
    if not walked.sound:
        return Break(Kind.PAYLOAD_CHANGED, walked.events + 1, "read twice, the event doesn't say the same")
    if walked.mismatch is not None:
        return walked.mismatch
    written = WrittenCheckpoint.objects.filter(tenant=tenant).order_by("sequence").values_list("sequence", flat=True)
    if watched.problem:  # told with the result; no pass where there was something to compare
        first = written.first()
        what = f"checkpoints were written, and none can be compared: {watched.problem}"
        return None if first is None else Break(Kind.CHECKPOINT_MISMATCH, first, what)
    there = watched.sequences_now()
    for sequence in written.iterator():
        if sequence not in there:
            return Break(Kind.CHECKPOINT_MISMATCH, sequence, f"the checkpoint written at event {sequence} is gone")
    return None


@contextmanager
def snapshot() -> Iterator[None]:
    """One unmoving view for all the reads, so that events appended meanwhile aren't taken for disagreement."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def read_links(tenant_id: UUID) -> Generator[Link, None, None]:
    with connection.cursor() as cursor, cursor.copy(COPY_LINKS, [tenant_id]) as copy:
        copy.set_types(READ_AS)
        for tenant, sequence, moment, body, previous_hash, event_hash, event_id, case_id, *beside in copy.rows():
            moment += MICROSECONDS_1970_TO_2000
            yield Link(tenant, sequence, moment, body, previous_hash, event_hash, event_id, case_id, tuple(beside))


def look_further(broken: Break, tenant_id: UUID) -> Break:
    """A broken link whose predecessor is also named elsewhere in the chain is a fork (or a copy) of it."""
    if broken.kind != Kind.LINK_BROKEN or broken.sequence is None:
        return broken
    seals = AuditSeal.objects.filter(tenant_id=tenant_id)
    link = seals.filter(sequence=broken.sequence).first()
    others = seals.filter(previous_hash=link.previous_hash).exclude(pk=link.pk) if link else seals.none()
    other = others.first()
    if link is None or other is None:
        return broken
    kind = Kind.DUPLICATE if bytes(other.event_hash) == bytes(link.event_hash) else Kind.FORK
    return Break(kind, broken.sequence, f"the event names the same predecessor as event {other.sequence}")


def wrong_end(result: chain.ChainResult, head: ChainHead | None) -> Break | None:
    """The chain must end where its head says, with the hash it says."""
    said = head.sequence if head else 0
    if said != result.events:
        first = min(said, result.events) + 1
        return Break(Kind.TAIL_CUT, first, f"the head says {said} events, {result.events} are there")
    if head and result.head_hash and bytes(head.event_hash) != result.head_hash:
        return Break(Kind.LINK_BROKEN, said, "the head doesn't name the hash of the last event")
    return None


def outside_the_chain(events: int, tenant_id: UUID) -> Break | None:
    unsealed = AuditEvent.objects.filter(tenant_id=tenant_id, seal=None).count()
    if not unsealed:
        return None
    return Break(Kind.TAIL_CUT, events + 1, f"{unsealed} recorded events have no place in the chain")


def unguarded(missing_guards: list[str]) -> Break | None:
    return Break(Kind.GUARD_MISSING, None, "; ".join(missing_guards)) if missing_guards else None
