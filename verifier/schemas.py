"""The shape of a report: strict about what it knows, tolerant of keys it doesn't, every problem told by its path.

The checks read the values of `verifier.domain.json_text`, where a number is the text it was. They are written as
rules instead of pydantic models because a report must come back byte-true and its problems carry JSON paths.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from verifier.domain.json_text import Number, Problem, spell

Check = Callable[[Any, str], Iterator[Problem]]

ID_CHARACTERS = 200
NAME_CHARACTERS = 500
SEVERITY_CHARACTERS = 100
GREATEST_ITERATION = 2**31 - 1
NOTHING: Mapping[str, Check] = {}
LANES = ["subject", "unverified_candidate"]
SUBJECT_TEXTS = ["entity_type", "country", "registration_number", "birth_date", "nationality"]
FINDING_TEXTS = [
    *["category", "type", "description", "source", "_provider", "source_url"],
    *["target", "status", "rule_id", "regulatory_basis"],
]
DOCUMENT_TEXTS = ["file_name", "revision", "text"]
RFC3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def text(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(path, f"must be a string, not {kind(value)}")


def filled(most: int | None = None) -> Check:
    """A string with something in it, of at most `most` characters."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, str):
            yield from text(value, path)
        elif not value.strip():
            yield Problem(path, "must not be blank")
        elif most is not None and len(value) > most:
            yield Problem(path, f"must have at most {most} characters, not {len(value)}")

    return check


def identifier(value: Any, path: str) -> Iterator[Problem]:
    """What others refer to: compared as it is, so nothing in it may need replacing."""
    yield from filled(ID_CHARACTERS)(value, path)
    if isinstance(value, str) and "\0" in value:
        yield Problem(path, "must not hold the character U+0000")


