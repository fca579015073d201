"""Recomputes the trail of each tenant and says what is wrong and where."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from audit import watch
from audit.checks import missing_guards
from audit.models import ActorType, Tenant
from audit.verification import TrailResult, verify_tenant


class Command(BaseCommand):
    help = "Recomputes every tenant's chain and holds it against its rows and guards. Exit 1 when any is broken."
    requires_system_checks = ()  # it must run where the rest of an installation is in disorder

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant's trail")
        parser.add_argument("--json", action="store_true", help="print a JSON array, one object a tenant")
        parser.add_argument(
            "--record",
            action="store_true",
            help="record each result on its trail; without it only one that is another than the last recorded",
        )

    def handle(self, *args: Any, tenant: str | None, **options: Any) -> None:
        tenants = Tenant.objects.order_by("slug")
        if tenant:
            tenants = tenants.filter(slug=tenant)
            if not tenants:
                raise CommandError(f"There is no tenant {tenant}.", returncode=2)
        guards = missing_guards()
        results = [verify_tenant(tenant=each, missing_guards=guards) for each in tenants]
        self.show(results, as_json=options["json"])
        self.keep(dict(zip(tenants, results, strict=True)), every=options["record"])
        if any(result.broken for result in results):
            raise SystemExit(1)

    def show(self, results: list[TrailResult], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([result.as_json() for result in results], indent=2))
            for result in results:
                if not result.signed_until:
                    self.stderr.write(f"{result.tenant}: {result.how_far()}")
            return
        for result in results:
            self.stdout.write(result.in_words())

    def keep(self, results: dict[Tenant, TrailResult], *, every: bool) -> None:
        """So that pages and `/readyz` know of a trail that is broken, or whole again."""
        last = watch.last_verified([tenant.id for tenant in results])
        for tenant, result in results.items():
            known = last[tenant.id].outcome if tenant.id in last else watch.SOUND
            if not every and known == watch.outcome_of(result):
                continue
            try:
                watch.note(
                    tenant,
                    result,
                    actor="verify_trail",
                    actor_type=ActorType.SYSTEM,
                    actor_role="",
                    at=timezone.now(),
                )
            except DatabaseError as problem:
                self.stderr.write(f"{tenant.slug}: the result could not be recorded ({type(problem).__name__}).")
