"""Starts child processes that never outlive their parent."""

import ctypes
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

PR_SET_PDEATHSIG = 1
Command = Sequence[str | Path]


def dies_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    """A hook for the new child: the kernel sends it `death_signal` once the thread that started it ends.

    It runs after the change of user, which would clear it. Other systems than Linux have no such call;
    there the next start stops what was left behind.
    """
    parent = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def ask_kernel() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
            if os.getppid() != parent:  # it ended before we asked
                os._exit(1)

    return ask_kernel


def identity(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """What subprocess needs to run a program as that user with no further groups; None: as we are."""
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def start(
    command: Command,
    *,
    log: Path | int = subprocess.DEVNULL,
    cwd: Path = Path("/"),
    environment: Mapping[str, str] | None = None,
    user: pwd.struct_passwd | None = None,
    death_signal: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Starts a child in a session of its own, so that Ctrl-C reaches the supervisor alone."""
    with opened(log) as output:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
            preexec_fn=dies_with_parent(death_signal),
            **identity(user),
        )


@contextmanager
def opened(log: Path | int) -> Iterator[IO[bytes] | int]:
    """A log to append to, readable by its owner only; or what subprocess understands as it is."""
    if isinstance(log, int):
        yield log
        return
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        yield file


def stop(process: subprocess.Popen[bytes], *, by: signal.Signals = signal.SIGTERM, seconds: float = 8.0) -> None:
    if process.poll() is None:
        process.send_signal(by)
    wait_or_kill(process, seconds)


def wait_or_kill(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits for a child that was asked to end; what doesn't listen, and what it left in its session, is killed."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    kill_session(process.pid)


def kill_session(leader: int) -> None:
    """Ends what a child left in its process group, which has the number of the session's leader."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
