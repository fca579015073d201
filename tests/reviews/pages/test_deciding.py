"""Deciding by hand-made requests: what the form would never send is refused as well, and nothing is recorded."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from reviews.models import Decision
from tests import factories, scenes

REASON = "The list shows another company with another number."
RELIED_ON = "The report itself"


def sent(scene: scenes.Scene, name: str = "f1", **changes: Any) -> dict[str, Any]:
    verdict = factories.finding_of(scene.case, name).verdicts.order_by("-recorded_at").first()
    return {
        "step": "record",
        "outcome": "does_not_stand",
        "reason_code": "does_not_stand:other_subject",
        "reason": REASON,
        "evidence": [RELIED_ON],
        "verdict_id": str(verdict.id) if verdict else "",
        "form_token": str(uuid4()),
        **changes,
    }


def address(scene: scenes.Scene, name: str = "f1") -> str:
    return reverse("decide", args=[scene.case.id, factories.finding_of(scene.case, name).id])


def test_what_is_whole_is_recorded(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.officer).post(address(scene), sent(scene))
    made = Decision.objects.get()
    assert answer.headers["Location"] == reverse("recorded", args=[made.id])
    assert (made.outcome, made.reason_code, made.evidence) == ("does_not_stand", "other_subject", [RELIED_ON])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outcome": ""}, "Choose what becomes of the finding."),
        ({"outcome": "approved"}, "Select a valid choice"),
        ({"reason_code": ""}, "Choose a reason that fits this outcome."),
        ({"reason_code": "stands:same_subject"}, "Choose a reason that fits this outcome."),
        ({"reason": ""}, "Say why in at least 20 characters."),
        ({"reason": " " * 40}, "Say why in at least 20 characters."),
        ({"evidence": []}, "Choose at least one thing you rely on."),
        ({"evidence": ["Something never offered"]}, "Select a valid choice"),
        ({"form_token": ""}, "This field is required."),
    ],
)
@pytest.mark.parametrize("step", ["check", "record"])
def test_what_is_not_whole_is_refused_with_its_words_kept(
    scene: scenes.Scene, client_of: Callable[..., Client], step: str, changes: dict[str, Any], said: str
) -> None:
    answer = client_of(scene.officer).post(address(scene), sent(scene, step=step, **changes))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert "<title>Error:" in page
    assert "reason" in changes or REASON in page
    assert Decision.objects.count() == 0


def test_the_page_to_check_records_nothing(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.officer).post(address(scene), sent(scene, step="check"))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Record: the finding does not stand" in page
    assert "goes to a second officer" in page
    assert Decision.objects.count() == 0


def test_changing_something_brings_every_field_back(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    page = client_of(scene.officer).post(address(scene), sent(scene, step="change")).content.decode()
    assert REASON in page
    assert 'value="does_not_stand:other_subject" selected' in page
    assert "There is a problem" not in page


def test_the_same_form_again_leads_to_the_first_record(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client, form = client_of(scene.officer), sent(scene)
    places = {client.post(address(scene), form).headers["Location"] for _ in range(3)}
    assert len(places) == 1
    assert Decision.objects.count() == 1


def test_the_same_form_after_the_verdict_changed_still_leads_to_the_first_record(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, form = client_of(scene.officer), sent(scene)
    first = client.post(address(scene), form).headers["Location"]
    factories.rerun(scene.case, factories.run_of(scene.case).queued_at.replace(year=2027), f1="indeterminate")
    assert client.post(address(scene), form).headers["Location"] == first


def test_a_verdict_that_changed_is_shown_as_a_difference(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client, form = client_of(scene.officer), sent(scene)
    factories.rerun(scene.case, factories.run_of(scene.case).queued_at.replace(year=2027), f1="indeterminate")
    answer = client.post(address(scene), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "The verdict has changed since you opened the page." in page
    assert "When you opened it" in page
    assert REASON in page
    assert Decision.objects.count() == 0


def test_a_finding_without_a_recorded_verdict_can_be_decided(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    factories.rerun(scene.case, factories.run_of(scene.case).queued_at.replace(year=2027), f2="confirmed")
    client = client_of(scene.officer)
    page = client.get(f"{reverse('case', args=[scene.case.id])}?finding={factories.finding_of(scene.case).id}")
    assert "The run ended without a recorded verdict" in page.content.decode()
    client.post(address(scene), sent(scene, verdict_id=""))
    assert Decision.objects.get().verdict is None


@pytest.mark.parametrize(("name", "said"), [("n1", "was not re-checked"), ("m9", "has not ended")])
def test_what_cannot_be_decided_yet_says_why_instead_of_a_form(
    scene: scenes.Scene, client_of: Callable[..., Client], name: str, said: str
) -> None:
    case = scene.case if name == "n1" else factories.case(scene.tenant, factories.media("m9"))
    shown = f"{reverse('case', args=[case.id])}?finding={factories.finding_of(case, name).id}"
    page = client_of(scene.officer).get(shown).content.decode()
    assert said in page
    assert "Check and record" not in page


def test_a_failed_event_leaves_no_decision(
    scene: scenes.Scene, client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: Any) -> None:
        raise OSError("the trail can't be written")

    client = client_of(scene.officer, raise_request_exception=False)
    monkeypatch.setattr("reviews.decisions.record", broken)
    answer = client.post(address(scene), sent(scene))
    assert answer.status_code == 500
    assert "This page could not be made" in answer.content.decode()
    assert Decision.objects.count() == 0


def test_reading_a_case_is_recorded_once_a_session(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.auditor)
    for _ in range(3):
        client.get(reverse("case", args=[scene.case.id]))
    assert AuditEvent.objects.filter(event_type="case_viewed", actor=scene.auditor.username).count() == 1


@pytest.mark.parametrize(("word", "said"), [("approve", "Approved"), ("refuse", "Refused")])
def test_the_second_persons_word_is_recorded_and_shown(
    scene: scenes.Scene, client_of: Callable[..., Client], word: str, said: str
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "does_not_stand")
    client = client_of(scene.second)
    answer = client.post(reverse("second_decide", args=[made.id]), {"word": word, "reason": REASON})
    connection.check_constraints()
    page = client.get(answer.headers["Location"]).content.decode()
    assert f"{said}: the finding" in page
    assert "Event <strong>#" in page


def test_a_second_word_without_a_reason_is_refused_and_kept(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "does_not_stand")
    answer = client_of(scene.second).post(
        reverse("second_decide", args=[made.id]), {"word": "approve", "reason": "Agreed."}
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Say why in at least 20 characters." in page
    assert "Agreed." in page


def test_a_decision_taken_back_leaves_both_rows_and_the_finding_waits_again(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case))
    client = client_of(scene.second)
    shown = f"{reverse('case', args=[scene.case.id])}?finding={made.finding_id}"
    assert "Take this decision back" in client.get(shown).content.decode()
    form = {"reason": REASON, "form_token": str(uuid4())}
    places = {client.post(reverse("take_back", args=[scene.case.id, made.id]), form).headers["Location"] for _ in "ab"}
    connection.check_constraints()
    assert len(places) == 1
    assert Decision.objects.count() == 2
    assert "the decision was taken back" in client.get(places.pop()).content.decode()
    page = client.get(shown).content.decode()
    assert f"Taken back by {scene.second}: {REASON}" in page
    assert "Take this decision back" not in page


def test_a_second_word_of_neither_kind_refuses(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "does_not_stand")
    answer = client_of(scene.second).post(reverse("second_decide", args=[made.id]), {"word": "", "reason": REASON})
    assert answer.status_code == 422
    assert not hasattr(Decision.objects.get(), "approval")
