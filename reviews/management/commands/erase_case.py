"""Erases a case after its retention. Runs as the owner of the tables (DATABASE_OWNER_URL), see manage.py."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.models import ActorType
from reviews.erasure import NotErased, erase_case
from reviews.retention import Hand


class Command(BaseCommand):
    help = (
        "Destroys a case's key, blanks what its reports, answers and decisions said, and records that. "
        "Before the time of keeping is over, or under a legal hold, it refuses and says from when it would. "
        "Backups made before keep what they hold until they are gone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("case_id", type=UUID, metavar="CASE_ID")
        parser.add_argument("--reason", required=True, help="stays readable in the trail, so name nobody in it")

    def handle(self, *args: Any, **options: Any) -> None:
        hand = Hand("erase_case", ActorType.SYSTEM)
        try:
            erased = erase_case(case_id=options["case_id"], reason=options["reason"], hand=hand, at=timezone.now())
        except NotErased as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"Erased: the key is destroyed, {erased.rows} rows are blanked. Event {erased.event.id}.")
