"""Where no re-check ran, every page says so, and nothing reads as if the findings had passed."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories, scenes
from verifier.models import Case, Verification

OFF = "Not re-checked: the re-check is switched off."


@pytest.fixture
def unchecked(scene: scenes.Scene) -> Case:
    """A critical sanctions hit, taken in while the re-check is switched off."""
    factories.switches(verification=False)
    return factories.case(scene.tenant, factories.finding("f1"), factories.clean("n1"))


def page_of(client: Client, case: Case) -> str:
    return client.get(reverse("case", args=[case.id])).content.decode()


@pytest.mark.parametrize("role", ["officer", "admin", "auditor"])
def test_a_case_taken_in_with_the_switch_off_says_so_and_nothing_of_it_reads_as_a_pass(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case, role: str
) -> None:
    page = page_of(client_of(getattr(scene, role)), unchecked)
    assert OFF in page
    assert "1 finding that drives a decision stands as reported, and no source was asked." in page
    assert '<span class="needs" id="case-state">not re-checked</span>' in page
    assert "as reported, not re-checked" in page
    assert "nothing waits" not in page
    assert "the re-checked first" not in page


def test_who_can_switch_it_on_is_said_where_the_button_was(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case
) -> None:
    officer, admin = (page_of(client_of(user), unchecked) for user in (scene.officer, scene.admin))
    assert "Re-check again" not in officer + admin
    assert "An admin can switch it on under Administration." in officer
    assert f'You can switch it on under <a href="{reverse("administration")}">' in admin


def test_asking_all_the_same_starts_no_run_and_says_why(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case
) -> None:
    answer = client_of(scene.officer).post(reverse("recheck", args=[unchecked.id]))
    assert answer.status_code == 409
    assert OFF in answer.content.decode()
    assert Verification.objects.filter(case=unchecked).count() == 1


def test_once_it_is_on_again_the_case_can_be_rechecked_and_still_says_that_it_was_not(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case
) -> None:
    factories.switches()
    page = page_of(client_of(scene.officer), unchecked)
    assert "Not re-checked: the re-check was switched off when this report arrived." in page
    assert reverse("recheck", args=[unchecked.id]) in page


def test_verdicts_given_before_stay_and_are_told_apart_from_now(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    factories.switches(verification=False)
    page = page_of(client_of(scene.officer), scene.case)
    assert "The verdicts here are those of the last one" in page
    assert "Re-check again" not in page


def test_a_newer_report_that_was_not_rechecked_is_not_covered_by_what_the_earlier_one_got(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    told = factories.report(factories.finding("f1"))
    case = factories.accept(scene.tenant, told).case
    factories.verdict(factories.finding_of(case), "confirmed")
    factories.end(factories.run_of(case))
    factories.switches(verification=False)
    factories.accept(scene.tenant, {**told, "iteration": 2, "findings": [factories.finding("f2")]}, factories.later())
    page = page_of(client_of(scene.officer), case)
    assert '<span class="needs" id="case-state">not re-checked</span>' in page


@pytest.mark.parametrize("address", ["queue", "cases", "advisory"])
def test_every_list_says_that_the_recheck_is_switched_off(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case, address: str
) -> None:
    page = client_of(scene.officer).get(reverse(address)).content.decode()
    assert "The re-check is switched off: no source is asked about any finding" in page


def test_an_empty_queue_does_not_say_that_all_is_confirmed(client_of: Callable[..., Client], db: None) -> None:
    factories.switches(verification=False)
    tenant = factories.tenant()
    factories.case(tenant)
    page = client_of(factories.user(tenant)).get(reverse("queue")).content.decode()
    assert "confirmed or decided" not in page


def rows(client: Client, **query: Any) -> list[Any]:
    return [row for row, _ in client.get(reverse("cases"), query).context["rows"]]


def test_the_list_of_cases_keeps_what_was_not_rechecked_apart_from_what_does_not_wait(
    scene: scenes.Scene, client_of: Callable[..., Client], unchecked: Case
) -> None:
    client = client_of(scene.officer)
    assert unchecked.id not in [row.id for row in rows(client, state="done")]
    assert [row.id for row in rows(client, state="unchecked")] == [unchecked.id]
    page = client.get(reverse("cases"), {"state": "unchecked"}).content.decode()
    assert "not re-checked" in page
    assert "finished" not in page
