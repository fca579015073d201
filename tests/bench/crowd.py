"""Several processes doing the same at once, each over its own connection: rates by interleaved slices."""

import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

from django.db import connection

CYCLES = 11
SLICE_SECONDS = 0.35
Once = Callable[[], Any]
Work = Mapping[str, Once]
MakeWork = Callable[[int], Work]  # given the worker's number, what one repetition of each variant is


def rates(
    make_work: MakeWork, workers: int, *, cycles: int = CYCLES, slice_seconds: float = SLICE_SECONDS
) -> dict[str, list[float]]:
    """Repetitions a second of each variant in each cycle, over all workers; one unmeasured cycle first."""
    connection.close()  # a child must not share the parent's
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(workers)
    pipes, children = [], []
    for number in range(workers):
        ours, theirs = context.Pipe()
        child = context.Process(target=serve, args=(make_work, number, theirs, barrier), daemon=True)
        child.start()
        pipes.append(ours)
        children.append(child)
    try:
        return measure(pipes, cycles, slice_seconds)
    finally:
        for pipe in pipes:
            pipe.send(None)
        for child in children:
            child.join(10)


def measure(pipes: "list[Connection[Any, Any]]", cycles: int, slice_seconds: float) -> dict[str, list[float]]:
    shuffler = random.Random(7)
    names, *_ = [pipe.recv() for pipe in pipes]
    found: dict[str, list[float]] = {name: [] for name in names}
    for cycle in range(cycles + 1):
        for name in shuffler.sample(names, len(names)):
            for pipe in pipes:
                pipe.send((name, slice_seconds))
            rate = sum(pipe.recv() for pipe in pipes)
            if cycle:
                found[name].append(rate)
    return found


def serve(make_work: MakeWork, number: int, pipe: "Connection[Any, Any]", barrier: Barrier) -> None:
    connection.close()
    work = make_work(number)
    pipe.send(list(work))
    while (order := pipe.recv()) is not None:
        name, seconds = order
        once = work[name]
        barrier.wait()
        began = time.perf_counter()
        done = 0
        while time.perf_counter() - began < seconds:
            once()
            done += 1
        pipe.send(done / (time.perf_counter() - began))
    connection.close()


def ratio(found: Mapping[str, list[float]], above: str, below: str) -> float:
    """The median of the ratios inside the cycles."""
    return statistics.median(top / bottom for top, bottom in zip(found[above], found[below], strict=True))
