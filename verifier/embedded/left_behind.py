"""Stops a database that outlived its supervisor. Called while the data folder's lock is ours: nobody else needs it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

FAST_SECONDS = 15.0


def stop_left_behind(data: Path) -> None:
    """Ends a server still working on this data; forgets a pid file that names some other process."""
    pid_file = data / "postmaster.pid"
    pid = written_pid(pid_file)
    if pid is None:
        return
    if not serves(pid, data):
        pid_file.unlink(missing_ok=True)
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + FAST_SECONDS
    while serves(pid, data):
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
            deadline += FAST_SECONDS
        time.sleep(0.05)


def written_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def serves(pid: int, data: Path) -> bool:
    """Whether that process is a server of this data: it works inside the folder, or at least names it when called."""
    if sys.platform == "linux":
        try:
            return Path(os.readlink(f"/proc/{pid}/cwd")) == data and not ended(pid)
        except OSError:
            return False
    listing = subprocess.run(["ps", "-p", str(pid), "-o", "command="], check=False, capture_output=True, text=True)
    return str(data) in listing.stdout


def ended(pid: int) -> bool:
    """A zombie nobody has waited for yet still has its number."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
