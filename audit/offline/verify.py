#!/usr/bin/env python3
"""Checks an export of a Second Look audit trail with nothing but a Python interpreter, 3.8 or newer.

    python3 verify.py [FOLDER] [--key PUBLIC_KEY] ...

It shares no code with Second Look, needs no network and no package, writes nothing and reads the export's files only
(FOLDER; without one, the folder it lies in). Exit 0: everything was checked and nothing is wrong. Exit 1: something is
wrong or could not be checked; every line that starts with WRONG names the file, the line in it, and what is wrong.
Exit 2: the call itself can't be understood.

--key gives a public key that you were handed in another way than with this export, in base64. With it nothing counts
that is not signed by this key, or by one that this key handed over to. Without it the export's own keys are believed,
and you compare the printed one yourself. README.md says what each file holds.

The parts, in the order in which they are needed: Ed25519 signatures (RFC 8032), Merkle proofs (RFC 9162), the files of
an export, who signed, the checkpoints, the events.
"""

from __future__ import annotations

import argparse
import base64
import hmac
import json
import re
import struct
import sys
import uuid
from hashlib import sha256, sha512
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Point = tuple[int, int, int, int]

try:  # asked as a second opinion where it happens to be there
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None  # type: ignore[assignment,misc]

# Ed25519, RFC 8032 section 5.1. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z, x*y = T/Z.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def add(one: Point, other: Point) -> Point:
    """Section 5.1.4."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(number: int, point: Point) -> Point:
    product: Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            product = add(product, point)
        point, number = add(point, point), number >> 1
    return product


def encoded(point: Point) -> bytes:
    """Section 5.1.2."""
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decoded(raw: bytes) -> Point | None:
    """Section 5.1.3; None for what is no point."""
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE_Y = 4 * pow(5, P - 2, P) % P


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Section 5.1.7: S*B = R + k*A, compared as bytes. Where `cryptography` is there, it has to agree."""
    if len(public) != 32 or len(signature) != 64:
        return False
    base, point = decoded(BASE_Y.to_bytes(32, "little")), decoded(public)
    s = int.from_bytes(signature[32:], "little")
    if base is None or point is None or s >= ORDER:
        return False
    k = int.from_bytes(sha512(signature[:32] + public + message).digest(), "little") % ORDER
    minus = (P - point[0], point[1], 1, P - point[3])
    holds = encoded(add(multiply(s, base), multiply(k, minus))) == signature[:32]
    return holds and (Ed25519PublicKey is None or is_signed_in_their_opinion(public, signature, message))


