"""Who runs a verification: a PostgreSQL session advisory lock, which dies with the worker that holds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import Error, connection

KEY = "hashtextextended('second-look:verification:' || %s, 0)"


@contextmanager
def run_lock(verification_id: UUID) -> Iterator[bool]:
    """Yields whether this connection now holds the run's lock; releases it at the end."""
    held = bool(one(f"SELECT pg_try_advisory_lock({KEY})", verification_id))
    try:
        yield held
    finally:
        if held:
            release(verification_id)


def release(verification_id: UUID) -> None:
    try:
        one(f"SELECT pg_advisory_unlock({KEY})", verification_id)
    except Error:
        connection.close()  # a broken connection has lost the lock already


def is_orphan(verification_id: UUID) -> bool:
    """Whether nobody holds the run's lock. Inside a transaction: it is then ours until its end."""
    return bool(one(f"SELECT pg_try_advisory_xact_lock({KEY})", verification_id))


def one(statement: str, verification_id: UUID) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, [str(verification_id)])
        row = cursor.fetchone()
    return row[0] if row else None
