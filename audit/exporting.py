"""Exports that people ask for on a page: a worker writes each as one ZIP file, which is kept for a day."""

import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import file_digest
from pathlib import Path
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from redis.exceptions import RedisError

from audit.export import export_trail
from audit.export_files import CannotExport, Exported, Wanted
from audit.log import append, tenant_scope
from audit.models import ActorType, TrailExport

logger = logging.getLogger(__name__)
KEPT = timedelta(hours=24)
MOST_AT_ONCE = 3  # of a tenant that have not ended
LOCK = "hashtextextended('second-look:export:' || %s, 0)"
BETWEEN_WORDS = 0.5  # seconds between two words of progress


def place_of(export_id: UUID) -> Path:
    """The file of an export, also before it is there."""
    return Path(settings.EXPORT_DIR) / f"{export_id}.zip"


def make_export(export: TrailExport, at: datetime) -> None:
    """Writes the export to its file and ends its row; what can't be written ends it with the reason.

    One that a worker left half done is begun anew. Nothing is done where another worker is at it, or it has ended.
    """
    with tenant_scope(export.tenant_id), alone(export.id) as first:
        export.refresh_from_db()
        if not first or export.ended_at is not None:
            return
        clear_away(export.id)
        try:
            exported = write(export, at)
        except CannotExport as problem:
            export.problem = str(problem)
        except OSError as problem:
            logger.error("export %s can't be written: %s", export.id, problem)
            export.problem = "Its file can't be written. The log of the worker says why."
        except Exception:
            logger.exception("export %s broke off", export.id)
            export.problem = "It broke off. The log of the worker says why."
        else:
            keep(export, exported)
        export.ended_at = at
        export.save(update_fields=["ended_at", "problem", "events", "unreadable", "bytes", "sha256"])


@contextmanager
def alone(export_id: UUID) -> Iterator[bool]:
    """Whether this worker is the only one at this export."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock({LOCK})", [str(export_id)])
        got = bool(cursor.fetchone()[0])
        try:
            yield got
        finally:
            if got:
                cursor.execute(f"SELECT pg_advisory_unlock({LOCK})", [str(export_id)])


def write(export: TrailExport, at: datetime) -> Exported:
    place = place_of(export.id)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return export_trail(
        wanted=Wanted(export.tenant, export.case_id),
        out=place.with_suffix(""),
        actor=export.asked_by,
        actor_type=ActorType.PERSON,
        actor_role=export.asked_role,
        at=at,
        progress=Teller(export.id),
    )


def keep(export: TrailExport, exported: Exported) -> None:
    """One file of the folder, under its name only when it is whole."""
    place, partly = place_of(export.id), place_of(export.id).with_suffix(".part")
    partly.touch(mode=0o600)
    top = f"trail-{export.tenant.slug}"
    with ZipFile(partly, "w", ZIP_DEFLATED) as archive:
        for file in sorted(exported.folder.iterdir()):
            archive.write(file, f"{top}/{file.name}")
    shutil.rmtree(exported.folder)
    with partly.open("rb") as whole:
        export.sha256 = file_digest(whole, "sha256").hexdigest()
    export.bytes = partly.stat().st_size
    export.events, export.unreadable = exported.events, exported.unreadable
    partly.rename(place)


def clear_away(export_id: UUID) -> None:
    """What a worker that died left of it."""
    for left in Path(settings.EXPORT_DIR).glob(f"*{export_id}*"):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()


def forget_exports(at: datetime) -> int:
    """Removes the files that were kept long enough, and tells how many; their rows and events stay."""
    folder = Path(settings.EXPORT_DIR)
    old = [left for left in folder.glob("*") if at.timestamp() - left.stat().st_mtime > KEPT.total_seconds()]
    for left in old:
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    return len(old)


def note_download(export: TrailExport, *, actor: str, actor_role: str, at: datetime) -> None:
    append(
        tenant_id=export.tenant_id,
        event_type="export_downloaded",
        actor=actor,
        actor_type=ActorType.PERSON,
        actor_role=actor_role,
        case_id=export.case_id,
        details={"export_id": str(export.id), "sha256": export.sha256},
        at=at,
    )


class Teller:
    """Tells of the progress of one export, outside the transaction that reads it, a few times a second."""

    def __init__(self, export_id: UUID) -> None:
        self.key, self.told = key(export_id), 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.told < BETWEEN_WORDS:
            return
        self.told = time.monotonic()
        try:
            cache.set(self.key, [done, total], timeout=3600)
        except (RedisError, OSError):
            return  # the export goes on untold


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int


def progress_of(exports: list[TrailExport]) -> dict[UUID, Progress]:
    """Of those that a worker is at; one that nobody has begun has none."""
    wanted = {key(export.id): export.id for export in exports if export.ended_at is None}
    try:
        told = cache.get_many(wanted) if wanted else {}
    except (RedisError, OSError):
        return {}
    return {wanted[name]: Progress(*counts) for name, counts in told.items()}


def key(export_id: UUID) -> str:
    return f"trail_export:{export_id}"
