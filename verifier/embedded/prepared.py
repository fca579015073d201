"""What of the set-up is still to do: a start with nothing to do does nothing."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.contrib.staticfiles.finders import get_finders
from django.db.migrations.loader import MigrationLoader


def migrations_pending(owner_url: str) -> bool:
    return bool(MigrationLoader(None).disk_migrations.keys() - applied_migrations(owner_url))


def applied_migrations(owner_url: str) -> set[tuple[str, str]]:
    with psycopg.connect(owner_url) as connection:
        try:
            return set(connection.execute("SELECT app, name FROM django_migrations").fetchall())
        except psycopg.errors.UndefinedTable:
            return set()


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
