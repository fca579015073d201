"""The reports of a case: each as it was received, and what a newer one takes back, said first and in words."""

import hashlib
import html
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from tests import factories, scenes
from verifier.models import Case


@pytest.fixture
def officer(scene: scenes.Scene, client_of: Callable[..., Client]) -> Client:
    return client_of(scene.officer)


def send(scene: scenes.Scene, *findings: dict[str, Any], case: Case | None = None, **changes: Any) -> Case:
    """A further report of the case, or the first of a new one; its run has ended."""
    told = factories.report(*findings, **({"report_id": case.report_id} if case else {}) | changes)
    at = factories.AT + timedelta(days=told["iteration"] - 1)
    made = factories.accept(scene.tenant, told, at).case
    factories.end(factories.run_of(made))
    return made


def taken_back(scene: scenes.Scene) -> Case:
    """Of five findings one goes, one is lowered, one is a candidate's now, one says something else, one stays."""
    kept = factories.finding("kept", title="Kept as it was")
    case = send(
        scene,
        kept,
        factories.clean("note", title="A note nobody re-checked", description="Said once, in 1998."),
        factories.finding("low", title="Made minor"),
        factories.finding("lane", title="Made a candidate"),
        factories.finding("text", title="Told in other words", description="It is so."),
    )
    return send(
        scene,
        kept,
        factories.finding("low", title="Made minor", severity="medium"),
        factories.finding("lane", title="Made a candidate", attribution_lane="unverified_candidate"),
        factories.finding("text", title="Told in other words", description="It may be so."),
        factories.finding("new", title="Told for the first time"),
        case=case,
        iteration=2,
        recommendation="approve",
        quality_gate={"advisory_only": True},
    )


def text_of(answer: Any) -> str:
    """What a page says, without its marks."""
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def page(client: Client, case: Case, **query: Any) -> str:
    return text_of(client.get(f"/cases/{case.id}/reports/", query))


def titles(client: Client, case: Case, **query: Any) -> list[str]:
    rows = client.get(f"/cases/{case.id}/reports/", query).context["rows"]
    return [row.finding.title for row, _ in rows]


