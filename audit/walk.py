"""One quick pass over a tenant's whole trail: is everything as it should be, and as its checkpoints say?

It answers no more than that. Where something is not, `audit.chain.verify` goes over the trail again and names it.
The stored bytes are hashed as the server sends them, in constant memory.
"""

import struct
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from django.db import connection

from audit.chain import Break, Kind, genesis, pack_place
from audit.checkpoints import Kept
from audit.merkle import BATCH, LEAF, CompactRange
from audit.reading import rows

# `beside`: whether the columns that repeat parts of the body say what it says. The body is canonical JSON, so each
# part is found by its exact text, and nothing need be parsed. What the details hold stands between the first `case_id`
# and the last `event_id`, and is not looked at: there an event may say anything. Where the database spells a text
# otherwise than we do (U+0000), this says no, and the slow way looks closer.
COPY_TRAIL = """
COPY (
    SELECT s.tenant_id, s.sequence, e.recorded_at, s.previous_hash, s.event_hash,
           e.tenant_id = s.tenant_id
           AND starts_with(e.body, '{"actor":' || to_json(e.actor) || ',"actor_role":')
           AND strpos(split_part(e.body, '","case_id":', 1), ',"actor_type":"' || e.actor_type || '","app_at":"') > 0
           AND starts_with(split_part(e.body, '","case_id":', 2),
                           coalesce(to_json(e.case_id)::text, 'null') || ',"details":')
           AND starts_with(split_part(e.body, ',"event_id":"', -1),
                           e.id || '","event_type":' || to_json(e.event_type)
                           || ',"outcome":' || to_json(e.outcome) || ',"s')
           AND strpos(split_part(e.body, ',"event_id":"', -1),
                      ',"subject":' || to_json(e.subject) || ',"tenant_id":"' || e.tenant_id || '","v":') > 0,
           convert_to(e.body, 'UTF8')
    FROM audit_auditseal s JOIN audit_auditevent e ON e.id = s.event_id
    WHERE s.tenant_id = %s
    ORDER BY s.sequence
) TO STDOUT (FORMAT BINARY)
"""
# Where the fields stand in a row: each behind four bytes of length, the fixed ones always in the same place.
TENANT, SEQUENCE, PREVIOUS, HASH, BESIDE, BODY = slice(6, 22), 26, slice(50, 82), slice(86, 118), 122, 127
unpack_place = struct.Struct(">q4xq").unpack_from  # the sequence, and the time behind its length
MICROSECONDS_1970_TO_2000 = 946_684_800_000_000  # PostgreSQL counts from 2000 on


@dataclass(frozen=True, slots=True)
class Walked:
    """How far everything was as it should be."""

    events: int
    head_hash: bytes | None
    sound: bool  # False: what follows `events` is not as it should be
    mismatch: Break | None = None  # what doesn't agree with a checkpoint
    signed_until: int = 0  # the last event at which a checkpoint was compared


def walk(tenant_id: UUID, checkpoints: Iterable[Kept], *, columns: bool = True) -> Walked:
    """Reads in the caller's transaction, and under the tenant's scope or all. Without `columns` only the chain."""
    with closing(read(tenant_id)) as stream:
        return follow(stream, tenant_id, Witnesses(checkpoints), columns)


def read(tenant_id: UUID) -> Generator[bytes, None, None]:
    with connection.cursor() as cursor, cursor.copy(COPY_TRAIL, [tenant_id]) as copy:
        yield from rows(copy)


def follow(stream: Iterator[bytes], tenant_id: UUID, witnesses: "Witnesses", columns: bool) -> Walked:
    """The loop of millions: everything in it is plain on purpose."""
    tenant, previous, count = tenant_id.bytes, genesis(tenant_id), 0
    hashed, shift, stop, passed = sha256, MICROSECONDS_1970_TO_2000, witnesses.next_sequence, list[bytes]()
    try:
        for row in stream:
            count += 1
            sequence, moment = unpack_place(row, SEQUENCE)
            event_hash = hashed(
                previous + tenant + pack_place(count, moment + shift) + hashed(row[BODY:]).digest()
            ).digest()
            if not (
                row[HASH] == event_hash
                and row[PREVIOUS] == previous
                and row[TENANT] == tenant
                and sequence == count
                and (row[BESIDE] == 1 or not columns)
            ):
                return Walked(count - 1, previous if count > 1 else None, sound=False)
            previous = event_hash
            if stop is not None:
                passed.append(event_hash)
                if count == stop or not count % BATCH:
                    stop = witnesses.see(passed, count)
                    passed.clear()
    except struct.error:  # a row too short, or a time that none of ours could be
        return Walked(count - 1, previous if count > 1 else None, sound=False)
    return Walked(
        count,
        previous if count else None,
        sound=True,
        mismatch=witnesses.verdict(count),
        signed_until=witnesses.compared,
    )


class Witnesses:
    """The checkpoints a trail is held against as it passes, one in memory at a time."""

    def __init__(self, kept: Iterable[Kept]) -> None:
        self.kept = iter(kept)
        self.tree = CompactRange()
        self.mismatch: Break | None = None
        self.compared = 0
        self.next: Kept | None = None
        self.advance()

    @property
    def next_sequence(self) -> int | None:
        return self.next.sequence if self.next else None

    def advance(self) -> None:
        """To the next checkpoint that can be compared; what can't be is a mismatch of its own."""
        for each in self.kept:
            if each.checkpoint is not None:
                self.next = each
                return
            self.find(each.sequence, f"the checkpoint {each.name} does not count: {each.problem}")
        self.next = None

    def see(self, passed: list[bytes], count: int) -> int | None:
        """The hashes of the events since the last call, up to event `count`; returns where to stop next."""
        self.tree.extend([sha256(LEAF + event_hash).digest() for event_hash in passed])
        if count == self.next_sequence:
            self.compare(passed[-1])
        return self.next_sequence

    def compare(self, event_hash: bytes) -> None:
        assert self.next is not None
        assert self.next.checkpoint is not None
        said = self.next.checkpoint
        if event_hash != said.head_hash or self.tree.root() != said.root:
            self.find(said.sequence, f"the trail up to event {said.sequence} is not the one signed at {said.at}")
        self.compared = said.sequence
        self.advance()

    def find(self, sequence: int | None, detail: str, kind: Kind = Kind.CHECKPOINT_MISMATCH) -> None:
        self.mismatch = self.mismatch or Break(kind, sequence, detail)

    def verdict(self, events: int) -> Break | None:
        """At the trail's end: a checkpoint that says more events than there are."""
        if self.next is not None and self.next.checkpoint is not None:
            said = self.next.checkpoint
            self.find(
                events + 1,
                f"{said.sequence} events were signed at {said.at}, {events} are there: the tail was cut, "
                "or an older backup put back",
                Kind.TAIL_CUT,
            )
        return self.mismatch
