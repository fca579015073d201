"""The vendors' contracts, answered from the invented content: pure functions from a request to status and body."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from verifier.simulated.content import ARTICLES, LISTINGS, OUTAGE, STATEMENTS, Article, Listed

Answer = tuple[int, Any]
CREATED = 1_780_000_000
UNAVAILABLE: Answer = (503, {"detail": {"error": "Service temporarily unavailable."}})


def match(body: Mapping[str, Any], parameters: Mapping[str, list[str]]) -> Answer:
    """yente's POST /match: every query by its key, with the echo of what was understood."""
    threshold = float(parameters.get("threshold", ["0.7"])[0])
    cutoff = min(float(parameters.get("cutoff", ["0.7"])[0]), threshold)
    queries = body.get("queries") or {}
    if not queries:
        return 400, {"detail": "No queries provided."}
    answers = {key: match_one(query, threshold, cutoff) for key, query in queries.items()}
    return 200, {"responses": answers, "limit": int(parameters.get("limit", ["5"])[0])}


def match_one(query: Mapping[str, Any], threshold: float, cutoff: float) -> dict[str, Any]:
    names = {" ".join(name.casefold().split()) for name in query.get("properties", {}).get("name", [])}
    found = [one for one in LISTINGS if names & set(one.asked_as) and one.score > cutoff and reaches(query, one)]
    results = [listing(one, threshold) for one in found]
    return {
        "status": 200,
        "results": results,
        "total": {"value": sum(result["match"] for result in results), "relation": "eq"},
        "query": {"id": None, "schema": query.get("schema"), "properties": query.get("properties", {})},
    }


def reaches(query: Mapping[str, Any], listed: Listed) -> bool:
    """A query reaches its own schema; a LegalEntity query reaches people and companies."""
    return query.get("schema") in {listed.schema, "LegalEntity"}


def listing(listed: Listed, threshold: float) -> dict[str, Any]:
    name_match = {
        "detail": "name compared",
        "score": listed.score,
        "query": listed.asked_as[0],
        "candidate": listed.caption,
    }
    birth_year = {"detail": "birth years compared", "score": float(listed.birth_year_differs)}
    return {
        "id": listed.entity_id,
        "caption": listed.caption,
        "schema": listed.schema,
        "properties": {**listed.properties, "topics": list(listed.topics)},
        "datasets": ["simulated_list"],
        "referents": [],
        "target": True,
        "first_seen": "2026-01-05T06:00:00",
        "last_seen": "2026-11-30T06:00:00",
        "last_change": "2026-03-12T06:00:00",
        "score": listed.score,
        "explanations": {
            "name_match": name_match,
            "dob_year_disjoint": {**birth_year, "query": None, "candidate": None},
        },
        "match": listed.score >= threshold,
    }


def articles_for(query: str, engine: str) -> list[Article] | None:
    """What the engine has about whom the query names; None during the outage."""
    asked = query.casefold()
    if any(name.casefold() in asked for name in OUTAGE):
        return None
    return [article for article in ARTICLES if engine in article.engines and article.about.casefold() in asked]


def tavily(body: Mapping[str, Any], parameters: Mapping[str, list[str]]) -> Answer:
    found = articles_for(str(body.get("query", "")), "tavily")
    if found is None:
        return UNAVAILABLE
    results = [
        {"title": one.title, "url": one.url, "content": one.text, "score": 0.9, "published_date": one.published}
        for one in found
    ]
    return 200, {"query": body.get("query"), "answer": None, "images": [], "results": results, "response_time": 0.4}


def exa(body: Mapping[str, Any], parameters: Mapping[str, list[str]]) -> Answer:
    found = articles_for(str(body.get("query", "")), "exa")
    if found is None:
        return 503, {"requestId": "simulated", "error": "Service unavailable", "tag": "SERVICE_UNAVAILABLE"}
    results = [
        {"id": one.url, "title": one.title, "url": one.url, "publishedDate": one.published, "text": one.text}
        for one in found
    ]
    return 200, {"requestId": "simulated", "results": results, "costDollars": {"total": 0.0}}


