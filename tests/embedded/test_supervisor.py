"""What the supervisor does with processes, tried on small ones."""

import signal
import subprocess
import sys

import pytest

from tests.product import wait_for
from verifier.embedded import children, supervisor
from verifier.embedded.supervisor import Service, Supervisor

SLEEPS = "import time; time.sleep(600)"
IGNORES = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"


def service(tmp_path, code=SLEEPS, name="sleeper", tier=1):
    return Service(name, lambda: children.start([sys.executable, "-c", code], log=tmp_path / f"{name}.log"), tier=tier)


@pytest.fixture
def reports():
    return []


@pytest.fixture
def watched(reports):
    keeper = Supervisor(report=reports.append)
    yield keeper
    keeper.stop()


def test_a_process_that_ended_is_started_again(watched, reports, tmp_path):
    watched.start(service(tmp_path))
    first = watched.running[0].process
    first.kill()
    first.wait()

    def started_again():
        watched.look()
        return watched.running[0].process not in (None, first)

    wait_for(started_again, "the process was not started again", seconds=20)
    assert reports == ["sleeper ended (-9); it is started again"]


def test_a_process_that_keeps_failing_is_started_less_and_less_often():
    pauses = [supervisor.pause_after(failures) for failures in range(12)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 1
    assert pauses[-1] == supervisor.LONGEST_PAUSE_SECONDS


def test_a_restart_that_fails_is_told_and_tried_again(watched, reports):
    tries = []

    def launch():
        tries.append(1)
        if len(tries) == 2:
            raise OSError("no such program")
        return children.start([sys.executable, "-c", SLEEPS])

    watched.start(Service("flaky", launch))
    watched.running[0].process.kill()

    def alive_again():
        watched.look()
        return len(tries) == 3 and watched.all_run()

    wait_for(alive_again, "it was not tried again", seconds=20)
    assert "flaky did not start: no such program" in reports


def test_works_are_stopped_before_stores(tmp_path, reports):
    keeper = Supervisor(report=reports.append)
    order = []
    for name, tier in (("store", 0), ("work", 1)):
        keeper.start(service(tmp_path, name=name, tier=tier))
    original, supervisor.stop_together = (
        supervisor.stop_together,
        lambda group: (
            order.append([running.service.name for running in group]),
            original(group),
        ),
    )
    try:
        keeper.stop()
    finally:
        supervisor.stop_together = original
    assert order == [["work"], ["store"]]


def test_a_process_that_does_not_listen_is_killed(tmp_path):
    process = children.start([sys.executable, "-c", IGNORES], log=tmp_path / "log")
    wait_for(lambda: (tmp_path / "log").read_text() == "on\n", "it did not start")
    children.stop(process, seconds=0.3)
    assert process.returncode == -signal.SIGKILL


def test_a_child_ends_with_its_parent(tmp_path):
    parent = (
        "import sys, time; from verifier.embedded import children\n"
        f"print(children.start([sys.executable, '-c', {SLEEPS!r}]).pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        process.kill()
    wait_for(lambda: not runs(child), "the child outlived its parent", seconds=20)


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
