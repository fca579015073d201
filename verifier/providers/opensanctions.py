"""OpenSanctions, hosted or self-hosted (yente): https://www.opensanctions.org/docs/api/matching/

One query a request. A result is a hit only by `match` and `properties.topics`; an empty list proves nothing unless the
echo shows that schema and name were understood. A score equal to the cutoff is dropped, so a little less is sent.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from verifier.domain.answers import Cause, Listing, NotAnswered, ScreeningAnswer, ScreeningQuery
from verifier.providers.http import QUOTA_STATUSES, Question, Reply, Unanswered, ask, json_object, required_list
from verifier.providers.text import bounded, clean, folded, is_single_token, strings, web_address

HOSTED = "https://api.opensanctions.org"
KEY = "subject"  # of the one query; an answer under any other key is not ours
LIMIT = 50  # results asked for, and listings kept
CUTOFF_MARGIN = 0.01
KEPT_PROPERTIES = (
    *("name", "alias", "weakAlias", "birthDate", "nationality", "country", "jurisdiction", "gender", "position"),
    *("registrationNumber", "incorporationDate", "idNumber", "passportNumber", "taxNumber", "innCode", "leiCode"),
    *("address", "programId", "imoNumber"),
)
DATES = {"birthDate", "incorporationDate"}
BIRTH_DATE_CONTRADICTIONS = ("dob_year_disjoint", "dob_day_disjoint")
IDENTIFIERS = ("_code_match", "identifier_match", "_mmsi_match", "_wallet_address", "_security_match")


class Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)


class Explanation(Model):
    score: float
    query: Any = None
    candidate: Any = None


class Result(Model):
    id: str = Field(min_length=1)
    caption: str = ""
    entity_schema: str = Field(alias="schema")
    properties: dict[str, Any]
    score: float = Field(ge=0, le=1)
    match: bool
    explanations: dict[str, Explanation] = {}
    datasets: list[str] = []
    last_change: str | None = None


class Topics(Model):
    topics: list[str] = []


class Total(Model):
    value: int = Field(ge=0)


class OpenSanctions:
    name = "opensanctions"

    @staticmethod
    def is_configured() -> bool:
        return bool(settings.OPENSANCTIONS_API_KEY or settings.OPENSANCTIONS_URL)

    async def screen(self, query: ScreeningQuery, *, case_id: str, timeout: float) -> ScreeningAnswer | NotAnswered:
        query = storable(query)
        if not any(name.strip() for name in query.properties.get("name", [])):
            return NotAnswered(self.name, Cause.UNANSWERED_QUERY, "there is no name to screen")
        asked = Asked(query)
        return await ask(asked.question(case_id), asked.read, timeout=timeout)


class Asked:
    """One screening question with the policy it was asked under, so that its answer can be held against both."""

    def __init__(self, query: ScreeningQuery) -> None:
        self.query = query
        self.scope: str = settings.OPENSANCTIONS_DATASET
        self.algorithm: str = settings.OPENSANCTIONS_ALGORITHM
        self.threshold: float = settings.OPENSANCTIONS_THRESHOLD
        self.cutoff: float = settings.OPENSANCTIONS_CUTOFF

    def question(self, case_id: str) -> Question:
        key = settings.OPENSANCTIONS_API_KEY
        base = (settings.OPENSANCTIONS_URL or HOSTED).rstrip("/")
        return Question(
            provider=OpenSanctions.name,
            url=f"{base}/match/{quote(self.scope, safe='')}",
            headers={"authorization": f"ApiKey {key}"} if key else {},
            params={
                "threshold": f"{self.threshold:g}",
                "cutoff": f"{max(self.cutoff - CUTOFF_MARGIN, 0):g}",
                "algorithm": self.algorithm,
                "limit": str(LIMIT),
            },
            body={"queries": {KEY: {"schema": self.query.schema, "properties": self.query.properties}}},
            case_id=case_id,
            about=self.query.schema,
        )

    def read(self, reply: Reply) -> ScreeningAnswer:
        answer = our_answer(json_object(reply.body))
        results = [read_result(raw) for raw in required_list(answer, "results")]
        total = read_total(answer.get("total"))
        if total and not any(result.match for result in results):
            raise Unanswered("the answer counts matches that it does not list")
        return ScreeningAnswer(
            provider=OpenSanctions.name,
            listings=listings(results, self.query),
            query=self.query,
            not_used=lost_properties(self.query, echo_of(answer, self.query)),
            scope=self.scope,
            algorithm=self.algorithm,
            threshold=self.threshold,
            cutoff=self.cutoff,
            total_matches=total,
            simulated=reply.simulated,
        )


def storable(query: ScreeningQuery) -> ScreeningQuery:
    properties = {name: [clean(value) for value in values] for name, values in query.properties.items()}
    return ScreeningQuery(query.schema, properties, query.notes)


def our_answer(body: Mapping[str, Any]) -> dict[str, Any]:
    responses = body.get("responses")
    answer = responses.get(KEY) if isinstance(responses, dict) else None
    if not isinstance(answer, dict):
        raise Unanswered("the answer does not hold our query")
    status = answer.get("status")
    if type(status) is not int or status != 200:
        quota = isinstance(status, int) and status in QUOTA_STATUSES
        raise Unanswered("the query's own status is not 200", Cause.QUOTA if quota else Cause.PROVIDER_ERROR)
    return answer


def read_result(raw: object) -> Result:
    """A result that can't be read makes the whole answer unusable: it might be the hit."""
    try:
        return Result.model_validate(raw)
    except ValidationError:
        raise Unanswered("a result is not as documented") from None


