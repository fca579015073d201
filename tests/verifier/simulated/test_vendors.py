"""The demo's stand-in holds the vendors' contracts: keys, echoes, shapes of answers and of refusals."""

import json
from typing import Any

import pytest

from tests.replay import PAYLOADS
from verifier.simulated.__main__ import LATENCY_SECONDS, latency
from verifier.simulated.content import ARTICLES, STATEMENTS
from verifier.simulated.vendors import answer

KEYS = {
    "/opensanctions/match/sanctions": {"authorization": "ApiKey k"},
    "/tavily/search": {"authorization": "Bearer k"},
    "/exa/search": {"x-api-key": "k"},
    "/brightdata/request": {"authorization": "Bearer k"},
    "/openai/v1/chat/completions": {"authorization": "Bearer k"},
}
GOOGLE = "https://www.google.com/search?q={}&brd_json=1"


def ask(path: str, body: object) -> Any:
    status, said = answer(path, KEYS[path.partition("?")[0]], json.dumps(body).encode())
    assert status == 200
    return said


def screened(schema: str, name: str, parameters: str = "") -> Any:
    query = {"schema": schema, "properties": {"name": [name]}}
    said = ask(f"/opensanctions/match/sanctions{parameters}", {"queries": {"q": query}})
    assert said["responses"]["q"]["status"] == 200
    assert said["responses"]["q"]["query"] == {"id": None, **query}
    return said["responses"]["q"]


@pytest.mark.parametrize(
    ("path", "carried"),
    [
        *((path, carried) for path in KEYS for carried in ("", " ")),
        *(
            (path, carried)
            for path in KEYS
            if path != "/exa/search"
            for carried in ("k", "Basic k", "Bearer", "ApiKey ")
        ),
        ("/opensanctions/match/sanctions", "Bearer k"),
        ("/tavily/search", "ApiKey k"),
    ],
)
def test_it_answers_no_one_without_the_vendors_kind_of_key(path: str, carried: str) -> None:
    assert answer(path, {next(iter(KEYS[path])): carried}, b"{}")[0] == 401


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/opensanctions/match/sanctions", "opensanctions/error_401_no_api_key.json"),
        ("/tavily/search", "tavily/error_401.json"),
        ("/exa/search", "exa/error_401_invalid_key.json"),
        ("/openai/v1/chat/completions", "openai/error_404_model.json"),
    ],
)
def test_it_refuses_in_the_shape_the_vendor_was_recorded_with(path: str, file: str) -> None:
    said = answer(path, {}, b"{}")[1]

    assert outline(said) == outline(json.loads((PAYLOADS / file).read_text()))


def outline(value: Any) -> Any:
    return {key: outline(item) for key, item in value.items()} if isinstance(value, dict) else None


def test_a_listed_company_is_found_by_its_schema_and_by_legal_entity() -> None:
    recorded = json.loads((PAYLOADS / "opensanctions/match_company_hit.json").read_text())
    [model] = [one["results"][0] for one in recorded["responses"].values()]

    for schema, found in (("Company", 1), ("LegalEntity", 1), ("Person", 0)):
        response = screened(schema, "  kaldvik   MARITIME as ")
        assert (len(response["results"]), response["total"]) == (found, {"value": found, "relation": "eq"})
    [result] = screened("Company", "Kaldvik Maritime AS")["results"]
    assert set(model) <= set(result)
    assert result["properties"]["topics"] == ["sanction"]


@pytest.mark.parametrize(("parameters", "limit"), [("", 5), ("?limit=50", 50)])
def test_a_screening_says_the_limit_it_was_asked_with(parameters: str, limit: int) -> None:
    body = {"queries": {"q": {"schema": "Company", "properties": {"name": ["Somebody Else Ltd"]}}}}

    assert ask(f"/opensanctions/match/sanctions{parameters}", body)["limit"] == limit


def test_it_takes_as_long_again_over_the_same_request() -> None:
    least, most = LATENCY_SECONDS
    contents = [f'{{"query": "{number}"}}'.encode() for number in range(50)]
    waits = [latency(content) for content in contents]

    assert waits == [latency(content) for content in contents]
    assert all(least <= wait <= most for wait in waits)
    assert len(set(waits)) > 1


@pytest.mark.parametrize(
    ("parameters", "results"),
    [("", 0), ("?threshold=0.7&cutoff=0.49", 1), ("?threshold=0.7&cutoff=0.63", 0), ("?threshold=0.6&cutoff=0.5", 1)],
)
def test_a_near_miss_is_shown_only_above_the_cutoff_asked_for(parameters: str, results: int) -> None:
    response = screened("Person", "Paolo Orsini", parameters)

    assert len(response["results"]) == results
    assert response["total"]["value"] == int("threshold=0.6" in parameters)


@pytest.mark.parametrize(
    ("path", "body", "items"),
    [
        ("/tavily/search", {"query": "{}"}, lambda said: said["results"]),
        ("/exa/search", {"query": "{}"}, lambda said: said["results"]),
        ("/brightdata/request", {"url": GOOGLE, "format": "raw"}, lambda said: said["organic"]),
        ("/brightdata/request", {"url": GOOGLE, "format": "json"}, lambda said: json.loads(said["body"])["organic"]),
    ],
)
def test_a_search_finds_what_it_names_and_nothing_else(path: str, body: dict[str, str], items: Any) -> None:
    def found(name: str) -> int:
        return len(items(ask(path, {key: text.replace("{}", name) for key, text in body.items()})))

    assert found("Kaldvik Maritime AS") > 0
    assert found("Somebody Else Ltd") == 0


@pytest.mark.parametrize("path", ["/tavily/search", "/exa/search"])
def test_the_outage_is_an_error_and_no_empty_answer(path: str) -> None:
    assert answer(path, KEYS[path], json.dumps({"query": '"Tomasz Wierzba" fraud'}).encode())[0] == 503


def test_the_outage_of_the_wrapping_vendor_stands_inside_its_wrapper() -> None:
    said = ask("/brightdata/request", {"url": GOOGLE.replace("{}", "Tomasz+Wierzba"), "format": "json"})

    assert said["status_code"] == 502


def judged(claim: str, evidence: str) -> Any:
    question = json.dumps({"claim": claim, "evidence": evidence})
    said = ask("/openai/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": question}]})
    [call] = said["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "Judgement"
    return json.loads(call["function"]["arguments"])


def test_the_judge_affirms_only_what_is_tied_to_a_sentence_that_was_found() -> None:
    for one in STATEMENTS:
        assert judged(one.claim, f"… {one.sentence} …") == {
            "corroborates": True,
            "quote": one.sentence,
            "reason": "The article states this of the company itself.",
        }
        assert judged(one.claim, "Another text.")["corroborates"] is False
        assert judged("Another claim", one.sentence)["corroborates"] is False


def test_every_statement_stands_literally_in_an_article() -> None:
    assert all(any(one.sentence in article.text for article in ARTICLES) for one in STATEMENTS)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"messages": []}', b'{"queries": 3}', b'"x"'])
def test_a_request_that_can_not_be_read_is_refused(content: bytes) -> None:
    for path in ("/opensanctions/match/sanctions", "/openai/v1/chat/completions"):
        assert answer(path, KEYS[path], content)[0] in {400, 422}


def test_another_path_is_not_found() -> None:
    assert answer("/v1/other", {"authorization": "Bearer k"}, b"{}")[0] == 404
