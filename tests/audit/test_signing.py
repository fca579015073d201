import json
import os
from pathlib import Path

import pytest

from audit.signing import (
    HandingOver,
    Keyring,
    Signer,
    UnusableKey,
    decode,
    encode,
    hand_over,
    is_signed,
    key_id_of,
    load_signer,
    read_handing_over,
)

SEED = bytes(range(32))
AT = "2026-12-01T09:00:00Z"
# RFC 8032, 7.1, test 2: one byte signed.
RFC_SEED = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
RFC_PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
RFC_SIGNATURE = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def test_it_signs_as_the_standard_says() -> None:
    signer = Signer(RFC_SEED)
    assert (signer.public.hex(), signer.sign(b"\x72").hex()) == (RFC_PUBLIC, RFC_SIGNATURE)
    assert signer.key_id == key_id_of(bytes.fromhex(RFC_PUBLIC))
    assert len(signer.key_id) == 16
    assert RFC_SEED.hex() not in repr(signer)


def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(encode(SEED) + "\n")
    assert load_signer("") is None
    ids = {signer.key_id for value in (encode(SEED), str(file)) if (signer := load_signer(value))}
    assert ids == {Signer(SEED).key_id}


def test_a_key_with_a_slash_in_it_is_no_path() -> None:
    seed = b"\xff" * 32
    assert "/" in encode(seed)
    signer = load_signer(encode(seed))
    assert signer is not None and signer.key_id == Signer(seed).key_id


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("not base64!", "CHECKPOINT_KEY is not base64"),
        (encode(SEED[:31]), "CHECKPOINT_KEY must be base64 of 32 bytes, not of 31"),
        ("/nowhere/key", "its file can't be read: No such file or directory"),
    ],
)
def test_a_key_that_is_none_is_told_without_being_repeated(value: str, words: str) -> None:
    with pytest.raises(UnusableKey, match=words) as problem:
        load_signer(value)
    assert value not in str(problem.value)


def test_a_file_that_holds_no_key_is_told(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(os.urandom(64))
    with pytest.raises(UnusableKey, match="the file of CHECKPOINT_KEY"):
        load_signer(str(tmp_path / "key"))


@pytest.mark.parametrize("public", [b"", b"x" * 31, b"\xff" * 32, Signer(RFC_SEED).public])
def test_a_signature_of_another_key_or_none_does_not_count(public: bytes) -> None:
    assert not is_signed(public=public, signature=Signer(SEED).sign(b"said"), message=b"said")


OLD, NEW, NEWER, THIEF = (Signer(bytes([number]) * 32) for number in range(4))


def test_who_trusts_one_key_follows_the_handing_over_both_ways() -> None:
    steps = [hand_over(old=OLD, new=NEW, at=AT), hand_over(old=NEW, new=NEWER, at=AT)]
    for trusted in (OLD, NEW, NEWER):
        ring = Keyring([trusted.public], reversed(steps))
        assert ring.keys.keys() == {OLD.key_id, NEW.key_id, NEWER.key_id}
        assert ring.is_signed(key_id=OLD.key_id, signature=OLD.sign(b"said"), message=b"said")
        assert not ring.is_signed(key_id=OLD.key_id, signature=NEW.sign(b"said"), message=b"said")


def test_a_handing_over_needs_both_signatures() -> None:
    said = hand_over(old=OLD, new=THIEF, at=AT)
    forged = [
        HandingOver(OLD.public, THIEF.public, AT, THIEF.sign(said.message), said.new_signature),
        HandingOver(THIEF.public, OLD.public, AT, said.new_signature, said.new_signature),
        HandingOver(OLD.public, THIEF.public, "2027-01-01T00:00:00Z", said.old_signature, said.new_signature),
    ]
    assert Keyring([OLD.public], forged).keys.keys() == {OLD.key_id}


def test_keys_that_only_know_each_other_are_not_trusted() -> None:
    ring = Keyring([OLD.public], [hand_over(old=THIEF, new=NEWER, at=AT)])
    assert not ring.knows(THIEF.key_id)
    assert not ring.is_signed(key_id=THIEF.key_id, signature=THIEF.sign(b"said"), message=b"said")


def test_a_handing_over_is_read_as_it_was_written() -> None:
    said = hand_over(old=OLD, new=NEW, at=AT)
    assert read_handing_over(json.dumps(said.as_json()).encode()) == said
    assert decode(said.as_json()["new"], 32, "new") == NEW.public


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"old": 7}', b"\xff", b'{"old": "AA==", "new": "AA=="}'])
def test_what_is_no_handing_over_is_told(content: bytes) -> None:
    with pytest.raises(UnusableKey, match="not a handing over of keys"):
        read_handing_over(content)
