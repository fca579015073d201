"""The end of a relationship at the shell; admins have a page for it."""

from argparse import ArgumentParser
from datetime import date
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.log import EVERY_TENANT, tenant_scope
from audit.models import ActorType
from audit.sealed import CaseErased
from reviews.retention import Hand, InvalidRetention, record_end, retention_of
from verifier.models import Case

HAND = Hand("record_end", ActorType.SYSTEM)


class Command(BaseCommand):
    help = "Records the end of a relationship, or its refusal: from then on the case's time of keeping counts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("case_id", type=UUID, metavar="CASE_ID")
        parser.add_argument("--on", required=True, type=date.fromisoformat, metavar="YYYY-MM-DD", help="the day of it")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        with tenant_scope(EVERY_TENANT):
            case = Case.objects.filter(id=options["case_id"]).first()
            if case is None:
                raise CommandError(f"There is no case {options['case_id']}.")
            try:
                self.keep(case, options)
            except (InvalidRetention, CaseErased) as problem:
                raise CommandError(str(problem)) from None

    def keep(self, case: Case, options: dict[str, Any]) -> None:
        said = record_end(case=case, ended_on=options["on"], reason=options["reason"], hand=HAND, at=timezone.now())
        refusal = retention_of(case).refusal(said.recorded_at.date())
        self.stdout.write(f"Recorded. {refusal or 'The case may be erased now.'}")
