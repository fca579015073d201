"""OpenSanctions: what is sent, when an answer is one, what is read from it, and the echo held against the question."""

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from tests.replay import PAYLOADS, Answer, recorded, said, serving
from tests.verifier.providers.vendors import COMPANY, PERSON, SECRET, point_at, screen
from verifier.domain.answers import Cause, Listing, NotAnswered, ScreeningAnswer, ScreeningQuery
from verifier.providers import screening_provider
from verifier.providers.http import Reply, Unanswered
from verifier.providers.opensanctions import KEY, LIMIT, Asked
from verifier.providers.text import folded

NAME = "Viktor Petrovich Malinovskij"


def result(**changes: Any) -> dict[str, Any]:
    return {
        "id": "NK-1",
        "caption": NAME,
        "schema": "Person",
        "properties": {"name": [NAME], "topics": ["sanction"]},
        "score": 0.9,
        "match": True,
        "explanations": {"name_match": {"score": 1.0, "detail": "x", "query": NAME, "candidate": NAME}},
        **changes,
    }


def match_answer(
    results: object = None, *, query: ScreeningQuery = PERSON, echo: object = None, key: str = KEY, **changes: Any
) -> Answer:
    understood = {"schema": query.schema, "properties": query.properties} if echo is None else echo
    answer = {"status": 200, "results": [] if results is None else results, "query": understood, **changes}
    return said({"responses": {key: answer}, "limit": 5})


def screened(settings: Any, answer: Answer, query: ScreeningQuery = PERSON) -> ScreeningAnswer | NotAnswered:
    with serving(answer) as replay:
        point_at(settings, replay.url)
        return screen(query)


def listings_of(settings: Any, *results: dict[str, Any], query: ScreeningQuery = PERSON) -> tuple[Listing, ...]:
    answer = screened(settings, match_answer(list(results), query=query), query)
    assert isinstance(answer, ScreeningAnswer)
    return answer.listings


def test_it_sends_one_query_with_the_policy_in_the_address(settings: Any) -> None:
    settings.OPENSANCTIONS_DATASET = "sanctions"
    settings.OPENSANCTIONS_THRESHOLD, settings.OPENSANCTIONS_CUTOFF = 0.7, 0.5
    with serving(recorded("opensanctions/match_empty.json")) as replay:
        point_at(settings, replay.url + "/opensanctions/")
        answer = screen(COMPANY)
    (request,) = replay.requests
    assert (request.method, request.path) == ("POST", "/opensanctions/match/sanctions")
    assert parse_qs(request.query) == {
        "threshold": ["0.7"],
        "cutoff": ["0.49"],  # a score equal to the cutoff would be dropped
        "algorithm": [settings.OPENSANCTIONS_ALGORITHM],
        "limit": [str(LIMIT)],
    }
    assert request.headers["authorization"] == f"ApiKey {SECRET}"
    assert list(request.body["queries"].values()) == [
        {"schema": "Company", "properties": {"name": ["Nordwind Bakery Oy"], "jurisdiction": ["fi"]}}
    ]
    assert isinstance(answer, ScreeningAnswer)
    assert (answer.query, answer.scope, answer.threshold, answer.cutoff) == (COMPANY, "sanctions", 0.7, 0.5)
    assert (answer.algorithm, answer.total_matches) == (settings.OPENSANCTIONS_ALGORITHM, 0)


def test_a_self_hosted_server_is_asked_without_a_key(settings: Any) -> None:
    with serving(recorded("opensanctions/match_empty.json")) as replay:
        point_at(settings, replay.url)
        settings.OPENSANCTIONS_API_KEY = ""
        assert isinstance(screen(COMPANY), ScreeningAnswer)
    assert "authorization" not in replay.requests[0].headers


def test_a_dataset_name_cannot_change_the_path(settings: Any) -> None:
    settings.OPENSANCTIONS_DATASET = "../entities?x"
    with serving(recorded("opensanctions/match_empty.json")) as replay:
        point_at(settings, replay.url)
        screen(COMPANY)
    assert replay.requests[0].path == "/match/..%2Fentities%3Fx"


@pytest.mark.parametrize(
    ("key", "url", "configured"),
    [("k", "", True), ("", "http://yente.internal:8000", True), ("k", "http://yente", True), ("", "", False)],
)
def test_it_is_configured_by_a_key_or_an_own_server(settings: Any, key: str, url: str, configured: bool) -> None:
    settings.OPENSANCTIONS_API_KEY, settings.OPENSANCTIONS_URL = key, url
    provider = screening_provider()
    assert (provider is not None) is configured
    if provider:
        assert provider.name == "opensanctions"
        assert Asked(PERSON).question("c").url.startswith(url or "https://api.opensanctions.org/match/")