def test_the_page_lists_every_report_as_it_was_received(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    said = page(officer, case)
    for report in case.reports.all():
        assert report.sha256 in said
        assert f"{report.received_at:%-d %b %Y}" in said
    assert said.count("tests") >= 2, "who sent each"
    assert re.search(r"Report 2 newest .* the first report", said)
    assert re.search(r"Download report 1 , [\d.]+ (KiB|bytes)", said)


def test_what_was_taken_back_comes_first_and_in_words(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    assert titles(officer, case) == [
        *("A note nobody re-checked", "Made minor", "Made a candidate"),
        *("Told in other words", "Told for the first time"),
    ]
    said = page(officer, case)
    assert "Report 2 against report 1" in said
    assert "the whole report is advisory now, 1 finding gone, 1 severity lowered" in said
    assert "5 findings told otherwise, first the 3 of which something was taken back" in said
    assert "Severity lowered critical became medium" in said
    assert "the verified subject became a candidate by name only" in said
    assert "Description changed It is so. became It may be so." in said
    assert "Quality gate, advisory only nothing yes" in said
    assert "Recommendation nothing approve" in said


def test_a_finding_nobody_rechecked_and_no_report_tells_any_more_is_told_in_full(
    scene: scenes.Scene, officer: Client
) -> None:
    case = taken_back(scene)
    assert "A note nobody re-checked" not in text_of(officer.get(f"/cases/{case.id}/"))
    said = page(officer, case)
    assert "report 2 does not tell it any more" in said
    assert "Said once, in 1998." in said
    assert "It was never put to a re-check, so no other page lists it any more." in said


def test_a_finding_that_is_gone_and_still_waits_leads_to_where_it_waits(scene: scenes.Scene, officer: Client) -> None:
    case = send(scene, factories.finding("f1"), factories.finding("f2"))
    case = send(scene, factories.finding("f2"), case=case, iteration=2)
    [(row, url)] = officer.get(f"/cases/{case.id}/reports/").context["rows"]
    assert row.finding.finding_id == "f1"
    assert "The newest report no longer holds this finding" in text_of(officer.get(url))
    assert "no other page lists it" not in page(officer, case)


def test_the_list_of_findings_has_a_heading_for_each_report_that_told_what_is_gone(
    scene: scenes.Scene, officer: Client
) -> None:
    case = send(scene, *[factories.finding(name, title=f"Told {name}") for name in ("a", "b", "c", "d")])
    send(scene, *[factories.finding(name, title=f"Told {name}") for name in ("a", "b")], case=case, iteration=2)
    case = send(scene, factories.finding("b", title="Told b"), case=case, iteration=3)
    listed = officer.get(f"/cases/{case.id}/").content.decode().split('id="findings"')[1].split("</nav>")[0]
    told = re.findall(r'<h3>([^<]*)</h3>|<span class="title">([^<]*)<|<ol start="(\d)">', listed)
    assert ["".join(each) for each in told] == [
        *("1", "Told b", "Claims of report 2 that the newest report no longer makes", "2", "Told a"),
        *("Claims of report 1 that the newest report no longer makes", "3", "Told c", "Told d"),
    ]
    assert listed.count("<ol") == listed.count("</ol>") == 3


def test_any_two_neighbours_are_compared(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    case = send(scene, factories.finding("kept", title="Kept as it was"), case=case, iteration=7)
    assert "Report 7 against report 2" in page(officer, case)
    assert "Report 2 against report 1" in page(officer, case, iteration=2)
    assert "Report 1 is the first of this case" in page(officer, case, iteration=1)
    assert "Report 2 1 finding gone" not in page(officer, case)


@pytest.mark.parametrize("asked", ["3", "0", "-1", "x", "²", "9" * 30])
@pytest.mark.parametrize("address", ["report", "reports"])
def test_a_report_that_never_came_is_not_found(scene: scenes.Scene, officer: Client, address: str, asked: str) -> None:
    case = taken_back(scene)
    assert officer.get(f"/cases/{case.id}/{address}/", {"iteration": asked}).status_code == 404


@pytest.mark.parametrize("role", ["officer", "admin", "auditor"])
def test_every_report_is_given_out_byte_for_byte_and_counts_as_reading(
    scene: scenes.Scene, client_of: Callable[..., Client], role: str
) -> None:
    case = taken_back(scene)
    person = getattr(scene, role)
    for iteration in (2, 1):
        answer = client_of(person).get(f"/cases/{case.id}/report/", {"iteration": iteration})
        report = case.reports.get(iteration=iteration)
        assert hashlib.sha256(answer.content).hexdigest() == report.sha256
        assert f"-r{iteration}.json" in answer["Content-Disposition"]
    newest = client_of(person).get(f"/cases/{case.id}/report/")
    assert json.loads(newest.content)["iteration"] == 2
    read = AuditEvent.objects.filter(case_id=case.id, event_type="case_viewed", actor=person.username)
    assert read.count() == 3, "once for each session"


def test_the_page_counts_as_reading(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    page(officer, case)
    assert AuditEvent.objects.filter(case_id=case.id, event_type="case_viewed").count() == 1


def test_the_case_says_what_its_newest_report_changed(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    said = text_of(officer.get(f"/cases/{case.id}/"))
    assert (
        "What changed : the whole report is advisory now, 1 finding gone, 1 severity lowered, "
        "1 finding only about a candidate by name now, 1 new finding, 3 findings in another text since report 1."
    ) in said


def test_an_identical_report_afterwards_hides_nothing(scene: scenes.Scene, officer: Client) -> None:
    case = send(scene, factories.finding("f1"), factories.finding("f2"))
    send(scene, factories.finding("f1"), case=case, iteration=2)
    case = send(scene, factories.finding("f1"), case=case, iteration=3)
    said = text_of(officer.get(f"/cases/{case.id}/"))
    assert "What changed : no finding changed since report 2." in said
    assert "Report 2 : 1 finding gone since report 1." in said


def test_a_case_of_one_report_says_nothing_of_changes(scene: scenes.Scene, officer: Client) -> None:
    case = send(scene, factories.finding("f1"))
    assert "What changed" not in text_of(officer.get(f"/cases/{case.id}/"))
    assert "1 report came" in page(officer, case)


def test_another_gate_and_another_subject_are_counted(scene: scenes.Scene, officer: Client) -> None:
    case = send(scene, factories.finding("f1"), quality_gate={"forces_review": True})
    case = send(scene, factories.finding("f1"), case=case, iteration=2, subject={"name": "Beta OÜ"})
    said = page(officer, case)
    assert "no longer asks for a review, 1 finding about someone or something else" in said
    assert "About someone else Acme Trading OÜ became Beta OÜ" in said
    assert "Subject, name Acme Trading OÜ Beta OÜ" in said


def test_long_texts_are_shown_from_where_they_part(scene: scenes.Scene, officer: Client) -> None:
    alike = "The same words. " * 100
    case = send(scene, factories.finding("f1", description=f"{alike}It was fined."))
    case = send(scene, factories.finding("f1", description=f"{alike}It was praised."), case=case, iteration=2)
    said = page(officer, case)
    assert "It was fined. (1613 characters in all)" in said
    assert "It was praised. (1615 characters in all)" in said
    assert alike not in said


def test_of_a_thousand_keys_some_are_shown_and_the_rest_is_counted(scene: scenes.Scene, officer: Client) -> None:
    def many(value: int) -> dict[str, int]:
        return {f"key{place}": value for place in range(1000)}

    case = send(scene, factories.finding("f1", **many(1), severity="high"), quality_gate=many(1), **many(1))
    newer = factories.finding("f1", **many(2), severity="critical")
    case = send(scene, newer, case=case, iteration=2, quality_gate=many(2), **many(2))
    said = page(officer, case)
    assert "1950 more fields differ: the reports as received hold them." in said
    assert "951 more keys differ" in said
    assert "Severity raised high became critical" in said


def test_many_changes_are_paged_and_ask_the_database_no_more_often(scene: scenes.Scene, officer: Client) -> None:
    asked = []
    for number in (2, 230):
        told = [factories.finding(f"x{place}", title=f"Told {place}") for place in range(number)]
        case = send(scene, *told)
        told = [one | {"severity": "low" if place % 2 else "high"} for place, one in enumerate(told)]
        case = send(scene, *told, case=case, iteration=2)
        officer.get(f"/cases/{case.id}/reports/")  # notes that the case is read
        with CaptureQueriesContext(connection) as queries:
            page(officer, case)
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert asked[0] <= 22
    pages = [titles(officer, case, page=number) for number in (1, 2, 3)]
    assert [len(each) for each in pages] == [100, 100, 30]
    assert len({title for each in pages for title in each}) == 230
    assert "From 101 on, page 2 of 3." in page(officer, case, page=2)
    assert titles(officer, case, page="999999") == pages[2]


def test_many_reports_are_paged(scene: scenes.Scene, officer: Client) -> None:
    case = send(scene, factories.finding("f1"))
    for iteration in range(2, 23):
        send(scene, factories.finding("f1"), case=case, iteration=iteration)
    case.refresh_from_db()
    first, second = (officer.get(f"/cases/{case.id}/reports/", {"reports": number}) for number in (1, 2))
    assert [len(each.context["reports"]) for each in (first, second)] == [20, 2]
    assert first.context["reports"][-1][2] == "no finding changed", "the last of a page is compared too"
    assert second.context["older_reports"] == ""


def test_the_list_of_cases_says_when_the_newest_report_came(scene: scenes.Scene, officer: Client) -> None:
    case = taken_back(scene)
    said = text_of(officer.get("/cases/", {"q": case.report_id}))
    assert "21 Jul 2026, 08:30:00 UTC newest of 2 reports , the first 20 Jul 2026, 08:30:00 UTC" in said
    one = send(scene, factories.finding("f1"))
    assert "newest of" not in text_of(officer.get("/cases/", {"q": one.report_id}))
