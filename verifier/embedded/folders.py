"""Where the embedded product keeps its files, who may reach them, and how they go away again.

Nothing here changes the permissions of a folder that exists; folders we make are closed to others, except
that root's own are searchable, because there the database runs as another user.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SYSTEM_FOLDER = Path("/var/lib")
LONGEST_SOCKET = 100  # bytes; 103 on macOS, 107 on Linux
FILES = ("runtime.json", "credentials.json", "accounts.json", "demo-accounts.json", "secrets.json", "static.sha256")
OURS = (*FILES, "beat", "static", "logs", "valkey", "postgres")


class Refused(Exception):
    """The product can't start here; the text says why and what to do."""


@dataclass(frozen=True)
class Places:
    """One product's folders: its data folder, its cluster, and the short folder of sockets with too long a path."""

    data_dir: Path
    cluster: Path
    short: Path
    user: pwd.struct_passwd | None  # whom the database runs as; None: ourselves

    @property
    def logs(self) -> Path:
        return self.data_dir / "logs"

    @property
    def postgres_socket(self) -> Path:
        inside = self.cluster / "socket"
        return inside if fits(inside / ".s.PGSQL.5432") else self.short / "postgres"

    @property
    def valkey_socket(self) -> Path:
        inside = self.data_dir / "valkey" / "valkey.sock"
        return inside if fits(inside) else self.short / "valkey.sock"

    @property
    def is_outside(self) -> bool:
        return self.cluster.parent != self.data_dir

    @property
    def needs_short(self) -> bool:
        return self.short in self.postgres_socket.parents or self.short in self.valkey_socket.parents


def fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET


def searchable_by_others(folder: Path) -> bool:
    return all(part.stat().st_mode & stat.S_IXOTH for part in (folder, *folder.parents))


def locate(data_dir: Path, *, system_folder: Path = SYSTEM_FOLDER) -> Places:
    """Creates the data folder where needed and says where everything is."""
    is_root = os.geteuid() == 0
    data_dir = data_dir.resolve()
    if not data_dir.exists():
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        data_dir.mkdir(mode=0o711 if is_root else 0o700)
    name = "second-look-" + hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    inside = not is_root or searchable_by_others(data_dir)
    cluster = data_dir / "postgres" if inside else system_folder / name
    short = (Path("/tmp") if os.access("/tmp", os.W_OK | os.X_OK) else Path(tempfile.gettempdir())) / name  # noqa: S108
    return Places(data_dir=data_dir, cluster=cluster, short=short, user=runs_as(cluster) if is_root else None)


def runs_as(cluster: Path) -> pwd.struct_passwd:
    """The owner of an existing cluster (made before as that user), or else nobody."""
    try:
        owner = (cluster / "data").stat().st_uid
        return pwd.getpwuid(owner) if owner else pwd.getpwnam("nobody")
    except (FileNotFoundError, KeyError):
        return pwd.getpwnam("nobody")


def make(places: Places) -> None:
    """Makes the folders that aren't there yet."""
    searchable = 0o711 if places.user else 0o700
    if places.needs_short:
        make_short(places.short, searchable)
    for folder in (places.logs, places.data_dir / "beat"):
        folder.mkdir(mode=0o700, exist_ok=True)
    places.cluster.mkdir(mode=searchable, exist_ok=True)
    if places.is_outside:
        (places.cluster / "belongs-to").write_text(f"{places.data_dir}\n")
    if not places.postgres_socket.exists():
        places.postgres_socket.mkdir(mode=0o700)
        if places.user:
            os.chown(places.postgres_socket, places.user.pw_uid, places.user.pw_gid)


def make_short(folder: Path, mode: int) -> None:
    """Its name can be foreseen by other users of the machine, so one that isn't ours alone is not used."""
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise Refused(f"{folder} is not ours: remove it, or choose a shorter --data-dir") from None


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """One product per data folder: the kernel drops the lock when its holder ends, however it ends."""
    descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode(errors="replace").strip()
            raise Refused(
                f"{data_dir} is in use by process {holder}: stop that demo, or use another --data-dir"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def reset(places: Places) -> None:
    """Removes what the product made, by name; anything else in the folder stays."""
    for name in OURS:
        remove(places.data_dir / name)
    remove(places.short)
    if places.is_outside:
        for left in places.cluster.parent.glob(places.cluster.name + "*"):
            remove(left)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def set_aside(cluster: Path) -> Path:
    """Moves away a cluster outside the data folder whose data folder, and with it the passwords, was removed."""
    number = 1
    while (aside := cluster.with_name(f"{cluster.name}.left-{number}")).exists():
        number += 1
    return cluster.rename(aside)


def reachable_installation(installed: Path, places: Places) -> Path:
    """The database's binaries where its user can run them: from a closed folder, a copy beside the cluster."""
    if places.user is None or searchable_by_others(installed):
        return installed
    copy = places.cluster / "pginstall"
    if not copy.exists():
        unfinished = places.cluster / "pginstall.new"
        remove(unfinished)
        shutil.copytree(installed, unfinished, symlinks=True)
        unfinished.rename(copy)
    return copy