def is_signed_in_their_opinion(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


# Merkle proofs, RFC 9162 section 2.1. A leaf's data is the 32 bytes of an event's hash.


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def is_included(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    """Section 2.1.3.2: whether the path leads from the leaf at `index` to the root of a tree of `size` leaves."""
    node, last = leaf, size - 1
    for beside in path:
        if last == 0:
            return False
        if index & 1 or index == last:
            node = node_hash(beside, node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = node_hash(node, beside)
        index, last = index >> 1, last >> 1
    return last == 0 and node == root


def is_continued(first: int, first_root: bytes, second: int, second_root: bytes, path: list[bytes]) -> bool:
    """Section 2.1.4.2: whether `second` leaves begin with the `first` ones, where 0 < first < second."""
    if first & (first - 1) == 0:
        path = [first_root, *path]
    if not path:
        return False
    index, last = first - 1, second - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    old = new = path[0]
    for beside in path[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            old, new = node_hash(beside, old), node_hash(beside, new)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            new = node_hash(new, beside)
        index, last = index >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


class Tree:
    """The root over all leaves, added one by one; it holds one hash for each whole subtree."""

    def __init__(self) -> None:
        self.size = 0
        self.peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        rest = self.size
        while rest & 1:
            leaf, rest = node_hash(self.peaks.pop(), leaf), rest >> 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        root = self.peaks[-1] if self.peaks else sha256().digest()
        for peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        return root


# The files of an export: how they are written, so that not one byte of them can be another.

EVENTS, PROOFS, CHECKPOINT, CONSISTENCY = "events.jsonl", "proofs.jsonl", "checkpoint.json", "consistency.json"
KEYS, MANIFEST = "keys.json", "manifest.json"
NEEDED = {EVENTS, PROOFS, CHECKPOINT, KEYS, "README.md", "verify.py"}
PURPOSE = "second-look:export"
SHOWN = 20  # so many things that are wrong are told one by one
EVENT_TYPES = {
    "body": str,
    "content": (dict, type(None)),
    "event_hash": bytes,
    "previous_hash": bytes,
    "recorded_at": int,
    "sequence": int,
}
PROOF_TYPES = {"path": list, "sequence": int}
CHECKPOINT_TYPES = {"at": str, "count": int, "head_hash": bytes, "root": bytes, "sequence": int, "tenant_id": str}
MANIFEST_TYPES = {"case_id": (str, type(None)), "events": int, "files": dict, "made_at": str, "tenant": dict}


class Wrong(Exception):
    """What is wrong, and where; what would have built on it can't be checked."""

    def __init__(self, file: str, line: int | None, what: str) -> None:
        super().__init__(f"{file}, line {line}: {what}" if line else f"{file}: {what}")


def canonical(content: Any) -> bytes:
    """JSON with sorted keys and no white space, in UTF-8: what is signed, and how each line is written."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def is_of(value: Any, wanted: Any) -> bool:
    """Whether a JSON value has the type; `bytes` stands for 32 bytes in hexadecimal."""
    if wanted is bytes:
        return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None
    if wanted is int:
        return type(value) is int and -(2**63) <= value < 2**63
    return isinstance(value, wanted)


def parse(file: str, line: int | None, raw: bytes, types: dict[str, Any]) -> dict[str, Any]:
    try:
        content = json.loads(raw.decode("utf-8"))
    except json.JSONDecodeError as problem:
        raise Wrong(file, line or problem.lineno, f"not JSON ({problem.msg})") from None
    except (ValueError, RecursionError):
        raise Wrong(file, line, "not JSON in UTF-8") from None
    if not isinstance(content, dict):
        raise Wrong(file, line, "not a JSON object")
    for name, wanted in types.items():
        if not is_of(content.get(name), wanted):
            raise Wrong(file, line, f"{name} is missing or not what it must be")
    return content


def parse_line(file: str, line: int, raw: bytes, types: dict[str, Any]) -> dict[str, Any]:
    """A line is written in one way only, so that a change which means nothing is found too."""
    if not raw.endswith(b"\n"):
        raise Wrong(file, line, "the line is cut off")
    content = parse(file, line, raw[:-1], types)
    try:
        same = canonical(content) == raw[:-1]
    except ValueError:
        same = False
    if not same or set(content) != set(types):
        raise Wrong(file, line, "not written as an export writes it")
    return content


def from_base64(text: Any, length: int) -> bytes | None:
    try:
        raw = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        return None
    return raw if len(raw) == length and base64.b64encode(raw).decode() == text else None


def is_file_entry(name: str, said: Any) -> bool:
    """A plain name in this folder, with its length and hash."""
    plain = re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9_.-]*", name) is not None
    return plain and isinstance(said, dict) and is_of(said.get("bytes"), int) and is_of(said.get("sha256"), bytes)


def file_sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


class Export:
    """The folder, what was found wrong in it, and what was checked to its end."""

    def __init__(self, folder: Path, given_keys: list[bytes]) -> None:
        self.folder, self.given_keys = folder, given_keys
        self.wrong: list[str] = []
        self.more = 0
        self.checked: list[tuple[str, str]] = []
        self.keys: dict[str, bytes] = {}  # whose signatures count, by key id
        self.signed: dict[str, list[str]] = {}  # which files each of them signed
        self.manifest: dict[str, Any] = {}
        self.checkpoint: dict[str, Any] = {}

    def tell(self, wrong: Wrong) -> None:
        if len(self.wrong) < SHOWN:
            self.wrong.append(str(wrong))
        else:
            self.more += 1

    def found(self) -> int:
        return len(self.wrong) + self.more

    def read(self, name: str, types: dict[str, Any]) -> dict[str, Any]:
        try:
            raw = (self.folder / name).read_bytes()
        except OSError as problem:
            raise Wrong(name, None, f"can't be read ({problem.strerror})") from None
        return parse(name, None, raw, types)

    # Who signed.

    def check_keys(self) -> None:
        """Takes the keys that are given or, where none is, those of the export; then those they handed over to."""
        content = self.read(KEYS, {"handing_over": list, "keys": list})
        own = [self.read_key(place, each) for place, each in enumerate(content["keys"], 1)]
        trusted = set(self.given_keys or own)
        steps = [self.read_handing_over(each) for each in content["handing_over"]]
        while True:
            reached = {key for pair in steps if trusted & pair for key in pair} - trusted
            if not reached:
                break
            trusted |= reached
        self.keys = {sha256(key).hexdigest()[:16]: key for key in trusted}

    def read_key(self, place: int, entry: Any) -> bytes:
        key = from_base64(entry.get("public_key"), 32) if isinstance(entry, dict) else None
        if key is None or entry.get("key_id") != sha256(key).hexdigest()[:16]:
            raise Wrong(KEYS, None, f"key {place} is not 32 bytes in base64, or its id not the start of its SHA-256")
        return key

    def read_handing_over(self, entry: Any) -> set[bytes]:
        """One key gives way to another: both have signed it."""
        names = ("old", "new", "at")
        said = {name: entry.get(name) for name in names} if isinstance(entry, dict) else {}
        message = canonical({"purpose": "second-look:key-handing-over", **said})
        pair = set()
        for name in names[:2]:
            key = from_base64(said.get(name), 32)
            signature = from_base64(entry.get(f"{name}_signature"), 64) if key else None
            if key is None or signature is None or not is_signed(key, signature, message):
                raise Wrong(KEYS, None, f"a handing over of keys is not signed by its {name} key")
            pair.add(key)
        return pair

    def check_signature(self, file: str, content: dict[str, Any], purpose: str) -> None:
        key_id = str(content.get("key_id"))
        key = self.keys.get(key_id)
        if key is None:
            whose = "that you gave" if self.given_keys else "of keys.json"
            raise Wrong(file, None, f"signed by key {key_id}, which is none {whose}")
        signature = from_base64(content.get("signature"), 64)
        said = {name: value for name, value in content.items() if name != "signature"}
        if content.get("purpose") != purpose or signature is None or not is_signed(key, signature, canonical(said)):
            raise Wrong(file, None, f"the signature of key {key_id} doesn't hold: this is not what was signed")
        self.signed.setdefault(key_id, []).append(file)

    # The manifest, and each file against it.

    def check_manifest(self) -> None:
        content = self.read(MANIFEST, MANIFEST_TYPES)
        written = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
        if written.encode("utf-8", "surrogatepass") != (self.folder / MANIFEST).read_bytes():
            raise Wrong(MANIFEST, None, "not written as an export writes it")
        self.check_signature(MANIFEST, content, PURPOSE)
        if not set(content["files"]) >= NEEDED or not all(is_file_entry(*each) for each in content["files"].items()):
            raise Wrong(MANIFEST, None, "it doesn't name the files that an export has")
        self.manifest = content

    def check_files(self) -> None:
        before = self.found()
        for name, said in sorted(self.manifest["files"].items()):
            path = self.folder / name
            if not path.is_file():
                self.tell(Wrong(name, None, "missing"))
            elif path.stat().st_size != said["bytes"]:
                self.tell(Wrong(name, None, f"{path.stat().st_size} bytes long, {said['bytes']} were exported"))
            elif file_sha256(path) != said["sha256"]:
                self.tell(Wrong(name, None, "changed after the export: its SHA-256 is not the one in manifest.json"))
        if self.found() == before:
            self.checked.append(("files", f"{len(self.manifest['files'])} files are those that were exported"))
        beside = sorted({path.name for path in self.folder.iterdir()} - set(self.manifest["files"]) - {MANIFEST})
        if beside:
            self.checked.append(("beside", f"not of this export and not checked: {', '.join(beside)}"))

    # The checkpoints.

    def check_checkpoint(self) -> None:
        self.checkpoint = self.read_checkpoint(CHECKPOINT, self.read(CHECKPOINT, CHECKPOINT_TYPES))
        if CONSISTENCY in self.manifest["files"]:
            self.check_earlier()

    def read_checkpoint(self, file: str, content: dict[str, Any]) -> dict[str, Any]:
        self.check_signature(file, content, "second-look:checkpoint")
        if content["tenant_id"] != self.manifest["tenant"].get("id"):
            raise Wrong(file, None, f"the checkpoint is of another tenant ({content['tenant_id']})")
        if content["count"] != content["sequence"] or content["count"] < 1:
            raise Wrong(file, None, "the checkpoint's count is not its last event's place")
        return content

    def check_earlier(self) -> None:
        """The checkpoint before this one: its events are the first ones of this one."""
        content = self.read(CONSISTENCY, {"earlier": dict, "path": list})
        parse(CONSISTENCY, None, canonical(content["earlier"]), CHECKPOINT_TYPES)
        earlier, later = self.read_checkpoint(CONSISTENCY, content["earlier"]), self.checkpoint
        if not all(is_of(each, bytes) for each in content["path"]) or earlier["count"] >= later["count"]:
            raise Wrong(CONSISTENCY, None, "the proof is not one from an earlier checkpoint to a later one")
        path = [bytes.fromhex(each) for each in content["path"]]
        roots = [bytes.fromhex(each["root"]) for each in (earlier, later)]
        if not is_continued(earlier["count"], roots[0], later["count"], roots[1], path):
            raise Wrong(
                CONSISTENCY, None, "the later checkpoint doesn't continue the earlier one: history was rewritten"
            )
        self.checked.append(
            (
                "history",
                f"the {earlier['count']} events signed at {earlier['at']} are the first of the {later['count']}",
            )
        )

    # The events.

    def check_events(self) -> None:
        walk = Walk(self)
        for line, (event, proof) in enumerate(zip_longest(self.lines(EVENTS), self.lines(PROOFS)), 1):
            if event is None or proof is None:
                raise Wrong(PROOFS if proof is None else EVENTS, line, "the line is missing")
            walk.step(line, parse_line(EVENTS, line, event, EVENT_TYPES), parse_line(PROOFS, line, proof, PROOF_TYPES))
        walk.end()

    def lines(self, name: str) -> Iterator[bytes]:
        try:
            with (self.folder / name).open("rb") as file:
                yield from file
        except OSError as problem:
            raise Wrong(name, None, f"can't be read ({problem.strerror})") from None


class Walk:
    """One pass over events and proofs, side by side, in memory for one event."""

    def __init__(self, export: Export) -> None:
        self.export, checkpoint = export, export.checkpoint
        self.case: str | None = export.manifest["case_id"]
        self.tenant = uuid.UUID(checkpoint["tenant_id"])
        self.size, self.root = checkpoint["count"], bytes.fromhex(checkpoint["root"])
        self.tree, self.found_before = Tree(), export.found()
        self.last, self.last_hash = 0, sha256(b"second-look:genesis:" + self.tenant.bytes).digest()
        self.counts = {"sealed": 0, "erased": 0, "clear": 0}
        self.erased: dict[str, int] = {}  # case: the first line whose content is withheld for its erasure
        self.erasures: set[str] = set()  # cases whose erasure is itself an event

    def step(self, line: int, event: dict[str, Any], proof: dict[str, Any]) -> None:
        self.check_place(line, event["sequence"], proof["sequence"])
        own_hash = bytes.fromhex(event["event_hash"])
        if self.check_hash(line, event, own_hash):
            self.check_content(line, self.read_body(line, event["body"]), event["content"])
            self.check_proof(line, event["sequence"], leaf_hash(own_hash), proof["path"])
        self.tree.append(leaf_hash(own_hash))
        self.last, self.last_hash = event["sequence"], own_hash

    def tell(self, line: int, what: str, file: str = EVENTS) -> None:
        self.export.tell(Wrong(file, line, what))

    def check_place(self, line: int, sequence: int, of_proof: int) -> None:
        if not self.last < sequence:
            raise Wrong(EVENTS, line, f"event {sequence} stands behind event {self.last}")
        if sequence > self.size:
            raise Wrong(EVENTS, line, f"event {sequence} is none of the {self.size} that the checkpoint covers")
        if of_proof != sequence:
            raise Wrong(PROOFS, line, f"the proof is of event {of_proof}, and events.jsonl has event {sequence} there")
        if self.case is None and sequence != self.last + 1:
            self.tell(line, f"event {self.last + 1} is missing before event {sequence}")

    def read_body(self, line: int, text: str) -> dict[str, Any]:
        """What the event says, and that it is of this tenant and, in a case's export, of this case."""
        body = parse(EVENTS, line, text.encode("utf-8"), {"event_type": str, "tenant_id": str})
        if body["tenant_id"] != str(self.tenant):
            self.tell(line, f"the event is of another tenant ({body['tenant_id']})")
        if self.case is not None and body.get("case_id") != self.case:
            self.tell(line, f"the event is of another case ({body.get('case_id')})")
        if body["event_type"] == "case_erased":
            self.erasures.add(str(body.get("case_id")))
        return body

    def check_hash(self, line: int, event: dict[str, Any], own_hash: bytes) -> bool:
        """The link: predecessor, tenant, place, time and content, hashed together."""
        previous, sequence = bytes.fromhex(event["previous_hash"]), event["sequence"]
        place = struct.pack(">qq", sequence, event["recorded_at"])
        content = sha256(event["body"].encode("utf-8")).digest()
        if sha256(previous + self.tenant.bytes + place + content).digest() != own_hash:
            self.tell(line, f"event {sequence} doesn't give its hash: its content, time, place or hashes were changed")
            return False
        if sequence == self.last + 1 and previous != self.last_hash:
            self.tell(line, f"event {sequence} doesn't name the hash of the event before it")
        if sequence == self.size and event["event_hash"] != self.export.checkpoint["head_hash"]:
            self.tell(line, f"event {sequence} is not the one that the checkpoint names as the last")
        return True

    def check_proof(self, line: int, sequence: int, leaf: bytes, path: list[Any]) -> None:
        if not all(is_of(each, bytes) for each in path):
            self.tell(line, "the proof is not made of hashes", PROOFS)
        elif not is_included(leaf, sequence - 1, self.size, [bytes.fromhex(each) for each in path], self.root):
            what = f"the proof doesn't lead from event {sequence} (events.jsonl, line {line}) to the signed root"
            self.tell(line, what, PROOFS)

    def check_content(self, line: int, body: dict[str, Any], content: dict[str, Any] | None) -> None:
        """What a case's event says of people stands beside it, held by a commitment inside the sealed body."""
        sealed = body.get("sealed")
        if not isinstance(sealed, dict) or content is None:
            self.counts["clear"] += 1
            if sealed is not content:
                self.tell(line, "what the event sealed and what is shown beside it are not both there")
        elif content == {"withheld": "erased"}:
            self.counts["erased"] += 1
            self.erased.setdefault(str(body.get("case_id")), line)
        elif not is_of(content.get("opening"), bytes) or not isinstance(content.get("plaintext"), str):
            self.tell(line, "the event's sealed content could not be shown, so it could not be checked")
        elif commitment(content) != sealed.get("commitment"):
            self.tell(line, "the content shown is not what the event committed itself to")
        else:
            self.counts["sealed"] += 1

    def end(self) -> None:
        """What only the whole shows."""
        manifest, count = self.export.manifest, self.tree.size
        if count != manifest["events"]:
            raise Wrong(EVENTS, None, f"it holds {count} events, {manifest['events']} were exported")
        if self.case is None and (count != self.size or self.tree.root() != self.root):
            raise Wrong(EVENTS, None, f"its {count} events together are not the {self.size} that the checkpoint signs")
        for case, line in self.erased.items():
            if case not in self.erasures:
                self.tell(line, "the content is withheld as erased, and no event says that its case was erased")
        if self.export.found() == self.found_before:
            self.export.checked += self.shown(count)

    def shown(self, count: int) -> list[tuple[str, str]]:
        contents = "{sealed} sealed ones held to their commitments, {clear} in clear, {erased} erased"
        shown = [
            ("events", f"{count}, up to event {self.last}: each gives its hash"),
            ("contents", contents.format(**self.counts)),
            ("proofs", f"{count} lead to the signed root over the tenant's {self.size} events"),
        ]
        whole = [("whole", f"events 1 to {count} are all there, and together give the signed root")]
        return shown + (whole if self.case is None else [])


def commitment(content: dict[str, Any]) -> str:
    """HMAC-SHA256 of the text under its opening."""
    text: str = content["plaintext"]
    return hmac.new(bytes.fromhex(content["opening"]), text.encode("utf-8"), sha256).hexdigest()


# The result.


def examine(export: Export) -> None:
    """Each part builds on the one before: where one can't be read, those after it are not checked, and that is told."""
    steps = [
        ("who signed", export.check_keys),
        ("the manifest", export.check_manifest),
        ("the files", export.check_files),
        ("the checkpoints", export.check_checkpoint),
        ("the events", export.check_events),
    ]
    for place, (_, step) in enumerate(steps):
        try:
            step()
        except Wrong as wrong:
            export.tell(wrong)
        except Exception as problem:  # noqa: BLE001  # whatever a broken file does to this program is the file's fault
            export.tell(Wrong(str(export.folder), None, f"could not be checked ({type(problem).__name__})"))
        else:
            continue
        unchecked = ", ".join(name for name, _ in steps[place:])
        export.checked.append(("UNCHECKED", f"from there on: {unchecked}"))
        return


def say(text: str = "") -> None:
    """What a file says is printed as plain characters, whatever is in it."""
    sys.stdout.write("".join(each if " " <= each <= "~" else ascii(each)[1:-1] for each in text) + "\n")


def report(export: Export) -> int:
    manifest, checkpoint = export.manifest, export.checkpoint
    if manifest:
        what = f"case {manifest['case_id']}" if manifest["case_id"] else "the whole trail"
        say(f"Export of {what}, tenant {manifest['tenant'].get('slug')}, made at {manifest['made_at']}")
    for name, text in export.checked:
        say(f"  {name:<10} {text}")
    if checkpoint:
        signed = f"signed at {checkpoint['at']} by key {checkpoint['key_id']}"
        say(f"  {'checkpoint':<10} over {checkpoint['count']} events, {signed}")
    for key_id, files in export.signed.items():
        say(f"  {'key':<10} {key_id} is {base64.b64encode(export.keys[key_id]).decode()}, signed {', '.join(files)}")
    for wrong in export.wrong:
        say(f"WRONG {wrong}")
    if export.more:
        say(f"WRONG and {export.more} more")
    if export.wrong:
        say("This export is NOT what was signed, or could not be checked.")
        return 1
    say(
        "Nothing is wrong."
        + ("" if export.given_keys else " Compare the key with the one you were given in another way.")
    )
    return 0


def public_key(text: str) -> bytes:
    key = from_base64(text, 32)
    if key is None:
        raise argparse.ArgumentTypeError("a public key is 32 bytes in base64")
    return key


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks an export of a Second Look audit trail.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--key", action="append", default=[], type=public_key, help="a public key you know, in base64")
    given = parser.parse_args()
    export = Export(given.folder, given.key)
    examine(export)
    return report(export)


if __name__ == "__main__":
    sys.exit(main())
