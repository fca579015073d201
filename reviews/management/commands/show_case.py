"""A case at the shell, as the API gives it."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from audit.log import EVERY_TENANT, tenant_scope
from reviews.cases import case_json
from reviews.models import Standing, Waiting
from verifier.domain.gate import SENTENCES, ReviewReason
from verifier.models import Case


class Command(BaseCommand):
    help = "Shows a case with its verdicts and decisions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("case_id", type=UUID, metavar="CASE_ID")
        parser.add_argument("--json", action="store_true", help="the case as the API gives it")
        parser.add_argument(
            "--history", action="store_true", help="with --json: also all earlier verdicts and decisions"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with tenant_scope(EVERY_TENANT):
            case = Case.objects.select_related("current_verification").filter(id=options["case_id"]).first()
            if case is None or case.current_verification is None:
                raise CommandError(f"There is no case {options['case_id']}.")
            self.stdout.write(case_json(case, history=options["history"]) if options["json"] else in_words(case))


def in_words(case: Case) -> str:
    run = case.current_verification
    assert run is not None, "looked at before"
    lines = [f"{case.subject_name} ({case.report_id}): re-check {run.get_status_display().lower()}."]
    for standing in Standing.objects.select_related("finding").filter(case=case).order_by("finding__position"):
        cause = f" ({standing.cause})" if standing.cause else ""
        lines.append(f"  {standing.finding.finding_id}: {standing.verdict}{cause} - {standing.finding.title}")
    for row in Waiting.objects.select_related("finding").filter(case=case, forced=True).order_by("urgency", "id"):
        about = f"{row.finding.finding_id}: " if row.finding else ""
        lines.append(f"  waits: {about}{SENTENCES[ReviewReason(row.reason)]}")
    return "\n".join(lines)