def brightdata(body: Mapping[str, Any], parameters: Mapping[str, list[str]]) -> Answer:
    query = parse_qs(urlsplit(str(body.get("url", ""))).query).get("q", [""])[0]
    found = articles_for(query, "brightdata")
    if found is None:
        return 200, {"status_code": 502, "headers": {"x-brd-error-code": "reject_block"}, "body": ""}
    organic = [
        {"link": one.url, "display_link": one.host, "title": one.title, "description": one.text, "rank": rank}
        for rank, one in enumerate(found, 1)
    ]
    general = {"search_engine": "google", "query": query, "detected_query": query, "results_cnt": len(organic)}
    page = {"general": general, "input": {}, "organic": organic}
    if body.get("format") == "raw":
        return 200, page
    return 200, {"status_code": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(page)}


def judge(body: Mapping[str, Any], parameters: Mapping[str, list[str]]) -> Answer:
    """A chat completion with the one tool call; affirms only what the table of statements ties to the evidence."""
    asked = json.loads(body["messages"][-1]["content"])
    stated = next(
        (one for one in STATEMENTS if one.claim in asked["claim"] and one.sentence in asked["evidence"]), None
    )
    answer = {
        "corroborates": stated is not None,
        "quote": stated.sentence if stated else "",
        "reason": "The article states this of the company itself." if stated else "No article states this claim.",
    }
    call = {"name": "Judgement", "arguments": json.dumps(answer, ensure_ascii=False)}
    message = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [{"id": "call_simulated", "type": "function", "function": call}],
    }
    return 200, {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "created": CREATED,
        "model": str(body.get("model", "")),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}],
        "system_fingerprint": "simulated",
    }


Vendor = Callable[[Mapping[str, Any], Mapping[str, list[str]]], Answer]
OPENSANCTIONS_REFUSAL: Answer = (401, {"detail": "No API key provided."})
TAVILY_REFUSAL: Answer = (401, {"detail": {"error": "Unauthorized: missing or invalid API key."}})
EXA_REFUSAL: Answer = (401, {"requestId": "simulated", "error": "Invalid API key", "tag": "INVALID_API_KEY"})
BRIGHTDATA_REFUSAL: Answer = (401, "Invalid authentication")
OPENAI_REFUSAL: Answer = (
    401,
    {
        "error": {
            "message": "Incorrect API key",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
        }
    },
)
# Path prefix: the header that must carry a key, what it starts with, who answers, and the vendor's own refusal.
ROUTES: dict[str, tuple[str, str, Vendor, Answer]] = {
    "/opensanctions/match/": ("authorization", "ApiKey ", match, OPENSANCTIONS_REFUSAL),
    "/tavily/search": ("authorization", "Bearer ", tavily, TAVILY_REFUSAL),
    "/exa/search": ("x-api-key", "", exa, EXA_REFUSAL),
    "/brightdata/request": ("authorization", "Bearer ", brightdata, BRIGHTDATA_REFUSAL),
    "/openai/v1/chat/completions": ("authorization", "Bearer ", judge, OPENAI_REFUSAL),
}


def answer(path: str, headers: Mapping[str, str], content: bytes) -> Answer:
    """Status and body for a POST, refused as the vendors refuse: unknown path, no key, a body that isn't JSON."""
    address = urlsplit(path)
    route = next((given for prefix, given in ROUTES.items() if address.path.startswith(prefix)), None)
    if route is None:
        return 404, {"detail": "Not Found"}
    header, start, vendor, refusal = route
    if not carries_key(headers.get(header, ""), start):
        return refusal
    try:
        return vendor(json.loads(content), parse_qs(address.query))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return 422, {"detail": [{"type": "value_error", "loc": ["body"], "msg": "Unreadable request"}]}


def carries_key(value: str, start: str) -> bool:
    return value.startswith(start) and bool(value.removeprefix(start).strip())
