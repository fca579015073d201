"""A trail, or one case of it, as a folder that proves itself without us: events, proofs, checkpoints, verifier."""

import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp

from django.db import transaction

from audit import checkpoints
from audit.checkpoints import Checkpoint, CheckpointStore, judged
from audit.export_files import LOOK, CannotExport, Exported, Progress, Signed, Wanted, Writer
from audit.log import record, tenant_scope
from audit.models import ActorType, Tenant
from audit.notary import NotSigned, newest_of, write_checkpoint
from audit.signing import UnusableKey
from audit.verification import snapshot

RECORDED = ("events", "erased", "unreadable", "checkpoint", "manifest_sha256")  # of Exported, in the event


def unseen(done: int, total: int) -> None:
    """Nobody watches."""


def export_trail(
    *,
    wanted: Wanted,
    out: Path,
    actor: str,
    actor_type: ActorType,
    at: datetime,
    actor_role: str = "",
    progress: Progress = unseen,
) -> Exported:
    """Writes the export to `out`, which must not be there or be empty, and records it. Raises CannotExport.

    The event comes before the folder gets its name: nobody finds an export that the trail doesn't know of.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotExport(f"{out} is there already and is not an empty directory.")
    folder = make_folder(out)
    try:
        exported = write(wanted, folder, at, progress)
        with tenant_scope(wanted.tenant.id), transaction.atomic():
            record(
                tenant_id=wanted.tenant.id,
                event_type="trail_exported",
                actor=actor,
                actor_type=actor_type,
                actor_role=actor_role,
                case_id=wanted.case_id,
                details={name: getattr(exported, name) for name in RECORDED},
                at=at,
            )
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return replace(exported, folder=out)


def make_folder(out: Path) -> Path:
    """Readable for its maker alone, beside the place that the export gets when it is whole."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return Path(mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as problem:
        raise CannotExport(f"{out} can't be written: {problem.strerror}.") from None


def write(wanted: Wanted, folder: Path, at: datetime, progress: Progress) -> Exported:
    """Once more where a case was erased just after the checkpoint: an erased content needs the event that says so."""
    while True:
        with tenant_scope(wanted.tenant.id):
            signed = sign_up_to(wanted, at)
            with snapshot():
                after = wanted.events().filter(seal__sequence__gt=signed.newest.sequence)
                if not after.filter(event_type="case_erased").exists():
                    return Writer(wanted, folder, signed, at).write(progress)


def sign_up_to(wanted: Wanted, at: datetime) -> Signed:
    """The newest checkpoint, written now where the last one doesn't cover all that is wanted. Raises CannotExport."""
    try:
        signer = checkpoints.signer()
        if signer is None:
            raise CannotExport("No CHECKPOINT_KEY is set, so nothing can be signed.")
        last = wanted.last()
        if last == 0:
            raise CannotExport(f"The trail of {wanted.tenant.slug} has no event that is asked for.")
        if wanted.unplaced():
            raise CannotExport(f"Some of its events have no place in the chain: {LOOK}.")
        place = checkpoints.store()
        newest = newest_of(place, wanted.tenant)
        if newest is None or newest.sequence < last:
            newest = write_checkpoint(tenant=wanted.tenant, at=at) or newest_of(place, wanted.tenant)
        assert newest is not None
        return Signed(
            newest=newest,
            earlier=before(newest, place, wanted.tenant),
            signer=signer,
            keys=checkpoints.keyring(place).keys,
            steps=[step for step in checkpoints.handed_over(place) if step.is_signed()],
        )
    except (NotSigned, UnusableKey, OSError) as problem:
        raise CannotExport(f"Nothing can be exported, because {problem}.") from None


def before(newest: Checkpoint, place: CheckpointStore, tenant: Tenant) -> Checkpoint | None:
    """The checkpoint before the newest one. One that doesn't hold is not passed over: history hangs on it."""
    names = [name for name in place.names(tenant.slug) if name < newest.name]
    if not names:
        return None
    found = judged(place, checkpoints.keyring(place), names[-1], tenant.slug, tenant.id)
    if found.checkpoint is None:
        raise NotSigned(f"the checkpoint {found.name} doesn't hold: {found.problem}")
    return found.checkpoint
