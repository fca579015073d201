"""JSON text put together from parts, so that what came as text goes out as the same text."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from verifier.domain.json_text import members

Members = list[tuple[str, str]]  # of a JSON object: each name with the raw text of its value


def members_of(text: str) -> Members:
    """The members of an object; what is no object has none."""
    return members(text) if text.lstrip().startswith("{") else []


def apart(told: Members, ours: set[str]) -> tuple[Members, Members]:
    """The report's own members, and those under a name of ours."""
    return [pair for pair in told if pair[0] not in ours], [pair for pair in told if pair[0] in ours]


def moment(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z") if at else None


def dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def assemble(parts: Iterable[tuple[str, str]]) -> str:
    """A JSON object of names and the raw JSON texts of their values."""
    return "{" + ", ".join(f"{dump(name)}: {raw}" for name, raw in parts) + "}"
