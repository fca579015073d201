"""Who signs checkpoints: one Ed25519 key (RFC 8032), and the public keys whose word is taken.

A key's id is the first 16 hex digits of the SHA-256 of its 32 raw public bytes. When a key is replaced, both sign a
handing over: the old one introduces the new, the new one acknowledges the old. Who trusts either then trusts both, so
a regulator who once took down one public key can follow.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from audit.chain import canonical

SEED_BYTES, PUBLIC_BYTES, SIGNATURE_BYTES = 32, 32, 64
LONGEST_FILE = 4096


class UnusableKey(ValueError):
    """A configured key that is none; its text never repeats what was configured."""


def key_id_of(public: bytes) -> str:
    return sha256(public).hexdigest()[:16]


def encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def decode(text: str, length: int, what: str) -> bytes:
    """Base64 of so many bytes. Raises UnusableKey."""
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableKey(f"{what} is not base64") from None
    if len(raw) != length:
        raise UnusableKey(f"{what} must be base64 of {length} bytes, not of {len(raw)}")
    return raw


class Signer:
    """A private key in use."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()
        self.key_id = key_id_of(self.public)

    def __repr__(self) -> str:
        return f"<Signer {self.key_id}>"

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


def load_signer(value: str, name: str = "CHECKPOINT_KEY") -> Signer | None:
    """`value`: the seed in base64, or the path of a file that holds it; empty: none. Raises UnusableKey."""
    if not value:
        return None
    if "/" not in value or is_seed(value):
        return Signer(decode(value, SEED_BYTES, name))
    try:
        with Path(value).open("rb") as file:
            content = file.read(LONGEST_FILE)
    except OSError as problem:
        raise UnusableKey(f"{name}: its file can't be read: {problem.strerror}") from None
    return Signer(decode(content.decode("ascii", errors="replace"), SEED_BYTES, f"the file of {name}"))


def is_seed(value: str) -> bool:
    """Base64 may hold a slash, and so look like a path."""
    try:
        decode(value, SEED_BYTES, "")
    except UnusableKey:
        return False
    return True


def is_signed(*, public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class HandingOver:
    """One key gives way to another, said by both."""

    old: bytes
    new: bytes
    at: str  # when, as told by who did it
    old_signature: bytes
    new_signature: bytes

    @property
    def message(self) -> bytes:
        return handing_over_message(self.old, self.new, self.at)

    def is_signed(self) -> bool:
        signed = ((self.old, self.old_signature), (self.new, self.new_signature))
        return all(is_signed(public=public, signature=given, message=self.message) for public, given in signed)

    def as_json(self) -> dict[str, str]:
        return {
            "old": encode(self.old),
            "new": encode(self.new),
            "at": self.at,
            "old_signature": encode(self.old_signature),
            "new_signature": encode(self.new_signature),
        }


def handing_over_message(old: bytes, new: bytes, at: str) -> bytes:
    said = {"purpose": "second-look:key-handing-over", "old": encode(old), "new": encode(new), "at": at}
    return canonical(said).encode()


def hand_over(*, old: Signer, new: Signer, at: str) -> HandingOver:
    message = handing_over_message(old.public, new.public, at)
    return HandingOver(old.public, new.public, at, old.sign(message), new.sign(message))


def read_handing_over(content: bytes) -> HandingOver:
    """Raises UnusableKey for what isn't one; whether it is signed is asked of it afterwards."""
    try:
        told: Mapping[str, Any] = json.loads(content)
        keys = [decode(str(told[name]), PUBLIC_BYTES, name) for name in ("old", "new")]
        signatures = [decode(str(told[name]), SIGNATURE_BYTES, name) for name in ("old_signature", "new_signature")]
        return HandingOver(keys[0], keys[1], str(told["at"]), signatures[0], signatures[1])
    except (ValueError, KeyError, TypeError) as problem:
        raise UnusableKey(f"not a handing over of keys: {problem}") from None


class Keyring:
    """The public keys whose signatures count, by id."""

    def __init__(self, trusted: Iterable[bytes], handing_over: Iterable[HandingOver] = ()) -> None:
        self.keys = {key_id_of(public): public for public in trusted}
        steps = [step for step in handing_over if step.is_signed()]
        while reached := [one for step in steps for one in self.reached_by(step)]:
            self.keys |= {key_id_of(public): public for public in reached}

    def reached_by(self, step: HandingOver) -> list[bytes]:
        known = {public: key_id_of(public) in self.keys for public in (step.old, step.new)}
        return [public for public, is_known in known.items() if not is_known] if any(known.values()) else []

    def knows(self, key_id: str) -> bool:
        return key_id in self.keys

    def is_signed(self, *, key_id: str, signature: bytes, message: bytes) -> bool:
        public = self.keys.get(key_id)
        return public is not None and is_signed(public=public, signature=signature, message=message)
