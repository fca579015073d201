"""A finding as a page shows it: the report's own words on one side, and nothing of ours mixed into them."""

import json
from dataclasses import dataclass, field

from reviews import words
from reviews.views.codes import plain
from verifier.domain.corroboration import Labels
from verifier.domain.findings import ReportedFinding, read_finding
from verifier.domain.json_text import load, members
from verifier.domain.subjects import Subject, is_subject
from verifier.models import Finding

# What the page has a place of its own for; every other key the report gave is listed after them.
PLACED = {"id", "title", "description", "severity", "target", "attribution_lane"}
NAMED = {
    "category": "Category",
    "type": "Type",
    "source": "Source",
    "_provider": "Provider",
    "source_url": "Address",
    "hit": "Hit",
    "status": "Status",
    "confidence": "Confidence",
    "rule_id": "Rule",
    "regulatory_basis": "Legal basis",
}


@dataclass(frozen=True, slots=True)
class Reported:
    """What the report says of a finding."""

    description: str
    target: str
    whose: str  # whether the target is the case's subject
    lane: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    extra: list[tuple[str, str]] = field(default_factory=list)


def reported(finding: Finding, subject: Subject) -> Reported:
    told = {key: spoken(raw) for key, raw in members(finding.content)}
    read = read_finding(load(finding.content))
    return Reported(
        description=told.get("description", ""),
        target=read.target or subject.name,
        whose=whose(read, subject),
        lane=lane(told.get("attribution_lane", "")),
        facts=[(name, fact(key, told[key])) for key, name in NAMED.items() if told.get(key)],
        extra=[(key, value) for key, value in told.items() if value and key not in PLACED | NAMED.keys()],
    )


def whose(finding: ReportedFinding, subject: Subject) -> str:
    if finding.target is None:
        return "the subject of this case, as the finding names nobody"
    return "the subject of this case" if is_subject(finding, subject) else "another than the subject of this case"


def lane(said: str) -> str:
    """How the report attributes the finding, in its own word; what it doesn't say is never filled in."""
    if not said.strip():
        return "not stated by the report"
    return words.LANES.get(said.strip().casefold()) or f"“{said}”"


def fact(key: str, value: str) -> str:
    if key == "_provider":
        return words.PROVIDERS.get(value.casefold(), value)
    return plain(value) if key in {"category", "type", "status"} else value


def spoken(raw: str) -> str:
    """A JSON value for reading: texts without quotes, yes and no, nothing for nothing; the rest as spelled."""
    raw = raw.strip()
    if raw.startswith('"'):
        return str(json.loads(raw))
    return {"null": "", "{}": "", "[]": "", "true": "yes", "false": "no"}.get(raw, raw)


@dataclass(frozen=True, slots=True)
class Corroboration:
    sentence: str
    detail: str


def corroboration(labels: Labels) -> Corroboration:
    """Counted origins, by name. One source is a fact about the report, never a discount on the severity."""
    names = " and ".join(words.say("provider", source) for source in labels.sources) or "no named source"
    count = labels.corroboration_count
    if labels.corroborated:
        sentence = f"Corroborated: {count} distinct sources say this ({names})."
    else:
        sentence = f"Uncorroborated: {'one source says' if count == 1 else 'no source is named for'} this ({names})."
    return Corroboration(sentence, f"Trust in this source: {labels.source_trust:.2f}. The severity is untouched by it.")
