"""A legal hold at the shell; admins have a page for it."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.log import EVERY_TENANT, tenant_scope
from audit.models import ActorType
from audit.sealed import CaseErased
from reviews.retention import Hand, InvalidRetention, hold, retention_of
from verifier.models import Case

HAND = Hand("legal_hold", ActorType.SYSTEM)


class Command(BaseCommand):
    help = "Sets a legal hold on a case, or lifts it. A case that is held is not erased."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("case_id", type=UUID, metavar="CASE_ID")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--set", action="store_true", dest="on", help="from now on the case is held")
        which.add_argument("--lift", action="store_false", dest="on", help="it is held no longer")
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
        said = hold(case=case, on=options["on"], reason=options["reason"], hand=HAND, at=timezone.now())
        refusal = retention_of(case).refusal(said.recorded_at.date())
        self.stdout.write(f"Recorded. {refusal or 'The case may be erased now.'}")
