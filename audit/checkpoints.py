"""Signed statements of where a tenant's trail stood, kept outside the database.

Only they show what the database alone can't: a tail cut together with its head, a chain rewritten from its genesis,
a backup put back. A checkpoint's signed bytes are its canonical JSON without the signature.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.module_loading import import_string

from audit.chain import canonical
from audit.merkle import HASH_BYTES, CompactRange, bag
from audit.signing import (
    SIGNATURE_BYTES,
    HandingOver,
    Keyring,
    Signer,
    UnusableKey,
    decode,
    encode,
    load_signer,
    read_handing_over,
)

PURPOSE = "second-look:checkpoint"
VERSION = 1
KEYS = "signing.keys"  # the folder of handing-over documents; no tenant's, for no slug holds a point
LONGEST = 64 * 1024


class UnreadableCheckpoint(ValueError):
    """What stands in the store under a checkpoint's name is none."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`sequence` events, of which the last has `head_hash`, under one Merkle root (RFC 9162 over the event hashes)."""

    tenant: str
    tenant_id: UUID
    sequence: int
    head_hash: bytes
    root: bytes
    peaks: tuple[bytes, ...]  # of the tree, so that the next one need not begin at the first event
    at: str
    key_id: str
    signature: bytes = b""

    @property
    def name(self) -> str:
        return f"{self.sequence:012}.json"

    def said(self) -> dict[str, Any]:
        return {
            "purpose": PURPOSE,
            "v": VERSION,
            "tenant": self.tenant,
            "tenant_id": str(self.tenant_id),
            "sequence": self.sequence,
            "count": self.sequence,
            "head_hash": self.head_hash.hex(),
            "root": self.root.hex(),
            "peaks": [peak.hex() for peak in self.peaks],
            "at": self.at,
            "key_id": self.key_id,
        }

    def message(self) -> bytes:
        return canonical(self.said()).encode()

    def content(self) -> bytes:
        return canonical({**self.said(), "signature": encode(self.signature)}).encode() + b"\n"

    def tree(self) -> CompactRange:
        return CompactRange(self.sequence, list(self.peaks))


def make_checkpoint(
    *, signer: Signer, tenant: str, tenant_id: UUID, head_hash: bytes, tree: CompactRange, at: datetime
) -> Checkpoint:
    unsigned = Checkpoint(
        tenant=tenant,
        tenant_id=tenant_id,
        sequence=tree.size,
        head_hash=head_hash,
        root=tree.root(),
        peaks=tuple(tree.peaks),
        at=at.isoformat(timespec="microseconds"),
        key_id=signer.key_id,
    )
    return Checkpoint(**{**fields_of(unsigned), "signature": signer.sign(unsigned.message())})


def fields_of(checkpoint: Checkpoint) -> dict[str, Any]:
    return {name: getattr(checkpoint, name) for name in Checkpoint.__slots__}


