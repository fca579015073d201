"""Deciding by hand-made requests: what the form would never send is refused as well, and nothing is recorded."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from reviews import claims
from reviews.models import Decision
from reviews.views import evidence
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
        "newest_word_id": "",
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
        ({"form_token": ""}, "This form is incomplete."),
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


def test_the_page_to_check_sent_again_after_it_was_recorded_leads_to_the_record(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, form = client_of(scene.officer), sent(scene)
    place = client.post(address(scene), form).headers["Location"]
    assert client.post(address(scene), form | {"step": "check"}).headers["Location"] == place
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


COLLEAGUES = "A colleague read the same list and found the company."


@pytest.mark.parametrize("step", ["check", "record"])
def test_a_colleagues_decision_is_shown_beside_what_was_typed_and_then_overridden_knowingly(
    scene: scenes.Scene, client_of: Callable[..., Client], step: str
) -> None:
    client, form = client_of(scene.officer), sent(scene, step=step)
    factories.decide(scene.second, factories.finding_of(scene.case), "stands", reason=COLLEAGUES)
    answer = client.post(address(scene), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Jaan Kask has decided about this finding since you opened the page. Nothing was recorded" in page
    box = page[page.index('role="alert"') : page.index("decide whether yours")]
    for told in ("Recorded by Jaan Kask", "The finding stands", COLLEAGUES, "in effect", REASON, "UTC"):
        assert told in box
    assert Decision.objects.count() == 1
    client.post(address(scene), fields(answer) | {"step": "record"})
    assert [one.author for one in Decision.objects.order_by("decided_at")] == [scene.second, scene.officer]


def fields(answer: Any) -> dict[str, Any]:
    """What the decision form of a page would send as it stands."""
    form = answer.context["form"]
    values = {name: form[name].value() for name in form.fields}
    assert all(name in answer.content.decode() for name in values)
    return {name: "" if value is None else value for name, value in values.items()}


def test_the_page_to_check_hands_on_what_was_shown(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    made = factories.decide(scene.second, factories.finding_of(scene.case), "stands")
    client = client_of(scene.officer)
    shown = client.get(f"{reverse('case', args=[scene.case.id])}?finding={made.finding_id}")
    assert f'name="newest_word_id" value="{made.id}"' in shown.content.decode()
    page = client.post(address(scene), sent(scene, step="check", newest_word_id=str(made.id))).content.decode()
    assert f'name="newest_word_id" value="{made.id}"' in page


def test_both_a_new_verdict_and_a_colleagues_decision_are_shown(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, form = client_of(scene.officer), sent(scene)
    factories.rerun(scene.case, factories.run_of(scene.case).queued_at.replace(year=2027), f1="indeterminate")
    factories.decide(scene.second, factories.finding_of(scene.case), "stands", reason=COLLEAGUES)
    page = client.post(address(scene), form).content.decode()
    assert "The verdict has changed since you opened the page." in page
    assert "Jaan Kask has decided about this finding meanwhile." in page
    assert "When you opened it" in page
    assert "Recorded by Jaan Kask" in page


NEWER_REPORTS = {"told again": ["f1"], "not told any more": ["f9"]}


@pytest.mark.parametrize("names", NEWER_REPORTS.values(), ids=NEWER_REPORTS)
def test_a_newer_report_loses_nothing_typed(
    scene: scenes.Scene, client_of: Callable[..., Client], names: list[str]
) -> None:
    where, form = address(scene), sent(scene)
    told = factories.report(*[factories.finding(name, title="Told anew") for name in names])
    factories.accept(scene.tenant, told | {"report_id": scene.case.report_id, "iteration": 2})
    for name in names:
        factories.verdict(factories.finding_of(scene.case, name), "contradicted")
    factories.end(factories.run_of(scene.case))
    answer = client_of(scene.officer).post(where, form)
    page = answer.content.decode()
    assert answer.status_code in {302, 409}
    assert REASON in page or Decision.objects.get().reason == REASON
    assert answer.status_code == 409 or names == ["f9"]


def test_pressing_again_after_going_back_and_changing_the_words_is_told_of_the_first_record(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, form = client_of(scene.officer), sent(scene)
    client.post(address(scene), form)
    answer = client.post(address(scene), form | {"step": "check", "outcome": "escalated"})
    assert answer.status_code == 409
    assert "Mari Tamm has decided about this finding since you opened the page." in answer.content.decode()
    assert answer.context["form"]["form_token"].value() != form["form_token"]


@pytest.mark.parametrize(
    ("who", "said", "link"),
    [
        ("officer", "You decided this, so another officer must approve it", False),
        ("second", "It takes effect only once a second officer approves: you can.", True),
        ("auditor", "An officer other than Mari Tamm must approve this", False),
    ],
)
def test_a_decision_that_waits_says_for_whom_and_leads_them_there(
    scene: scenes.Scene, client_of: Callable[..., Client], who: str, said: str, link: bool
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "does_not_stand")
    shown = f"{reverse('case', args=[scene.case.id])}?finding={made.finding_id}"
    page = client_of(getattr(scene, who)).get(shown).content.decode()
    assert said in page
    assert (f"{reverse('second')}#decision-{made.id}" in page) is link


def test_a_decision_in_effect_awaits_nobody(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "stands")
    shown = f"{reverse('case', args=[scene.case.id])}?finding={made.finding_id}"
    assert "must approve" not in client_of(scene.second).get(shown).content.decode()
    assert f"#decision-{made.id}" not in client_of(scene.second).get(shown).content.decode()


def test_taking_back_without_a_reason_keeps_the_words_and_leads_to_the_field(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case))
    form = {"reason": "Too short.", "form_token": str(uuid4())}
    answer = client_of(scene.second).post(reverse("take_back", args=[scene.case.id, made.id]), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "<title>Error:" in page
    assert '<a href="#take_back_reason">Say why in at least 20 characters.</a>' in page
    assert 'id="take_back_reason"' in page
    assert "Too short.</textarea>" in page
    assert '<details class="small" open>' in page
    assert form["form_token"] in page
    assert Decision.objects.count() == 1


def test_what_cannot_be_taken_back_any_more_keeps_the_words(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case))
    factories.decide(scene.second, factories.finding_of(scene.case), "needs_more", at=factories.later())
    form = {"reason": REASON, "form_token": str(uuid4())}
    answer = client_of(scene.second).post(reverse("take_back", args=[scene.case.id, made.id]), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "A newer decision on this finding has taken its place. Nothing was recorded." in page
    assert REASON in page


def test_the_page_after_taking_back_names_what_was_taken_back(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case))
    form = {"reason": REASON, "form_token": str(uuid4())}
    client = client_of(scene.second)
    answer = client.post(reverse("take_back", args=[scene.case.id, made.id]), form)
    connection.check_constraints()  # what seals the event at commit
    page = client.get(answer.headers["Location"]).content.decode()
    assert "More is needed" not in page
    assert "The finding stands" in page
    assert "decided by Mari Tamm" in page


@pytest.mark.parametrize(("who", "told"), [("second", True), ("officer", False)])
def test_the_page_to_check_says_who_else_holds_the_case(
    scene: scenes.Scene, client_of: Callable[..., Client], who: str, told: bool
) -> None:
    claims.claim(user=scene.officer, case=scene.case, at=timezone.now())
    page = client_of(getattr(scene, who)).post(address(scene), sent(scene, step="check")).content.decode()
    assert ("Mari Tamm holds this case since" in page) is told


@pytest.mark.parametrize("simulated", [True, False])
def test_a_simulated_verdict_is_named_so_wherever_it_is_repeated(
    scene: scenes.Scene, client_of: Callable[..., Client], simulated: bool
) -> None:
    on = factories.finding_of(scene.case)
    at = factories.run_of(scene.case).queued_at
    for year, of in ((2027, simulated), (2028, simulated)):
        run = factories.rerun(scene.case, at.replace(year=year))
        factories.verdict(on, "contradicted", run=run, at=at.replace(year=year), simulated=of)
    client = client_of(scene.officer)
    check = client.post(address(scene), sent(scene, step="check"))
    old = client.post(address(scene), sent(scene, verdict_id=str(on.verdicts.order_by("recorded_at")[1].id)))
    place = client.post(address(scene), sent(scene)).headers["Location"]
    connection.check_constraints()  # what seals the event at commit
    recorded = client.get(place)
    second = client_of(scene.second).get(reverse("second"))
    case = client.get(f"{reverse('case', args=[scene.case.id])}?finding={on.id}")
    for page in (check, old, recorded, second, case):
        assert ("simulated answer" in main(page)) is simulated


def main(answer: Any) -> str:
    return str(answer.content.decode().split("<main", 1)[1])


def test_an_error_summary_leads_to_fields_that_are_there(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    empty = {"step": "check", "form_token": str(uuid4()), "verdict_id": sent(scene)["verdict_id"]}
    page = client_of(scene.officer).post(address(scene), empty).content.decode()
    summary = page[page.index("There is a problem") : page.index('class="case"')]
    led_to = re.findall(r'href="#([^"]+)"', summary)
    assert led_to == ["decide_outcome_0", "decide_reason_code", "decide_reason", "decide_evidence_0"]
    assert all(re.search(rf'<(input|textarea|select)[^>]* id="{name}"', page) for name in led_to)


@pytest.mark.parametrize(("name", "answered"), [("f1", True), ("c1", True), ("m1", True), ("m2", False)])
def test_what_could_not_run_is_offered_to_nobody_as_evidence(
    scene: scenes.Scene, client_of: Callable[..., Client], name: str, answered: bool
) -> None:
    shown = f"{reverse('case', args=[scene.case.id])}?finding={factories.finding_of(scene.case, name).id}"
    form = client_of(scene.officer).get(shown).context["form"]
    offered = [label for _, label in form.fields["evidence"].choices]
    assert any(one.startswith("The answer of the re-check") for one in offered) is answered
    assert offered[-2:] == [*evidence.ALWAYS_THERE]


def test_that_nobody_was_asked_is_no_evidence(scene: scenes.Scene) -> None:
    on = factories.finding_of(factories.case(scene.tenant))
    silent = {"kind": "not_asked", "not_answered": {"provider": "", "cause": "provider_not_configured"}}
    verdict = factories.verdict(on, "indeterminate", "provider_not_configured", evidence=silent)
    assert evidence.choices(evidence.shown_evidence(verdict)) == [*evidence.ALWAYS_THERE]


def test_a_second_word_that_comes_too_late_keeps_its_reason(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    made = factories.decide(scene.officer, factories.finding_of(scene.case), "does_not_stand")
    factories.decide(scene.officer, factories.finding_of(scene.case), "needs_more", at=factories.later())
    answer = client_of(scene.second).post(
        reverse("second_decide", args=[made.id]), {"word": "approve", "reason": REASON}
    )
    assert answer.status_code == 409
    assert REASON in answer.content.decode()


def test_a_newer_verdict_that_says_the_same_is_told_as_such(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    typed = sent(scene)
    shown = factories.finding_of(scene.case, "f1").verdicts.get()
    at = factories.run_of(scene.case).queued_at.replace(year=2027)
    run = factories.rerun(scene.case, at, ended=False)
    on = factories.finding_of(scene.case, "f1")
    factories.verdict(on, shown.verdict, shown.cause, run=run, at=at, reason=shown.reason)
    factories.end(run, at=at)
    page = client_of(scene.officer).post(address(scene), typed).content.decode()
    assert "It says the same; look at its evidence." in page
    assert not Decision.objects.exists()
