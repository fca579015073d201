"""What was asked and what came back, as a page shows it: sources' words, ours and what failed, each apart.

`FindingVerdict.evidence` is written by `verifier.domain.evidence`; its keys are read here and nowhere else.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from reviews import words
from reviews.views.codes import countries, plain, schema_words
from verifier.models import FindingVerdict

Raw = Mapping[str, Any]
ALWAYS_THERE = ("The report itself", "A document or source outside this case, named in the reason")
ENTITIES = {"Airplane": "Aircraft"}
COUNTRIES = {
    "country",
    "countries",
    "jurisdiction",
    "nationality",
    "citizenship",
    "flag",
    "birthCountry",
    "mainCountry",
}
PROPERTIES = {
    "name": "Name",
    "alias": "Other names",
    "birthDate": "Born",
    "birthPlace": "Place of birth",
    "country": "Country",
    "countries": "Countries",
    "flag": "Flag",
    "jurisdiction": "Jurisdiction",
    "nationality": "Nationality",
    "citizenship": "Citizenship",
    "registrationNumber": "Registration number",
    "leiCode": "LEI",
    "taxNumber": "Tax number",
    "innCode": "INN",
    "idNumber": "Id number",
    "passportNumber": "Passport",
    "imoNumber": "IMO number",
    "mmsi": "MMSI",
    "incorporationDate": "Incorporated",
    "address": "Address",
    "position": "Position",
    "program": "Programme",
    "programId": "Programme",
    "topics": "Topics",
}
TOPICS = {
    "sanction": "sanctioned",
    "sanction.linked": "linked to a sanctioned entity",
    "sanction.control": "controlled by a sanctioned entity",
    "sanction.counter": "counter-sanctioned",
    "role.pep": "politically exposed",
    "role.rca": "close associate",
    "crime": "crime",
    "debarment": "debarred",
    "poi": "person of interest",
    "wanted": "wanted",
    "export.control": "export controlled",
    "corp.disqual": "disqualified",
    "reg.warn": "regulator's warning",
    "reg.action": "regulator's action",
}


@dataclass(frozen=True, slots=True)
class Listed:
    entity_id: str
    caption: str
    schema: str
    score: str
    topics: str
    datasets: str
    last_change: str
    properties: list[tuple[str, str]]
    source_urls: list[str]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Quoted:
    """One item a search returned, in the source's words."""

    provider: str  # the search it was found through, which is not its source
    source: str  # the site that published it
    title: str
    text: str
    url: str
    published: str
    cut: bool
    title_only: bool
    relied: bool  # the judge's quote stands in it
    sha256: str


@dataclass(frozen=True, slots=True)
class Evidence:
    answer: str
    answered: bool = True  # whether anybody answered; why nobody did is no evidence
    asked: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    listings: list[Listed] = field(default_factory=list)
    near_misses: list[Listed] = field(default_factory=list)
    threshold: str = ""
    not_used: str = ""
    items: list[Quoted] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    judge: Mapping[str, Any] | None = None


def shown_evidence(verdict: FindingVerdict) -> Evidence:
    raw: Raw = verdict.evidence
    if raw.get("kind") == "screening":
        return screening(raw, verdict)
    if raw.get("kind") == "media":
        return media(raw, verdict)
    return Evidence(answer="No provider was asked. " + words.say("cause", verdict.cause), answered=False)


def screening(raw: Raw, verdict: FindingVerdict) -> Evidence:
    asked = raw.get("asked") or {}
    scope = [("Asked", words.providers(verdict.provider) or "nobody")]
    if raw.get("scope"):
        scope.append(("Where", f"the list “{plain(str(raw['scope']))}”, compared by {raw.get('algorithm')}"))
    scope.append(("For", entity(str(asked.get("schema", "")))))
    listings = [listed(one) for one in raw.get("listings") or []]
    return Evidence(
        asked=scope + properties(asked.get("properties") or {}),
        answer=silence(raw) or screening_answer(raw, len(listings)),
        answered=not silence(raw),
        notes=list(asked.get("notes") or []),
        listings=listings,
        near_misses=[listed(one) for one in raw.get("near_misses") or []],
        threshold=number(raw.get("threshold")),
        not_used=", ".join(property_words(name).lower() for name in raw.get("not_used") or []),
    )


def screening_answer(raw: Raw, matches: int) -> str:
    counted = raw.get("total_matches")
    hidden = f"; the provider counts {counted} in all" if counted and counted > matches else ""
    if matches:
        return f"{matches} {'match' if matches == 1 else 'matches'} at or above {number(raw.get('threshold'))}{hidden}"
    close = len(raw.get("near_misses") or [])
    if close:
        between = f"{number(raw.get('cutoff'))} and {number(raw.get('threshold'))}"
        return f"no match; {close} near {'miss' if close == 1 else 'misses'} between {between}{hidden}"
    return f"nothing at or above {number(raw.get('cutoff'))}{hidden}"


