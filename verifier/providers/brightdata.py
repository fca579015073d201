"""Bright Data SERP, Google results as JSON: https://docs.brightdata.com/scraping-automation/serp-api/introduction

The outer HTTP status is 200 whatever happened behind it. The real one is inside the wrapper or in an x-brd-status-code
header, and an HTML page may stand where the JSON should be; the vendor's SDK reads all of these as "no results".
Failures inside are not tried again: a blocked query stays blocked for 15 s, and the slot would be held meanwhile.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from verifier.domain.answers import Cause, MediaAnswer, MediaItem, NotAnswered
from verifier.providers.http import QUOTA_STATUSES, Question, Reply, Unanswered, ask, json_object, required_list
from verifier.providers.media import Model, ends_in_mid_sentence, item, media_answer, read_results
from verifier.providers.text import bounded, clean, folded, web_address

ERROR_HEADERS = ("x-brd-error-code", "x-brd-err-code", "x-brd-error", "x-brd-err-msg")
QUOTA_CODES = ("rate_limit", "client_10110", "quota", "balance", "funds")
LISTS = ("organic", "news")  # ai_overview, knowledge and people_also_ask are nobody's publication


class Result(Model):
    link: str
    title: str | None = None
    description: str | None = None
    date: str | None = None


class BrightData:
    name = "brightdata"

    @staticmethod
    def is_configured() -> bool:
        return bool(settings.BRIGHTDATA_API_KEY and settings.BRIGHTDATA_ZONE and settings.BRIGHTDATA_URL)

    async def search(
        self, query: str, *, limit: int, case_id: str, material_type: str, timeout: float
    ) -> MediaAnswer | NotAnswered:
        query = clean(query)
        question = Question(
            provider=self.name,
            url=f"{settings.BRIGHTDATA_URL.rstrip('/')}/request",
            headers={"authorization": f"Bearer {settings.BRIGHTDATA_API_KEY}"},
            body={
                "zone": settings.BRIGHTDATA_ZONE,
                "url": "https://www.google.com/search?" + urlencode({"q": query, "hl": "en", "brd_json": "1"}),
                "format": "json",  # the wrapper: its status can't be lost by a gateway that drops headers
            },
            case_id=case_id,
            about=material_type,
        )
        return await ask(question, lambda reply: read(reply, query, limit), timeout=timeout)


def read(reply: Reply, query: str, limit: int) -> MediaAnswer:
    page = result_page(reply)
    present = [key for key in LISTS if key in page]
    if not present:
        raise Unanswered("the answer holds neither organic nor news results")
    results = [result for key in present for result in read_results(required_list(page, key), Result)]
    notes = query_notes(page, found=bool(results))
    items = [media_item(result) for result in results]
    return media_answer(
        provider=BrightData.name, items=items, query=query, limit=limit, simulated=reply.simulated, notes=notes
    )


def result_page(reply: Reply) -> dict[str, Any]:
    """The parsed result page, out of its wrapper or straight from the body."""
    refuse_inner_failure(reply.headers)
    answer = json_object(reply.body)
    if "status_code" not in answer:
        return answer
    headers = answer.get("headers")
    refuse_inner_failure(dict(lowered(headers)) if isinstance(headers, dict) else {}, answer["status_code"])
    body = answer.get("body")
    if isinstance(body, dict):
        return body
    if not isinstance(body, str):
        raise Unanswered("the wrapper holds no body")
    return json_object(body)


def lowered(headers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        yield name.lower(), str(value[0] if isinstance(value, list) and value else value)


def refuse_inner_failure(headers: Mapping[str, str], *statuses: object) -> None:
    """The status and the codes behind the outer 200, from its own headers or from the wrapped ones."""
    told = {str(status).strip() for status in (*statuses, headers.get("x-brd-status-code", "200"))}
    codes = [headers[name] for name in ERROR_HEADERS if headers.get(name)]
    proxy_error = "error=" in headers.get("proxy-status", "").lower()
    if told == {"200"} and not codes and not proxy_error:
        return
    text = " ".join([*codes, headers.get("proxy-status", "")]).lower()
    if told & set(map(str, QUOTA_STATUSES)) or any(code in text for code in QUOTA_CODES):
        raise Unanswered("a failure inside HTTP 200: quota or rate limit", Cause.QUOTA)
    raise Unanswered("a failure inside HTTP 200")


def query_notes(page: Mapping[str, Any], *, found: bool) -> tuple[str, ...]:
    """What Google was really asked. An empty page is an answer only to a query that is shown to be ours."""
    general = page.get("general")
    general = general if isinstance(general, dict) else {}
    asked, detected = general.get("query"), general.get("detected_query")
    corrected = page.get("spelling")
    if not found and not isinstance(asked, str):
        raise Unanswered("the provider does not say what it searched for", Cause.UNANSWERED_QUERY)
    if not isinstance(detected, str) or not isinstance(asked, str) or folded(detected) == folded(asked):
        return ("The search engine offered another spelling.",) if corrected else ()
    if not corrected and not found:
        raise Unanswered("the search engine answered another query", Cause.UNANSWERED_QUERY)
    change = "corrected the spelling of" if corrected else "changed"
    return (f"The search engine {change} the query; it searched for: {bounded(detected, 400)}",)


def media_item(result: Result) -> MediaItem:
    """A search engine's snippet; news results have only their title and a relative date."""
    text = result.description or ""
    return item(
        provider=BrightData.name,
        url=web_address(result.link),
        title=result.title or "",
        text=text,
        published=result.date or "",
        cut=ends_in_mid_sentence(text),
        title_only=not text.strip(),
    )
