"""Strict reading of received JSON: every problem with its JSON path, numbers as spelled, bounded in depth and size.

RFC 8259 leaves to each reader what duplicate keys, lone surrogates and huge numbers mean; here the first two are
problems and a number stays the text it was. `members` and `elements` walk JSON text without rewriting any of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

MAX_DEPTH = 64
MAX_VALUES = 1_000_000
MAX_PROBLEMS = 100
KEY_CHARACTERS = 80  # of an overlong key, this much is shown in a path

STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # an unclosed one runs to the end
SPACE = re.compile(r"[ \t\n\r]*")
SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNREADABLE = object()  # the value of a text that isn't JSON

NOT_UTF8 = "holds bytes that are not UTF-8"
LONE_SURROGATE = "holds half of a surrogate pair, which is no character"
TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong, and where. `message` continues the path as a sentence: `$.subject.name` `is required`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path} {self.message}"


class JsonProblems(Exception):
    """The text breaks rules of JSON. `value` is what could be read of it nevertheless, or UNREADABLE."""

    def __init__(self, problems: list[Problem], value: Any = UNREADABLE) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems
        self.value = value


@dataclass(frozen=True, slots=True)
class Number:
    """A number as spelled: no conversion, so neither 5,000 digits nor 1e999999 can hurt or change."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_integer(self) -> bool:
        return self.text.lstrip("-").isdigit()


@dataclass(frozen=True, slots=True)
class NotANumber:
    """NaN, Infinity or -Infinity, which JSON doesn't have."""

    text: str


class Repeated(dict[str, Any]):
    """An object with keys that stand in it more than once; it holds the last value of each."""

    keys_repeated: list[str]


