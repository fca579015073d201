"""Text on its way out: JSON put together from parts, so that it stays the same text, and text made fit for a page."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from verifier.domain.json_text import members

Members = list[tuple[str, str]]  # of a JSON object: each name with the raw text of its value
BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSHOWABLE = str.maketrans(dict.fromkeys("\0" + BIDI_CONTROLS, "\N{REPLACEMENT CHARACTER}"))


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


def readable(text: str) -> str:
    """Text for a page: what has no glyph, or would turn the direction of what stands around it, is shown as U+FFFD."""
    return text.translate(UNSHOWABLE)


def size(count: int) -> str:
    """So many bytes as people say it, such as 10 MiB or 98.1 KiB."""
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"
