"""What a provider or the judge said, as values. Three outcomes, never two: hits, nothing found, not answered.

Sources: provider contracts of yente 5.5 /match, Tavily, Exa and Bright Data SERP; ADR-0067 (fail closed), ADR-0111.
"""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Cause(StrEnum):
    """Why a verdict is what it is: a stable code that callers see. Extended as needed, never renamed."""

    SCREENING_HIT = "screening_hit"
    SCREENING_WARNING = "screening_warning"
    SCREENING_CLEAR = "screening_clear"
    NEAR_MISS = "near_miss"
    OTHER_LISTING = "other_listing"
    CORROBORATED = "corroborated"
    NO_HITS = "no_hits"
    NOT_CORROBORATED = "not_corroborated"
    JUDGE_FAILED = "judge_failed"
    JUDGE_NOT_CONFIGURED = "judge_not_configured"
    PROVIDER_ERROR = "provider_error"
    PROVIDER_TIMEOUT = "provider_timeout"
    PROVIDER_NOT_CONFIGURED = "provider_not_configured"
    QUOTA = "quota"
    UNMAPPED_TYPE = "unmapped_type"
    OVER_CAP = "over_cap"
    DEADLINE = "deadline"
    CAPACITY = "capacity"
    UNRECORDED = "unrecorded"
    STOPPED = "stopped"
    UNANSWERED_QUERY = "unanswered_query"


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """A question that got no answer. `detail` is safe to show: no secret, no name, no text of the provider's body."""

    provider: str
    cause: Cause  # provider_error, provider_timeout, provider_not_configured, quota, capacity, unanswered_query
    detail: str = ""
    http_status: int | None = None
    simulated: bool = False


class ScreeningStatus(StrEnum):
    HIT = "hit"
    WARNING = "warning"
    OTHER_LISTING = "other_listing"
    NEAR_MISS = "near_miss"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class ScreeningQuery:
    """What is asked of a screening provider: a FollowTheMoney schema and its properties, as sent."""

    schema: str  # Person | Company | Organization | LegalEntity | …
    properties: dict[str, list[str]]
    notes: tuple[str, ...] = ()  # what the subject had and the query could not carry, in plain words


@dataclass(frozen=True, slots=True)
class Listing:
    """One listed entity that a screening returned."""

    entity_id: str
    caption: str
    schema: str
    score: float  # 0–1
    match: bool
    topics: tuple[str, ...]
    datasets: tuple[str, ...] = ()
    properties: dict[str, list[str]] = field(default_factory=dict)  # the few that help a person compare
    source_urls: tuple[str, ...] = ()
    last_change: str = ""
    name_only_single_token: bool = False  # the match rests on one token of a name
    birth_date_contradicts: bool = False  # dob_year_disjoint or dob_day_disjoint scored 1.0


@dataclass(frozen=True, slots=True)
class ScreeningAnswer:
    """A screening that was answered: HTTP 200, our query key, its own status 200, a list, the right echo."""

    provider: str
    listings: tuple[Listing, ...]  # sorted by (-score, entity_id)
    query: ScreeningQuery
    not_used: tuple[str, ...]  # sent properties that the provider's echo lost
    scope: str  # dataset asked
    algorithm: str
    threshold: float
    cutoff: float
    total_matches: int | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class MediaItem:
    """One search result, as evidence text: title and the provider's own excerpt, never an LLM's answer."""

    provider: str
    url: str
    title: str
    text: str
    published: str = ""  # as the provider spells it
    cut: bool = False  # the text was cut before it reached us or by us
    title_only: bool = False
    copies: tuple[str, ...] = ()  # other hosts on which the same title and text stand


@dataclass(frozen=True, slots=True)
class MediaAnswer:
    """A search that was answered. `items` empty: the provider found nothing."""

    provider: str
    items: tuple[MediaItem, ...]
    query: str
    notes: tuple[str, ...] = ()  # such as a corrected spelling
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class MergedMedia:
    """Several adverse-media providers asked in parallel within one re-check, as one answer."""

    providers: tuple[str, ...]  # that answered
    items: tuple[MediaItem, ...]  # the window, in an order that does not depend on ranking
    queries: dict[str, str]
    partial: tuple[NotAnswered, ...]  # that did not answer beside others
    notes: tuple[str, ...]
    summary: str  # what the judge sees: at most 4,000 characters
    simulated: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's answer, with its own word kept apart from what the rules make of it."""

    corroborates: bool
    quote: str
    reason: str
    model: str
    prompt_id: str
    prompt_sha256: str
    fingerprint: str = ""  # the endpoint's system_fingerprint
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class JudgeSilent:
    """No usable judgement. ADR-0111: that leg answers false, so the finding is unsupported, with this cause."""

    cause: Cause  # judge_failed | judge_not_configured
    detail: str = ""  # safe to show: refused, cut off, timed out, …
    model: str | None = None
    prompt_id: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False


def plain(value: Any) -> Any:
    """A dataclass of this module as JSON values."""
    return asdict(value)
