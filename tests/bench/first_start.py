"""From the commit of a report to the start of its run, by relay and worker as they are deployed, on an idle machine."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.utils import timezone

from tests import factories
from tests.bench.measure import report
from tests.paths import PROJECT
from verifier.models import Verification

RUNS = 40
GOAL_MS = 100


def run() -> bool:
    factories.switches()
    tenant = factories.tenant()
    worker = [Path(sys.executable).parent / "celery", "-A", "verifier", "worker", "--pool", "threads"]
    quick = ["--concurrency", "4", "--without-mingle", "--without-gossip", "--loglevel", "WARNING"]
    commands: list[list[Any]] = [[*worker, *quick], [sys.executable, "manage.py", "relay"]]
    processes = [
        subprocess.Popen(command, cwd=PROJECT, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        wait(factories.case(tenant, factories.clean(), at=timezone.now()))  # both are up once this one has run
        waits = sorted(wait(factories.case(tenant, factories.clean(), at=timezone.now())) for _ in range(RUNS))
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    p95 = waits[int(RUNS * 0.95) - 1]
    return report(
        name="accepted_to_started_p95",
        value=p95,
        unit="ms",
        baseline=waits[RUNS // 2],
        ratio=p95 / GOAL_MS,
        goal="<= 100 ms (baseline: the median)",
        met=p95 <= GOAL_MS,
    )


def wait(case: Any) -> float:
    """Milliseconds from queued to started."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        run_row = Verification.objects.get(case=case)
        if run_row.ended and run_row.started_at:
            return (run_row.started_at - run_row.queued_at).total_seconds() * 1000
        time.sleep(0.02)
    raise AssertionError("a run did not start in 60 s")
