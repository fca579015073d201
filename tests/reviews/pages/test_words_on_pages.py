"""What a report or a provider says is shown as they said it, and can do nothing to the page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reviews import words
from reviews.templatetags.look import lasted, marking, shown, when
from reviews.views.evidence import is_web
from reviews.views.presenting import spoken
from tests import factories, scenes
from verifier.domain.answers import Cause
from verifier.domain.findings import Why
from verifier.domain.verdicts import Verdict


@pytest.mark.parametrize(
    ("table", "codes"),
    [(words.CAUSES, Cause), (words.VERDICTS, Verdict), (words.DEFINITIONS, Verdict), (words.SELECTION, Why)],
)
def test_every_code_has_its_words(table: dict[str, str], codes: Any) -> None:
    assert {str(code) for code in codes} - table.keys() == set()


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('"a \\u00e9 b"', "a é b"),
        ("0.930", "0.930"),
        ("1E400", "1E400"),
        ("true", "yes"),
        ("false", "no"),
        ("null", ""),
        ('{"score": 1.0}', '{"score": 1.0}'),
    ],
)
def test_a_value_of_the_report_is_spoken_as_it_was_spelled(raw: str, said: str) -> None:
    assert spoken(raw) == said


@pytest.mark.parametrize(
    ("url", "opens"),
    [
        ("https://news.example.org/a", True),
        ("http://news.example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//elsewhere", False),
        ("http://[broken", False),
        (None, False),
    ],
)
def test_only_web_addresses_become_links(url: str | None, opens: bool) -> None:
    assert is_web(url) is opens


@pytest.mark.parametrize(
    ("text", "quote", "html"),
    [
        ("one two three", "two", "one <mark>two</mark> three"),
        ("two and two", "two", "<mark>two</mark> and <mark>two</mark>"),
        ("one", "", "one"),
        ("one", "absent", "one"),
        ("<b>x</b>", "x", "&lt;b&gt;<mark>x</mark>&lt;/b&gt;"),
        ("a", "<script>", "a"),
    ],
)
def test_a_quote_is_marked_where_it_stands_and_nothing_else_is_markup(text: str, quote: str, html: str) -> None:
    assert marking(text, quote) == html


def test_times_carry_their_zone_and_nul_is_shown_as_a_mark() -> None:
    assert "20 Jul 2026, 08:30:00 UTC" in when(factories.AT)
    assert shown("a\0b") == "a\N{REPLACEMENT CHARACTER}b"
    assert [lasted(412), lasted(20400), lasted(None)] == ["412 ms", "20.4 s", ""]


def test_markup_in_a_report_stays_text(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    attack = '<script>alert(1)</script><img src=x onerror="alert(1)">'
    case = factories.case(
        scene.tenant,
        factories.finding(title=attack, description=attack, source_url="javascript:alert(1)", extra={attack: attack}),
        subject={"name": attack},
    )
    factories.verdict(factories.finding_of(case))
    client = client_of(scene.officer)
    for address in (reverse("case", args=[case.id]), reverse("queue"), reverse("cases")):
        page = client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert 'href="javascript:' not in page


def test_odd_values_do_not_break_the_page(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    odd = factories.finding(severity="Gravissimo", target=None, details=None, confidence=1.0, more=[[], {}, None, 1e3])
    case = factories.case(scene.tenant, odd, subject={"name": "A\0B", "entity_type": "unknown", "country": None})
    factories.verdict(factories.finding_of(case), "indeterminate", "provider_timeout")
    answer = client_of(scene.officer).get(reverse("case", args=[case.id]))
    assert answer.status_code == 200
    assert "Gravissimo" in answer.content.decode()


def test_the_severity_is_shown_as_reported_whatever_the_labels_say(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    page = client_of(scene.officer).get(reverse("case", args=[scene.case.id])).content.decode()
    assert "Uncorroborated: one source says this (OpenSanctions)." in page
    assert '<span class="severity rank-0">critical</span>' in page


def test_unselected_findings_are_shown_with_why(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    page = client_of(scene.officer).get(reverse("case", args=[scene.case.id])).content.decode()
    assert "No politically exposed persons found" in page
    assert "not checked: the report itself calls it clear or minor" in page


def test_a_case_without_findings_and_one_with_the_switch_off_can_be_read(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    factories.switches(verification=False)
    cases = [factories.accept(scene.tenant, factories.report() | {"findings": []}).case, factories.case(scene.tenant)]
    pages = [client_of(scene.officer).get(reverse("case", args=[case.id])) for case in cases]
    assert [page.status_code for page in pages] == [200, 200]
    assert "This report has no finding" in pages[0].content.decode()
    assert "the re-check is switched off" in pages[1].content.decode()


@pytest.mark.parametrize("query", ["?page=0", "?page=99999999", "?page=x", "?verdict=%00", "?holder=evil", "?q=%00"])
def test_odd_addresses_of_lists_are_read_as_nothing_special(
    scene: scenes.Scene, client_of: Callable[..., Client], query: str
) -> None:
    client = client_of(scene.officer)
    assert [client.get(reverse(name) + query).status_code for name in ("queue", "cases", "advisory")] == [200] * 3