@pytest.mark.parametrize("names", [[], [""], ["  ", "\u3000"]])
def test_it_asks_nothing_without_a_name(settings: Any, names: list[str]) -> None:
    with serving(recorded("opensanctions/match_empty_name_list.json")) as replay:
        point_at(settings, replay.url)
        answer = screen(ScreeningQuery("Person", {"name": names}))
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.UNANSWERED_QUERY
    assert replay.requests == []


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (match_answer(key="q1"), Cause.PROVIDER_ERROR),
        (match_answer(status=500), Cause.PROVIDER_ERROR),
        (match_answer(status=503), Cause.PROVIDER_ERROR),
        (match_answer(status=202), Cause.PROVIDER_ERROR),
        (match_answer(status="200"), Cause.PROVIDER_ERROR),
        (match_answer(status=True), Cause.PROVIDER_ERROR),
        (match_answer(status=None), Cause.PROVIDER_ERROR),
        (match_answer(status=[429]), Cause.PROVIDER_ERROR),
        (match_answer(status=429), Cause.QUOTA),
        (match_answer(results={}), Cause.PROVIDER_ERROR),
        (match_answer(results="none"), Cause.PROVIDER_ERROR),
        (match_answer(total={"value": 3, "relation": "eq"}), Cause.PROVIDER_ERROR),
        (match_answer(total={"value": "0"}), Cause.PROVIDER_ERROR),
        (match_answer(total=0), Cause.PROVIDER_ERROR),
        (match_answer([None]), Cause.PROVIDER_ERROR),
        (match_answer([result(match="true")]), Cause.PROVIDER_ERROR),
        (match_answer([result(match=1)]), Cause.PROVIDER_ERROR),
        (match_answer([result(score="0.9")]), Cause.PROVIDER_ERROR),
        (match_answer([result(score=1.5)]), Cause.PROVIDER_ERROR),
        (match_answer([result(score=True)]), Cause.PROVIDER_ERROR),
        (match_answer([result(score=None)]), Cause.PROVIDER_ERROR),
        (match_answer([result(id="")]), Cause.PROVIDER_ERROR),
        (match_answer([result(properties=[])]), Cause.PROVIDER_ERROR),
        (match_answer([result(properties={"topics": "sanction"})]), Cause.PROVIDER_ERROR),
        (match_answer([result(properties={"topics": [1]})]), Cause.PROVIDER_ERROR),
        (match_answer([result(), result(id=7)]), Cause.PROVIDER_ERROR),
        (match_answer(echo={}), Cause.UNANSWERED_QUERY),
        (match_answer(echo=[]), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Person"}), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Company", "properties": {"name": [NAME]}}), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Person", "properties": {}}), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Person", "properties": {"name": []}}), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Person", "properties": {"name": NAME}}), Cause.UNANSWERED_QUERY),
        (match_answer(echo={"schema": "Person", "properties": {"name": ["Viktor"]}}), Cause.UNANSWERED_QUERY),
        (match_answer([result()], echo={"schema": "Person", "properties": {"name": ["X"]}}), Cause.UNANSWERED_QUERY),
    ],
)
def test_what_proves_nothing_is_not_answered(settings: Any, answer: Answer, cause: Cause) -> None:
    outcome = screened(settings, answer)
    assert isinstance(outcome, NotAnswered)
    assert (outcome.cause, outcome.http_status) == (cause, 200)


@pytest.mark.parametrize(
    ("sent", "echoed"),
    [
        ("Acme  Trading\tOÜ", "acme trading oü"),
        ("ＡＣＭＥ Trading", "Acme Trading"),
        ("Acme\u200b Trading\u202e", "Acme Trading"),
        ("O\u0308zge Çığ", "Özge Çığ"),
        ("ООО «Ромашка»", "ООО Ромашка"),
        ('"Acme" Trading', "Acme Trading"),
        ("O'Neill", "O’Neill"),
        ("STRASSE", "straße"),
        ("Acme\x00 Trading", "Acme\ufffd Trading"),
        ("Acme \ud800", "Acme \ufffd"),
    ],
)
def test_the_echo_may_be_cleaned_and_folded(settings: Any, sent: str, echoed: str) -> None:
    echo = {"schema": "Company", "properties": {"name": [echoed]}}
    answer = screened(settings, match_answer(echo=echo), ScreeningQuery("Company", {"name": [sent]}))
    assert isinstance(answer, ScreeningAnswer)
    assert "\x00" not in answer.query.properties["name"][0]


