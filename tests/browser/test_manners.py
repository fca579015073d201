"""How the pages behave for everyone: any width, either scheme, keys only, no script, axe-core content."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from audit.models import ActorType
from reviews.models import Decision
from tests import factories
from tests.browser.acts import REASON, check_and_record, fill_decision, overflows, violations
from verifier.intake import request_recheck

OFFICERS = (
    "/",
    "/cases/",
    "/cases/{case}/",
    "/cases/{case}/reports/",
    "/second/",
    "/advisory/",
    "/upload/",
    "/?verdict=indeterminate",
    "/account/password/",
    "/nowhere/",
)
ADMINS = (
    "/administration/",
    "/administration/keys/",
    "/administration/users/",
    "/trail/",
    "/trail/?chain=system",
    "/trail/verification/",
    "/trail/exports/",
)
SCHEMES = ("light", "dark")


def addresses(scene: Any, role: str) -> list[str]:
    told = [address.format(case=scene.case.id) for address in (OFFICERS if role == "officer" else ADMINS)]
    findings = (
        [f"/cases/{scene.case.id}/?finding={one.id}" for one in scene.case.findings.all()] if role == "officer" else []
    )
    return told + findings


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("role", ["officer", "admin"])
def test_axe_finds_nothing_on_any_page(scene: Any, visit: Callable[..., Page], role: str, scheme: str) -> None:
    factories.decide(scene.second, factories.finding_of(scene.case, "f1"), "does_not_stand")
    page = visit(getattr(scene, role), color_scheme=scheme)
    found = {}
    for address in addresses(scene, role):
        page.goto(address)
        found[address] = violations(page)
    assert {address: problems for address, problems in found.items() if problems} == {}


def test_axe_finds_nothing_before_signing_in(live_product: Any, page: Page) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(f"{live_product.url}/sign-in/")
        assert violations(page) == []


@pytest.mark.parametrize("role", ["officer", "admin"])
def test_no_page_scrolls_sideways_at_320_pixels(scene: Any, visit: Callable[..., Page], role: str) -> None:
    factories.decide(scene.second, factories.finding_of(scene.case, "f1"), "does_not_stand")
    page = visit(getattr(scene, role), viewport={"width": 320, "height": 700})
    wide = []
    for address in addresses(scene, role):
        page.goto(address)
        wide += [address] if overflows(page) else []
    assert wide == []


def test_a_case_fits_at_twice_the_text_size(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer, viewport={"width": 640, "height": 800})
    page.goto(f"/cases/{scene.case.id}/")
    page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
    assert not overflows(page)


def test_without_script_one_reads_and_decides(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer, java_script_enabled=False)
    page.get_by_role("link", name="The list holds near misses only").click()
    expect(page.get_by_role("heading", name="The source says")).to_be_visible()
    fill_decision(page)
    check_and_record(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Recorded: the finding does not stand")
    assert Decision.objects.get().needs_second


def test_without_script_a_running_recheck_offers_to_refresh(scene: Any, visit: Callable[..., Page]) -> None:
    case = factories.case(scene.tenant, factories.finding("f1", title="Owner listed"))
    page = visit(scene.officer, java_script_enabled=False)
    page.goto(f"/cases/{case.id}/")
    factories.verdict(factories.finding_of(case), "unsupported")
    factories.end(factories.run_of(case))
    page.get_by_role("link", name="Refresh").click()
    expect(page.locator("#answer")).to_contain_text("Unsupported")


def tab_to(page: Page, selector: str, presses: int = 80) -> None:
    """Only the Tab key, as someone without a pointer goes; the focus must be visible on the way."""
    for _ in range(presses):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            assert in_sight(page)
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


def in_sight(page: Page) -> bool:
    """Whether the focused thing lies on top where it is, not under a sticky bar."""
    return bool(
        page.evaluate(
            """() => {
                const focused = document.activeElement, box = focused.getBoundingClientRect();
                const top = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 12));
                const covered = top.closest(".top, .identity");
                return focused === top || focused.contains(top) || (top.contains(focused) && !covered);
            }"""
        )
    )


def test_with_the_keyboard_alone_one_claims_decides_and_goes_on(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.get_by_text("you 0 min").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cases/**")
    tab_to(page, "input[name=outcome]")
    page.keyboard.press("Space")
    tab_to(page, "select[name=reason_code]")
    page.keyboard.type("A source")
    tab_to(page, "input[name=evidence]")
    page.keyboard.press("Space")
    tab_to(page, "textarea[name=reason]")
    page.keyboard.type(REASON)
    tab_to(page, "button[name=step]")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Check your decision").wait_for()
    tab_to(page, "button[value=record]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/decisions/**")
    page.keyboard.press("Enter")  # the focus is on what comes next
    page.wait_for_url("**/cases/**")
    assert Decision.objects.get().outcome == "stands"


def test_keys_rest_while_one_types_and_stay_off_when_switched_off(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    page.locator("#search").focus()
    page.keyboard.type("jack?")
    assert page.locator("#search").input_value() == "jack?"
    page.locator("#search").blur()
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    page.reload()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") != "row-link"


def test_filters_live_in_the_address_and_survive_reload_and_back(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    page.get_by_role("link", name="Unsupported 1").click()
    expect(page.get_by_text("1 shown by the filters, 2 hidden")).to_be_visible()
    assert "verdict=unsupported" in page.url
    page.reload()
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_role("link", name="remove this filter").click()
    expect(page.locator(".row")).to_have_count(3)
    page.go_back()
    expect(page.locator(".row")).to_have_count(1)


def test_the_queue_names_the_silent_provider_and_how_many_wait_for_it(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    expect(page.get_by_role("region", name="Notices")).to_contain_text("Tavily left questions unanswered")
    page.get_by_role("link", name="Show them").click()
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("Indeterminate")


def test_most_urgent_first_and_each_row_says_why(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    assert page.locator(".row .verdict").all_inner_texts() == ["Contradicted", "Unsupported", "Indeterminate"]
    assert all(page.locator(".row-link").all_inner_texts())


def test_a_half_written_reason_survives_the_end_of_the_session(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/")
    page.get_by_label("Reason", exact=True).fill(REASON)
    page.context.clear_cookies()
    page.reload()
    page.get_by_label("Name").fill(scene.officer.username)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/cases/**")
    assert page.get_by_label("Reason", exact=True).input_value() == REASON


def test_an_answer_that_arrives_takes_no_word_away(scene: Any, visit: Callable[..., Page]) -> None:
    on = factories.finding_of(scene.case, "f1")
    now = timezone.now()
    run = request_recheck(case=scene.case, requested_by="tests", actor_type=ActorType.SYSTEM, at=now)
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/?finding={on.id}")
    fill_decision(page)
    factories.verdict(on, "indeterminate", run=run, reason="The provider did not answer this time.", at=timezone.now())
    factories.end(run, at=timezone.now())
    expect(page.locator("#answer")).to_contain_text("The provider did not answer this time.")
    expect(page.get_by_label("Reason", exact=True)).to_have_value(REASON)
    expect(page.get_by_label("It does not stand", exact=True)).to_be_checked()
    page.get_by_role("button", name="Check and record").click()
    expect(page.get_by_role("alert")).to_contain_text("The verdict has changed since you opened the page.")
    expect(page.get_by_label("Reason", exact=True)).to_have_value(REASON)


@pytest.mark.parametrize("leaving", ["signs out", "is signed out"])
def test_what_one_person_typed_is_never_shown_to_the_next_in_the_same_tab(
    scene: Any, visit: Callable[..., Page], leaving: str
) -> None:
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/")
    reason = page.get_by_label("Reason", exact=True)
    reason.fill(REASON)
    if leaving == "signs out":
        page.get_by_role("button", name="Sign out").click()
    else:
        page.context.clear_cookies()
    sign_in(page, scene.second)
    page.goto(f"/cases/{scene.case.id}/")
    expect(reason).to_have_value("")
    assert REASON not in page.content()
    assert REASON not in page.evaluate("JSON.stringify(sessionStorage) + JSON.stringify(localStorage)")


def sign_in(page: Page, user: Any) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Name").fill(user.username)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def test_the_judges_words_stand_apart_and_the_quote_is_marked_in_the_source(
    scene: Any, visit: Callable[..., Page]
) -> None:
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/?finding={factories.finding_of(scene.case, 'c1').id}")
    expect(page.locator("blockquote mark")).to_have_text(
        "prosecutors in Tallinn charged two managers of Acme Trading OÜ with fraud"
    )
    expect(page.locator(".machine")).to_contain_text("The judge's words, not a source's")
    expect(page.locator("#answer")).to_contain_text("Bright Data did not answer in time")
    assert page.locator("blockquote .machine, .machine blockquote").count() == 0


def test_an_answer_that_is_simulated_says_so_on_every_page(scene: Any, visit: Callable[..., Page]) -> None:
    case = factories.case(scene.tenant)
    factories.verdict(factories.finding_of(case), simulated=True)
    page = visit(scene.officer)
    for address in ("/", "/cases/", "/second/", f"/cases/{case.id}/"):
        page.goto(address)
        expect(page.get_by_role("region", name="Notices")).to_contain_text("simulated")
    expect(page.locator("article .tag")).to_have_text("simulated answer")
