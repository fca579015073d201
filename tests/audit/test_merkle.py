"""The tree of RFC 9162, held against its definition written down plainly, and against known values."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.merkle import (
    EMPTY_ROOT,
    CompactRange,
    consistency_path,
    consistency_proof,
    inclusion_path,
    inclusion_proofs,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The reference values of Certificate Transparency's own test suite: eight inputs and the root over each prefix.
INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(bytes.fromhex(text)) for text in INPUTS]


def some_leaves(count: int) -> list[bytes]:
    return [leaf_hash(number.to_bytes(32, "big")) for number in range(count)]


def plain_root(leaves: list[bytes]) -> bytes:
    """The definition (RFC 9162, 2.1.1), with nothing clever about it."""
    if not leaves:
        return sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return node_hash(plain_root(leaves[:half]), plain_root(leaves[half:]))


@pytest.mark.parametrize(("count", "root"), enumerate(ROOTS, 1))
def test_it_gives_the_known_roots(count: int, root: str) -> None:
    assert root_of(LEAVES[:count]).hex() == root


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    assert root_of([]) == EMPTY_ROOT == CompactRange().root()


@pytest.mark.parametrize("size", range(70))
def test_a_tree_that_grows_has_the_root_of_its_definition(size: int) -> None:
    leaves = some_leaves(size)
    tree = CompactRange()
    tree.extend(leaves[: size // 3])
    tree = CompactRange(tree.size, list(tree.peaks))  # as read back from a checkpoint
    tree.extend(leaves[size // 3 :])
    assert tree.root() == plain_root(leaves)


@pytest.mark.parametrize(("begun", "size"), [(0, 8192), (1, 4096), (4095, 4097), (4096, 4096), (5000, 12_300)])
def test_a_tree_that_grows_by_batches_is_the_same(begun: int, size: int) -> None:
    leaves = some_leaves(size)
    tree = CompactRange()
    for leaf in leaves[:begun]:
        tree.append(leaf)
    tree.extend(leaves[begun:])
    assert (tree.size, tree.root()) == (size, plain_root(leaves))


def test_peaks_that_do_not_fit_the_size_are_refused() -> None:
    with pytest.raises(ValueError, match="5 leaves has 2 peaks"):
        CompactRange(5, [b"x" * 32])


@pytest.mark.parametrize("size", range(1, 40))
def test_every_leaf_is_shown_to_be_in_the_tree(size: int) -> None:
    leaves = some_leaves(size)
    root = plain_root(leaves)
    for index, path in inclusion_proofs(iter(leaves), size, range(size)).items():
        assert verify_inclusion(leaf=leaves[index], index=index, size=size, path=path, root=root)
        assert len(path) == len(inclusion_path(index, size)) <= size.bit_length()


@pytest.mark.parametrize("second", range(1, 34))
def test_every_earlier_tree_is_shown_to_be_the_beginning(second: int) -> None:
    leaves = some_leaves(second)
    for first in range(second + 1):
        proof = consistency_proof(iter(leaves), first, second)
        assert len(proof) == len(consistency_path(first, second))
        assert verify_consistency(
            first=first,
            second=second,
            first_root=plain_root(leaves[:first]),
            second_root=plain_root(leaves),
            proof=proof,
        )


@given(st.data())
def test_nothing_else_passes_for_a_proof(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 60))
    index = data.draw(st.integers(0, size - 1))
    leaves = some_leaves(size)
    root, path = plain_root(leaves), inclusion_proofs(leaves, size, [index])[index]
    fine = {"leaf": leaves[index], "index": index, "size": size, "path": path, "root": root}
    changes = [
        {"leaf": leaf_hash(b"another")},
        {"root": leaf_hash(b"another")},
        {"path": [*path, root]},
        {"index": index + 1 if index + 1 < size else size},
        *([{"path": path[:-1]}, {"path": [leaf_hash(b"another"), *path[1:]]}] if path else []),
        *([{"path": path[::-1]}] if len(path) > 1 and path != path[::-1] else []),
    ]
    assert verify_inclusion(**fine)  # type: ignore[arg-type]
    assert not verify_inclusion(**{**fine, **data.draw(st.sampled_from(changes))})  # type: ignore[arg-type]


@given(st.data())
def test_nothing_else_passes_for_a_beginning(data: st.DataObject) -> None:
    second = data.draw(st.integers(2, 60))
    first = data.draw(st.integers(1, second - 1))
    leaves = some_leaves(second)
    proof = consistency_proof(leaves, first, second)
    rewritten = [leaf_hash(b"rewritten"), *leaves[1:first]]
    fine = {
        "first": first,
        "second": second,
        "first_root": plain_root(leaves[:first]),
        "second_root": plain_root(leaves),
        "proof": proof,
    }
    changes = [
        {"first_root": plain_root(rewritten)},
        {"second_root": leaf_hash(b"another")},
        {"proof": []},
        {"proof": [*proof, proof[0]]},
        {"proof": [leaf_hash(b"another"), *proof[1:]]},
    ]
    assert verify_consistency(**fine)  # type: ignore[arg-type]
    assert not verify_consistency(**{**fine, **data.draw(st.sampled_from(changes))})  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 4, 6])
def test_too_few_leaves_are_told(count: int) -> None:
    with pytest.raises(ValueError, match=f"there are {count} leaves, 7 were asked for"):
        inclusion_proofs(some_leaves(count), 7, [0])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_that_is_not_there_has_no_path(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="is not in a tree"):
        inclusion_path(index, size)
    assert not verify_inclusion(leaf=b"", index=index, size=size, path=[], root=EMPTY_ROOT)
