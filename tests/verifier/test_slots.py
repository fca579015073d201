"""The three Bright Data slots: over threads and real processes, first come first served, freed by whatever ends one."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import psycopg
import pytest
from django.db import connections

from tests.replay import closed_port
from verifier.slots import LOCK_SPACE, TURNSTILE, Slot, brightdata_slot

pytestmark = pytest.mark.django_db
PROCESSES = multiprocessing.get_context("fork")
LONG = 60


@pytest.fixture
def observer(db: None) -> Iterator[psycopg.Connection[Any]]:
    """Sees the locks of everybody and may end their connections."""
    parameters = connections["default"].get_connection_params()
    kept = {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}
    with psycopg.connect(**kept, autocommit=True) as connection:
        yield connection


def holders(observer: psycopg.Connection[Any], number: int, *, waiting: bool = False) -> list[int]:
    rows = observer.execute(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted = %s"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        [LOCK_SPACE, number, not waiting],
    )
    return [row[0] for row in rows]


def has_queued(observer: psycopg.Connection[Any], count: int) -> bool:
    return len(holders(observer, TURNSTILE) + holders(observer, TURNSTILE, waiting=True)) == count


def until(condition: Callable[[], object]) -> None:
    ends_at = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < ends_at, "it never came about"
        time.sleep(0.005)


@contextmanager
def held(count: int) -> Iterator[list[Slot]]:
    with ExitStack() as stack:
        slots = [stack.enter_context(brightdata_slot(LONG)) for _ in range(count)]
        assert None not in slots
        yield [slot for slot in slots if slot]


def test_three_may_hold_a_slot_and_the_fourth_gets_none() -> None:
    with held(3) as slots:
        assert {slot.number for slot in slots} == {1, 2, 3}
        with brightdata_slot(0.05) as fourth:
            assert fourth is None


def test_a_slot_is_free_again_after_the_block_and_after_an_error_in_it() -> None:
    for _ in range(5):
        with pytest.raises(RuntimeError), held(3):
            raise RuntimeError
    with held(3) as slots:
        assert len(slots) == 3


def test_who_does_not_wait_at_all_still_gets_a_free_slot() -> None:
    for wait in (0.0, -3.0):
        with brightdata_slot(wait) as slot:
            assert slot is not None


def test_it_tells_how_long_was_waited() -> None:
    began = time.monotonic()
    with held(3) as slots:
        threading.Timer(0.1, slots[0].connection.close).start()
        with brightdata_slot(LONG) as slot:
            assert slot is not None
            assert 0 < slot.waited_seconds <= time.monotonic() - began


def test_who_came_first_is_served_first(observer: psycopg.Connection[Any]) -> None:
    served: list[int] = []

    def take_one(name: int) -> None:
        with brightdata_slot(LONG) as slot:
            assert slot is not None
            served.append(name)

    threads = [threading.Thread(target=take_one, args=(name,)) for name in range(8)]
    with held(2):  # one slot goes round: who holds it is alone in writing down its name
        with held(1):
            for queued, thread in enumerate(threads, start=1):
                thread.start()
                until(partial(has_queued, observer, queued))
            assert served == []
        for thread in threads:
            thread.join()
    assert served == list(range(8))


def test_who_gives_up_waiting_does_not_hold_up_the_others(observer: psycopg.Connection[Any]) -> None:
    outcomes: dict[str, bool] = {}

    def wait(name: str, seconds: float) -> None:
        with brightdata_slot(seconds) as slot:
            outcomes[name] = slot is not None

    with held(3):
        first = threading.Thread(target=wait, args=("first", 0.5))
        second = threading.Thread(target=wait, args=("second", LONG))
        first.start()
        until(lambda: holders(observer, TURNSTILE))
        second.start()
        first.join()
        assert outcomes == {"first": False}
    second.join()
    assert outcomes == {"first": False, "second": True}


def hold_until_told(started: Connection) -> None:
    with brightdata_slot(LONG) as slot:
        started.send(slot is not None)
        started.recv()


def take_many(results: Any, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        with brightdata_slot(LONG) as slot:
            assert slot is not None
            entered = time.monotonic()
            time.sleep(rng.uniform(0.01, 0.05))
            results.put((slot.number, entered, time.monotonic()))


def test_processes_together_never_hold_more_than_three() -> None:
    results = PROCESSES.Queue()
    workers = [PROCESSES.Process(target=take_many, args=(results, seed)) for seed in range(6)]
    for worker in workers:
        worker.start()
    uses = [results.get(timeout=LONG) for _ in range(36)]
    for worker in workers:
        worker.join()
    moments = sorted([(entered, 1) for _, entered, _ in uses] + [(left, -1) for _, _, left in uses])
    at_once = [sum(change for _, change in moments[: end + 1]) for end in range(len(moments))]
    assert max(at_once) == 3
    for number in (1, 2, 3):
        own = sorted((entered, left) for slot, entered, left in uses if slot == number)
        assert all(left <= entered for (_, left), (entered, _) in pairwise(own))


def test_a_killed_process_frees_its_slot() -> None:
    ours, theirs = PROCESSES.Pipe()
    worker = PROCESSES.Process(target=hold_until_told, args=(theirs,))
    worker.start()
    assert ours.recv() is True
    assert worker.pid is not None
    with held(2):
        with brightdata_slot(0.05) as slot:
            assert slot is None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        with brightdata_slot(LONG) as slot:
            assert slot is not None


def test_a_process_killed_at_the_head_of_the_queue_lets_the_next_one_pass(observer: psycopg.Connection[Any]) -> None:
    _, theirs = PROCESSES.Pipe()
    worker = PROCESSES.Process(target=hold_until_told, args=(theirs,))
    with held(3) as slots:
        worker.start()
        until(lambda: holders(observer, TURNSTILE))
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        slots[0].connection.close()
        with brightdata_slot(LONG) as slot:
            assert slot is not None


def test_a_slot_whose_connection_died_is_lost_to_its_holder_and_free_for_others(
    observer: psycopg.Connection[Any],
) -> None:
    with held(3) as slots:
        assert all(slot.is_held() for slot in slots)
        (pid,) = holders(observer, slots[0].number)
        observer.execute("SELECT pg_terminate_backend(%s)", [pid])
        until(lambda: not holders(observer, slots[0].number))
        assert [slot.is_held() for slot in slots] == [False, True, True]
        with brightdata_slot(LONG) as other:
            assert other is not None
            assert other.number == slots[0].number


@pytest.mark.parametrize("place", ["at the head of the queue", "behind it"])
def test_a_connection_lost_while_waiting_is_no_slot(observer: psycopg.Connection[Any], place: str) -> None:
    got: dict[str, bool] = {}

    def wait(name: str) -> None:
        with brightdata_slot(LONG) as slot:
            got[name] = slot is not None

    head, behind = (threading.Thread(target=wait, args=(name,)) for name in ("head", "behind"))
    with held(3):
        head.start()
        until(lambda: holders(observer, TURNSTILE))
        behind.start()
        until(lambda: holders(observer, TURNSTILE, waiting=True))
        lost = "behind" if place == "behind it" else "head"
        (pid,) = holders(observer, TURNSTILE, waiting=lost == "behind")
        observer.execute("SELECT pg_terminate_backend(%s)", [pid])
        until(lambda: got)
        assert got == {lost: False}
    head.join()
    behind.join()
    assert got == {"head": True, "behind": True, lost: False}


def test_a_database_that_cannot_be_reached_is_no_slot(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    port = closed_port().rsplit(":", 1)[1]
    for name, value in (("HOST", "127.0.0.1"), ("PORT", port)):
        monkeypatch.setitem(connections["default"].settings_dict, name, value)
    with brightdata_slot(1) as slot:
        assert slot is None


def test_a_transaction_of_the_caller_neither_holds_nor_frees_a_slot(observer: psycopg.Connection[Any]) -> None:
    """Tests run inside a transaction: the slot is on another connection, free at once and not at its end."""
    with brightdata_slot(LONG) as slot:
        assert slot is not None
        assert connections["default"].in_atomic_block
        number = slot.number
    until(lambda: not holders(observer, number))
