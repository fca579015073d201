"""Signs where each tenant's trail stands and keeps it outside the database."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit import checkpoints
from audit.models import Tenant
from audit.notary import NotSigned, write_checkpoint
from audit.signing import UnusableKey


class Command(BaseCommand):
    help = "Writes a signed checkpoint of each trail that grew since its last. Exit 1 when one could not be written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant's trail")

    def handle(self, *args: Any, tenant: str | None, **options: Any) -> None:
        tenants = Tenant.objects.order_by("slug")
        if tenant:
            tenants = tenants.filter(slug=tenant)
            if not tenants:
                raise CommandError(f"There is no tenant {tenant}.", returncode=2)
        written = [self.write(each) for each in tenants]
        if not all(written):
            raise SystemExit(1)

    def write(self, tenant: Tenant) -> bool:
        try:
            made = write_checkpoint(tenant=tenant, at=timezone.now())
        except (NotSigned, UnusableKey, OSError) as problem:
            self.stderr.write(f"{tenant.slug}: no checkpoint: {problem}")
            return False
        if made is None:
            self.stdout.write(f"{tenant.slug}: nothing new since the last checkpoint.")
        else:
            place = f"{checkpoints.store()}/{tenant.slug}/{made.name}"
            self.stdout.write(f"{tenant.slug}: {made.sequence} events signed by {made.key_id}, kept as {place}")
        return True
