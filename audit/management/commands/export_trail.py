"""Writes a trail, or one case of it, to a directory that proves itself with a Python interpreter alone."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from audit.export import export_trail
from audit.export_files import CannotExport, Exported, Wanted
from audit.models import ActorType, Tenant


class Command(BaseCommand):
    help = "Exports a tenant's trail, or one case of it, with proofs and a verifier: `python3 DIR/verify.py`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", required=True, help="whose trail")
        parser.add_argument("--case", metavar="ID", type=UUID, help="only the events of this case")
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="a new or an empty directory")

    def handle(self, *args: Any, tenant: str, case: UUID | None, out: Path, **options: Any) -> None:
        found = Tenant.objects.filter(slug=tenant).first()
        if found is None:
            raise CommandError(f"There is no tenant {tenant}.", returncode=2)
        try:
            exported = export_trail(
                wanted=Wanted(found, case),
                out=out.absolute(),
                actor="export_trail",
                actor_type=ActorType.SYSTEM,
                at=datetime.now(UTC),
            )
        except CannotExport as problem:
            raise CommandError(str(problem), returncode=1) from None
        self.show(exported)

    def show(self, exported: Exported) -> None:
        """An export whose content could not all be read is there to be looked at, and is not a success."""
        self.stdout.write(
            f"{exported.events} events in {exported.folder}, under the checkpoint over {exported.checkpoint}."
            f" Check it: python3 {exported.folder / 'verify.py'}"
        )
        if exported.unreadable:
            raise CommandError(
                f"The content of {exported.unreadable} of them can't be read: verify_trail says why.", returncode=1
            )
