"""Exa search: https://exa.ai/docs/reference/search

The current API gives no score: the order is kept and nothing is sorted. `output` and `summary` are a language model's
text and never evidence. A neural search always finds something similar, so hits say nothing by themselves.
"""

from django.conf import settings

from verifier.domain.answers import MediaAnswer, MediaItem, NotAnswered
from verifier.providers.http import Question, Reply, ask, json_object, required_list
from verifier.providers.media import (
    TEXT_CHARACTERS,
    Model,
    item,
    media_answer,
    read_results,
    refuse_error_body,
)
from verifier.providers.text import clean, web_address

MOST_RESULTS = 100  # the vendor's own limit


class Result(Model):
    url: str
    title: str | None = None
    text: str | None = None
    highlights: list[str] | None = None
    publishedDate: str | None = None


class Exa:
    name = "exa"

    @staticmethod
    def is_configured() -> bool:
        return bool(settings.EXA_API_KEY and settings.EXA_URL)

    async def search(
        self, query: str, *, limit: int, case_id: str, material_type: str, timeout: float
    ) -> MediaAnswer | NotAnswered:
        query = clean(query)
        question = Question(
            provider=self.name,
            url=f"{settings.EXA_URL.rstrip('/')}/search",
            headers={"x-api-key": settings.EXA_API_KEY},
            body={
                "query": query,
                "type": "auto",
                "numResults": min(limit, MOST_RESULTS),
                "contents": {"text": {"maxCharacters": TEXT_CHARACTERS}, "highlights": True},
            },
            case_id=case_id,
            about=material_type,
        )
        return await ask(question, lambda reply: read(reply, query, limit), timeout=timeout)


def read(reply: Reply, query: str, limit: int) -> MediaAnswer:
    answer = json_object(reply.body)
    refuse_error_body(answer, "results")
    items = [media_item(result) for result in read_results(required_list(answer, "results"), Result)]
    return media_answer(provider=Exa.name, items=items, query=query, limit=limit, simulated=reply.simulated)


def media_item(result: Result) -> MediaItem:
    """Highlights first: they come from anywhere in the page, the text only from its beginning."""
    text = (result.text or "").strip()
    passages = [passage.strip() for passage in result.highlights or [] if passage.strip() not in text[:TEXT_CHARACTERS]]
    told = "\n".join([*passages, text]).strip()
    return item(
        provider=Exa.name,
        url=web_address(result.url),
        title=result.title or "",
        text=told,
        published=result.publishedDate or "",
        cut=len(text) >= TEXT_CHARACTERS,
        title_only=not told,
    )