def boolean(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield Problem(path, f"must be true or false, not {kind(value)}")


def number(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, Number):
        yield Problem(path, f"must be a number, not {kind(value)}")


def iteration(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, Number) or read_iteration(value) is None:
        yield Problem(path, f"must be a whole number from 1 to {GREATEST_ITERATION}")


def moment(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield from text(value, path)
    elif not is_moment(value):
        yield Problem(path, "must be a date and time with its offset, such as 2026-07-18T09:12:00Z (RFC 3339)")


def is_moment(value: str) -> bool:
    match = RFC3339.fullmatch(value)
    if match is None:
        return False
    try:
        date.fromisoformat(match[1])
    except ValueError:
        return False
    return True


def lane(value: Any, path: str) -> Iterator[Problem]:
    if value not in LANES:
        yield Problem(path, f"must be {' or '.join(LANES)}")


def anything_in_an_object(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(path, f"must be an object, not {kind(value)}")


def list_of(check: Check, unique: str = "") -> Check:
    """A list whose elements pass `check`; `unique` names the key that no two of them may share."""

    def check_list(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield Problem(path, f"must be a list, not {kind(value)}")
            return
        seen: dict[str, int] = {}
        for index, element in enumerate(value):
            yield from check(element, f"{path}[{index}]")
            key = element.get(unique) if unique and isinstance(element, dict) else None
            if isinstance(key, str) and seen.setdefault(key, index) != index:
                yield Problem(f"{path}[{index}].{unique}", f"is the same as that of {path}[{seen[key]}]")

    return check_list


def with_steps(checks: Mapping[str, Check]) -> list[tuple[str, str, Check]]:
    """Each key with its spelling in a path."""
    return [(key, spell(key), check) for key, check in checks.items()]


def object_of(
    *,
    required: Mapping[str, Check] = NOTHING,
    optional: Mapping[str, Check] = NOTHING,
    absent_or_right: Mapping[str, Check] = NOTHING,
) -> Check:
    """An object with these keys and any others. For an `optional` key `null` is as good as absent; where absence
    means something (`absent_or_right`), it isn't.
    """

    needed, allowed, meant = with_steps(required), with_steps(optional), with_steps(absent_or_right)

    def check_object(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield Problem(path, f"must be an object, not {kind(value)}")
            return
        for key, step, check in needed:
            if value.get(key) is None:
                yield Problem(path + step, "is required")
            else:
                yield from check(value[key], path + step)
        for key, step, check in allowed:
            if value.get(key) is not None:
                yield from check(value[key], path + step)
        for key, step, check in meant:
            if key in value:
                yield from check(value[key], path + step)

    return check_object


def kind(value: Any) -> str:
    """What a value is, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    words = {str: "a string", dict: "an object", list: "a list"}
    return next((word for type_, word in words.items() if isinstance(value, type_)), "a number")


subject = object_of(
    required={"name": filled(NAME_CHARACTERS)},
    optional={**dict.fromkeys(SUBJECT_TEXTS, text), "aliases": list_of(text), "identifiers": anything_in_an_object},
)
finding = object_of(
    required={"id": identifier, "severity": filled(SEVERITY_CHARACTERS), "title": filled()},
    optional={
        **dict.fromkeys(FINDING_TEXTS, text),
        "attribution_lane": lane,
        "hit": boolean,
        "confidence": number,
        "details": anything_in_an_object,
    },
)
quality_gate = object_of(absent_or_right={"advisory_only": boolean, "forces_review": boolean})
document = object_of(optional={"document_id": identifier, **dict.fromkeys(DOCUMENT_TEXTS, text)})
report = object_of(
    required={"report_id": identifier, "subject": subject, "findings": list_of(finding, unique="id")},
    optional={
        "iteration": iteration,
        "created_at": moment,
        "quality_gate": quality_gate,
        "documents": list_of(document, unique="document_id"),
    },
)


def find_problems(value: Any) -> Iterator[Problem]:
    """Everything that is wrong with the shape of a report."""
    return report(value, "$")


def read_iteration(value: Number | None) -> int | None:
    """The iteration of a report, 1 where it gives none; None when it isn't a positive whole number of our size."""
    if value is None:
        return 1
    if not value.is_integer or len(value.text) > len(str(GREATEST_ITERATION)):
        return None
    number = int(value.text)
    return number if 1 <= number <= GREATEST_ITERATION else None


# The same shape for the OpenAPI document; what it can't say (unique ids, no blank strings) the checks above refuse.
STRING = {"type": ["string", "null"]}
REPORT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["report_id", "subject", "findings"],
    "description": "Keys beyond these are kept and given back untouched.",
    "properties": {
        "report_id": {"type": "string", "minLength": 1, "maxLength": ID_CHARACTERS},
        "iteration": {"type": "integer", "minimum": 1, "maximum": GREATEST_ITERATION, "default": 1},
        "created_at": {"type": ["string", "null"], "format": "date-time"},
        "subject": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS},
                **dict.fromkeys(SUBJECT_TEXTS, STRING),
                "aliases": {"type": "array", "items": {"type": "string"}},
                "identifiers": {"type": "object"},
            },
        },
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "severity", "title"],
                "properties": {
                    "id": {"type": "string", "minLength": 1, "maxLength": ID_CHARACTERS},
                    "severity": {"type": "string", "minLength": 1, "maxLength": SEVERITY_CHARACTERS},
                    "title": {"type": "string", "minLength": 1},
                    **dict.fromkeys(FINDING_TEXTS, STRING),
                    "attribution_lane": {"type": "string", "enum": LANES, "default": LANES[0]},
                    "hit": {"type": ["boolean", "null"]},
                    "confidence": {"type": ["number", "null"]},
                    "details": {"type": "object"},
                },
            },
        },
        "quality_gate": {
            "type": "object",
            "properties": {
                "advisory_only": {"type": "boolean", "default": False},
                "forces_review": {"type": "boolean", "default": False},
            },
        },
        "documents": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"document_id": STRING, **dict.fromkeys(DOCUMENT_TEXTS, STRING)},
            },
        },
    },
    "example": {
        "report_id": "inv-2026-0412",
        "iteration": 1,
        "created_at": "2026-07-18T09:12:00Z",
        "subject": {
            "name": "Acme Trading OÜ",
            "entity_type": "company",
            "country": "EE",
            "registration_number": "12345678",
        },
        "findings": [
            {
                "id": "f1",
                "category": "sanctions",
                "type": "sanctions_hit",
                "severity": "critical",
                "title": "Subject designated on an EU sanctions list",
                "source": "OpenSanctions",
                "_provider": "opensanctions",
                "hit": True,
                "confidence": 0.93,
            }
        ],
        "quality_gate": {"advisory_only": False},
    },
}
