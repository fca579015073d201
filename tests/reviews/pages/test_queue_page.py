"""What the queue says of cases that can’t wait in it, and how far people have come with the rest."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories, scenes


def queue(client: Client, **filters: str) -> Any:
    return client.get(reverse("queue"), filters)


def shown_titles(client: Client, stage: str) -> list[str]:
    return sorted(shown.row.finding_id or "" for shown in queue(client, stage=stage).context["rows"])


@pytest.fixture
def decided(scene: scenes.Scene) -> dict[str, str]:
    """One finding for each stage; the scene's own are out of the way."""
    case = factories.verified(scene.tenant, **dict.fromkeys(("d1", "d2", "d3", "d4", "d5"), "contradicted"))
    factories.decide(scene.officer, factories.finding_of(case, "d2"), "needs_more")
    factories.decide(scene.officer, factories.finding_of(case, "d3"), "escalated")
    factories.decide(scene.officer, factories.finding_of(case, "d4"), "does_not_stand")  # needs a second officer
    factories.decide(scene.officer, factories.finding_of(case, "d5"), "stands")
    factories.rerun(
        case, factories.later(), **dict.fromkeys(("d1", "d2", "d3", "d4"), "contradicted"), d5="unsupported"
    )
    return {"undecided": "d1", "needs_more": "d2", "escalated": "d3", "second": "d4", "reopened": "d5"}


@pytest.mark.parametrize("stage", ["undecided", "needs_more", "escalated", "second", "reopened"])
def test_the_queue_is_narrowed_to_how_far_people_have_come(
    scene: scenes.Scene, client_of: Callable[..., Client], decided: dict[str, str], stage: str
) -> None:
    client = client_of(scene.officer)
    found = shown_titles(client, stage)
    assert decided[stage] in found
    assert not set(found) & (set(decided.values()) - {decided[stage]})
    chips = dict(queue(client).context["groups"])["So far"]
    assert sum(chip.count for chip in chips) == queue(client).context["page"].total


def test_a_case_that_was_never_rechecked_is_told_of_after_the_switch_is_on_again(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.officer)
    assert "not re-checked, because" not in queue(client).content.decode()
    factories.switches(verification=False)
    case = factories.case(scene.tenant)
    factories.switches(verification=True)
    page = queue(client).content.decode()
    assert "One case’s newest report was not re-checked" in page
    listed = client.get(reverse("cases"), {"state": "unchecked"}).content.decode()
    assert case.report_id in listed


def test_a_row_says_when_its_finding_may_be_about_another(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    case = factories.case(scene.tenant, factories.finding("f1", attribution_lane="unverified_candidate"))
    factories.verdict(factories.finding_of(case, "f1"), "contradicted")
    factories.end(factories.run_of(case))
    [row] = [row for row in queue(client_of(scene.officer)).context["rows"] if row.row.case_id == case.id]
    assert "a candidate by name only" in row.about
