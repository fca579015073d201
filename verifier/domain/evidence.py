"""What a verdict rests on, as it is stored and shown, and its fingerprint.

The fingerprint changes when what was asked or what came back changes in substance: not with order, score, relative
date, request id or response time. A decision answers a verdict only while the fingerprint is the same.
"""

import hashlib
import json
from typing import Any

from verifier.domain.answers import (
    Judgement,
    JudgeSilent,
    Listing,
    MediaItem,
    MergedMedia,
    NotAnswered,
    ScreeningAnswer,
    ScreeningQuery,
    plain,
)
from verifier.domain.media import page_of
from verifier.domain.screening import near_misses, screening_status

Answer = ScreeningAnswer | MergedMedia | NotAnswered


def fingerprint(answer: Answer) -> str:
    """SHA-256 of the substance, in hexadecimal."""
    text = json.dumps(substance(answer), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def substance(answer: Answer) -> dict[str, Any]:
    if isinstance(answer, ScreeningAnswer):
        return screening_substance(answer)
    if isinstance(answer, MergedMedia):
        return media_substance(answer)
    return {"kind": "not_answered", **silence_substance(answer)}


def screening_substance(answer: ScreeningAnswer) -> dict[str, Any]:
    return {
        "kind": "screening",
        "provider": answer.provider,
        "simulated": answer.simulated,
        "schema": answer.query.schema,
        "properties": {name: sorted(values) for name, values in answer.query.properties.items()},
        "not_used": sorted(answer.not_used),
        "policy": [answer.scope, answer.algorithm, answer.threshold, answer.cutoff],
        "status": str(screening_status(answer)),
        "listings": in_order(listing_substance(listing) for listing in answer.listings),
    }


def listing_substance(listing: Listing) -> dict[str, Any]:
    return {
        "entity_id": listing.entity_id,
        "caption": listing.caption,
        "schema": listing.schema,
        "match": listing.match,
        "topics": sorted(listing.topics),
        "datasets": sorted(listing.datasets),
        "properties": {name: sorted(values) for name, values in listing.properties.items()},
        "doubts": [listing.name_only_single_token, listing.birth_date_contradicts],
    }


def media_substance(media: MergedMedia) -> dict[str, Any]:
    return {
        "kind": "media",
        "providers": sorted(media.providers),
        "simulated": media.simulated,
        "queries": media.queries,
        "partial": in_order(silence_substance(one) for one in media.partial),
        "items": in_order(item_substance(item) for item in media.items),
    }


def item_substance(item: MediaItem) -> dict[str, Any]:
    return {"page": page_of(item.url), "title": item.title, "text": item.text}


def silence_substance(answer: NotAnswered) -> dict[str, Any]:
    return {"provider": answer.provider, "cause": str(answer.cause), "simulated": answer.simulated}


def in_order(values: Any) -> list[Any]:
    return sorted(values, key=lambda value: json.dumps(value, sort_keys=True))


def not_asked(answer: NotAnswered) -> dict[str, Any]:
    """Of a finding that no provider was asked about."""
    return {"kind": "not_asked", "not_answered": plain(answer)}


def screening_evidence(query: ScreeningQuery, answer: ScreeningAnswer | NotAnswered) -> dict[str, Any]:
    """`listings` are the matches, `near_misses` what came close, `not_used` the properties that the provider lost."""
    asked = {"kind": "screening", "asked": plain(query)}
    if isinstance(answer, NotAnswered):
        return {**asked, "status": "error", "not_answered": plain(answer)}
    return {
        **asked,
        "asked": plain(answer.query),
        "status": str(screening_status(answer)),
        "not_answered": None,
        "listings": [plain(listing) for listing in answer.listings if listing.match],
        "near_misses": [plain(listing) for listing in near_misses(answer)],
        "not_used": list(answer.not_used),
        "scope": answer.scope,
        "algorithm": answer.algorithm,
        "threshold": answer.threshold,
        "cutoff": answer.cutoff,
        "total_matches": answer.total_matches,
    }


def media_evidence(
    query: str, media: MergedMedia | NotAnswered, judgement: Judgement | JudgeSilent | None
) -> dict[str, Any]:
    """`partial` are providers that failed beside others; `judge` is the judge's own word, before any rule."""
    asked = {"kind": "media", "asked": {"query": query}}
    if isinstance(media, NotAnswered):
        return {**asked, "not_answered": plain(media), "judge": None}
    return {
        **asked,
        "asked": {"query": query, "queries": dict(media.queries)},
        "not_answered": None,
        "providers": list(media.providers),
        "items": [plain(item) for item in media.items],
        "partial": [plain(one) for one in media.partial],
        "notes": list(media.notes),
        "summary": media.summary,
        "judge": judge_evidence(judgement),
    }


def judge_evidence(judgement: Judgement | JudgeSilent | None) -> dict[str, Any] | None:
    if judgement is None:
        return None
    return {"answered": isinstance(judgement, Judgement), **plain(judgement)}
