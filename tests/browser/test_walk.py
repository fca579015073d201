"""The main road in a real browser: report, queue, case, override, second officer, trail."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Error, expect

from audit.models import AuditEvent
from reviews.models import Decision
from tests import factories
from tests.browser.acts import REASON, check_and_record, fill_decision, violations
from verifier.models import Case


def test_a_report_ends_as_a_decision_in_the_trail(scene: Any, visit: Callable[..., Any], tmp_path: Path) -> None:
    officer = visit(scene.officer)
    report = factories.report(
        factories.finding("f1", title="Owner designated on a list"), subject={"name": "Borealis AS"}
    )
    (tmp_path / "report.json").write_text(json.dumps(report))

    officer.goto("/upload/")
    officer.get_by_label("Report file").set_input_files(tmp_path / "report.json")
    officer.get_by_role("button", name="Take the report in").click()
    expect(officer.get_by_role("heading", level=1)).to_have_text("Borealis AS")
    expect(officer.get_by_text("The re-check waits for a free worker.")).to_be_visible()
    assert violations(officer) == []

    case = Case.objects.get(report_id=report["report_id"])
    factories.verdict(factories.finding_of(case), "contradicted", reason="The list does not hold this subject today.")
    factories.end(factories.run_of(case))

    expect(officer.locator("#progress")).to_have_count(0)  # it ends by itself
    expect(officer.locator("#answer")).to_contain_text("The list does not hold this subject today.")
    expect(officer.locator("#progress-said")).to_contain_text("The re-check has ended.")

    officer.goto("/")
    officer.get_by_role("link", name="The list does not hold this subject today.").click()
    expect(officer.get_by_role("heading", level=2, name="Owner designated on a list")).to_be_visible()
    fill_decision(officer)
    officer.get_by_role("button", name="Check and record").click()
    expect(officer.get_by_role("heading", level=1)).to_have_text("Check your decision before it is recorded")
    for words in (
        "Borealis AS",
        "Contradicted",
        "The finding does not stand",
        REASON,
        "The decision goes to a second officer.",
    ):
        expect(officer.locator("main")).to_contain_text(words)
    assert violations(officer) == []
    officer.get_by_role("button", name="Record: the finding does not stand").click()
    expect(officer.get_by_role("alert")).to_contain_text("Event #")
    assert violations(officer) == []
    assert officer.evaluate("document.activeElement.textContent").startswith("Next:")

    second = visit(scene.second)
    second.goto("/second/")
    expect(second.locator("main")).to_contain_text(REASON)
    assert violations(second) == []
    second.get_by_label("Your reason").fill("I compared both registers and agree.")
    second.get_by_role("button", name="Approve: the finding does not stand").click()
    expect(second.get_by_role("alert")).to_contain_text("Approved: the finding does not stand")

    auditor = visit(scene.auditor)
    auditor.goto(f"/trail/?about={case.id}")
    for event in (
        "decision_approved",
        "decision_recorded",
        "case_viewed",
        "finding_correctness_verified",
        "report_received",
    ):
        expect(auditor.locator("main")).to_contain_text(event)
    assert violations(auditor) == []
    assert Decision.objects.get(case=case).approval.approved
    assert AuditEvent.objects.filter(case_id=case.id, event_type="decision_approved").count() == 1


def test_the_number_shown_is_the_number_in_the_trail(scene: Any, visit: Callable[..., Any]) -> None:
    officer = visit(scene.officer)
    officer.goto(f"/cases/{scene.case.id}/")
    fill_decision(officer, "It stands", "A source states it")
    check_and_record(officer)
    event = AuditEvent.objects.select_related("seal").get(event_type="decision_recorded")
    shown = officer.get_by_role("alert").inner_text()
    assert f"#{event.seal.sequence}" in shown
    assert bytes(event.seal.event_hash).hex()[:12] in shown


def test_pressing_twice_going_back_and_sending_again_record_once(scene: Any, visit: Callable[..., Any]) -> None:
    officer = visit(scene.officer)
    officer.goto(f"/cases/{scene.case.id}/")
    fill_decision(officer, "It stands", "A source states it")
    officer.get_by_role("button", name="Check and record").click()
    expect(officer.get_by_role("button", name="Record:")).to_be_visible()
    address = officer.url
    form = officer.evaluate("Object.fromEntries(new FormData(document.querySelector('form[data-once]')))")
    officer.get_by_role("button", name="Record:").dblclick()
    officer.wait_for_url("**/decisions/**")
    recorded = officer.url
    officer.reload()
    assert officer.url == recorded
    with suppress(Error):  # no answer is kept, so the browser asks before it sends the form again
        officer.go_back()
    for step in ("check", "record"):
        again = officer.request.post(address, form={**form, "step": step}, headers={"Referer": address})
        assert again.url == recorded
    assert Decision.objects.count() == 1


def test_a_verdict_that_changed_meanwhile_refuses_and_keeps_every_word(scene: Any, visit: Callable[..., Any]) -> None:
    officer = visit(scene.officer)
    officer.goto(f"/cases/{scene.case.id}/?finding={factories.finding_of(scene.case, 'f1').id}")
    fill_decision(officer)
    factories.rerun(scene.case, timezone.now(), f1="indeterminate", f2="confirmed", c1="confirmed")
    officer.get_by_role("button", name="Check and record").click()
    problem = officer.get_by_role("alert")
    expect(problem).to_contain_text("The verdict has changed since you opened the page.")
    expect(problem.get_by_role("row", name="Verdict")).to_contain_text("Contradicted")
    expect(problem.get_by_role("row", name="Verdict")).to_contain_text("Indeterminate")
    assert officer.title().startswith("Error:")
    assert officer.evaluate("document.activeElement.getAttribute('role')") == "alert"
    assert officer.get_by_label("Reason", exact=True).input_value() == REASON
    assert officer.get_by_label("It does not stand").is_checked()
    assert Decision.objects.count() == 0


def test_a_colleague_who_was_quicker_is_shown_before_one_overrides_them(scene: Any, visit: Callable[..., Any]) -> None:
    on = factories.finding_of(scene.case, "f1")
    officer = visit(scene.officer)
    officer.goto(f"/cases/{scene.case.id}/?finding={on.id}")
    fill_decision(officer)
    officer.get_by_role("button", name="Check and record").click()
    theirs = "The second list of the regime names this company."
    factories.decide(scene.second, on, "stands", reason=theirs, at=timezone.now())
    officer.get_by_role("button", name="Record:").click()
    problem = officer.get_by_role("alert")
    expect(problem).to_contain_text("Jaan Kask has decided about this finding since you opened the page.")
    row = problem.get_by_role("row", name="Reason", exact=False).filter(has_text=theirs)
    expect(row).to_contain_text(REASON)
    assert violations(officer) == []
    assert Decision.objects.count() == 1
    check_and_record(officer)
    assert Decision.objects.count() == 2


def test_what_is_missing_is_listed_first_and_nothing_typed_is_lost(scene: Any, visit: Callable[..., Any]) -> None:
    officer = visit(scene.officer)
    officer.goto(f"/cases/{scene.case.id}/")
    officer.get_by_label("Reason", exact=True).fill("Too short.")
    officer.get_by_role("button", name="Check and record").click()
    expect(officer.get_by_role("heading", name="There is a problem")).to_be_visible()
    assert officer.title().startswith("Error:")
    assert officer.evaluate("document.activeElement.className") == "problems"
    assert officer.get_by_label("Reason", exact=True).input_value() == "Too short."
    officer.get_by_role("link", name="Say why in at least 20 characters.").click()
    assert officer.evaluate("document.activeElement.id") == "decide_reason"
    assert violations(officer) == []


@pytest.mark.parametrize("size", [{"width": 1280, "height": 700}, {"width": 320, "height": 600}])
def test_each_line_of_the_error_summary_leads_to_a_field_in_plain_sight(
    scene: Any, visit: Callable[..., Any], size: dict[str, int]
) -> None:
    officer = visit(scene.officer, viewport=size)
    officer.goto(f"/cases/{scene.case.id}/")
    officer.get_by_role("button", name="Check and record").click()
    told = officer.locator(".problems a").all_inner_texts()
    assert len(told) == 4
    for words in told:
        officer.locator(".problems").get_by_role("link", name=words).click()
        assert officer.evaluate("document.activeElement.matches('input, textarea, select')")
        field = officer.locator(".field", has=officer.locator(":focus"))
        expect(field.locator(".wrong-text")).to_have_text(words)
        assert on_top(officer, ":focus")
        assert on_top(officer, ".field:focus-within .wrong-text")


def on_top(page: Any, selector: str) -> bool:
    """Whether the thing lies within the window and under nothing else, such as a sticky bar."""
    return bool(
        page.evaluate(
            """selector => {
                const wanted = document.querySelector(selector), box = wanted.getBoundingClientRect();
                const top = document.elementFromPoint(box.left + box.width / 2, box.top + 2);
                return top !== null && (wanted === top || wanted.contains(top));
            }""",
            selector,
        )
    )


def test_of_two_who_claim_one_gets_it_and_the_other_is_told_by_whom(scene: Any, visit: Callable[..., Any]) -> None:
    first, other = visit(scene.officer), visit(scene.second)
    for page in (first, other):
        page.goto(f"/cases/{scene.case.id}/")
    first.get_by_role("button", name="Take the case").click()
    expect(first.get_by_text("held by you")).to_be_visible()
    other.evaluate("document.querySelector('form[action$=\"/claim/\"]').submit()")
    expect(other.get_by_role("heading", level=1)).to_contain_text("Mari Tamm holds this case since")
