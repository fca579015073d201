"""A finding as a page shows it: the report's own words on one side, and nothing of ours mixed into them."""

import json
from dataclasses import dataclass, field

from reviews import words
from verifier.domain.corroboration import Labels
from verifier.domain.json_text import members
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
    lane: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    extra: list[tuple[str, str]] = field(default_factory=list)


def reported(finding: Finding, subject_name: str) -> Reported:
    told = {key: spoken(raw) for key, raw in members(finding.content)}
    return Reported(
        description=told.get("description", ""),
        target=told.get("target") or subject_name,
        lane=words.say("lane", told.get("attribution_lane") or "subject"),
        facts=[(name, told[key]) for key, name in NAMED.items() if told.get(key)],
        extra=[(key, value) for key, value in told.items() if value and key not in PLACED | NAMED.keys()],
    )


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