@pytest.mark.parametrize(
    ("sent", "echoed", "not_used"),
    [
        ({"birthDate": ["1961-04-07"]}, {"birthDate": ["1961-04-07"]}, ()),
        ({"birthDate": ["1961-04-07"]}, {}, ("birthDate",)),
        ({"birthDate": ["1961-00-00"]}, {"birthDate": ["1961"]}, ("birthDate",)),
        ({"country": ["Russia"]}, {"country": ["ru"]}, ()),
        ({"country": ["ru", "by"]}, {"country": ["ru"]}, ("country",)),
        ({"country": ["RU", "ru"]}, {"country": ["ru"]}, ()),
        ({"dob": ["1984"], "nationality": ["Atlantis"]}, {}, ("dob", "nationality")),
        ({"alias": [""]}, {}, ()),
        ({"name": [NAME, "Vitya"]}, {}, ("name",)),
        ({"idNumber": ["5"]}, {"idNumber": None}, ("idNumber",)),
    ],
)
def test_it_tells_which_sent_properties_were_not_used(
    settings: Any, sent: dict[str, list[str]], echoed: dict[str, Any], not_used: tuple[str, ...]
) -> None:
    query = ScreeningQuery("Person", {"name": [NAME], **sent})
    answer = screened(
        settings, match_answer(echo={"schema": "Person", "properties": {"name": [NAME], **echoed}}), query
    )
    assert isinstance(answer, ScreeningAnswer)
    assert answer.not_used == not_used


@pytest.mark.parametrize(
    ("explanations", "contradicts"),
    [
        ({"dob_year_disjoint": {"score": 1.0}}, True),
        ({"dob_day_disjoint": {"score": 1.0}}, True),
        ({"dob_day_disjoint": {"score": 0.5}}, False),  # day and month swapped
        (
            {"dob_year_disjoint": {"score": 0.0}, "dob_day_disjoint": {"score": 0.0}},
            False,
        ),  # listed, but scored nothing
        ({"gender_mismatch": {"score": 1.0}}, False),
    ],
)
def test_a_birth_date_contradicts_by_the_scorers_word(
    settings: Any, explanations: dict[str, Any], contradicts: bool
) -> None:
    (listing,) = listings_of(settings, result(explanations=explanations))
    assert listing.birth_date_contradicts is contradicts


@pytest.mark.parametrize(
    ("listed", "contradicts"),
    [(["1961"], False), (["1984-01-02"], True), (["1984", "1961-04-07"], False), ([], False)],
)
def test_without_explanations_the_birth_years_are_compared(settings: Any, listed: list[str], contradicts: bool) -> None:
    properties = {"name": [NAME], "topics": ["sanction"], "birthDate": listed}
    (listing,) = listings_of(settings, result(explanations={}, properties=properties))
    assert listing.birth_date_contradicts is contradicts


@pytest.mark.parametrize(
    ("names", "explanations", "single"),
    [
        (["Malinovskij"], {"name_match": {"score": 1.0, "query": "Malinovskij", "candidate": NAME}}, True),
        ([NAME], {"name_match": {"score": 1.0, "query": NAME, "candidate": "Malinovskij"}}, True),
        ([NAME, "Vitya"], {"name_match": {"score": 1.0, "query": "Vitya", "candidate": NAME}}, True),
        ([NAME], {"name_match": {"score": 1.0, "query": NAME, "candidate": NAME}}, False),
        (["Malinovskij"], {}, True),
        (["Malinovskij"], {"name_match": {"score": 0.0, "query": None, "candidate": None}}, True),
        (["Malinovskij"], {"identifier_match": {"score": 1.0}}, False),
        (["Gazprom"], {"lei_code_match": {"score": 1.0}}, False),
        (["Gazprom"], {"lei_code_match": {"score": 0.0}, "ogrn_code_match": {"score": 0.0}}, True),
        (["Gazprom"], {"country_mismatch": {"score": 1.0}}, True),
        (["Gazprom"], {"name_match": {"score": 1.0, "query": "Gazprom Neft", "candidate": "PAO Gazprom Neft"}}, False),
        (["  Malinovskij\u200b "], {}, True),
        (["Smith-Jones"], {}, False),
        (["北極星貿易有限公司"], {}, False),  # written without spaces
        (["김정은"], {}, False),
        (["Малиновский"], {}, True),
    ],
)
def test_it_tells_a_match_that_rests_on_one_word(
    settings: Any, names: list[str], explanations: dict[str, Any], single: bool
) -> None:
    query = ScreeningQuery("Person", {"name": names})
    (listing,) = listings_of(settings, result(explanations=explanations), query=query)
    assert listing.name_only_single_token is single


