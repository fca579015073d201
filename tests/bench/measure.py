"""Interleaved slices: every variant in shuffled order in each cycle, the ratio taken inside the cycle, then the median.

A ratio of two sequential runs tells mostly what else the machine did; inside a cycle both sides meet the same weather.
"""

import json
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

CYCLES = 11
Variant = Callable[[], Any]


def seconds(run: Variant) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def interleaved(variants: Mapping[str, Variant], cycles: int = CYCLES) -> dict[str, list[float]]:
    """Seconds of each variant in each cycle, in shuffled order within the cycle; one unmeasured cycle first."""
    shuffler = random.Random(7)
    times: dict[str, list[float]] = {name: [] for name in variants}
    for cycle in range(cycles + 1):
        for name in shuffler.sample(list(variants), len(variants)):
            taken = seconds(variants[name])
            if cycle:
                times[name].append(taken)
    return times


def median_ratio(numerator: list[float], denominator: list[float]) -> float:
    return statistics.median(top / bottom for top, bottom in zip(numerator, denominator, strict=True))


def foreign_cpu(began: tuple[float, float] | None = None) -> Any:
    """Without argument: a reading. With one: the share of all cores that other processes took since then."""
    with open("/proc/stat") as stat:
        fields = [int(part) for part in stat.readline().split()[1:]]
    busy = (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
    own = sum(os.times()[:4])
    if began is None:
        return (busy - own, time.monotonic())
    return round((busy - own - began[0]) / max(time.monotonic() - began[1], 1e-9), 2)


def report(
    *, name: str, value: float, unit: str, baseline: float, ratio: float, goal: str, met: bool, **more: Any
) -> bool:
    """Prints one JSON line and returns whether the goal was met."""
    row = {
        "name": name,
        "value": round(value, 6),
        "unit": unit,
        "baseline": round(baseline, 6),
        "ratio": round(ratio, 3),
    }
    print(json.dumps({**row, "goal": goal, "met": met, **more}), flush=True)
    return met
