"""A report of many findings: its pages hold a part of them, say so, and ask the database no more often."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import factories, scenes
from verifier.models import Case

MANY = 230


def make(scene: scenes.Scene, number: int, **changes: Any) -> Case:
    case = factories.case(scene.tenant, *[factories.finding(f"x{place}") for place in range(number)], **changes)
    factories.end(factories.run_of(case))
    return case


def links(page: str) -> list[str]:
    return re.findall(r'id="to-([0-9a-f-]{36})"', page)


def ids(case: Case) -> list[str]:
    return [str(each) for each in case.findings.order_by("report__iteration", "position").values_list("id", flat=True)]


@pytest.fixture
def officer(scene: scenes.Scene, client_of: Callable[..., Client]) -> Client:
    return client_of(scene.officer)


@pytest.mark.parametrize("address", ["", "whole/", "progress/"])
def test_the_database_is_asked_as_often_for_many_findings_as_for_few(
    scene: scenes.Scene, officer: Client, address: str
) -> None:
    asked = []
    for case in (make(scene, 3), make(scene, MANY)):
        officer.get(f"/cases/{case.id}/{address}")  # notes that the case is read
        with CaptureQueriesContext(connection) as queries:
            assert officer.get(f"/cases/{case.id}/{address}").status_code == 200
        asked.append(len(queries))
    assert asked[1] <= asked[0] + 1  # where there are several pages, which one holds the finding in view


def test_the_list_is_paged_and_every_finding_stands_on_one_page(scene: scenes.Scene, officer: Client) -> None:
    case = make(scene, MANY)
    pages = [officer.get(f"/cases/{case.id}/", {"list": number}).content.decode() for number in (1, 2, 3)]
    assert [len(links(page)) for page in pages] == [100, 100, 30]
    assert [one for page in pages for one in links(page)] == ids(case)
    assert "230 findings, the re-checked first" in pages[0]
    assert "needs review (230 of 230 findings)" in pages[2]
    assert "101 to 200 are on this page, 2 of 3." in pages[1]


def test_the_list_opens_where_the_finding_in_view_stands(scene: scenes.Scene, officer: Client) -> None:
    case = make(scene, MANY)
    wanted = ids(case)[150]
    page = officer.get(f"/cases/{case.id}/", {"finding": wanted}).content.decode()
    assert wanted in links(page)
    assert links(page)[0] == ids(case)[100]
    turned = officer.get(f"/cases/{case.id}/", {"finding": wanted, "list": 1}).content.decode()
    assert links(turned)[0] == ids(case)[0]
    assert f'value="{wanted}"' in turned or wanted in turned, "it stays in view"


@pytest.mark.parametrize("asked", ["0", "-1", "999999", "99999999999999999999", "x", "²"])
def test_a_page_of_the_list_that_is_none_shows_one_that_is(scene: scenes.Scene, officer: Client, asked: str) -> None:
    case = make(scene, MANY)
    for address in ("", "whole/"):
        answer = officer.get(f"/cases/{case.id}/{address}", {"list": asked, "part": asked})
        assert answer.status_code == 200
        assert "0 findings" not in answer.content.decode().replace("230 findings", "")


def test_what_only_an_earlier_report_holds_comes_last_and_is_led_to(scene: scenes.Scene, officer: Client) -> None:
    case = make(scene, MANY)
    kept = [factories.finding(f"x{place}") for place in range(0, MANY, 2)]
    told = factories.report(*kept, report_id=case.report_id, iteration=2)
    factories.accept(scene.tenant, told, factories.later())
    factories.end(factories.run_of(case))
    page = officer.get(f"/cases/{case.id}/", {"list": 1}).content.decode()
    assert "115 that only an earlier report holds come last" in page
    [leads] = re.findall(r'<a href="([^"]*)#findings">show them</a>', page)
    there = officer.get(leads.replace("&amp;", "&")).content.decode()
    assert "as of report 1" in there
    wanted = str(case.findings.get(finding_id="x229").id)
    assert wanted in links(officer.get(f"/cases/{case.id}/", {"finding": wanted}).content.decode())
    pages = [officer.get(f"/cases/{case.id}/", {"list": number}).content.decode() for number in (1, 2, 3)]
    assert len({one for page in pages for one in links(page)}) == MANY


def test_all_in_full_is_told_in_parts(scene: scenes.Scene, officer: Client) -> None:
    case = make(scene, 120)
    parts = [officer.get(f"/cases/{case.id}/whole/", {"part": part}).content.decode() for part in (1, 2, 3)]
    numbered = [re.findall(r'<h2 id="finding-[^"]*">(\d+)\. ', part) for part in parts]
    assert [int(each) for part in numbered for each in part] == list(range(1, 121))
    assert "120 findings in full, in 3 parts of which this is part 2" in parts[1]
    assert 'rel="next"' in parts[1]
    assert 'rel="next"' not in parts[2]


def test_next_and_previous_follow_the_queue_beyond_its_first_page(scene: scenes.Scene, officer: Client) -> None:
    case = make(scene, 120)
    listed = [row.row for page in (1, 2, 3) for row in officer.get("/", {"page": page}, follow=True).context["rows"]]
    [place] = [place for place, row in enumerate(listed) if row.finding_id == "x77"]
    walk = officer.get(f"/cases/{case.id}/", {"finding": str(listed[place].finding_pk)}).context["walk"]
    assert (walk["place"], walk["of"]) == (place + 1, len(listed))
    assert str(listed[place - 1].finding_pk) in walk["previous"]
    assert str(listed[place + 1].finding_pk) in walk["next"]


def test_a_count_names_its_sources_though_they_stand_on_other_pages(scene: scenes.Scene, officer: Client) -> None:
    told = [factories.finding(f"x{place}", title=f"Said elsewhere {place}") for place in range(MANY)]
    told[3] |= {"title": "The same matter", "_provider": "", "source": "Tax Office"}
    told[220] |= {"title": "THE  same matter", "_provider": "", "source": "Court Gazette"}
    case = factories.case(scene.tenant, *told)
    page = officer.get(f"/cases/{case.id}/", {"finding": str(factories.finding_of(case, "x3").id)}).content.decode()
    assert "tax office" in page.lower()
    assert "gazette" in page
