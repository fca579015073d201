"""What a decision, a second officer's page and a whole-case reason say: no more than is so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reviews import words
from tests import factories as make
from tests import scenes

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "verdict", "said"),
    [
        ("agree", "confirmed", "agrees with the verdict"),
        ("agree", "contradicted", "agrees with the verdict"),
        ("override", "contradicted", "overrides the verdict"),
        ("agree", "unsupported", words.OWN_JUDGEMENT),
        ("override", "unsupported", words.OWN_JUDGEMENT),
        ("override", "indeterminate", words.OWN_JUDGEMENT),
        ("override", "", words.OWN_JUDGEMENT),
        ("escalate", "contradicted", ""),
        ("ask_for_more", "confirmed", ""),
    ],
)
def test_only_a_verdict_that_says_something_is_agreed_with(kind: str, verdict: str, said: str) -> None:
    assert words.beside_verdict(kind, verdict) == said


def test_a_second_officer_sees_what_the_report_and_the_source_say(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    on = make.finding_of(scene.case)
    make.decide(scene.officer, on, "does_not_stand")
    page = client_of(scene.second).get(reverse("second")).content.decode()
    assert "The report says" in page
    assert "The source says" in page
    assert page.index("The source says") < page.index("Approve: the finding does not stand")


def test_a_case_that_waits_as_a_whole_says_what_ends_it(client_of: Callable[..., Client]) -> None:
    make.switches()
    case = make.case(make.tenant(), quality_gate={"forces_review": True})
    make.verdict(make.finding_of(case), "confirmed")
    make.end(make.run_of(case))
    client = client_of(make.user(case.tenant))
    page: Any = client.get(reverse("case", args=[case.id])).content.decode()
    assert "it ends with a newer report that no longer asks for it." in page
    queue = client.get(reverse("queue")).content.decode()
    assert f"{reverse('case', args=[case.id])}#reasons" in queue
