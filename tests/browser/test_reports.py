"""From a case to what its newer report took back, at any width and in either scheme."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.browser.acts import overflows, violations
from verifier.models import Case


@pytest.fixture
def case(scene: Any) -> Case:
    """Of three findings one is gone and one lowered, and the report's own answer is another."""
    long = (
        "A finding with a Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft in it. " * 6
    )
    told = {"f1": {"title": "Owner listed"}, "f2": {"title": "Subject named"}, "f3": {"description": long}}
    made = factories.case(
        scene.tenant, *[factories.finding(name, **each) for name, each in told.items()], answer="stop"
    )
    factories.end(factories.run_of(made))
    newer = factories.report(
        factories.finding("f2", title="Subject named", severity="low"),
        factories.finding("f3", description=long + "It is denied."),
        report_id=made.report_id,
        iteration=2,
        answer="go",
    )
    factories.accept(scene.tenant, newer, factories.later())
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_reports_is_led_to_and_fits_everyone(
    scene: Any, case: Case, visit: Callable[..., Page], scheme: str
) -> None:
    page = visit(scene.auditor, color_scheme=scheme)
    page.goto(f"/cases/{case.id}/")
    expect(
        page.get_by_role("heading", name="Claims of report 1 that the newest report no longer makes")
    ).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="What changed").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reports of this case")
    expect(page.get_by_role("heading", level=4)).to_have_text(
        ["Owner listed", "Subject named", "Subject designated on a list (f3)"]
    )
    page.get_by_text("All that report 1 says of it").click()
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert not overflows(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download report 1").click()
    assert download.value.suggested_filename.endswith("-r1.json")
