"""What of the set-up is still to do: a start with nothing to do does nothing."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import dj_database_url
from django.contrib.staticfiles.finders import get_finders
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler


def migrations_pending(owner_url: str) -> bool:
    connections = ConnectionHandler({"default": dict(dj_database_url.parse(owner_url))})
    connection = connections["default"]
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    finally:
        connection.close()


@dataclass(frozen=True)
class StaticFiles:
    """The collected static files, and beside them what they were collected from."""

    root: Path
    mark: Path

    def outdated(self) -> bool:
        try:
            return not self.root.is_dir() or self.mark.read_text() != sources()
        except FileNotFoundError:
            return True

    def note(self) -> None:
        self.mark.write_text(sources())


def sources() -> str:
    """A fingerprint of every static file there is: its place, size and time of change."""
    seen = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            found = Path(storage.path(path)).stat()
            seen.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return seen.hexdigest()
