"""Tavily search: https://docs.tavily.com/documentation/api-reference/endpoint/search

`answer` is a language model's sentence and `score` is relevance to the query: neither is evidence. Without a key the
vendor falls back to a keyless mode, so without a key this provider does not exist.
"""

from django.conf import settings

from verifier.domain.answers import Cause, MediaAnswer, MediaItem, NotAnswered
from verifier.providers.http import Question, Reply, Unanswered, ask, json_object, required_list
from verifier.providers.media import Model, item, media_answer, read_results, refuse_error_body
from verifier.providers.text import clean, folded, web_address

MOST_RESULTS = 20  # the vendor's own limit


class Result(Model):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class Tavily:
    name = "tavily"

    @staticmethod
    def is_configured() -> bool:
        return bool(settings.TAVILY_API_KEY and settings.TAVILY_URL)

    async def search(
        self, query: str, *, limit: int, case_id: str, material_type: str, timeout: float
    ) -> MediaAnswer | NotAnswered:
        query = clean(query)
        question = Question(
            provider=self.name,
            url=f"{settings.TAVILY_URL.rstrip('/')}/search",
            headers={"authorization": f"Bearer {settings.TAVILY_API_KEY}"},
            body={
                "query": query,
                "topic": "general",
                "search_depth": "advanced",  # excerpts chosen for the query, not the page's first lines
                "max_results": min(limit, MOST_RESULTS),
                "include_answer": False,
                "include_raw_content": False,
            },
            case_id=case_id,
            about=material_type,
        )
        return await ask(question, lambda reply: read(reply, query, limit), timeout=timeout)


def read(reply: Reply, query: str, limit: int) -> MediaAnswer:
    answer = json_object(reply.body)
    refuse_error_body(answer, "results")
    results = read_results(required_list(answer, "results"), Result)
    check_echo(answer.get("query"), query)
    items = [media_item(result) for result in results]
    return media_answer(provider=Tavily.name, items=items, query=query, limit=limit, simulated=reply.simulated)


def check_echo(echo: object, query: str) -> None:
    if echo is not None and (not isinstance(echo, str) or folded(echo) != folded(query)):
        raise Unanswered("the provider answered another query", Cause.UNANSWERED_QUERY)


def media_item(result: Result) -> MediaItem:
    return item(
        provider=Tavily.name,
        url=web_address(result.url),
        title=result.title or "",
        text=result.content or "",
        published=result.published_date or "",
        title_only=not (result.content or "").strip(),
    )
