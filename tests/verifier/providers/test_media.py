"""Tavily, Exa and Bright Data: what is sent, when an answer is one, and what of it is evidence text."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from tests.replay import Answer, recorded, said, serving
from tests.verifier.providers.vendors import MEDIA_QUERY, SECRET, point_at, search
from verifier.domain.answers import Cause, MediaAnswer, MediaItem, NotAnswered
from verifier.providers import brightdata, exa, media_providers, tavily
from verifier.providers.http import Reply, Unanswered

TITLE = "Prosecutor charges Acme Trading OÜ with money laundering"
PASSAGE = "charged Acme Trading OÜ of Tallinn"
GENERAL = {"query": MEDIA_QUERY, "detected_query": MEDIA_QUERY}
VENDORS = ("tavily", "exa", "brightdata")


def found(settings: Any, vendor: str, answer: Answer, query: str = MEDIA_QUERY, limit: int = 20) -> MediaAnswer:
    outcome = searched(settings, vendor, answer, query, limit)
    assert isinstance(outcome, MediaAnswer)
    return outcome


def searched(
    settings: Any, vendor: str, answer: Answer, query: str = MEDIA_QUERY, limit: int = 20
) -> MediaAnswer | NotAnswered:
    with serving(answer) as replay:
        point_at(settings, replay.url)
        return search(vendor, query, limit=limit)


def serp(wrapped: bool = False, **page: Any) -> Answer:
    page = {"general": GENERAL, **page}
    return said({"status_code": 200, "headers": {}, "body": json.dumps(page)} if wrapped else page)


def test_tavily_is_asked_for_results_and_not_for_its_own_answer(settings: Any) -> None:
    with serving(recorded("tavily/search_ok_supports.json")) as replay:
        point_at(settings, replay.url + "/tavily")
        search("tavily", limit=50)
    (request,) = replay.requests
    assert (request.method, request.path, request.query) == ("POST", "/tavily/search", "")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.body == {
        "query": MEDIA_QUERY,
        "topic": "general",
        "search_depth": "advanced",
        "max_results": 20,  # the vendor refuses more
        "include_answer": False,
        "include_raw_content": False,
    }


def test_exa_is_asked_for_text_and_highlights(settings: Any) -> None:
    with serving(recorded("exa/search_ok_supports.json")) as replay:
        point_at(settings, replay.url + "/exa/")
        search("exa", limit=20)
    (request,) = replay.requests
    assert (request.method, request.path, request.query) == ("POST", "/exa/search", "")
    assert request.headers["x-api-key"] == SECRET
    assert request.body == {
        "query": MEDIA_QUERY,
        "type": "auto",
        "numResults": 20,
        "contents": {"text": {"maxCharacters": 4000}, "highlights": True},
    }


def test_bright_data_is_asked_for_a_google_page_as_json(settings: Any) -> None:
    with serving(recorded("brightdata/json_wrapped_ok.json")) as replay:
        point_at(settings, replay.url + "/brightdata")
        search("brightdata")
    (request,) = replay.requests
    assert (request.method, request.path, request.query) == ("POST", "/brightdata/request", "")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    address = urlsplit(request.body.pop("url"))
    assert request.body == {"zone": "serp_api1", "format": "json"}
    assert f"{address.scheme}://{address.netloc}{address.path}" == "https://www.google.com/search"
    assert parse_qs(address.query) == {"q": [MEDIA_QUERY], "hl": ["en"], "brd_json": ["1"]}


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ([], ["tavily", "exa", "brightdata"]),
        (["TAVILY_API_KEY"], ["exa", "brightdata"]),
        (["EXA_API_KEY"], ["tavily", "brightdata"]),
        (["BRIGHTDATA_API_KEY"], ["tavily", "exa"]),
        (["BRIGHTDATA_ZONE"], ["tavily", "exa"]),
        (["TAVILY_API_KEY", "EXA_API_KEY", "BRIGHTDATA_ZONE"], []),
    ],
)
def test_only_configured_vendors_are_there(settings: Any, missing: list[str], names: list[str]) -> None:
    point_at(settings, "http://127.0.0.1:1")
    for name in missing:
        setattr(settings, name, "")
    assert [provider.name for provider in media_providers()] == names


@pytest.mark.parametrize(
    ("vendor", "answer", "cause"),
    [
        ("tavily", said({"query": "another question", "results": []}), Cause.UNANSWERED_QUERY),
        ("tavily", said({"query": '{"input": "x"}', "results": [{"url": "u"}]}), Cause.UNANSWERED_QUERY),
        ("tavily", said({"query": 7, "results": []}), Cause.UNANSWERED_QUERY),
        ("tavily", said({"results": None}), Cause.PROVIDER_ERROR),
        ("tavily", said({"results": [None]}), Cause.PROVIDER_ERROR),
        ("tavily", said({"results": [{"title": "no address"}]}), Cause.PROVIDER_ERROR),
        ("tavily", said({"results": [{"url": "u", "content": ["x"]}]}), Cause.PROVIDER_ERROR),
        ("tavily", said({"results": [{"url": "https://a.example", "title": " "}]}), Cause.PROVIDER_ERROR),
        ("tavily", said({"detail": {"error": "Internal"}}), Cause.PROVIDER_ERROR),
        ("tavily", said({"detail": {"error": "exceeds your plan's set usage limit"}}), Cause.QUOTA),
        ("tavily", said({"error": {"code": "rate_limit", "retry_after_seconds": 5}}), Cause.QUOTA),
        ("exa", said({"requestId": "1"}), Cause.PROVIDER_ERROR),
        ("tavily", said({"query": "q", "results": [], "detail": {"error": "Rate limit"}}), Cause.QUOTA),
        ("tavily", said({"query": "q", "results": [], "error": "Internal"}), Cause.PROVIDER_ERROR),
        ("exa", said({"error": "Internal", "tag": "INTERNAL"}), Cause.PROVIDER_ERROR),
        ("exa", said({"results": [], "error": "NO_MORE_CREDITS", "tag": "NO_MORE_CREDITS"}), Cause.QUOTA),
        ("exa", said({"results": [], "tag": "INTERNAL_ERROR"}), Cause.PROVIDER_ERROR),
        ("exa", said({"error": "No more", "tag": "NO_MORE_CREDITS"}), Cause.QUOTA),
        ("exa", said({"error": "no", "tag": "TEAM_BUDGET_EXCEEDED"}), Cause.QUOTA),
        ("exa", said({"results": "none"}), Cause.PROVIDER_ERROR),
        ("exa", said({"results": [{"url": "u", "highlights": "x"}]}), Cause.PROVIDER_ERROR),
        ("exa", said({"results": [{"id": "x", "url": None}]}), Cause.PROVIDER_ERROR),
        ("brightdata", said({"organic": []}), Cause.UNANSWERED_QUERY),  # what a parse failure looks like
        ("brightdata", said({"general": GENERAL}), Cause.PROVIDER_ERROR),
        ("brightdata", serp(organic=None), Cause.PROVIDER_ERROR),
        ("brightdata", serp(organic=[], news={}), Cause.PROVIDER_ERROR),
        ("brightdata", serp(organic=["x"]), Cause.PROVIDER_ERROR),
        ("brightdata", serp(organic=[{"title": "no link"}]), Cause.PROVIDER_ERROR),
        ("brightdata", serp(ai_overview={"texts": ["x"]}), Cause.PROVIDER_ERROR),
        ("brightdata", serp(organic=[], general={"query": "a b", "detected_query": "a"}), Cause.UNANSWERED_QUERY),
        ("brightdata", serp(organic=[], general={"detected_query": "a"}), Cause.UNANSWERED_QUERY),
        ("brightdata", serp(organic=[], general=[]), Cause.UNANSWERED_QUERY),
        ("brightdata", said({"error": "x", "error_code": "validation"}), Cause.PROVIDER_ERROR),
    ],
)
def test_what_proves_nothing_is_not_answered(settings: Any, vendor: str, answer: Answer, cause: Cause) -> None:
    outcome = searched(settings, vendor, answer)
    assert isinstance(outcome, NotAnswered)
    assert (outcome.cause, outcome.http_status, outcome.provider) == (cause, 200, vendor)


EMPTY_PAGE = json.dumps({"general": GENERAL, "organic": []})


@pytest.mark.parametrize(
    ("status", "headers", "body", "cause"),
    [
        (429, {}, "", Cause.QUOTA),
        (402, {}, EMPTY_PAGE, Cause.QUOTA),
        (502, {}, EMPTY_PAGE, Cause.PROVIDER_ERROR),
        ("429", {}, EMPTY_PAGE, Cause.QUOTA),
        (None, {}, EMPTY_PAGE, Cause.PROVIDER_ERROR),
        (200, {"x-brd-error-code": "reject_block"}, EMPTY_PAGE, Cause.PROVIDER_ERROR),
        (200, {"X-BRD-Err-Code": "client_10110"}, EMPTY_PAGE, Cause.QUOTA),
        (200, {"x-brd-error-code": "bucket_rate_limit"}, EMPTY_PAGE, Cause.QUOTA),
        (200, {"x-brd-status-code": "502"}, EMPTY_PAGE, Cause.PROVIDER_ERROR),
        (200, {"x-brd-status-code": ["429"]}, EMPTY_PAGE, Cause.QUOTA),
        (200, {"proxy-status": "brd; error=destination_unavailable"}, EMPTY_PAGE, Cause.PROVIDER_ERROR),
        (200, {}, "", Cause.PROVIDER_ERROR),
        (200, {}, None, Cause.PROVIDER_ERROR),
        (200, {}, 5, Cause.PROVIDER_ERROR),
        (200, {}, "<html></html>", Cause.PROVIDER_ERROR),
        (200, {}, EMPTY_PAGE[:-1], Cause.PROVIDER_ERROR),
        (200, {}, "[]", Cause.PROVIDER_ERROR),
        (200, None, "{}", Cause.PROVIDER_ERROR),
    ],
)
def test_a_failure_inside_the_wrapper_is_no_answer_and_asked_once(
    settings: Any, status: object, headers: object, body: object, cause: Cause
) -> None:
    with serving(said({"status_code": status, "headers": headers, "body": body})) as replay:
        point_at(settings, replay.url)
        outcome = search("brightdata")
    assert isinstance(outcome, NotAnswered)
    assert outcome.cause is cause
    assert len(replay.requests) == 1


@pytest.mark.parametrize(
    ("headers", "cause"),
    [
        ({"x-brd-status-code": "502"}, Cause.PROVIDER_ERROR),
        ({"x-brd-status-code": "429"}, Cause.QUOTA),
        ({"x-brd-status-code": "maybe"}, Cause.PROVIDER_ERROR),
        ({"x-brd-error-code": "unexpected_q"}, Cause.PROVIDER_ERROR),
        ({"x-brd-err-code": "sr_rate_limit"}, Cause.QUOTA),
        ({"x-brd-err-msg": "failed"}, Cause.PROVIDER_ERROR),
        ({"proxy-status": "brd; error=proxy_internal_error"}, Cause.PROVIDER_ERROR),
    ],
)
def test_a_failure_told_by_an_outer_header_is_no_answer(settings: Any, headers: dict[str, str], cause: Cause) -> None:
    outcome = searched(settings, "brightdata", Answer(200, EMPTY_PAGE.encode(), headers))
    assert isinstance(outcome, NotAnswered)
    assert outcome.cause is cause


@pytest.mark.parametrize("headers", [{"x-brd-status-code": "200"}, {"proxy-status": "brd"}, {}])
def test_headers_that_tell_no_failure_leave_the_answer(settings: Any, headers: dict[str, str]) -> None:
    outcome = searched(settings, "brightdata", Answer(200, EMPTY_PAGE.encode(), headers))
    assert outcome == MediaAnswer("brightdata", (), MEDIA_QUERY)


@pytest.mark.parametrize("wrapped", [False, True])
def test_both_shapes_of_a_result_page_are_read_alike(settings: Any, wrapped: bool) -> None:
    organic = [{"link": "https://a.example/1", "title": "T", "description": "The whole sentence.", "rank": 1}]
    news = [{"link": "https://b.example/2", "title": "N", "date": "3 days ago", "image": "data:image/png;base64,AA"}]
    answer = found(
        settings, "brightdata", serp(wrapped, organic=organic, news=news, knowledge={"description": "never"})
    )
    assert answer.items == (
        MediaItem("brightdata", "https://a.example/1", "T", "The whole sentence."),
        MediaItem("brightdata", "https://b.example/2", "N", "", published="3 days ago", title_only=True),
    )


@pytest.mark.parametrize(
    ("description", "cut"),
    [
        ("A whole sentence.", False),
        ("broken off in two ban", True),
        ("and so on ...", True),
        ("so on …", True),
        ("", False),
    ],
)
def test_a_snippet_that_breaks_off_is_marked(settings: Any, description: str, cut: bool) -> None:
    page = serp(organic=[{"link": "https://a.example", "title": "T", "description": description}])
    assert found(settings, "brightdata", page).items[0].cut is cut


def test_a_corrected_or_changed_query_is_noted(settings: Any) -> None:
    organic = [{"link": "https://a.example", "title": "T"}]
    changed = {"query": MEDIA_QUERY, "detected_query": "Acme Trading OU"}
    spelling = {"query": "Acme Trading OU"}
    for page in (serp(organic=organic, general=changed), serp(organic=organic, general=changed, spelling=spelling)):
        (note,) = found(settings, "brightdata", page).notes
        assert note.endswith("it searched for: Acme Trading OU")
    empty = found(settings, "brightdata", serp(organic=[], general=changed, spelling=spelling))
    assert (len(empty.items), len(empty.notes)) == (0, 1)
    assert found(settings, "brightdata", serp(organic=organic)).notes == ()


@pytest.mark.parametrize("echo", [MEDIA_QUERY.upper(), f"  {MEDIA_QUERY} ", "Acme  Trading OÜ money laundering", None])
def test_tavilys_echo_may_be_cleaned_or_absent(settings: Any, echo: str | None) -> None:
    body = {"results": []} if echo is None else {"results": [], "query": echo}
    assert searched(settings, "tavily", said(body)) == MediaAnswer("tavily", (), MEDIA_QUERY)


def test_a_language_models_own_text_is_never_evidence(settings: Any) -> None:
    claim = "Yes, it was charged."
    page = {"url": "https://a.example", "link": "https://a.example", "title": "T", "summary": claim, "score": 1}
    told = [
        ("tavily", said({"results": [page], "answer": claim, "raw_content": claim})),
        ("exa", said({"results": [page], "output": {"content": claim, "grounding": []}, "context": claim})),
        ("brightdata", serp(organic=[page], ai_overview={"texts": [{"snippet": claim}]}, people_also_ask=[claim])),
    ]
    for vendor, answer in told:
        assert claim not in repr(found(settings, vendor, answer))


def test_a_highlight_from_deep_in_a_page_is_not_lost_behind_its_beginning(settings: Any) -> None:
    page = {"url": "https://a.example", "title": "T", "text": "Filler. " * 5000, "highlights": [PASSAGE, "Filler."]}
    (item,) = found(settings, "exa", said({"results": [page]})).items
    assert item.text.startswith(PASSAGE)
    assert item.text.count(PASSAGE) == 1
    assert len(item.text) == 4000
    assert item.cut


@pytest.mark.parametrize("vendor", VENDORS)
def test_long_text_is_cut_and_says_so(settings: Any, vendor: str) -> None:
    page = {"url": "https://a.example", "link": "https://a.example", "title": "T" * 9000}
    page |= {"content": "x. " * 9000, "text": "x. " * 9000, "description": "x. " * 9000}
    body = {"results": [page], "organic": [page], "general": GENERAL}
    (item,) = found(settings, vendor, said(body)).items
    assert (len(item.title), len(item.text), item.cut) == (500, 4000, True)


@pytest.mark.parametrize("vendor", VENDORS)
def test_text_that_no_database_holds_is_replaced_and_no_odd_address_is_kept(settings: Any, vendor: str) -> None:
    page: dict[str, Any] = {"title": "a\x00b", "content": "\ud83d", "text": "\ud83d", "description": "\ud83d"}
    page |= {"url": "javascript:alert(1)", "link": "data:text/html,x"}
    body = {"results": [page], "organic": [page], "general": GENERAL}
    (item,) = found(settings, vendor, said(body)).items
    assert (item.title, item.text, item.url) == ("a\ufffdb", "\ufffd", "")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_query_with_half_a_character_is_still_asked(settings: Any, vendor: str) -> None:
    body = {"results": [], "organic": [], "general": GENERAL}
    answer = found(settings, vendor, said(body), query="Acme \ud83d\x00")
    assert answer.query == "Acme \ufffd\ufffd"


@pytest.mark.parametrize("vendor", VENDORS)
def test_no_more_than_the_window_is_taken_in_the_vendors_order(settings: Any, vendor: str) -> None:
    pages = [{"url": f"https://a.example/{n}", "link": f"https://a.example/{n}", "title": f"T{n}"} for n in range(100)]
    body = {"results": pages, "organic": pages, "general": GENERAL}
    items = found(settings, vendor, said(body), limit=20).items
    assert [item.title for item in items] == [f"T{n}" for n in range(20)]


json_values = st.sampled_from([None, True, 0, 1.5, "", "x", [], {}, ["x"], [None], {"x": 1}, "200", 200, "{}", "[]"])
names = [
    "status_code",
    "headers",
    "body",
    "results",
    "organic",
    "news",
    "general",
    "spelling",
    "query",
    "detail",
    "error",
    "url",
    "link",
    "title",
    "text",
]
results = st.lists(st.dictionaries(st.sampled_from(names), json_values), max_size=3)
page_shapes = st.dictionaries(st.sampled_from(names), json_values | results)


@example_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(page_shapes)
@pytest.mark.parametrize("vendor", [tavily, exa, brightdata])
def test_no_reply_breaks_the_reading_or_is_empty_without_an_empty_list(vendor: Any, page: dict[str, Any]) -> None:
    try:
        answer = vendor.read(Reply({}, json.dumps(page).encode(), simulated=False), MEDIA_QUERY, 20)
    except Unanswered:
        return
    read_from = page["body"] if vendor is brightdata and "status_code" in page else page
    lists = [read_from[key] for key in ("organic", "news") if key in read_from and vendor is brightdata]
    lists += [read_from["results"]] if vendor is not brightdata else []
    assert answer.items or [] in lists
