"""The parts of verify.py, held against the standards' own vectors and against what others compute."""

import ast
import sys
from collections.abc import Iterator
from hashlib import sha256, sha512
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from audit import merkle
from tests.audit import offline

verify = offline.load()

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = {
    "test 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bb"
        "e24655141438e7a100b",
    ),
    "test 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302"
        "aeeb00d291612bb0c00",
    ),
    "test 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed"
        "28dc027beceea1ec40a",
    ),
    "test SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce"
        "80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac"
        "17ad9bef1177331a704",
    ),
}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where `cryptography` isn't installed."""
    monkeypatch.setattr(verify, "Ed25519PublicKey", None)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", VECTORS)
def test_the_standards_signatures_hold_and_no_others(name: str) -> None:
    public, message, signature = map(bytes.fromhex, VECTORS[name])
    assert verify.is_signed(public, signature, message)
    assert not verify.is_signed(public, signature, message + b"\0")
    assert not verify.is_signed(public, signature[:-1] + bytes([signature[-1] ^ 1]), message)


def theirs(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


CHANGES = st.tuples(st.sampled_from(["public", "signature", "message", "none"]), st.integers(0), st.integers(1, 255))


@given(seed=st.binary(min_size=32, max_size=32), message=st.binary(min_size=1, max_size=200), change=CHANGES)
def test_it_takes_and_refuses_what_cryptography_does(seed: bytes, message: bytes, change: tuple[str, int, int]) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    told = {"public": key.public_key().public_bytes_raw(), "signature": key.sign(message), "message": message}
    where, place, flip = change
    if where != "none":
        raw = bytearray(told[where])
        raw[place % len(raw)] ^= flip
        told[where] = bytes(raw)

    ours = without_a_second_opinion(**told)

    assert ours == theirs(**told) == verify.is_signed(**told) == (where == "none")


def without_a_second_opinion(**told: bytes) -> bool:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(verify, "Ed25519PublicKey", None)
        holds: bool = verify.is_signed(**told)
        return holds


@pytest.mark.usefixtures("alone")
def test_a_second_spelling_of_a_good_signature_is_refused() -> None:
    public, message, signature = map(bytes.fromhex, VECTORS["test 3"])
    other = int.from_bytes(signature[32:], "little") + verify.ORDER
    assert not verify.is_signed(public, signature[:32] + other.to_bytes(32, "little"), message)


NO_POINTS = {
    "y is the field's size": verify.P.to_bytes(32, "little"),
    "y is one, spelled as more": (verify.P + 1).to_bytes(32, "little"),
    "x is zero with a sign": (1 | 1 << 255).to_bytes(32, "little"),
    "no point of the curve": (2).to_bytes(32, "little"),
}


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", NO_POINTS)
def test_what_is_no_key_signs_nothing(name: str) -> None:
    _, message, signature = map(bytes.fromhex, VECTORS["test 3"])
    assert verify.decoded(NO_POINTS[name]) is None
    assert not verify.is_signed(NO_POINTS[name], signature, message)


@pytest.mark.usefixtures("alone")
def test_a_key_or_signature_of_another_length_is_refused() -> None:
    public, message, signature = map(bytes.fromhex, VECTORS["test 3"])
    for wrong in (b"", public[:-1], public + b"\0"):
        assert not verify.is_signed(wrong, signature, message)
    for wrong in (b"", signature[:-1], signature + b"\0"):
        assert not verify.is_signed(public, wrong, message)


@pytest.mark.usefixtures("alone")
def test_a_key_that_signed_under_a_longer_spelling_of_itself_is_refused() -> None:
    """Read as a number, it is the same with a zero byte behind it."""
    base, message = verify.decoded(verify.BASE_Y.to_bytes(32, "little")), b"said"
    for behind in (b"", b"\0"):
        public = verify.encoded(verify.multiply(5, base)) + behind
        signature = signed_by_hand(public, secret=5, nonce=7, message=message)
        assert verify.is_signed(public, signature, message) == (not behind)


def signed_by_hand(public: bytes, *, secret: int, nonce: int, message: bytes) -> bytes:
    base = verify.decoded(verify.BASE_Y.to_bytes(32, "little"))
    point: bytes = verify.encoded(verify.multiply(nonce, base))
    hashed = int.from_bytes(sha512(point + public + message).digest(), "little")
    return point + ((nonce + hashed * secret) % verify.ORDER).to_bytes(32, "little")


def test_a_second_opinion_against_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    public, message, signature = map(bytes.fromhex, VECTORS["test 3"])
    assert verify.is_signed_in_their_opinion(public, signature, message)
    assert not verify.is_signed_in_their_opinion(public, signature, message + b"\0")
    monkeypatch.setattr(verify, "is_signed_in_their_opinion", lambda *told: False)
    assert not verify.is_signed(public, signature, message)


LEAVES = [merkle.leaf_hash(bytes([place])) for place in range(40)]


def test_inclusion_is_proved_as_the_product_proves_it_and_for_no_other_place() -> None:
    for size in range(1, 40):
        root = merkle.root_of(LEAVES[:size])
        for index, path in merkle.inclusion_proofs(LEAVES, size, range(size)).items():
            assert verify.is_included(LEAVES[index], index, size, path, root)
            assert not verify.is_included(LEAVES[(index + 1)], index, size, path, root)
            assert not any(
                verify.is_included(LEAVES[index], place, size, path, root) for place in range(size) if place != index
            )
            assert not verify.is_included(LEAVES[index], index, size, [*path, root], root)
            assert not path or not verify.is_included(LEAVES[index], index, size, path[:-1], root)


def test_a_tree_continues_its_beginnings_and_no_other_tree() -> None:
    roots = [merkle.root_of(LEAVES[:size]) for size in range(40)]
    for second in range(2, 40):
        for first in range(1, second):
            path = merkle.consistency_proof(LEAVES, first, second)
            assert verify.is_continued(first, roots[first], second, roots[second], path)
            assert not verify.is_continued(first, roots[first - 1], second, roots[second], path)
            assert not verify.is_continued(first, roots[first], second, roots[second - 1], path)
            assert not verify.is_continued(first, roots[first], second, roots[second], path[:-1])
            assert not verify.is_continued(first, roots[first], second, roots[second], [*path, roots[1]])
    assert not verify.is_continued(3, roots[3], 4, roots[4], [])


def test_the_root_grows_with_the_leaves() -> None:
    tree = verify.Tree()
    assert tree.root() == sha256().digest()
    for place, leaf in enumerate(LEAVES, 1):
        tree.append(leaf)
        assert (tree.size, tree.root()) == (place, merkle.root_of(LEAVES[:place]))


def test_it_needs_the_standard_library_only_and_reads_as_python_3_8() -> None:
    tree = ast.parse(offline.VERIFIER.read_text(), feature_version=(3, 8))
    assert set(imported(tree)) - sys.stdlib_module_names == {"cryptography"}
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & {"removeprefix", "removesuffix", "bit_count", "batched", "pairwise", "file_digest", "UTC"}


def imported(tree: Any) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).split(".")[0]