def test_listings_come_in_a_stable_order_whatever_the_ranking(settings: Any) -> None:
    results = [
        result(id="b", score=1),
        result(id="a", score=1.0),
        result(id="c", score=0.71),
        result(id="d", score=0.9),
    ]
    for order in (results, results[::-1], results[2:] + results[:2]):
        assert [listing.entity_id for listing in listings_of(settings, *order)] == ["a", "b", "d", "c"]


def test_a_bound_on_listings_never_loses_the_sanctioned_match(settings: Any) -> None:
    others = [result(id=f"o{n}", score=1.0, properties={"topics": ["role.pep"]}) for n in range(LIMIT + 20)]
    near = [result(id=f"n{n}", score=0.69, match=False) for n in range(LIMIT)]
    doubted = result(id="doubted", score=0.95, explanations={"dob_year_disjoint": {"score": 1.0}})
    listings = listings_of(settings, *others, *near, doubted, result(id="listed", score=0.72))
    assert len(listings) == LIMIT
    assert {"listed", "doubted"} < {listing.entity_id for listing in listings}


def test_what_is_kept_of_a_huge_answer_is_bounded_and_still_the_hit(settings: Any) -> None:
    query = ScreeningQuery("Company", {"name": ["Global Trade Holding LLC"]})
    answer = screened(settings, recorded("opensanctions/match_huge.json"), query)
    assert isinstance(answer, ScreeningAnswer)
    assert len(answer.listings) == LIMIT
    assert answer.total_matches == 120
    assert all(listing.match and listing.topics == ("sanction",) for listing in answer.listings)
    assert max(len(listing.properties["name"]) for listing in answer.listings) <= 5
    assert len(json.dumps([listing.properties for listing in answer.listings])) < 60_000


def test_text_that_no_database_holds_is_replaced(settings: Any) -> None:
    properties = {
        "name": ["A\x00B"],
        "topics": ["sanction"],
        "address": ["\ud800 street"],
        "sourceUrl": ["javascript:1"],
    }
    odd = result(id="N\x00K", caption="\udfff", properties=properties)
    (listing,) = listings_of(settings, odd)
    assert (listing.entity_id, listing.caption) == ("N\ufffdK", "\ufffd")
    assert listing.properties == {"name": ["A\ufffdB"], "address": ["\ufffd street"]}
    assert listing.source_urls == ()


def test_odd_but_harmless_keys_do_not_make_an_answer_unreadable(settings: Any) -> None:
    odd = result(features={"x": 1}, target=None, referents=None, new_key={}, last_change=None)
    odd["properties"] = {"topics": ["sanction", "brand.new"], "name": [NAME, {"nested": 1}], "sanctions": [{"id": "x"}]}
    (listing,) = listings_of(settings, odd)
    assert listing.topics == ("sanction", "brand.new")
    assert listing.properties == {"name": [NAME]}


json_values: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        0.5,
        200,
        429,
        "",
        "x",
        "200",
        [],
        {},
        ["x"],
        [None],
        [{}],
        {"x": 1},
        {"value": 0},
        {"topics": []},
    ]
)
answer_keys = st.sampled_from(["status", "results", "total", "query"])
result_keys = st.sampled_from(["id", "score", "match", "schema", "properties", "explanations", "topics"])


@example_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(answer_keys, json_values), st.dictionaries(result_keys, json_values))
def test_no_reply_breaks_the_reading_or_turns_a_broken_answer_into_a_clear_one(
    answer_changes: dict[str, Any], result_changes: dict[str, Any]
) -> None:
    answer = {
        "status": 200,
        "results": [result(**result_changes)],
        "total": {"value": 1},
        "query": {"schema": "Person", "properties": PERSON.properties},
        **answer_changes,
    }
    body = json.dumps({"responses": {KEY: answer}}).encode()
    try:
        read = Asked(PERSON).read(Reply({}, body, simulated=False))
    except Unanswered:
        return
    assert answer["status"] == 200
    assert isinstance(answer["results"], list)
    assert len(read.listings) == len(answer["results"])
    assert answer["query"]["properties"]["name"][0] == NAME


def test_every_recorded_echo_holds_its_own_question() -> None:
    """Guards the comparison itself: what the recorded server cleaned must still count as ours."""
    for file in sorted(PAYLOADS.glob("opensanctions/match_*hit*.json")):
        answer = next(iter(json.loads(file.read_text())["responses"].values()))
        explained = [one["explanations"]["name_match"]["query"] for one in answer["results"]]
        assert {folded(name) for name in explained} <= {folded(name) for name in answer["query"]["properties"]["name"]}
