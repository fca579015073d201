"""What a case's events say of people, under the case's own key: sealed on writing, opened on reading, erased with it.

AES-256-GCM over the canonical JSON of subject and details, bound to the event's id; stored as nonce (12 bytes) ||
ciphertext. The chain holds the SHA-256 of that and a commitment to the plaintext, HMAC-SHA256 under an opening that
is derived from the key: with the key gone neither tells anything, and a plaintext can be shown for one event
(with its opening) without giving the key away.
"""

import hmac
import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import Any, Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import connection, transaction

from audit.chain import canonical, read_body
from audit.models import AuditEvent, CaseKey

KEY_BYTES, NONCE_BYTES = 32, 12
OPENING = b"second-look:opening:"
MAKE_OR_READ = """
WITH made AS (
    INSERT INTO audit_casekey (case_id, tenant_id, key) VALUES (%(case)s, %(tenant)s, %(key)s)
    ON CONFLICT DO NOTHING RETURNING key
)
SELECT key FROM made
UNION ALL SELECT key FROM audit_casekey WHERE case_id = %(case)s AND tenant_id = %(tenant)s
"""


class CaseErased(Exception):
    """The case's key is destroyed: nothing more can be said of it."""

    def __init__(self) -> None:
        super().__init__("This case has been erased. Nothing more can be recorded of it.")


class Closed(Enum):
    """Why a content can't be read."""

    ERASED = "erased"
    UNREADABLE = "unreadable"  # its key is gone without an erasure, or it is not what was sealed: `verify_trail` says


ERASED: Final = Closed.ERASED
UNREADABLE: Final = Closed.UNREADABLE


@dataclass(frozen=True, slots=True)
class Sealed:
    """One content under its case's key, and what the chain holds of it."""

    ciphertext: bytes
    commitment: str

    def in_body(self) -> dict[str, str]:
        return {"sha256": sha256(self.ciphertext).hexdigest(), "commitment": self.commitment}


@dataclass(frozen=True, slots=True)
class Revealed:
    """One event's plaintext with the opening of its commitment: what an export shows."""

    plaintext: bytes
    opening: bytes

    def commitment(self) -> str:
        return hmac.digest(self.opening, self.plaintext, "sha256").hex()


@dataclass(frozen=True, slots=True)
class Opened:
    """What an event says beside its clear columns."""

    subject: str
    details: dict[str, Any]


class Cache:
    """A process's keys of the last minute, at most 1,000.

    A destroyed key lasts here for that long at most; other processes' caches can't be reached from the outside.
    """

    SECONDS, MOST = 60.0, 1000

    def __init__(self) -> None:
        self.kept: OrderedDict[UUID, tuple[bytes, float]] = OrderedDict()
        self.lock = Lock()

    def get(self, case_id: UUID) -> bytes | None:
        with self.lock:
            found = self.kept.get(case_id)
            if found is None or found[1] < monotonic():
                self.kept.pop(case_id, None)
                return None
            return found[0]

    def put(self, case_id: UUID, key: bytes) -> None:
        with self.lock:
            self.kept.pop(case_id, None)
            self.kept[case_id] = (key, monotonic() + self.SECONDS)
            while len(self.kept) > self.MOST:
                self.kept.popitem(last=False)

    def forget(self, case_id: UUID) -> None:
        with self.lock:
            self.kept.pop(case_id, None)

    def clear(self) -> None:
        with self.lock:
            self.kept.clear()


keys = Cache()


def key_of(tenant_id: UUID, case_id: UUID) -> bytes:
    """The case's key, made in the caller's transaction where there is none. Raises CaseErased.

    Two who make it at once: one waits for the other's commit and reads that key.
    """
    known = keys.get(case_id)
    if known is not None:
        return known
    values: dict[str, UUID | bytes] = {"case": case_id, "tenant": tenant_id, "key": os.urandom(KEY_BYTES)}
    with connection.cursor() as cursor:
        for _ in range(2):
            cursor.execute(MAKE_OR_READ, values)
            found = cursor.fetchone()
            if found is not None:
                if found[0] is None:
                    raise CaseErased
                return remember(case_id, found[0])
    raise CaseKey.DoesNotExist(f"the key of case {case_id} belongs to another tenant")


