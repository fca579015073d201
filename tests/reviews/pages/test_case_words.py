"""What the case page makes of a report's and a provider's words: theirs as theirs, plainly, and nothing added."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from reviews.templatetags.look import severity
from reviews.text import BIDI_CONTROLS
from reviews.views.codes import countries, plain, schema_words
from reviews.views.evidence import site
from tests import factories, scenes
from verifier.domain import evidence
from verifier.domain.answers import Cause, NotAnswered
from verifier.models import Case

DECEIVING = f"a{BIDI_CONTROLS}\0z"


def page_of(client: Client, case: Case, finding_id: str = "f1") -> str:
    chosen = {"finding": str(factories.finding_of(case, finding_id).id)}
    return client.get(reverse("case", args=[case.id]), chosen).content.decode()


ATTRIBUTIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing said": ({}, "the subject of this case, as the finding names nobody", "not stated by the report"),
    "the subject named": ({"target": "ACME  trading oü"}, "the subject of this case", "not stated by the report"),
    "another named": ({"target": "Jane Roe"}, "another than the subject of this case", "not stated by the report"),
    "another named in the subject's lane": (
        {"target": "Jane Roe", "attribution_lane": "subject"},
        "another than the subject of this case",
        "the verified subject",
    ),
    "a candidate": (
        {"attribution_lane": "unverified_candidate"},
        "the subject of this case, as the finding names nobody",
        "a candidate by name only, not verified to be the subject",
    ),
}


@pytest.mark.parametrize(("said", "whose", "lane"), ATTRIBUTIONS.values(), ids=ATTRIBUTIONS)
def test_whom_a_finding_is_about_is_what_the_report_says_and_no_more(
    scene: scenes.Scene, client_of: Callable[..., Client], said: dict[str, Any], whose: str, lane: str
) -> None:
    case = factories.case(scene.tenant, factories.finding(**said))
    page = page_of(client_of(scene.officer), case)
    assert f'<span class="quiet">{whose}</span>' in page
    assert f"<dt>Attribution</dt><dd>{lane}</dd>" in page


@pytest.mark.parametrize("spelled", ["verified", "none", "info", "Verified_Clear", "passed", "Gravissimo"])
def test_a_severity_that_could_be_read_as_a_verdict_is_quoted_and_called_what_it_is(spelled: str) -> None:
    assert f"reported severity: “{spelled}”" in severity(spelled, 4)


@pytest.mark.parametrize("spelled", ["critical", "HIGH", "Medium", "low"])
def test_a_plain_severity_is_shown_as_spelled(spelled: str) -> None:
    assert severity(spelled, 2) == f'<span class="severity rank-2">{spelled}</span>'


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["ee"], "EE (ISO country code)"),
        (["ru", "EST"], "RU, EST (ISO country codes)"),
        (["Estonia"], "Estonia"),
        (["gb-eng"], "gb-eng"),
    ],
)
def test_a_country_code_is_called_one(values: list[str], said: str) -> None:
    assert countries(values) == said


@pytest.mark.parametrize(
    ("raw", "said"),
    [("sanctions_hit", "sanctions hit"), ("_x", "_x"), ("Not a_code", "Not a_code"), ("clear", "clear")],
)
def test_a_code_is_read_out_and_other_text_is_left_alone(raw: str, said: str) -> None:
    assert plain(raw) == said


@pytest.mark.parametrize(
    ("schema", "said"), [("PublicBody", "Public body"), ("LegalEntity", "Legal entity"), ("odd name", "odd name")]
)
def test_a_schema_is_said_in_words(schema: str, said: str) -> None:
    assert schema_words(schema) == said


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://www.news.example.org/a", "news.example.org"),
        ("http://[broken", "a site that the answer does not name"),
        (None, "a site that the answer does not name"),
    ],
)
def test_a_quotes_source_is_the_site_that_published_it(url: str | None, source: str) -> None:
    assert site(url) == source


def test_a_search_is_named_as_the_way_to_a_quote_and_never_as_its_source(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    page = page_of(client_of(scene.officer), scene.case, "c1")
    assert "Source: news.example.org · found through Tavily" in page
    assert "Text: Managers charged in Tallinn (news.example.org, found through Tavily, " in page


def test_no_raw_code_of_report_or_list_is_left_on_the_page(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    page = page_of(client_of(scene.officer), scene.case)
    for code in ("sanctions_hit", "eu_fsf", ">ee<", ">ru<"):
        assert code not in page
    assert "EE (ISO country code)" in page
    assert "RU (ISO country code)" in page


@pytest.mark.parametrize(("asked", "milliseconds", "told"), [(True, 412, True), (True, 0, False), (False, 3, False)])
def test_how_long_it_took_is_said_only_where_somebody_was_asked_and_it_was_measured(
    scene: scenes.Scene, client_of: Callable[..., Client], asked: bool, milliseconds: int, told: bool
) -> None:
    case = factories.case(scene.tenant)
    silent = NotAnswered("opensanctions", Cause.PROVIDER_TIMEOUT)
    kept = evidence.screening_evidence(scenes.QUERY, silent) if asked else evidence.not_asked(silent)
    factories.verdict(factories.finding_of(case), "indeterminate", evidence=kept, duration_ms=milliseconds)
    assert (", took" in page_of(client_of(scene.officer), case)) is told


def deceiving_case(scene: scenes.Scene) -> Case:
    """Every text of report and answer turns the direction of what stands around it."""
    texts = ("title", "description", "severity", "category", "type", "source", "target", "status", "_provider")
    more = {"source_url": f"https://x.example/{DECEIVING}", DECEIVING: DECEIVING}
    told = [factories.finding(name, **dict.fromkeys(texts, DECEIVING), **more) for name in ("f1", "c1")]
    subject = dict.fromkeys(("name", "entity_type", "country", "registration_number", "birth_date"), DECEIVING)
    case = factories.case(scene.tenant, *told, report_id=f"inv-{BIDI_CONTROLS}", subject=subject)
    text = DECEIVING.replace("\0", "")
    words: dict[str, Any] = dict.fromkeys(("reason", "provider", "model", "prompt_id"), text)
    told_of = kept_of(text)
    for name in ("f1", "c1"):
        factories.verdict(factories.finding_of(case, name), evidence=told_of[name], **words)
    factories.end(factories.run_of(case))
    return case


def kept_of(text: str) -> dict[str, dict[str, Any]]:
    address = f"https://x.example/{text}"
    near = replace(
        scenes.NEAR,
        entity_id=text,
        caption=text,
        schema=text,
        topics=(text,),
        datasets=(text,),
        properties={text: [text], "country": [text]},
        source_urls=(address,),
        last_change=text,
    )
    _, merged, said = scenes.media()
    item = replace(merged.items[0], provider=text, url=address, title=text, text=text, published=text)
    missing = NotAnswered(text, Cause.PROVIDER_ERROR, detail=text)
    found = replace(merged, items=(item,), partial=(missing,), notes=(text,), queries={text: text})
    screened = replace(scenes.screening(near, replace(near, match=True), not_used=(text,)), scope=text, algorithm=text)
    return {
        "f1": evidence.screening_evidence(scenes.QUERY, screened),
        "c1": evidence.media_evidence(text, found, replace(said, quote=text, reason=text, model=text)),
    }


def test_no_text_of_a_report_or_an_answer_can_turn_a_pages_direction(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    case = deceiving_case(scene)
    findings = [factories.finding_of(case, name) for name in ("f1", "c1")]
    factories.decide(scene.second, findings[0], "needs_more", reason=f"{DECEIVING} and long enough to be a reason")
    advisory = factories.report(factories.finding(title=DECEIVING), subject={"name": DECEIVING})
    asks = factories.accept(scene.tenant, {**advisory, "quality_gate": {"advisory_only": True}}).case
    factories.verdict(factories.finding_of(asks), reason="\u202eabc")
    client = client_of(scene.officer)
    addresses = [f"{reverse('case', args=[case.id])}?finding={one.id}" for one in findings]
    addresses += [f"{reverse('progress', args=[case.id])}?finding={one.id}" for one in findings]
    addresses += [reverse("queue"), reverse("cases"), reverse("advisory"), reverse("whole", args=[case.id])]
    addresses += [f"{reverse('cases')}?q=zz%E2%80%AE"]
    found = {}
    for address in addresses:
        page = client.get(address).content.decode()
        found[address] = {f"U+{ord(sign):04X}" for sign in f"{BIDI_CONTROLS}\0" if sign in without_inputs(page)}
    assert {address: signs for address, signs in found.items() if signs} == {}


def without_inputs(page: str) -> str:
    """What a person typed comes back in its field as typed, and what a form carries unseen is no text of the page."""
    return "".join(part.split(">", 1)[1] if place else part for place, part in enumerate(page.split("<input")))


def test_the_advisory_list_marks_what_is_simulated_and_says_would_need_review(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    case = factories.case(scene.tenant, quality_gate={"advisory_only": True})
    factories.verdict(factories.finding_of(case), simulated=True)
    factories.end(factories.run_of(case))
    client = client_of(scene.officer)
    page = client.get(reverse("advisory")).content.decode()
    assert '<tr class="hatched">' in page
    assert "simulated answer" in page
    assert "1 would need review" in page
    assert "advisory: 1 of 1 findings would need review" in page_of(client, case)
    assert "advisory: would need review" in page_of(client, case)
    listed = client.get(reverse("cases"), {"state": "advisory"})
    assert [row.id for row, _ in listed.context["rows"]] == [case.id]
    assert "would need review" in listed.content.decode()
    assert "simulated answers" in listed.content.decode()
    assert case.id not in [row.id for row, _ in client.get(reverse("cases"), {"state": "done"}).context["rows"]]


def poll(client: Client, case: Case, seen: str = "") -> str:
    chosen = {"finding": str(factories.finding_of(case).id), "seen": seen}
    return client.get(reverse("progress", args=[case.id]), chosen).content.decode()


def test_a_poll_brings_all_that_a_verdict_changes(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    case = factories.case(scene.tenant)
    client = client_of(scene.officer)
    assert "simulated answer" not in poll(client, case)
    factories.verdict(factories.finding_of(case), simulated=True)
    running = poll(client, case)
    assert "Re-check again" not in running
    factories.end(factories.run_of(case))
    ended = poll(client, case)
    head = ended.split('id="finding-head"')[1].split("</div>")[0]
    assert "simulated answer" in head
    assert "Re-check again" in ended
    assert 'id="case-state" class="needs"' in ended or 'class="needs" id="case-state"' in ended
    assert f'{4}<span class="visually-hidden"> waiting' in ended.split('id="rail"')[1]


def test_what_a_poll_brings_leads_back_to_the_case_and_not_to_the_poll(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    case = factories.case(scene.tenant)
    client = client_of(scene.officer)
    factories.verdict(factories.finding_of(case))
    brought = [poll(client, case)]
    factories.end(factories.run_of(case))
    brought.append(poll(client, case))
    here = escape(f"{reverse('case', args=[case.id])}?finding={factories.finding_of(case).id}")
    assert f'href="{here}">Refresh' in brought[0]
    assert f'name="next" value="{here}"' in brought[1]


def test_while_a_new_recheck_waits_the_earlier_verdict_is_called_that(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.officer)
    address = reverse("case", args=[scene.case.id])
    assert "from the earlier re-check" not in client.get(address).content.decode()
    client.post(reverse("recheck", args=[scene.case.id]))
    page = page_of(client, scene.case)
    row, answer = page.split('id="findings"')[1].split("</li>")[0], page.split('id="answer"')[1]
    for part in (row, answer):
        assert "from the earlier re-check of <time" in part
    assert "A new re-check was asked for and has not answered yet." in answer
