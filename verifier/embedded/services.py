"""The product's programs, as the supervisor keeps them running."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier.embedded import children
from verifier.embedded.folders import Places, Refused
from verifier.embedded.left_behind import stop_left_behind
from verifier.embedded.postgres import Cluster
from verifier.embedded.supervisor import Service
from verifier.embedded.valkey import Broker

LARGEST_LOG = 10 * 1024 * 1024
STORES, WORKS = 0, 1  # tiers: what works is stopped before what stores


@dataclass(frozen=True)
class Programs:
    """How to start each of them: from the project's folder, logging into the data folder."""

    project: Path
    places: Places
    environment: Mapping[str, str]

    def launch(self, name: str, *command: str, log: str = "") -> subprocess.Popen[bytes]:
        path = rotated(self.places.logs / f"{log or name}.log")
        return children.start([sys.executable, *command], log=path, cwd=self.project, environment=self.environment)

    def service(self, name: str, *command: str) -> Service:
        return Service(name, lambda: self.launch(name, *command), tier=WORKS)

    def web(self, port: int) -> Service:
        size = ["--worker-class", "gthread", "--workers", "2", "--threads", "8"]
        patience = ["--timeout", "60", "--graceful-timeout", "3", "--no-control-socket"]
        heartbeat = ["--worker-tmp-dir", "/dev/shm"] if os.access("/dev/shm", os.W_OK) else []  # noqa: S108
        bind = ["--bind", f"127.0.0.1:{port}"]
        return self.service("web", "-m", "gunicorn", "verifier.wsgi", *size, *patience, *heartbeat, *bind)

    def worker(self) -> Service:
        pool = ["--pool", "threads", "--concurrency", "4", "--without-mingle", "--without-gossip"]
        return self.service("worker", "-m", "celery", "-A", "verifier", "worker", *pool, "--loglevel", "INFO")

    def beat(self) -> Service:
        kept = ["--schedule", str(self.places.data_dir / "beat" / "schedule"), "--pidfile", ""]
        return self.service("beat", "-m", "celery", "-A", "verifier", "beat", *kept, "--loglevel", "INFO")

    def relay(self) -> Service:
        return self.service("relay", "manage.py", "relay")

    def stand_in(self, port: int) -> Service:
        return self.service("stand-in", "-m", "verifier.simulated", "--port", str(port))

    def begin(self, *command: str) -> "Step":
        return Step(
            command[0],
            self.launch(command[0], "manage.py", *command, "--skip-checks", log="setup"),
            self.places.logs / "setup.log",
        )


@dataclass(frozen=True)
class Step:
    """A management command that runs to its end while the product is set up."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def finish(self) -> None:
        if self.process.wait():
            raise Refused(f"`manage.py {self.name}` failed; its output is in {self.log}")

    def is_running(self) -> bool:
        return self.process.poll() is None


def rotated(log: Path) -> Path:
    """One older log is kept beside it."""
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    return log


def database(cluster: Cluster) -> Service:
    def launch() -> subprocess.Popen[bytes]:
        stop_left_behind(cluster.data)
        rotated(cluster.log)
        return cluster.start()

    return Service("postgres", launch, tier=STORES, stopped_by=signal.SIGINT)


def broker(valkey: Broker) -> Service:
    return Service("valkey", valkey.start, tier=STORES)
