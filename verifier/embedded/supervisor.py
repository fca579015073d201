"""Keeps a product's processes running: what ends is started again, what we end ends in order."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from verifier.embedded import children

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0
SETTLED_SECONDS = 30.0  # a process that lived this long starts its count of failures anew
LOOK_SECONDS = 0.2
STOP_SECONDS = 6.0


class Stop(BaseException):
    """Somebody asked the product to end. Not an Exception: no handler on the way may swallow it."""


def stop_on_signals() -> None:
    def ask(number: int, frame: object) -> None:
        ignore_signals()
        raise Stop

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)


def ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


@dataclass(frozen=True)
class Service:
    """A program to keep running. `launch` returns once it can be used; services of a later `tier` are stopped first."""

    name: str
    launch: Callable[[], subprocess.Popen[bytes]]
    tier: int = 1
    stopped_by: signal.Signals = signal.SIGTERM


@dataclass
class Running:
    service: Service
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    due: float = 0.0


@dataclass
class Supervisor:
    report: Callable[[str], None]
    running: list[Running] = field(default_factory=list)

    def start(self, service: Service) -> None:
        """The first start: its failure is the caller's to know."""
        self.running.append(Running(service, service.launch(), started=time.monotonic()))

    def watch(self) -> None:
        """Until a signal: starts again whatever ended."""
        while True:
            self.look()
            time.sleep(LOOK_SECONDS)

    def all_run(self) -> bool:
        return all(running.process is not None and running.process.poll() is None for running in self.running)

    def look(self) -> None:
        for running in self.running:
            if running.process is not None and running.process.poll() is not None:
                self.note_end(running, running.process)
            if running.process is None and time.monotonic() >= running.due:
                self.start_again(running)

    def note_end(self, running: Running, process: subprocess.Popen[bytes]) -> None:
        children.kill_session(process.pid)
        if time.monotonic() - running.started > SETTLED_SECONDS:
            running.failures = 0
        running.process = None
        running.due = time.monotonic() + pause_after(running.failures)
        running.failures += 1
        self.report(f"{running.service.name} ended ({process.returncode}); it is started again")

    def start_again(self, running: Running) -> None:
        running.started = time.monotonic()
        try:
            running.process = running.service.launch()
        except Exception as problem:  # noqa: BLE001  # whatever it is, the others go on
            running.due = time.monotonic() + pause_after(running.failures)
            running.failures += 1
            self.report(f"{running.service.name} did not start: {problem}")

    def stop(self) -> None:
        """Ends the later tiers first: nothing loses its database while it finishes."""
        for tier in sorted({running.service.tier for running in self.running}, reverse=True):
            stop_together([running for running in self.running if running.service.tier == tier])


def pause_after(failures: int) -> float:
    return min(FIRST_PAUSE_SECONDS * 2.0 ** min(failures, 10), LONGEST_PAUSE_SECONDS)


def stop_together(group: Sequence[Running]) -> None:
    alive = [(running.process, running.service.stopped_by) for running in group if running.process is not None]
    for process, by in alive:
        if process.poll() is None:
            process.send_signal(by)
    deadline = time.monotonic() + STOP_SECONDS
    for process, _ in alive:
        children.wait_or_kill(process, max(0.0, deadline - time.monotonic()))