def read_total(raw: object) -> int | None:
    try:
        return Total.model_validate(raw).value if raw is not None else None
    except ValidationError:
        raise Unanswered("the total is not as documented") from None


def echo_of(answer: Mapping[str, Any], query: ScreeningQuery) -> dict[str, list[str]]:
    """The properties that were understood; without our schema and name among them another query was answered."""
    echo = answer.get("query")
    raw = echo.get("properties") if isinstance(echo, dict) and echo.get("schema") == query.schema else None
    if not isinstance(raw, dict):
        raise Unanswered("the provider answered another query", Cause.UNANSWERED_QUERY)
    properties = {
        key: [folded(value) for value in values if isinstance(value, str)]
        for key, values in raw.items()
        if isinstance(values, list)
    }
    first_name = next(name for name in query.properties["name"] if name.strip())
    if folded(first_name) not in properties.get("name", []):
        raise Unanswered("the provider did not use the name that was sent", Cause.UNANSWERED_QUERY)
    return properties


def lost_properties(query: ScreeningQuery, echo: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Values may come back in another spelling (Russia, ru), so they are counted; dates come back as sent or cut."""
    lost = []
    for name, values in query.properties.items():
        sent = {folded(value) for value in values if value.strip()}
        if len(set(echo.get(name, []))) < len(sent) or (name in DATES and not sent <= set(echo.get(name, []))):
            lost.append(name)
    return tuple(sorted(lost))


def listings(results: list[Result], query: ScreeningQuery) -> tuple[Listing, ...]:
    """The best by kind, so that a bound never loses a sanctioned match behind others; then in stable order."""
    found = sorted((listing(result, query) for result in results), key=weight)
    return tuple(sorted(found[:LIMIT], key=lambda one: (-one.score, one.entity_id)))


def weight(one: Listing) -> tuple[bool, bool, bool, bool, float, str]:
    linked = any(topic.startswith("sanction") for topic in one.topics)
    doubted = one.name_only_single_token or one.birth_date_contradicts
    return not one.match, "sanction" not in one.topics, not linked, doubted, -one.score, one.entity_id


def listing(result: Result, query: ScreeningQuery) -> Listing:
    return Listing(
        entity_id=bounded(result.id, 200),
        caption=bounded(result.caption, 300),
        schema=bounded(result.entity_schema, 100),
        score=result.score,
        match=result.match,
        topics=read_topics(result.properties),
        datasets=tuple(strings(result.datasets, most=20, length=100)),
        properties=kept_properties(result.properties),
        source_urls=tuple(url for url in map(web_address, values_of(result.properties, "sourceUrl")) if url),
        last_change=bounded(result.last_change or "", 40),
        name_only_single_token=rests_on_one_token(result, query),
        birth_date_contradicts=birth_date_contradicts(result, query),
    )


def read_topics(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Topics decide, so they are read strictly; codes we don't know are kept."""
    try:
        topics = Topics.model_validate({"topics": properties.get("topics", [])}).topics
    except ValidationError:
        raise Unanswered("a result's topics are not as documented") from None
    return tuple(dict.fromkeys(bounded(topic.strip(), 100) for topic in topics))


def kept_properties(properties: Mapping[str, Any]) -> dict[str, list[str]]:
    kept = {name: values_of(properties, name) for name in KEPT_PROPERTIES}
    return {name: values for name, values in kept.items() if values}


def values_of(properties: Mapping[str, Any], name: str) -> list[str]:
    values = properties.get(name)
    return strings(values, most=5, length=300) if isinstance(values, list) else []


def birth_date_contradicts(result: Result, query: ScreeningQuery) -> bool:
    """By the scorer's own word. Features are listed even when they scored nothing: the presence of one is not evidence.

    A scorer that explains nothing leaves the years to be compared here.
    """
    if result.explanations:
        return any(feature_score(result, name) >= 1.0 for name in BIRTH_DATE_CONTRADICTIONS)
    ours = {date[:4] for date in query.properties.get("birthDate", [])}
    listed = {date[:4] for date in values_of(result.properties, "birthDate")}
    return bool(ours and listed) and ours.isdisjoint(listed)


def feature_score(result: Result, name: str) -> float:
    return result.explanations[name].score if name in result.explanations else 0.0


def rests_on_one_token(result: Result, query: ScreeningQuery) -> bool:
    """Whether one word of a name is all that matched: no identifier beside it, and one side is a single word."""
    if any(name.endswith(IDENTIFIERS) and feature_score(result, name) > 0 for name in result.explanations):
        return False
    names = query.properties["name"]
    explained = result.explanations.get("name_match")
    sides = [explained.query, explained.candidate] if explained and explained.score > 0 else []
    named = [side for side in sides if isinstance(side, str) and side]
    return any(map(is_single_token, named or names))
