"""The arithmetic of the trail: canonical bytes, link hashes, and what a broken chain looks like.

Pure (standard library only), so that an auditor can read it alone. The database computes the same
link hash when it seals an event at commit (`audit.operations.SEAL_BODY`); a test holds the two together.

A link is SHA-256 over: the previous link's hash (32 bytes; for the first event the tenant's genesis) ||
tenant id (16 bytes, RFC 4122 order) || sequence (8 bytes, big endian, signed) || recorded_at (8 bytes,
microseconds since 1970-01-01T00:00:00Z, big endian, signed) || SHA-256 of the stored body (32 bytes).
"""

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Parts of the body that stand beside it for search.
REPEATED = ("event_type", "actor", "actor_type", "subject", "outcome")
pack_place = struct.Struct(">qq").pack


def canonical(body: dict[str, Any]) -> str:
    """JSON with sorted keys, no white space, no NaN; raises ValueError or TypeError for what JSON can't hold.

    U+0000, which PostgreSQL text can't store, stays escaped as JSON escapes it.
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_body(body: str | bytes) -> dict[str, Any]:
    """The event's content; raises ValueError when it isn't a JSON object."""
    try:
        content = json.loads(body)
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("the body is not a JSON object")
    return content


def printable(text: str) -> str:
    """`text` as PostgreSQL can store it in a column: U+0000 becomes U+FFFD."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def genesis(tenant_id: UUID) -> bytes:
    """What the first link of a tenant's chain is hashed over in place of a previous link (32 bytes)."""
    return sha256(b"second-look:genesis:" + tenant_id.bytes).digest()


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def link_hash(*, previous_hash: bytes, tenant: bytes, sequence: int, microseconds: int, body: bytes) -> bytes:
    """The hash of one link, 32 bytes. `tenant` is the tenant id's 16 bytes, `body` the stored text in UTF-8."""
    return sha256(previous_hash + tenant + pack_place(sequence, microseconds) + sha256(body).digest()).digest()


class Link(NamedTuple):
    """One sealed event as stored. A tuple of plain values: a verification makes millions of them."""

    tenant: bytes
    sequence: int
    microseconds: int
    body: bytes
    previous_hash: bytes
    event_hash: bytes
    event_id: bytes
    case_id: bytes | None
    beside: tuple[str, ...]  # the columns of REPEATED

    def computed_hash(self) -> bytes:
        return link_hash(
            previous_hash=self.previous_hash,
            tenant=self.tenant,
            sequence=self.sequence,
            microseconds=self.microseconds,
            body=self.body,
        )


class Kind(StrEnum):
    """What can be wrong with a trail. The values are a promise to callers."""

    PAYLOAD_CHANGED = "payload_changed"
    LINK_BROKEN = "link_broken"
    GAP = "gap"
    DUPLICATE = "duplicate"
    FORK = "fork"
    TAIL_CUT = "tail_cut"
    WRONG_GENESIS = "wrong_genesis"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"
    ROW_DISAGREES = "row_disagrees"
    GUARD_MISSING = "guard_missing"


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where a trail is not what it says it is, in a plain sentence."""

    kind: str
    sequence: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class ChainResult:
    events: int
    head_hash: bytes | None  # of the last good link
    broken: Break | None


def verify(links: Iterable[Link], tenant_id: UUID) -> ChainResult:
    """Walks one tenant's links in the order of their sequence, in constant memory, to the first break."""
    last: Link | None = None
    count, previous = 0, genesis(tenant_id)
    for link, following in with_following(links):
        broken = find_break(link, last, following, count + 1, previous)
        if broken is None and link.tenant != tenant_id.bytes:
            broken = Break(Kind.PAYLOAD_CHANGED, link.sequence, "the event belongs to another tenant")
        if broken:
            return ChainResult(count, last.event_hash if last else None, broken)
        count, previous, last = count + 1, link.event_hash, link
    return ChainResult(count, last.event_hash if last else None, None)


def with_following(links: Iterable[Link]) -> Iterator[tuple[Link, Link | None]]:
    last: Link | None = None
    for link in links:
        if last is not None:
            yield last, link
        last = link
    if last is not None:
        yield last, None


def find_break(link: Link, last: Link | None, following: Link | None, expected: int, previous: bytes) -> Break | None:
    """What is wrong with `link`, which stands between `last` and `following`, or None."""
    sequence = link.sequence
    if following is not None and following.sequence == sequence:
        return twice(link, following)
    if sequence != expected:
        return Break(Kind.GAP, expected, f"event {expected} is missing; event {sequence} follows")
    if link.previous_hash != previous:
        return wrong_predecessor(link, last)
    if link.computed_hash() != link.event_hash:
        return Break(Kind.PAYLOAD_CHANGED, sequence, "the stored content doesn't give the stored hash")
    disagreeing = disagreement(link)
    if disagreeing:
        return Break(Kind.PAYLOAD_CHANGED, sequence, disagreeing)
    return None


def twice(link: Link, other: Link) -> Break:
    """Two events in one place: the same one again, or two different ones behind one predecessor."""
    kind = Kind.DUPLICATE if link.body == other.body else Kind.FORK
    return Break(kind, link.sequence, f"two events stand at {link.sequence}")


def wrong_predecessor(link: Link, last: Link | None) -> Break:
    if last is None:
        return Break(Kind.WRONG_GENESIS, link.sequence, "the first event doesn't start from the tenant's genesis")
    if link.previous_hash == last.previous_hash:
        kind = Kind.DUPLICATE if link.body == last.body else Kind.FORK
        return Break(kind, link.sequence, "the event names the same predecessor as the one before it")
    return Break(Kind.LINK_BROKEN, link.sequence, "the event doesn't name the hash of the one before it")


def disagreement(link: Link) -> str | None:
    """Which column beside the body says something else than the body, in a sentence, or None."""
    try:
        body = read_body(link.body)
    except ValueError:
        return "the content is not JSON"
    for name, value in zip(REPEATED, link.beside, strict=True):
        said = body.get(name)
        if said != value and (not isinstance(said, str) or printable(said) != value):
            return f"the column {name} disagrees with the content"
    for name, stored in (("event_id", link.event_id), ("case_id", link.case_id), ("tenant_id", link.tenant)):
        if body.get(name) != (spelled(stored) if stored else None):
            return f"the column {name} disagrees with the content"
    return None


def spelled(identifier: bytes) -> str:
    """A UUID's 16 bytes as it is written; quicker than through UUID, of which a verification would make millions."""
    digits = identifier.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
