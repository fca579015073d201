"""Inclusion and consistency proofs over a tenant's sealed events, however many, in memory for one chunk of them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from uuid import UUID

from django.db import connection

from audit.merkle import consistency_proof, inclusion_proofs, leaf_hash, root_of

CHUNK = 1024  # events whose hashes are one subtree: a power of two
HASHES = "SELECT event_hash FROM audit_auditseal WHERE tenant_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence"


def read_leaves(tenant_id: UUID, first: int, last: int) -> Iterator[bytes]:
    """The leaf hashes of the events from place `first` to place `last`; inside a transaction."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(HASHES, [tenant_id, first, last])
        for (event_hash,) in cursor:
            yield leaf_hash(bytes(event_hash))


def in_chunks(leaves: Iterable[bytes]) -> Iterator[list[bytes]]:
    stream = iter(leaves)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def chunk_of(sequence: int) -> int:
    return (sequence - 1) // CHUNK


class Prover:
    """The tree over a tenant's first `size` events.

    A chunk is a subtree, the last one cut where the tree ends; over the chunks' roots the tree goes on as over leaves.
    So a proof is one inside the chunk, followed by one for the chunk.
    """

    def __init__(self, tenant_id: UUID, size: int) -> None:
        self.tenant_id, self.size = tenant_id, size
        self.chunks = [root_of(chunk) for chunk in in_chunks(read_leaves(tenant_id, 1, size))]
        self.root = root_of(self.chunks)
        self.above = inclusion_proofs(self.chunks, len(self.chunks), range(len(self.chunks)))

    def inclusion(self, chunk: int, sequences: Iterable[int]) -> dict[int, list[bytes]]:
        """The proofs of events of one chunk, the nearest hash first."""
        before = chunk * CHUNK
        leaves = list(read_leaves(self.tenant_id, before + 1, min(before + CHUNK, self.size)))
        inside = inclusion_proofs(leaves, len(leaves), (sequence - 1 - before for sequence in sequences))
        return {before + 1 + index: path + self.above[chunk] for index, path in inside.items()}

    def consistency(self, earlier: int) -> list[bytes]:
        """That the tree's first `earlier` events were the whole tree once."""
        return consistency_proof(read_leaves(self.tenant_id, 1, self.size), earlier, self.size)
