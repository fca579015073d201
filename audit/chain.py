"""The arithmetic of the trail: canonical bytes, link hashes, and what a broken chain looks like.

Pure (standard library only), so that an auditor can read it alone. The database computes the same
link hash when it seals an event at commit (`audit.operations.SEAL_EVENT`); a test holds the two together.

A link is SHA-256 over: the previous link's hash (32 bytes; for the first event the tenant's genesis) ||
tenant id (16 bytes, RFC 4122 order) || sequence (8 bytes, big endian, signed) || recorded_at (8 bytes,
microseconds since 1970-01-01T00:00:00Z, big endian, signed) || SHA-256 of the stored body (32 bytes).
"""

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def canonical(body: dict[str, Any]) -> str:
    """JSON with sorted keys, no white space, no NaN; raises ValueError or TypeError for what JSON can't hold.

    U+0000, which PostgreSQL text can't store, stays escaped as JSON escapes it.
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def genesis(tenant_id: UUID) -> bytes:
    """What the first link of a tenant's chain is hashed over in place of a previous link (32 bytes)."""
    return hashlib.sha256(b"second-look:genesis:" + tenant_id.bytes).digest()


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def link_hash(*, previous_hash: bytes, tenant_id: UUID, sequence: int, recorded_at: datetime, body: str) -> bytes:
    """The hash of one link, 32 bytes."""
    head = previous_hash + tenant_id.bytes + struct.pack(">qq", sequence, microseconds(recorded_at))
    return hashlib.sha256(head + hashlib.sha256(body.encode()).digest()).digest()


@dataclass(frozen=True, slots=True)
class Link:
    """One sealed event as stored."""

    tenant_id: UUID
    sequence: int
    recorded_at: datetime
    body: str
    previous_hash: bytes
    event_hash: bytes


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where a chain is not what it says it is."""

    sequence: int
    kind: str  # payload_changed | link_broken | gap | duplicate | fork | wrong_genesis
    detail: str


@dataclass(frozen=True, slots=True)
class ChainResult:
    events: int
    head_hash: bytes | None
    broken: Break | None


def verify(links: Iterable[Link], tenant_id: UUID) -> ChainResult:
    """Walks one tenant's links in the order of their sequence, in constant memory, to the first break."""
    count, expected, previous = 0, 1, genesis(tenant_id)
    last: Link | None = None
    for link in links:
        broken = find_break(link, last, expected, previous)
        if broken:
            return ChainResult(count, last.event_hash if last else None, broken)
        count, expected, previous, last = count + 1, expected + 1, link.event_hash, link
    return ChainResult(count, last.event_hash if last else None, None)


def find_break(link: Link, last: Link | None, expected: int, previous: bytes) -> Break | None:
    """What is wrong with `link` behind `last`, or None."""
    if link.sequence == expected - 1 and last is not None:
        kind = "fork" if link.previous_hash == last.previous_hash and link.event_hash != last.event_hash else "duplicate"
        return Break(link.sequence, kind, f"sequence {link.sequence} stands twice")
    if link.sequence != expected:
        return Break(expected, "gap", f"sequence {expected} is missing; {link.sequence} follows")
    if link.previous_hash != previous:
        if last is None:
            return Break(link.sequence, "wrong_genesis", "the first event doesn't start from the tenant's genesis")
        return Break(link.sequence, "link_broken", "the event doesn't name the hash of the one before it")
    computed = link_hash(
        previous_hash=link.previous_hash,
        tenant_id=link.tenant_id,
        sequence=link.sequence,
        recorded_at=link.recorded_at,
        body=link.body,
    )
    if computed != link.event_hash:
        return Break(link.sequence, "payload_changed", "the stored content doesn't give the stored hash")
    return None


def read_body(body: str) -> dict[str, Any]:
    """The event's content as a dictionary; raises ValueError when it isn't JSON."""
    return json.loads(body)