def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    repeated = Repeated(value)
    repeated.keys_repeated = list(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return repeated


decoder = JSONDecoder(object_pairs_hook=read_object, parse_int=Number, parse_float=Number, parse_constant=NotANumber)


def read(content: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of received bytes, numbers as `Number`; raises JsonProblems with every problem that can be told."""
    text, is_utf8 = decode(content)
    value = read_value(text)
    surrogates = not is_utf8 or ESCAPED_SURROGATE.search(text) is not None
    problems = list(first(find_problems(value, is_utf8=is_utf8, surrogates=surrogates, max_depth=max_depth)))
    if problems:
        raise JsonProblems(problems, value)
    return value


def load(text: str) -> Any:
    """The value of JSON text that was read and kept before, numbers as `Number`."""
    return decoder.decode(text)


def decode(content: bytes) -> tuple[str, bool]:
    """The text, and whether all of it was UTF-8; a byte that wasn't is a lone surrogate in it."""
    try:
        return content.decode(), True
    except UnicodeDecodeError:
        return content.decode(errors="surrogateescape"), False


def read_value(text: str) -> Any:
    if text.startswith("\ufeff"):
        raise JsonProblems([Problem("$", "starts with a byte order mark; send UTF-8 without one")])
    if not text.strip(" \t\r\n"):
        raise JsonProblems([Problem("$", "is empty; a report in JSON is expected")])
    if count_values(text) > MAX_VALUES:
        raise JsonProblems([Problem("$", f"holds more than {MAX_VALUES} values")])
    try:
        return decoder.decode(text)
    except JSONDecodeError as error:
        raise JsonProblems([Problem("$", syntax_message(error))]) from None
    except RecursionError:
        raise JsonProblems([Problem("$", TOO_DEEP)]) from None


def count_values(text: str) -> int:
    """At least as many values as the text holds. Only a text with very many separators is looked at closely."""
    separators = text.count(",") + text.count("[") + text.count("{")
    if separators <= MAX_VALUES:
        return separators
    return len(re.findall(r"[,\[{]", STRING.sub("", text)))


def syntax_message(error: JSONDecodeError) -> str:
    message = error.msg.removesuffix(" at")
    if SURROGATE.match(error.doc, error.pos):
        message = NOT_UTF8
    return f"isn't JSON: {message[:1].lower()}{message[1:]} at line {error.lineno}, column {error.colno}"


def first(problems: Iterator[Problem]) -> Iterator[Problem]:
    """The first hundred problems; if there are more, a last one says so."""
    for count, problem in enumerate(problems):
        if count == MAX_PROBLEMS:
            yield Problem("$", f"has more problems than the {MAX_PROBLEMS} listed")
            return
        yield problem


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: its key or index, and the place of what holds it. Spelled out only when asked for."""

    parent: "Place | None" = None
    step: str | int = ""
    depth: int = 0

    def child(self, step: str | int) -> "Place":
        return Place(self, step, self.depth + 1)

    def __str__(self) -> str:
        steps: list[str] = []
        place = self
        while place.parent is not None:
            steps.append(spell(place.step))
            place = place.parent
        return "$" + "".join(reversed(steps))


ROOT = Place()


def spell(step: str | int) -> str:
    """One step of a JSON path: `.name`, `[2]` or `['any other key']`."""
    if isinstance(step, int):
        return f"[{step}]"
    if len(step) > KEY_CHARACTERS:
        step = step[:KEY_CHARACTERS] + "…"
    if PLAIN_KEY.fullmatch(step):
        return f".{step}"
    quoted = "".join(spell_character(character) for character in step)
    return f"['{quoted}']"


def spell_character(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    if character < " " or SURROGATE.match(character):
        return f"\\u{ord(character):04x}"
    return character


TROUBLED = (dict, list, NotANumber)
TROUBLED_TEXT = (*TROUBLED, str)


def find_problems(value: Any, *, is_utf8: bool, surrogates: bool, max_depth: int) -> Iterator[Problem]:
    """Walks a read value in its own order, without recursion."""
    waiting: list[tuple[Any, Place]] = [(value, ROOT)]
    while waiting:
        value, place = waiting.pop()
        if isinstance(value, NotANumber):
            yield Problem(str(place), f"is {value.text}, which JSON doesn't have")
        elif isinstance(value, str):
            if surrogates and SURROGATE.search(value):
                yield Problem(str(place), bad_characters(value, is_utf8))
        elif isinstance(value, dict | list):
            if place.depth >= max_depth:
                yield Problem(str(place), TOO_DEEP)
                continue
            if isinstance(value, dict):
                yield from key_problems(value, place, is_utf8=is_utf8, surrogates=surrogates)
            waiting.extend(reversed(children(value, place, TROUBLED_TEXT if surrogates else TROUBLED)))


def children(value: dict[str, Any] | list[Any], place: Place, troubled: tuple[type, ...]) -> list[tuple[Any, Place]]:
    """What can hold a problem inside a container."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [(item, place.child(step)) for step, item in pairs if isinstance(item, troubled)]


def key_problems(value: dict[str, Any], place: Place, *, is_utf8: bool, surrogates: bool) -> Iterator[Problem]:
    if isinstance(value, Repeated):
        for key in value.keys_repeated:
            yield Problem(str(place.child(key)), "stands more than once in its object")
    if surrogates:
        for key in value:
            if SURROGATE.search(key):
                yield Problem(str(place.child(key)), f"as a key {bad_characters(key, is_utf8)}")


def bad_characters(text: str, is_utf8: bool) -> str:
    """A byte that isn't UTF-8 was decoded as U+DC80 to U+DCFF; any other lone surrogate was an escape."""
    undecoded = not is_utf8 and any("\udc80" <= character <= "\udcff" for character in text)
    return NOT_UTF8 if undecoded else LONE_SURROGATE


def members(text: str) -> list[tuple[str, str]]:
    """The members of the JSON object in `text`, in their order: each key with the raw text of its value."""
    found: list[tuple[str, str]] = []
    at = skip(text, skip(text, 0) + 1)  # behind the opening brace
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        start = skip(text, skip(text, at) + 1)  # behind the colon
        _, end = decoder.raw_decode(text, start)
        found.append((key, text[start:end]))
        at = behind_comma(text, end)
    return found


def elements(text: str) -> list[str]:
    """The raw texts of the elements of the JSON array in `text`."""
    found: list[str] = []
    at = skip(text, skip(text, 0) + 1)  # behind the opening bracket
    while text[at] != "]":
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = behind_comma(text, end)
    return found


def behind_comma(text: str, at: int) -> int:
    """The start of what comes next in a container: another item, or its end."""
    at = skip(text, at)
    return skip(text, at + 1) if text[at] == "," else at


def skip(text: str, at: int) -> int:
    """The place of the first character that isn't white space."""
    match = SPACE.match(text, at)
    assert match is not None
    return match.end()
