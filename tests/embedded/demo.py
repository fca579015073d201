"""Runs `manage.py demo` as an outsider does: a process of its own, in a data folder of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.paths import PROJECT
from tests.product import free_port, wait_for
from verifier.embedded import children

KEPT = ("PATH", "LANG", "TMPDIR")
PROGRAMS = {
    "gunicorn": "web",
    "worker": "worker",
    "beat": "beat",
    "relay": "relay",
    "postgres": "postgres",
    "valkey": "valkey",
    "verifier.simulated": "stand-in",
}


@dataclass
class Demo:
    process: subprocess.Popen[bytes]
    data_dir: Path
    port: int
    output: Path

    @property
    def credentials(self) -> dict[str, Any]:
        return json.loads((self.data_dir / "credentials.json").read_text())

    @property
    def said(self) -> str:
        return self.output.read_text()

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.said
        return "Second Look is ready" in self.said

    def end(self, by: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(by)
        return self.process.wait(40)

    def programs(self) -> dict[str, int]:
        """The supervisor's children, by what they are."""
        return {program_of(pid): pid for pid in children_of(self.process.pid)}


def program_of(pid: int) -> str:
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    return next((name for mark, name in PROGRAMS.items() if mark in command), command)


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def processes_naming(folder: Path) -> list[str]:
    """Every process that works in the folder or names it in its command or environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                said = entry.joinpath("cmdline").read_bytes() + entry.joinpath("environ").read_bytes()
                at = os.readlink(entry / "cwd")
            except OSError:
                continue
            if os.fsencode(folder) in said or at.startswith(str(folder)):
                found.append(said.decode(errors="replace")[:200])
    return found


def status(url: str) -> int:
    try:
        return httpx.get(url, timeout=10, trust_env=False).status_code
    except httpx.TransportError:
        return 0


def launch(
    data_dir: Path,
    output: Path,
    *flags: str,
    empty: bool = True,
    port: int | None = None,
    settings: dict[str, str] | None = None,
) -> Demo:
    port = port or free_port()
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | (settings or {})
    arguments = ["demo", "--port", str(port), "--data-dir", str(data_dir), *flags, *(["--empty"] if empty else [])]
    process = children.start(
        [sys.executable, "manage.py", *arguments], log=output, cwd=PROJECT, environment=environment
    )
    return Demo(process, data_dir, port, output)


@contextmanager
def running(
    data_dir: Path,
    output: Path,
    *flags: str,
    empty: bool = True,
    settings: dict[str, str] | None = None,
) -> Iterator[Demo]:
    demo = launch(data_dir, output, *flags, empty=empty, settings=settings)
    try:
        wait_for(demo.is_ready, f"the demo did not get ready: {output}", seconds=240)
        yield demo
    finally:
        if demo.process.poll() is None:
            demo.end()
