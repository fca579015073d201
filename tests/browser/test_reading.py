"""Reading at twice the text size and on paper: nothing lies on anything else, and nothing is cut."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.browser.acts import overflows, violations
from verifier.models import Case

A4 = {"width": 718, "height": 1000}  # the inside of a sheet, in CSS pixels
OVERLAPS = """selector => {
    const shown = [...document.querySelectorAll(selector)].map(e => [e, e.getBoundingClientRect()])
        .filter(([, box]) => box.width && box.height);
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return shown.flatMap(([one, a], place) => shown.slice(place + 1)
        .filter(([other]) => other.closest("li, tr, article") === one.closest("li, tr, article"))  // a list may scroll
        .filter(([other, b]) => !one.contains(other) && !other.contains(one) && over(a, b))
        .map(([other]) => `${one.textContent.trim()} | ${other.textContent.trim()}`));
}"""
CUT = """() => [...document.querySelectorAll("main *")]
    .filter(e => !["INPUT", "PROGRESS"].includes(e.tagName) && !e.classList.contains("visually-hidden"))
    .filter(e => getComputedStyle(e).overflow !== "visible" && e.checkVisibility())
    .filter(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
    .map(e => e.className || e.tagName)"""
MARKS = ".verdict, .severity, .tag, .row-link, .row-about, .finding-link .title, .finding-link .state, .claim"


def long_case(scene: Any) -> Case:
    """More findings than a screen holds, one with a severity in words of the report's own."""
    told = [factories.finding(f"f{place}", title=f"Finding number {place} of a long report") for place in range(40)]
    told += [factories.finding("w1", severity="verified", title="Spelled otherwise")]
    case = factories.case(scene.tenant, *told)
    for name in ("f0", "f1", "w1"):
        factories.verdict(factories.finding_of(case, name), "indeterminate", simulated=True)
    factories.end(factories.run_of(case))
    return case


@pytest.mark.parametrize("width", [1280, 900, 640])
def test_at_twice_the_text_size_no_verdict_covers_a_severity(
    scene: Any, visit: Callable[..., Page], width: int
) -> None:
    case = long_case(scene)
    page = visit(scene.officer, viewport={"width": width, "height": 900})
    for address in ("/", f"/cases/{case.id}/", f"/cases/{scene.case.id}/", "/cases/", "/advisory/"):
        page.goto(address)
        page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
        assert page.evaluate(OVERLAPS, MARKS) == [], address
        assert not overflows(page), address


def test_a_hatched_row_of_a_table_keeps_its_columns(scene: Any, visit: Callable[..., Page]) -> None:
    case = factories.case(scene.tenant, quality_gate={"advisory_only": True})
    factories.verdict(factories.finding_of(case), simulated=True)
    factories.end(factories.run_of(case))
    page = visit(scene.officer)
    for address in ("/advisory/", "/cases/"):
        page.goto(address)
        heads = [box["x"] for cell in page.locator("thead th").all() if (box := cell.bounding_box())]
        cells = [box["x"] for cell in page.locator("tr.hatched > *").all() if (box := cell.bounding_box())]
        assert cells == heads, address


def on_paper(page: Page, address: str) -> None:
    page.set_viewport_size(A4)  # type: ignore[arg-type]
    page.goto(address)
    page.emulate_media(media="print")


def test_a_printed_case_shows_every_finding_and_cuts_nothing(scene: Any, visit: Callable[..., Page]) -> None:
    case = long_case(scene)
    page = visit(scene.officer)
    on_paper(page, f"/cases/{case.id}/")
    assert page.evaluate(CUT) == []
    assert not overflows(page)
    rows = page.locator("#findings li")
    expect(rows).to_have_count(41)
    assert all(row.is_visible() for row in rows.all())
    expect(page.locator("#decide")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_text("This sheet holds one finding in full.")).to_be_visible()


def test_on_paper_the_notices_and_who_it_is_about_stand_apart(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    on_paper(page, f"/cases/{scene.case.id}/")
    assert page.evaluate(OVERLAPS, ".banner, .identity, .finding-list, article, .foot") == []


def test_on_paper_a_finding_keeps_severity_verdict_evidence_and_decision(
    scene: Any, visit: Callable[..., Page]
) -> None:
    finding = factories.finding_of(scene.case, "f1")
    factories.decide(scene.second, finding, "needs_more", reason="Compare the two registration numbers first.")
    page = visit(scene.officer)
    on_paper(page, f"/cases/{scene.case.id}/?finding={finding.id}")
    paper = page.locator("main").inner_text()
    assert "Take this decision back" not in paper
    for said in ("critical", "Contradicted", "Akme Trade LLC", "Compare the two registration numbers first."):
        assert said.casefold() in paper.casefold()


def test_the_whole_case_on_paper_holds_every_finding_with_what_was_said_of_it(
    scene: Any, visit: Callable[..., Page]
) -> None:
    finding = factories.finding_of(scene.case, "f1")
    factories.decide(scene.second, finding, "needs_more", reason="Compare the two registration numbers first.")
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/")
    page.get_by_role("link", name="All in full").click()
    assert violations(page) == []
    on_paper(page, page.url)
    assert page.evaluate(CUT) == []
    assert not overflows(page)
    parts = page.locator("article").all()
    assert [part.get_by_role("heading", level=2).inner_text() for part in parts] == [
        "1. Subject designated on an EU sanctions list",
        "2. Subject named on a national list",
        "3. Prosecutor charged two managers",
        "4. Regulator fined the subject",
        "5. Press reports on unpaid wages",
        "6. No politically exposed persons found",
    ]
    told = [part.inner_text().casefold() for part in parts]
    for place, words in enumerate(
        (
            ("critical", "contradicted", "akme trade llc", "compare the two registration numbers first."),
            ("high", "confirmed", "nk-hit"),
            ("high", "confirmed", "prosecutors in tallinn charged two managers"),
            ("medium", "unsupported", "nothing was found"),
            ("medium", "indeterminate", "quota is used up"),
            ("reported severity: “info”", "not checked"),
        )
    ):
        assert [word for word in words if word not in told[place]] == []
