"""The demo's cases against its stand-in, over real HTTP: everything the product can say is there to be seen."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.models import AuditEvent, Tenant
from reviews.demo.cases import OF_DEFAULT, OF_MERIDIAN
from reviews.management.commands.seed_demo import refuse_real_data
from reviews.models import Decision, User
from tests import factories
from tests.paths import PROJECT
from tests.product import free_port, reachable, wait_for
from verifier.embedded import children
from verifier.embedded.surroundings import stand_ins
from verifier.models import Case, Finding, FindingVerdict
from verifier.services.findings import verify_case

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    port, log = free_port(), tmp_path_factory.mktemp("stand-in") / "log"
    command = [sys.executable, "-m", "verifier.simulated", "--port", str(port)]
    process = children.start(command, log=log, cwd=PROJECT, environment={"PATH": "/usr/bin:/bin"})
    try:
        wait_for(lambda: reachable(f"http://127.0.0.1:{port}"), "the stand-in did not start")
        yield port
    finally:
        children.stop(process)


@pytest.fixture
def seeding(settings: Any, tmp_path: Path, monkeypatch: Any, stand_in: int) -> None:
    monkeypatch.setattr("reviews.management.commands.seed_demo.WAIT_SECONDS", 0.0)
    settings.DATA_DIR = tmp_path
    for name, value in stand_ins({}, stand_in).items():
        setattr(settings, name, value)
    factories.switches()
    factories.user(Tenant.objects.get_or_create(slug="default")[0])


def demo_case(report_id: str) -> Case:
    return Case.objects.get(tenant__slug="default", report_id=report_id)


def verify(case: Case) -> None:
    verify_case(verification_id=factories.run_of(case).id, clock=timezone.now)


def test_the_five_cases_show_every_verdict_an_outage_and_both_labels(settings: Any, stand_in: int) -> None:
    factories.switches()
    for name, value in stand_ins({}, stand_in).items():
        setattr(settings, name, value)
    tenant = factories.tenant()

    for report in OF_DEFAULT + OF_MERIDIAN:
        case = factories.accept(tenant, report).case
        verify_case(verification_id=factories.run_of(case).id, clock=timezone.now)

    given = FindingVerdict.objects.filter(tenant=tenant)
    asked = given.exclude(provider="")
    assert {verdict.verdict for verdict in given} == {"confirmed", "contradicted", "unsupported", "indeterminate"}
    assert {verdict.cause for verdict in given} == {
        *("screening_hit", "screening_warning", "screening_clear", "near_miss", "corroborated", "no_hits"),
        *("not_corroborated", "provider_error", "unmapped_type"),
    }
    assert all(verdict.simulated for verdict in asked)
    assert set(Finding.objects.filter(tenant=tenant).values_list("corroboration_count", flat=True)) == {1, 2}
    assert set(Finding.objects.filter(tenant=tenant, selected=False).values_list("selection_why", flat=True)) == {
        *("not_selected_clean", "not_selected_network", "not_selected_coverage"),
    }


def test_seeding_twice_adds_nothing(seeding: None, tmp_path: Path) -> None:
    call_command("seed_demo")
    first = (Case.objects.count(), User.objects.count(), (tmp_path / "demo-accounts.json").read_text())
    call_command("seed_demo")

    assert (Case.objects.count(), User.objects.count(), (tmp_path / "demo-accounts.json").read_text()) == first
    assert Case.objects.count() == len(OF_DEFAULT + OF_MERIDIAN)
    assert (tmp_path / "demo-accounts.json").stat().st_mode & 0o777 == 0o600
    assert set(json.loads(first[2])) == {"tenant", "api_key", "users"}


def test_one_finding_is_agreed_and_one_waits_for_a_second_person(seeding: None) -> None:
    call_command("seed_demo")
    assert not Decision.objects.exists()
    for report_id in ("inv-2026-0412", "inv-2026-0417"):
        verify(demo_case(report_id))
    for _ in range(2):
        call_command("seed_demo")

    told = Decision.objects.order_by("case__report_id").values_list("kind", "outcome", "needs_second")
    assert list(told) == [("agree", "stands", False), ("agree", "does_not_stand", True)]


def test_nobody_decides_under_a_verdict_the_reason_was_not_written_for(seeding: None) -> None:
    call_command("seed_demo")
    factories.verdict(factories.finding_of(demo_case("inv-2026-0412")), "contradicted")
    factories.verdict(factories.finding_of(demo_case("inv-2026-0417")), "indeterminate")
    call_command("seed_demo")

    assert not Decision.objects.exists()


def test_a_report_of_ones_own_to_a_demo_case_is_left_to_people(seeding: None) -> None:
    call_command("seed_demo")
    case = demo_case("inv-2026-0412")
    factories.accept(case.tenant, {**OF_DEFAULT[0], "iteration": 2})
    verify(case)
    call_command("seed_demo")

    assert not Decision.objects.exists()
    assert not AuditEvent.objects.filter(event_type="report_conflicted").exists()


def test_it_is_refused_beside_tenants_of_ones_own() -> None:
    factories.tenant("a-real-bank")

    with pytest.raises(CommandError, match="tenants of its own"):
        refuse_real_data()
