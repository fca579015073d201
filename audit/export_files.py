"""The files of an export, written from one unmoving view of the database, in memory for one chunk of events.

What they hold is told by the README that goes with them (`audit/offline/README.md`), and checked by the program that
goes with them and shares no code with this one (`audit/offline/verify.py`).
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest, sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet

from audit.chain import canonical, microseconds
from audit.checkpoints import Checkpoint
from audit.models import AuditEvent, Tenant
from audit.proofs import CHUNK, Prover, chunk_of
from audit.sealed import Closed, Revealed, reveal_events
from audit.signing import HandingOver, Signer, encode

OFFLINE = Path(__file__).parent / "offline"
LOOK = "`manage.py verify_trail` says where"
PURPOSE = "second-look:export"
WHOLE = """7. The events from 1 to the checkpoint's last are all there: hashed together they give `root`.
"""
ONE_CASE = """
The events are those of one case. Nothing of other cases or customers is in this folder; of them the proofs hold hashes
only. That these are all the events of the case is what the signed manifest says (`events`); the tree can't show it.
"""


class CannotExport(Exception):
    """Why there is no export, in a sentence."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    events: int
    erased: int  # of which what they said of people is gone
    unreadable: int  # of which it can't be read, and no erasure is why: `verify_trail` says more
    checkpoint: int  # the place of the last event that the checkpoint covers
    manifest_sha256: str


Progress = Callable[[int, int], None]  # events written, and how many there are


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events: a tenant's whole trail, or one case of it."""

    tenant: Tenant
    case_id: UUID | None

    def events(self) -> QuerySet[AuditEvent]:
        events = AuditEvent.objects.filter(tenant=self.tenant, seal__isnull=False)
        return events if self.case_id is None else events.filter(case_id=self.case_id)

    def unplaced(self) -> bool:
        """Whether some were recorded that the chain doesn't hold: an export could not show them."""
        events = AuditEvent.objects.filter(tenant=self.tenant, seal=None)
        return (events if self.case_id is None else events.filter(case_id=self.case_id)).exists()

    def last(self) -> int:
        """The place of its last event; 0: there is none."""
        return self.events().aggregate(last=Max("seal__sequence"))["last"] or 0

    def in_words(self) -> str:
        return "the whole trail" if self.case_id is None else f"the events of case {self.case_id}"


@dataclass(frozen=True, slots=True)
class Signed:
    """What an export is proved against, and who vouches for it."""

    newest: Checkpoint
    earlier: Checkpoint | None
    signer: Signer
    keys: dict[str, bytes]
    steps: list[HandingOver]


class Writer:
    """Writes one export's files into a folder."""

    def __init__(self, wanted: Wanted, folder: Path, signed: Signed, at: datetime) -> None:
        self.wanted, self.folder, self.signed, self.at = wanted, folder, signed, at
        self.counts: Counter[str] = Counter()

    def write(self, progress: Progress) -> Exported:
        newest = self.signed.newest
        prover = Prover(self.wanted.tenant.id, newest.sequence)
        if prover.root != newest.root:
            raise CannotExport(f"The trail is not what its checkpoint signed: {LOOK}.")
        self.write_events(prover, progress)
        self.write_checkpoints(prover)
        self.write_keys()
        self.write_readers()
        return Exported(
            folder=self.folder,
            events=self.counts["events"],
            erased=self.counts["erased"],
            unreadable=self.counts["unreadable"],
            checkpoint=newest.sequence,
            manifest_sha256=self.write_manifest(),
        )

    def write_events(self, prover: Prover, progress: Progress) -> None:
        events = self.wanted.events().filter(seal__sequence__lte=prover.size)
        total = events.count()
        stream = events.select_related("seal").order_by("seal__sequence").iterator(chunk_size=CHUNK)
        with (self.folder / "events.jsonl").open("wb") as lines, (self.folder / "proofs.jsonl").open("wb") as proofs:
            for chunk, members in groupby(stream, key=lambda event: chunk_of(event.seal.sequence)):
                held = list(members)
                paths = prover.inclusion(chunk, [event.seal.sequence for event in held])
                for event, revealed in zip(held, reveal_events(held, fresh=True), strict=True):
                    sequence = event.seal.sequence
                    lines.write(line(self.as_json(event, revealed)))
                    proofs.write(line({"sequence": sequence, "path": [each.hex() for each in paths[sequence]]}))
                progress(self.counts["events"], total)

    def as_json(self, event: AuditEvent, revealed: Revealed | Closed | None) -> dict[str, Any]:
        self.counts["events"] += 1
        if isinstance(revealed, Closed):
            self.counts[revealed.value] += 1
        return {
            "body": event.body,
            "content": content(revealed),
            "event_hash": bytes(event.seal.event_hash).hex(),
            "previous_hash": bytes(event.seal.previous_hash).hex(),
            "recorded_at": microseconds(event.recorded_at),
            "sequence": event.seal.sequence,
        }

    def write_checkpoints(self, prover: Prover) -> None:
        """The newest as it stands in its store, and the one before it with the proof that leads from it."""
        newest, earlier = self.signed.newest, self.signed.earlier
        (self.folder / "checkpoint.json").write_bytes(newest.content())
        if earlier is not None:
            path = [each.hex() for each in prover.consistency(earlier.sequence)]
            self.write_json("consistency.json", {"earlier": json.loads(earlier.content()), "path": path})

    def write_keys(self) -> None:
        keys = [{"key_id": key_id, "public_key": encode(key)} for key_id, key in self.signed.keys.items()]
        self.write_json("keys.json", {"keys": keys, "handing_over": [each.as_json() for each in self.signed.steps]})

    def write_readers(self) -> None:
        """What a person needs: how to check it, and the program that does."""
        shutil.copyfile(OFFLINE / "verify.py", self.folder / "verify.py")
        readme = (OFFLINE / "README.md").read_text(encoding="utf-8")
        told = readme.format(
            what=self.wanted.in_words(),
            tenant=self.wanted.tenant.slug,
            made_at=self.at.isoformat(timespec="seconds"),
            events=self.counts["events"],
            scope=WHOLE if self.wanted.case_id is None else ONE_CASE,
        )
        (self.folder / "README.md").write_text(told, encoding="utf-8")

    def write_manifest(self) -> str:
        """What the export is, and each file of it, signed; returns its SHA-256."""
        said = {
            "purpose": PURPOSE,
            "tenant": {"id": str(self.wanted.tenant.id), "slug": self.wanted.tenant.slug},
            "case_id": str(self.wanted.case_id) if self.wanted.case_id else None,
            "made_at": self.at.isoformat(timespec="seconds"),
            "events": self.counts["events"],
            "files": {path.name: file_entry(path) for path in sorted(self.folder.iterdir())},
            "key_id": self.signed.signer.key_id,
        }
        signature = encode(self.signed.signer.sign(canonical(said).encode()))
        return sha256(self.write_json("manifest.json", said | {"signature": signature})).hexdigest()

    def write_json(self, name: str, content: dict[str, Any]) -> bytes:
        written = (json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()
        (self.folder / name).write_bytes(written)
        return written


def line(content: dict[str, Any]) -> bytes:
    return canonical(content).encode() + b"\n"


def content(revealed: Revealed | Closed | None) -> dict[str, str] | None:
    """What an event of a case says of people, with what holds it to the chain."""
    if revealed is None:
        return None
    if isinstance(revealed, Closed):
        return {"withheld": revealed.value}
    return {"opening": revealed.opening.hex(), "plaintext": revealed.plaintext.decode()}


def file_entry(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": file_digest(file, "sha256").hexdigest()}