def read_checkpoint(content: bytes) -> Checkpoint:
    """Raises UnreadableCheckpoint for what isn't one in every byte; its signature is asked for afterwards."""
    try:
        told: Mapping[str, Any] = json.loads(content)
        checkpoint = Checkpoint(
            tenant=str(told["tenant"]),
            tenant_id=UUID(told["tenant_id"]),
            sequence=int(told["sequence"]),
            head_hash=hash_of(told["head_hash"]),
            root=hash_of(told["root"]),
            peaks=tuple(hash_of(peak) for peak in told["peaks"]),
            at=str(told["at"]),
            key_id=str(told["key_id"]),
            signature=decode(told["signature"], SIGNATURE_BYTES, "signature"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise UnreadableCheckpoint(f"it can't be read ({type(problem).__name__})") from None
    if checkpoint.content() != content:
        raise UnreadableCheckpoint("it is not as a checkpoint is written")
    if len(checkpoint.peaks) != checkpoint.sequence.bit_count() or bag(checkpoint.peaks) != checkpoint.root:
        raise UnreadableCheckpoint("its peaks don't give its root")
    return checkpoint


def hash_of(text: str) -> bytes:
    raw = bytes.fromhex(text)
    if len(raw) != HASH_BYTES:
        raise ValueError("not a hash")
    return raw


# Where they are kept


class CheckpointStore(Protocol):
    """A place outside the database that keeps what was once written to it. A further one needs these three only.

    Each raises OSError where the place can't be reached; `write` raises FileExistsError rather than replace anything.
    """

    def names(self, folder: str) -> list[str]:
        """Sorted; empty for a folder that isn't there."""

    def read(self, folder: str, name: str) -> bytes: ...

    def write(self, folder: str, name: str, content: bytes) -> None:
        """Durable when it returns: either all of `content` is there under the name, or nothing."""


class DirectoryStore:
    """A directory, best on other storage than the database's, writable by the application and by nobody else."""

    def __init__(self) -> None:
        self.root = Path(settings.CHECKPOINT_DIR)

    def __str__(self) -> str:
        return str(self.root)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(entry.name for entry in (self.root / folder).iterdir() if entry.name.endswith(".json"))
        except FileNotFoundError:
            return []

    def read(self, folder: str, name: str) -> bytes:
        with (self.root / folder / name).open("rb") as file:
            return file.read(LONGEST + 1)

    def write(self, folder: str, name: str, content: bytes) -> None:
        place = self.root / folder
        place.mkdir(mode=0o750, parents=True, exist_ok=True)
        draft = place / f".{uuid4().hex}"
        try:
            write_through(draft, content)
            os.link(draft, place / name)  # refuses to replace
        finally:
            draft.unlink(missing_ok=True)
        flush_folder(place)


def write_through(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def store() -> CheckpointStore:
    made: CheckpointStore = import_string(settings.CHECKPOINT_STORE)()
    return made


# Who signs, and whose signature counts


def signer() -> Signer | None:
    """The key in use, or none. Raises UnusableKey."""
    return load_signer(settings.CHECKPOINT_KEY)


def keyring(place: CheckpointStore) -> Keyring:
    """Trusted: our own key, those of CHECKPOINT_PUBLIC_KEYS, and what a signed handing over leads to from them."""
    own = signer()
    told = [decode(text, HASH_BYTES, "a key of CHECKPOINT_PUBLIC_KEYS") for text in settings.CHECKPOINT_PUBLIC_KEYS]
    return Keyring([*([own.public] if own else []), *told], handed_over(place))


def handed_over(place: CheckpointStore) -> Iterator[HandingOver]:
    """What can't be read leads nowhere: then what it would have led to is not trusted."""
    for name in place.names(KEYS):
        with suppress(UnusableKey, OSError):
            yield read_handing_over(place.read(KEYS, name))


@dataclass(frozen=True, slots=True)
class Kept:
    """A name in the store, and the checkpoint that stands there or why none does."""

    name: str
    checkpoint: Checkpoint | None
    problem: str = ""

    @property
    def sequence(self) -> int | None:
        """As the name says, for what can't be read."""
        if self.checkpoint is not None:
            return self.checkpoint.sequence
        return sequence_of(self.name)


def sequence_of(name: str) -> int | None:
    stem = name.removesuffix(".json")
    return int(stem) if stem.isascii() and stem.isdecimal() else None


def judged(place: CheckpointStore, ring: Keyring, name: str, tenant: str, tenant_id: UUID) -> Kept:
    try:
        checkpoint = read_checkpoint(place.read(tenant, name))
    except UnreadableCheckpoint as problem:
        return Kept(name, None, str(problem))
    except OSError as problem:
        return Kept(name, None, f"it can't be read ({type(problem).__name__})")
    if checkpoint.name != name or checkpoint.tenant_id != tenant_id:
        return Kept(name, None, "it is the checkpoint of another place or tenant")
    if not ring.knows(checkpoint.key_id):
        return Kept(name, None, f"it is signed with the key {checkpoint.key_id}, which isn't trusted")
    if not ring.is_signed(key_id=checkpoint.key_id, signature=checkpoint.signature, message=checkpoint.message()):
        return Kept(name, None, "its signature doesn't fit it")
    return Kept(name, checkpoint)
