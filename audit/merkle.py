"""A Merkle tree over a trail's event hashes (RFC 9162, section 2): roots, inclusion and consistency, in streams.

A leaf's data is the 32 bytes of an event's hash, which covers its tenant, place, time and stored bytes; so a proof for
one event shows nothing of the others. Standard library only, and nothing here knows a database.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice

HASH_BYTES = 32
EMPTY_ROOT = sha256().digest()
LEAF, NODE = b"\x00", b"\x01"
BATCH = 4096  # leaves that are hashed level by level; a power of two
Place = tuple[int, int]  # level (0 are the leaves) and index in the level


def leaf_hash(data: bytes) -> bytes:
    return sha256(LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(NODE + left + right).digest()


@dataclass(slots=True)
class CompactRange:
    """A tree of `size` leaves by the roots of its whole subtrees, largest first: all that appending needs.

    Each peak covers as many leaves as its bit in `size` says.
    """

    size: int = 0
    peaks: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.peaks) != self.size.bit_count():
            raise ValueError(f"a tree of {self.size} leaves has {max(self.size, 0).bit_count()} peaks")

    def append(self, leaf: bytes) -> None:
        """Adds a leaf hash."""
        self.add(leaf, 1)

    def add(self, node: bytes, leaves: int) -> None:
        """Adds a whole subtree where its place begins: as many subtrees close with it as the size has ones there."""
        places = self.size // leaves
        for _ in range((~places & (places + 1)).bit_length() - 1):
            node = node_hash(self.peaks.pop(), node)
        self.peaks.append(node)
        self.size += leaves

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Adds leaf hashes, level by level where a whole batch of them fits: quicker than one by one."""
        stream = iter(leaves)
        for leaf in islice(stream, -self.size % BATCH):
            self.append(leaf)
        while len(batch := list(islice(stream, BATCH))) == BATCH:
            self.add(whole_root(batch), BATCH)
        for leaf in batch:
            self.append(leaf)

    def root(self) -> bytes:
        return bag(self.peaks)

    def copy(self) -> "CompactRange":
        return CompactRange(self.size, list(self.peaks))


def whole_root(row: list[bytes]) -> bytes:
    """The root over a power of two of leaf hashes."""
    while len(row) > 1:
        pairs = zip(row[::2], row[1::2], strict=True)
        row = [sha256(NODE + left + right).digest() for left, right in pairs]
    return row[0]


def bag(peaks: Sequence[bytes]) -> bytes:
    """The root over peaks, from the smallest up."""
    if not peaks:
        return EMPTY_ROOT
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


def root_of(leaves: Iterable[bytes]) -> bytes:
    tree = CompactRange()
    tree.extend(leaves)
    return tree.root()


# Proofs: which nodes one needs, and one pass over the leaves that keeps these and no others.


def split(size: int) -> int:
    """The largest power of two below `size`: how many leaves the left part of a tree has."""
    return 1 << ((size - 1).bit_length() - 1)


Span = tuple[int, int]  # leaves from (including) and to (excluding): a subtree, whole or cut at the tree's end


def inclusion_path(index: int, size: int) -> list[Span]:
    """The subtrees beside the way from leaf `index` to the root of a tree of `size` leaves, the nearest first."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size}")
    begin, end, path = 0, size, []
    while end - begin > 1:
        middle = begin + split(end - begin)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((begin, middle))
            begin = middle
    return path[::-1]


def consistency_path(first: int, second: int) -> list[Span]:
    """The subtrees by which a tree of `second` leaves is shown to begin with a tree of `first` (RFC 9162, 2.1.4)."""
    if not 0 <= first <= second:
        raise ValueError(f"a tree of {first} leaves can't come before one of {second}")
    if first in {0, second}:
        return []
    begin, end, whole, path = 0, second, True, []
    while first != end:
        middle = begin + split(end - begin)
        if first <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((begin, middle))
            begin, whole = middle, False
    return [*([] if whole else [(begin, end)]), *reversed(path)]


def hashes_of(leaves: Iterable[bytes], size: int, wanted: Iterable[Span]) -> dict[Span, bytes]:
    """The root of each wanted subtree, in one pass over the first `size` leaf hashes and memory for these alone.

    A whole subtree is taken as it closes; one that the tree's end cuts is put together from whole ones at the end.
    """
    spans = set(wanted)
    parts = {span: list(whole_parts(*span)) for span in spans}
    needed = {part for pieces in parts.values() for part in pieces}
    found: dict[Place, bytes] = {}
    peaks: list[bytes] = []
    count = 0
    for leaf in leaves:
        if count == size:
            break
        node, level = leaf, 0
        keep(found, needed, (0, count), node)
        while count >> level & 1:
            node, level = node_hash(peaks.pop(), node), level + 1
            keep(found, needed, (level, count >> level), node)
        peaks.append(node)
        count += 1
    if count != size:
        raise ValueError(f"there are {count} leaves, {size} were asked for")
    return {span: bag([found[part] for part in parts[span]]) for span in spans}


def keep(found: dict[Place, bytes], needed: set[Place], place: Place, node: bytes) -> None:
    if place in needed:
        found[place] = node


def whole_parts(begin: int, end: int) -> Iterator[Place]:
    """The whole subtrees, largest first, of a subtree that the tree's end may have cut."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        yield level, begin >> level
        begin += 1 << level


def inclusion_proofs(leaves: Iterable[bytes], size: int, indexes: Iterable[int]) -> dict[int, list[bytes]]:
    """For each leaf the hashes that lead from it to the root, the nearest first, in one pass over the leaf hashes."""
    paths = {index: inclusion_path(index, size) for index in indexes}
    known = hashes_of(leaves, size, (span for path in paths.values() for span in path))
    return {index: [known[span] for span in path] for index, path in paths.items()}


def consistency_proof(leaves: Iterable[bytes], first: int, second: int) -> list[bytes]:
    path = consistency_path(first, second)
    known = hashes_of(leaves, second, path)
    return [known[span] for span in path]


# Checking proofs, with nothing but the proof (RFC 9162, 2.1.3.2 and 2.1.4.2).


def verify_inclusion(*, leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `leaf` (a leaf hash) is the one at `index` of the tree with this root."""
    if not 0 <= index < size:
        return False
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


def verify_consistency(
    *, first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the tree of `second` leaves begins with the tree of `first` leaves."""
    if first == second or first == 0:
        return not proof and (first_root == second_root if first == second else first_root == EMPTY_ROOT)
    if not 0 < first < second or not proof:
        return False
    hashes = list(proof) if first & (first - 1) else [first_root, *proof]
    index, last = first - 1, second - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    old = new = hashes[0]
    for beside in hashes[1:]:
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