def check_kept(case_id: UUID) -> None:
    """Raises CaseErased. Asks the database, which knows of an erasure at once."""
    if CaseKey.objects.filter(case_id=case_id, key=None).exists():
        raise CaseErased


def remember(case_id: UUID, stored: bytes | memoryview) -> bytes:
    """Kept for later transactions once this one is committed: it may be the one that made the key."""
    key = bytes(stored)
    transaction.on_commit(lambda: keys.put(case_id, key))
    return key


def seal(*, key: bytes, event_id: UUID, subject: str, details: dict[str, Any]) -> Sealed:
    plaintext = canonical({"subject": subject, "details": details}).encode()
    nonce = os.urandom(NONCE_BYTES)
    ciphertext = nonce + AESGCM(key).encrypt(nonce, plaintext, event_id.bytes)
    return Sealed(ciphertext, Revealed(plaintext, opening_of(key, event_id)).commitment())


def opening_of(key: bytes, event_id: UUID) -> bytes:
    return hmac.digest(key, OPENING + event_id.bytes, "sha256")


def open_event(event: AuditEvent) -> Opened | Closed:
    return open_events([event])[0]


def open_events(events: Sequence[AuditEvent], *, fresh: bool = False) -> list[Opened | Closed]:
    """What each of the events says, in their order; one query at most for all their keys.

    `fresh`: by the keys as they stand in the database, whatever this process remembers.
    """
    revealed = reveal_events(events, fresh=fresh)
    return [read_clear(event) if each is None else read(each) for event, each in zip(events, revealed, strict=True)]


def read_clear(event: AuditEvent) -> Opened | Closed:
    try:
        details = read_body(event.body).get("details")
    except ValueError:
        return UNREADABLE
    return Opened(event.subject, details) if isinstance(details, dict) else UNREADABLE


def read(revealed: Revealed | Closed) -> Opened | Closed:
    if isinstance(revealed, Closed):
        return revealed
    said = json.loads(revealed.plaintext)
    return Opened(said["subject"], said["details"])


def reveal_events(events: Sequence[AuditEvent], *, fresh: bool = False) -> list[Revealed | Closed | None]:
    """The plaintext of each sealed event with the opening of its commitment; None where nothing is sealed."""
    sealed = {event.case_id for event in events if event.sealed is not None and event.case_id is not None}
    found = keys_of(sealed, fresh=fresh)
    return [
        None
        if event.sealed is None
        else reveal(found.get(event.case_id, UNREADABLE) if event.case_id else UNREADABLE, event.id, event.sealed)
        for event in events
    ]


def keys_of(case_ids: Iterable[UUID], *, fresh: bool = False) -> dict[UUID, bytes | Closed]:
    """The keys of these cases; ERASED for a destroyed one, and no entry where there is none."""
    found: dict[UUID, bytes | Closed] = {}
    unknown = []
    for case_id in case_ids:
        known = None if fresh else keys.get(case_id)
        if known is None:
            unknown.append(case_id)
        else:
            found[case_id] = known
    if unknown:
        for case_id, key in CaseKey.objects.filter(case_id__in=unknown).values_list("case_id", "key"):
            found[case_id] = ERASED if key is None else remember(case_id, key)
    return found


def reveal(key: bytes | Closed, event_id: UUID, ciphertext: bytes | memoryview) -> Revealed | Closed:
    if isinstance(key, Closed):
        return key
    stored = bytes(ciphertext)
    try:
        plaintext = AESGCM(key).decrypt(stored[:NONCE_BYTES], stored[NONCE_BYTES:], event_id.bytes)
    except (InvalidTag, ValueError):
        return UNREADABLE
    return Revealed(plaintext, opening_of(key, event_id))