def media(raw: Raw, verdict: FindingVerdict) -> Evidence:
    asked = raw.get("asked") or {}
    queries: Raw = asked.get("queries") or {}
    judge = raw.get("judge")
    quote = str((judge or {}).get("quote") or "")
    items = [quoted(one, quote) for one in raw.get("items") or []]
    count = len(items)
    return Evidence(
        asked=[("Asked", words.providers(verdict.provider) or "nobody"), ("Query", str(asked.get("query", "")))]
        + [
            (f"At {words.say('provider', name)}", query)
            for name, query in queries.items()
            if query != asked.get("query")
        ],
        answer=silence(raw)
        or (f"{count} {'item' if count == 1 else 'items'} in the window" if count else "nothing was found"),
        answered=not silence(raw),
        notes=list(raw.get("notes") or []),
        items=items,
        partial=[failed(one) for one in raw.get("partial") or []],
        judge=judge,
    )


def silence(raw: Raw) -> str:
    """Why there is no answer, or nothing when there is one."""
    missing = raw.get("not_answered")
    return failed(missing) if missing else ""


def failed(missing: Raw) -> str:
    name = words.say("provider", str(missing.get("provider") or "")) or "The provider"
    said = words.FAILURES.get(str(missing.get("cause")), "did not answer")
    status = f" (HTTP {missing['http_status']})" if missing.get("http_status") else ""
    detail = f": {missing['detail']}" if missing.get("detail") else ""
    return f"{name} {said}{status}{detail}"


def listed(one: Raw) -> Listed:
    warnings = []
    if one.get("name_only_single_token"):
        warnings.append("The match rests on one word of a name only.")
    if one.get("birth_date_contradicts"):
        warnings.append("The birth dates contradict each other.")
    return Listed(
        entity_id=str(one.get("entity_id", "")),
        caption=str(one.get("caption", "")),
        schema=entity(str(one.get("schema", ""))),
        score=number(one.get("score")),
        topics=", ".join(TOPICS.get(topic, topic) for topic in one.get("topics") or []),
        datasets=", ".join(map(plain, one.get("datasets") or [])),
        last_change=str(one.get("last_change") or "")[:10],
        properties=properties(one.get("properties") or {}),
        source_urls=[url for url in one.get("source_urls") or [] if is_web(url)],
        warnings=warnings,
    )


def quoted(one: Raw, quote: str) -> Quoted:
    text = str(one.get("text") or "")
    return Quoted(
        provider=words.say("provider", str(one.get("provider", ""))),
        source=site(one.get("url")),
        title=str(one.get("title") or ""),
        text=text,
        url=one["url"] if is_web(one.get("url")) else "",
        published=str(one.get("published") or ""),
        cut=bool(one.get("cut")),
        title_only=bool(one.get("title_only")),
        relied=bool(quote) and quote in text,
        sha256=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
    )


def site(url: object) -> str:
    """The host that published a text, without the `www.` that says nothing."""
    try:
        host = urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        host = None
    return (host or "").removeprefix("www.") or "a site that the answer does not name"


def properties(values: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    return [(property_words(name), property_values(name, found)) for name, found in values.items() if found]


def property_words(name: str) -> str:
    return PROPERTIES.get(name) or schema_words(name)


def property_values(name: str, values: list[str]) -> str:
    told = [str(value) for value in values]
    if name in COUNTRIES:
        return countries(told)
    return ", ".join(TOPICS.get(value, value) for value in told) if name == "topics" else ", ".join(told)


def entity(schema: str) -> str:
    return ENTITIES.get(schema) or schema_words(schema)


def number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else ""


def is_web(url: object) -> bool:
    """Only what a browser opens safely becomes a link; a provider's text decides no scheme."""
    try:
        return isinstance(url, str) and urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False


def choices(evidence: Evidence | None) -> list[str]:
    """What an officer can say to have relied on, in words that stand in the record by themselves.

    What could not run is no evidence, so a silence is never among them.
    """
    if evidence is None:  # the run ended without a recorded verdict
        return [*ALWAYS_THERE]
    found = [f"Listing: {one.caption} ({one.entity_id})" for one in evidence.listings]
    found += [f"Near miss: {one.caption} ({one.entity_id})" for one in evidence.near_misses]
    found += [
        f"Text: {one.title or one.url} ({one.source}, found through {one.provider}, {one.sha256[:12]})"
        for one in evidence.items
    ]
    if evidence.answered:
        found.append(f"The answer of the re-check: {evidence.answer}")
    return list(dict.fromkeys([*found, *ALWAYS_THERE]))
