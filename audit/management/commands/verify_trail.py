"""Recomputes the trail of each tenant and says what is wrong and where."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from audit.checks import missing_guards
from audit.log import record, tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType, Tenant
from audit.verification import TrailResult, verify_tenant


class Command(BaseCommand):
    help = "Recomputes every tenant's chain and holds it against its rows and guards. Exit 1 when any is broken."
    requires_system_checks = ()  # it must run where the rest of an installation is in disorder

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant's trail")
        parser.add_argument("--json", action="store_true", help="print a JSON array, one object a tenant")
        parser.add_argument("--record", action="store_true", help="record the result as an event of the system's trail")

    def handle(self, *args: Any, tenant: str | None, **options: Any) -> None:
        tenants = Tenant.objects.order_by("slug")
        if tenant:
            tenants = tenants.filter(slug=tenant)
            if not tenants:
                raise CommandError(f"There is no tenant {tenant}.", returncode=2)
        guards = missing_guards()
        results = [verify_tenant(tenant=each, missing_guards=guards) for each in tenants]
        self.show(results, as_json=options["json"])
        if options["record"]:
            record_result(results=results, at=datetime.now(UTC))
        if any(result.broken for result in results):
            raise SystemExit(1)

    def show(self, results: list[TrailResult], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([result.as_json() for result in results], indent=2))
            return
        for result in results:
            self.stdout.write(result.in_words())


def record_result(*, results: list[TrailResult], at: datetime) -> None:
    with tenant_scope(SYSTEM_TENANT_ID), transaction.atomic():
        record(
            tenant_id=SYSTEM_TENANT_ID,
            event_type="trail_verified",
            actor="verify_trail",
            actor_type=ActorType.SYSTEM,
            subject="broken" if any(result.broken for result in results) else "nothing wrong",
            details={"trails": [result.as_json() for result in results]},
            at=at,
        )
