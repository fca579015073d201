"""The demo's data: a second tenant with its people, five cases, and two decisions once their verdicts are there."""

import json
import time
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
from verifier.intake import accept_report
from verifier.models import ApiKey, Case, Finding, FindingVerdict
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
AGREED = "The list entry names the company and its registration number; both are those of the subject."
SET_ASIDE = "The list was searched today and holds no such designation; the report attaches no list entry."


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
            decide_when_verified(first, "inv-2026-0412", "f1", ("stands", "same_subject", AGREED))
            decide_when_verified(first, "inv-2026-0417", "f1", ("does_not_stand", "not_listed", SET_ASIDE))


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
    """The same bytes again are the same case."""
    for report in reports:
        content = json.dumps(report, ensure_ascii=False, indent=1).encode()
        accept_report(
            tenant_id=tenant.id, content=content, received_by=ACTOR, actor_type=ActorType.SYSTEM, at=timezone.now()
        )


def decide_when_verified(tenant: Tenant, report_id: str, finding_id: str, words: tuple[str, str, str]) -> None:
    """The first officer's decision, if the worker gives the verdict in time; without one nobody decides."""
    case = Case.objects.select_related("current_report").get(tenant=tenant, report_id=report_id)
    finding = Finding.objects.get(report=case.current_report, finding_id=finding_id)
    officer = User.objects.filter(tenant=tenant, role=User.Role.OFFICER).order_by("id").first()
    verdict = wait_for_verdict(finding)
    if verdict is None or officer is None or Decision.objects.filter(finding=finding).exists():
        return
    outcome, reason_code, reason = words
    decide(
        user=officer,
        finding=finding,
        verdict_id=verdict.id,
        outcome=outcome,
        reason_code=reason_code,
        reason=reason,
        evidence=["The answer of the re-check"],
        form_token=uuid4(),
        at=timezone.now(),
    )


def wait_for_verdict(finding: Finding) -> FindingVerdict | None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        verdict = FindingVerdict.objects.filter(finding=finding).first()
        if verdict is not None:
            return verdict
        time.sleep(0.2)
    return None
