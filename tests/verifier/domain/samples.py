"""Values of the core for its tests, each with what a test needs to say spelled in the call."""

import json
from typing import Any

from tests.paths import SHARED
from verifier.domain.answers import (
    Cause,
    Judgement,
    Listing,
    MediaAnswer,
    MediaItem,
    NotAnswered,
    ScreeningAnswer,
    ScreeningQuery,
)
from verifier.domain.findings import ReportedFinding, read_finding

SUPPORTING = "The prosecutor's office on Tuesday charged Acme Trading OÜ of Tallinn, and two managers, with laundering"


def finding(**keys: Any) -> ReportedFinding:
    return read_finding({"id": "f1", "title": "A finding", "severity": "high", **keys})


def listing(**keys: Any) -> Listing:
    given = {
        "entity_id": "NK-1",
        "caption": "Listed",
        "schema": "Company",
        "score": 0.9,
        "match": True,
        "topics": ("sanction",),
    }
    return Listing(**{**given, **keys})


def screening(*listings: Listing, **keys: Any) -> ScreeningAnswer:
    given: dict[str, Any] = {
        "provider": "opensanctions",
        "listings": listings,
        "query": ScreeningQuery("Company", {"name": ["Acme Trading OÜ"]}),
        "not_used": (),
        "scope": "sanctions",
        "algorithm": "best",
        "threshold": 0.7,
        "cutoff": 0.5,
    }
    return ScreeningAnswer(**{**given, **keys})


def item(text: str, *, title: str = "A title", url: str = "https://news.example/1", **keys: Any) -> MediaItem:
    return MediaItem(**{"provider": "tavily", "url": url, "title": title, "text": text, **keys})


def searched(*items: MediaItem, provider: str = "tavily", query: str = '"Acme Trading OÜ" charged') -> MediaAnswer:
    return MediaAnswer(provider, items, query)


def silent(provider: str = "exa", cause: Cause = Cause.PROVIDER_ERROR) -> NotAnswered:
    return NotAnswered(provider, cause)


def judged(corroborates: bool = True, quote: str = SUPPORTING, **keys: Any) -> Judgement:
    given = {"reason": "It names the company.", "model": "demo", "prompt_id": "adverse-v1", "prompt_sha256": "0" * 64}
    return Judgement(corroborates=corroborates, quote=quote, **{**given, **keys})


def recorded_search(name: str) -> MediaAnswer:
    """A recorded Tavily answer as its provider maps it."""
    answer = json.loads((SHARED / "payloads" / "tavily" / f"{name}.json").read_text())
    items = [item(one["content"], title=one["title"], url=one["url"]) for one in answer["results"]]
    return searched(*items, query='"Acme Trading OÜ" charged money laundering Prosecutor')
