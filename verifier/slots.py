"""The three Bright Data slots, one ceiling over all threads, workers and machines (ADR-0095).

PostgreSQL session advisory locks on a connection of its own: a dead worker's connection ends and frees its slot, and an
emptied Redis lets nobody in. Who waits first is served first: all wait in the server's own fair queue for the
turnstile, and only who holds it looks for a free slot. (Behind a pooler, session locks need its session mode.)
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections

logger = logging.getLogger(__name__)

LOCK_SPACE = 1_112_691_540  # first half of the lock's key; verification locks live in the one-number space
TURNSTILE = 0  # second half; the slots are 1, 2, 3
POLL_SECONDS = 0.005
KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"  # a vanished machine


@dataclass(frozen=True, slots=True)
class Slot:
    number: int
    waited_seconds: float
    connection: psycopg.Connection[Any] = field(repr=False)

    def is_held(self) -> bool:
        """Whether the lock still exists: it is lost with its connection, and another may have the slot by then."""
        try:
            self.connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True


@contextmanager
def brightdata_slot(wait_seconds: float) -> Iterator[Slot | None]:
    """Holds one slot for the block; None when none was free in time, or when the database can't say."""
    began = time.monotonic()
    connection = own_connection(wait_seconds)
    try:
        number = first_free_slot(connection, began + wait_seconds) if connection else None
        yield Slot(number, time.monotonic() - began, connection) if connection and number else None
    finally:
        if connection:
            connection.close()  # frees the slot without a round trip: it can't fail or hang


def own_connection(wait_seconds: float) -> psycopg.Connection[Any] | None:
    """As Django connects, but outside its transactions and of this thread only."""
    parameters = connections["default"].get_connection_params()
    for name in ("cursor_factory", "context"):
        parameters.pop(name, None)
    parameters["options"] = f"{parameters.get('options') or ''} {KEEPALIVE}".strip()
    parameters["connect_timeout"] = max(round(min(wait_seconds, 10)), 2)
    try:
        return psycopg.connect(**parameters, autocommit=True, application_name="second-look slot")
    except psycopg.Error as error:
        logger.warning("no connection to wait for a slot on: %s", type(error).__name__)
        return None


def first_free_slot(connection: psycopg.Connection[Any], ends_at: float) -> int | None:
    try:
        if not pass_turnstile(connection, ends_at):
            return None
        while (number := free_slot(connection)) is None and time.monotonic() < ends_at:
            time.sleep(POLL_SECONDS)
        connection.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_SPACE, TURNSTILE])
        return number
    except psycopg.Error as error:
        logger.warning("lost the connection while waiting for a slot: %s", type(error).__name__)
        return None


def pass_turnstile(connection: psycopg.Connection[Any], ends_at: float) -> bool:
    milliseconds = max(int((ends_at - time.monotonic()) * 1000), 1)  # 0 would mean no limit
    connection.execute("SELECT set_config('lock_timeout', %s, false)", [str(milliseconds)])
    try:
        connection.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_SPACE, TURNSTILE])
    except psycopg.errors.LockNotAvailable:
        return False
    return True


def free_slot(connection: psycopg.Connection[Any]) -> int | None:
    for number in range(1, settings.BRIGHTDATA_SLOTS + 1):
        row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_SPACE, number]).fetchone()
        if row and row[0]:
            return number
    return None
