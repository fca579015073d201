"""Rows of COPY's binary format, sliced by hand: for millions of them that is several times quicker than decoding."""

from collections.abc import Iterable, Iterator

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
HEADER = len(SIGNATURE) + 8
TRAILER = b"\xff\xff"
FIELD = 4  # bytes of a field's length before its value
COUNT = 2  # bytes of the number of fields before a row


def rows(blocks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Each row as the server sends it, one a message, without header and trailer."""
    for number, block in enumerate(blocks):
        row = bytes(block)
        if number == 0 and row.startswith(SIGNATURE):
            row = row[HEADER:]
        if row and row != TRAILER:
            yield row


def rows_of_one(blocks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """The value of rows of one field that is never null."""
    for row in rows(blocks):
        yield row[COUNT + FIELD :]
