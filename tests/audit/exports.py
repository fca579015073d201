"""Exports to test with, and what a forger can do to one."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from audit.chain import canonical
from audit.export import export_trail
from audit.export_files import Exported, Wanted
from audit.models import ActorType, Tenant
from audit.signing import Signer, encode
from tests.audit.trails import seal

AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
OPERATOR, THIEF = Signer(b"\1" * 32), Signer(b"\2" * 32)
DATA = (
    "README.md",
    "checkpoint.json",
    "consistency.json",
    "events.jsonl",
    "keys.json",
    "manifest.json",
    "proofs.jsonl",
)


def make(tenant: Tenant, out: Path, case_id: UUID | None = None, **given: Any) -> Exported:
    values: dict[str, Any] = {"actor": "a.udit", "actor_type": ActorType.PERSON, "actor_role": "auditor", "at": AT}
    exported = export_trail(wanted=Wanted(tenant, case_id), out=out, **(values | given))
    seal()
    return exported


def in_turn(*changes: Callable[[Any], Any]) -> Callable[[Any], None]:
    """One after the other, on the same folder or content."""

    def changed(what: Any) -> None:
        for change in changes:
            change(what)

    return changed


def lines(folder: Path, name: str = "events.jsonl") -> list[bytes]:
    return (folder / name).read_bytes().splitlines(keepends=True)


def change_lines(change: Callable[[list[bytes]], None], *names: str) -> Callable[[Path], None]:
    """The same change in each of the files."""

    def changed(folder: Path) -> None:
        for name in names:
            held = lines(folder, name)
            change(held)
            (folder / name).write_bytes(b"".join(held))

    return changed


def change_line(
    number: int, change: Callable[[dict[str, Any]], None], name: str = "events.jsonl"
) -> Callable[..., None]:
    def changed(held: list[bytes]) -> None:
        content = json.loads(held[number - 1])
        change(content)
        held[number - 1] = canonical(content).encode() + b"\n"

    return change_lines(changed, name)


def change_json(name: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        content = json.loads((folder / name).read_bytes())
        change(content)
        written = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
        (folder / name).write_text(canonical(content) + "\n" if name == "checkpoint.json" else written)

    return changed


def sign(content: dict[str, Any], signer: Signer, key_id: str = "") -> None:
    content.pop("signature", None)
    content["key_id"] = key_id or signer.key_id
    content["signature"] = encode(signer.sign(canonical(content).encode()))


def sign_anew(folder: Path, signer: Signer = OPERATOR) -> None:
    """The manifest of the files as they are now, as if the operator himself had exported them so."""

    def of_these_files(content: dict[str, Any]) -> None:
        for name in [name for name in content["files"] if (folder / name).exists()]:
            with (folder / name).open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
            content["files"][name] = {"bytes": (folder / name).stat().st_size, "sha256": digest}
        sign(content, signer)

    change_json("manifest.json", of_these_files)(folder)


def hash_anew(event: dict[str, Any], tenant: Tenant) -> None:
    """The event's hash as its line gives it now."""
    place = event["sequence"].to_bytes(8, "big") + event["recorded_at"].to_bytes(8, "big")
    said = bytes.fromhex(event["previous_hash"]) + tenant.id.bytes + place + sha256(event["body"].encode()).digest()
    event["event_hash"] = sha256(said).hexdigest()
