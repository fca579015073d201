"""What acts are called. One name may be that of several acts; then it says so, and none is chosen."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from verifier.law.normalise import normalised

DATA = Path(__file__).parent.parent / "data" / "instruments.json"
EU_ACT = re.compile(
    r"(?:(?:commission|council)?\s*(?:delegated|implementing)?\s*)(regulation|directive|decision)\s*(?:\((?:eu|ec|eec)\))?\s*"
    r"(?:no\s*)?(\d{1,4})/(\d{1,4})(?:/(?:ec|eu|eec))?",
    re.IGNORECASE,
)
LETTERS = {"regulation": "R", "directive": "L", "decision": "D"}
CELEX = re.compile(r"3\d{4}[A-Z]\d{4}")


@dataclass(frozen=True, slots=True)
class Instrument:
    key: str
    names: tuple[str, ...]  # its own
    also_called: tuple[str, ...]  # names that are other acts' as well
    identifiers: tuple[str, ...]
    applies_from: date | None
    repealed_from: date | None


@lru_cache(maxsize=1)
def all_instruments() -> tuple[Instrument, ...]:
    return tuple(instrument(each) for each in json.loads(DATA.read_text(encoding="utf-8")))


def instrument(told: dict[str, Any]) -> Instrument:
    return Instrument(
        key=told["key"],
        names=tuple(told["names"]),
        also_called=tuple(told.get("also_called", ())),
        identifiers=tuple(told.get("identifiers", ())),
        applies_from=day(told.get("applies_from")),
        repealed_from=day(told.get("repealed_from")),
    )


def day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def folded(name: str) -> str:
    return re.sub(r"[\s.,]+", " ", normalised(name).casefold()).strip()


def named(name: str) -> list[str]:
    """The keys of the acts of this name: one, several where it is ambiguous, none where nobody knows it."""
    wanted = folded(name)
    own = [each.key for each in all_instruments() if wanted in {folded(each.key), *map(folded, each.names)}]
    if own:
        return own
    shared = [each.key for each in all_instruments() if wanted in set(map(folded, each.also_called))]
    if shared:
        return shared
    key = eu_key(name)
    return [key] if key else []


def eu_key(name: str) -> str:
    """The CELEX number of an act that is called by its kind and number; empty where the number can't be one."""
    text = normalised(name)
    if CELEX.fullmatch(text):
        return text
    found = EU_ACT.fullmatch(text)
    if not found:
        return ""
    first, second = found[2], found[3]
    year, number = (first, second) if len(first) == 4 and 1950 <= int(first) <= 2100 else (second, first)
    if len(year) != 4 or not 1950 <= int(year) <= 2100:
        return ""
    return f"3{year}{LETTERS[found[1].lower()]}{int(number):04}"


def by_identifier(identifiers: Iterable[str]) -> str:
    told = set(identifiers)
    return next((each.key for each in all_instruments() if told & {each.key, *each.identifiers}), "")


def by_title(title: str) -> str:
    """By a name of several words that stands in the title; a short one could stand there by chance."""
    text = folded(title)
    long_names = ((each.key, folded(name)) for each in all_instruments() for name in each.names if len(name) > 40)
    return next((key for key, name in long_names if name in text), "")


def applicability(key: str, on: date) -> str:
    """`applicable`, `not_yet_applicable`, `repealed`; `unknown` where nobody has said."""
    known = next((each for each in all_instruments() if each.key == key), None)
    if known is None or known.applies_from is None:
        return "unknown"
    if known.repealed_from is not None and on >= known.repealed_from:
        return "repealed"
    return "not_yet_applicable" if on < known.applies_from else "applicable"
