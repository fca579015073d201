"""The demo's data: a second tenant with its people, five cases, and two decisions once their verdicts are there."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.log import tenant_scope
from audit.models import SYSTEM_TENANT_SLUG, ActorType, Tenant
from reviews.accounts import create_person, write_privately
from reviews.decisions import decide
from reviews.demo.cases import OF_DEFAULT, OF_MERIDIAN, Report
from reviews.models import Decision, User
from reviews.permissions import Refused
from reviews.rules import Stale
from verifier.domain.verdicts import Verdict
from verifier.intake import accept_report
from verifier.models import ApiKey, Case, Finding, FindingVerdict, Verification
from verifier.models.access import SCOPES

ACTOR = "seed_demo"
FIRST, SECOND = "default", "meridian-payments"
PEOPLE = {
    "meridian-officer": (User.Role.OFFICER, "Ines Duarte"),
    "meridian-officer2": (User.Role.OFFICER, "Piet Verhoeven"),
    "meridian-admin": (User.Role.ADMIN, "Salla Niemi"),
    "meridian-auditor": (User.Role.AUDITOR, "Bruno Keller"),
}
SIGN_INS = "demo-accounts.json"
WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A decision to be seen in the demo, true only under the verdict it answers."""

    report_id: str
    finding_id: str
    under: Verdict
    outcome: str
    reason_code: str
    reason: str


DECISIONS = (
    Shown(
        "inv-2026-0412",
        "f1",
        Verdict.CONFIRMED,
        "stands",
        "same_subject",
        "The list entry names the company and its registration number; both are those of the subject.",
    ),
    Shown(
        "inv-2026-0417",
        "f1",
        Verdict.CONTRADICTED,
        "does_not_stand",
        "not_listed",
        "The list was searched today and holds no such designation; the report attaches no list entry.",
    ),
)


class Command(BaseCommand):
    help = (
        "Fills an installation of `manage.py demo` with invented tenants, people and cases. Run again, it adds nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_real_data()
        first, _ = Tenant.objects.get_or_create(slug=FIRST)
        second, _ = Tenant.objects.get_or_create(slug=SECOND)
        add_people(second, Path(settings.DATA_DIR) / SIGN_INS)
        for tenant, reports in ((first, OF_DEFAULT), (second, OF_MERIDIAN)):
            submit(tenant, reports)
        with tenant_scope(first.id):
            for shown in DECISIONS:
                decide_when_verified(first, shown)


def refuse_real_data() -> None:
    others = Tenant.objects.exclude(slug__in=[SYSTEM_TENANT_SLUG, FIRST, SECOND])
    if others.exists():
        raise CommandError("this installation has tenants of its own: demo data is not put beside them")


def add_people(tenant: Tenant, file: Path) -> None:
    """Their sign-ins are written before anything else is, so that a run cut short can be finished by the next."""
    if file.exists():
        return
    users = {name: create_person(tenant, name, *told, actor=ACTOR) for name, told in PEOPLE.items()}
    _, token = ApiKey.create(
        tenant=tenant, label="Demo key", scopes=SCOPES, by=ACTOR, actor_type=ActorType.SYSTEM, at=timezone.now()
    )
    write_privately(file, {"tenant": tenant.slug, "api_key": token, "users": users})


def submit(tenant: Tenant, reports: tuple[Report, ...]) -> None:
    """Only what isn't here yet: people may have sent a report of their own to one of these cases."""
    with tenant_scope(tenant.id):
        here = set(Case.objects.filter(tenant=tenant).values_list("report_id", flat=True))
    for report in reports:
        if report["report_id"] in here:
            continue
        content = json.dumps(report, ensure_ascii=False, indent=1).encode()
        accept_report(
            tenant_id=tenant.id, content=content, received_by=ACTOR, actor_type=ActorType.SYSTEM, at=timezone.now()
        )


def decide_when_verified(tenant: Tenant, shown: Shown) -> None:
    """The first officer's decision, where the worker gives its verdict in time and nobody has decided meanwhile."""
    case = Case.objects.select_related("current_report").get(tenant=tenant, report_id=shown.report_id)
    report = case.current_report
    if report is None or report.received_by != ACTOR or Decision.objects.filter(case=case).exists():
        return
    finding = Finding.objects.get(report=report, finding_id=shown.finding_id)
    officer = User.objects.filter(tenant=tenant, role=User.Role.OFFICER).order_by("id").first()
    verdict = wait_for_verdict(finding)
    if verdict is None or verdict.verdict != shown.under or officer is None:
        return
    with suppress(Refused, Stale):  # somebody was quicker: the case is theirs
        decide(
            user=officer,
            finding=finding,
            verdict_id=verdict.id,
            newest_word_id=None,
            outcome=shown.outcome,
            reason_code=shown.reason_code,
            reason=shown.reason,
            evidence=["The answer of the re-check"],
            form_token=uuid4(),
            at=timezone.now(),
        )


def wait_for_verdict(finding: Finding) -> FindingVerdict | None:
    """The newest verdict, once there is one; None when the run ended without, or takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        run = Verification.objects.filter(report=finding.report_id).latest("queued_at")
        verdict = FindingVerdict.objects.filter(finding=finding).order_by("recorded_at").last()
        if verdict is not None or run.ended or time.monotonic() > deadline:
            return verdict
        time.sleep(0.2)
