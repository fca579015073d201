"""Hands a report in from the shell. Exit 0: accepted; 1: its verification didn't end in time; 2: it is no report."""

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.log import tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType, Tenant
from reviews.cases import case_json
from verifier.domain.json_text import Problem
from verifier.intake import Accepted, InvalidReport, ReportConflict, ReportTooLarge, accept_report
from verifier.models import Case, Verification

ACTOR = "submit_report"
EVERY_SECONDS = 0.2
DEFAULT_TENANT = "default"
UNFINISHED, INVALID = 1, 2


class Command(BaseCommand):
    help = "Takes a report in. With --wait it prints the case once its verification has ended."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a report in JSON; - reads it from standard input")
        parser.add_argument("--tenant", metavar="SLUG", help="whose report it is; not needed with only one tenant")
        parser.add_argument("--wait", type=float, metavar="SECONDS", help="how long to wait for its verification")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        accepted = self.accept(tenant, read(options["file"]))
        with tenant_scope(tenant.id):
            if options["wait"] is None:
                self.stdout.write(receipt(accepted, as_json=options["json"]))
            elif has_ended(accepted.verification, options["wait"]):
                self.stdout.write(case_json(Case.objects.get(id=accepted.case.id)))
            else:
                late = f"The verification of case {accepted.case.id} has not ended within {options['wait']:g} s."
                self.stderr.write(late)
                sys.exit(UNFINISHED)

    def accept(self, tenant: Tenant, content: bytes) -> Accepted:
        try:
            return accept_report(
                tenant_id=tenant.id,
                content=content,
                received_by=ACTOR,
                actor_type=ActorType.SYSTEM,
                at=timezone.now(),
            )
        except InvalidReport as invalid:
            problems = invalid.problems
        except ReportConflict as conflict:
            problems = [Problem("$.iteration", str(conflict))]
        except ReportTooLarge as too_large:
            problems = [Problem("$", str(too_large))]
        for problem in problems:
            self.stderr.write(f"{problem.path}: {problem.message}")
        sys.exit(INVALID)


def find_tenant(slug: str | None) -> Tenant:
    """The tenant named; without a name the only one there is, or `default`."""
    tenants = Tenant.objects.exclude(id=SYSTEM_TENANT_ID)
    if slug is None:
        found = list(tenants[:2])
        if len(found) == 1:
            return found[0]
        slug = DEFAULT_TENANT
    tenant = tenants.filter(slug=slug).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {slug}. Name one with --tenant.", returncode=INVALID)
    return tenant


def read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as problem:
        raise CommandError(f"{file} can't be read: {problem.strerror}.", returncode=INVALID) from None


def receipt(accepted: Accepted, *, as_json: bool) -> str:
    case_id, verification_id = str(accepted.case.id), str(accepted.verification.id)
    if as_json:
        return json.dumps({"case_id": case_id, "verification_id": verification_id, "created": accepted.created})
    state = "Accepted" if accepted.created else "Here already, nothing was changed"
    return f"{state}: case {case_id}, verification {verification_id}."


def has_ended(verification: Verification, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while True:
        verification.refresh_from_db(fields=["status"])
        if verification.ended:
            return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(EVERY_SECONDS, left))
