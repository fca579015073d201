"""Received bytes are read strictly: each rule that JSON leaves open has one answer here, with its path."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.domain.json_text import (
    LONE_SURROGATE,
    MAX_DEPTH,
    MAX_PROBLEMS,
    NOT_UTF8,
    TOO_DEEP,
    UNREADABLE,
    JsonProblems,
    Number,
    elements,
    load,
    members,
    read,
)

REPEATED = "stands more than once in its object"


def problems_of(content: bytes) -> list[tuple[str, str]]:
    with pytest.raises(JsonProblems) as caught:
        read(content)
    return [(problem.path, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"a": 1, "a": 2}', [("$.a", REPEATED)]),
        (b'{"a": 1, "\\u0061": 2, "a": 3}', [("$.a", REPEATED)]),
        (b'{"findings": [{}, {"details": {"x": 1, "x": 1}}]}', [("$.findings[1].details.x", REPEATED)]),
        (b'{"a": {"b": 1, "b": 2}, "a": {"c": 1, "c": 2}}', [("$.a", REPEATED), ("$.a.c", REPEATED)]),
        (b'{"two words": 1, "two words": 2}', [("$['two words']", REPEATED)]),
        (b'{"it\'s\\\\": 1, "it\'s\\\\": 2}', [("$['it\\'s\\\\']", REPEATED)]),
        (b'{"": 1, "": 2}', [("$['']", REPEATED)]),
        (b'{"\\u0000": 1, "\\u0000": 2}', [("$['\\u0000']", REPEATED)]),
        ('{"ключ": 1, "ключ": 2}'.encode(), [("$['ключ']", REPEATED)]),
        (b'{"a": [1, NaN]}', [("$.a[1]", "is NaN, which JSON doesn't have")]),
        (
            b'{"a": Infinity, "b": {"c": -Infinity}}',
            [
                ("$.a", "is Infinity, which JSON doesn't have"),
                ("$.b.c", "is -Infinity, which JSON doesn't have"),
            ],
        ),
        (b"NaN", [("$", "is NaN, which JSON doesn't have")]),
        (b'{"a": {"b": "\xff"}}', [("$.a.b", NOT_UTF8)]),
        (b'["\xed\xa0\x80"]', [("$[0]", NOT_UTF8)]),
        (b'["\xc0\x80"]', [("$[0]", NOT_UTF8)]),
        (b'["ok", "cut \xe2\x82"]', [("$[1]", NOT_UTF8)]),
        (b'{"a\xff": 1}', [("$['a\\udcff']", f"as a key {NOT_UTF8}")]),
        (b'{"a": ["\\ud800"]}', [("$.a[0]", LONE_SURROGATE)]),
        (b'{"a": ["\\uDFFF x"]}', [("$.a[0]", LONE_SURROGATE)]),
        (b'{"a": ["\\ude00\\ud83d"]}', [("$.a[0]", LONE_SURROGATE)]),
        (b'{"\\ud83d": 1}', [("$['\\ud83d']", f"as a key {LONE_SURROGATE}")]),
        (
            b'{"a": "\xff", "b": "\\ud800", "c": NaN, "d": 1, "d": 2}',
            [
                ("$.d", REPEATED),
                ("$.a", NOT_UTF8),
                ("$.b", LONE_SURROGATE),
                ("$.c", "is NaN, which JSON doesn't have"),
            ],
        ),
    ],
)
def test_it_names_every_problem_by_its_path(content: bytes, expected: list[tuple[str, str]]) -> None:
    assert problems_of(content) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; a report in JSON is expected"),
        (b" \n\t ", "is empty; a report in JSON is expected"),
        (b"\xef\xbb\xbf{}", "starts with a byte order mark; send UTF-8 without one"),
        ("{}".encode("utf-16"), f"isn't JSON: {NOT_UTF8} at line 1, column 1"),
        (b'{"a":\n\xff}', f"isn't JSON: {NOT_UTF8} at line 2, column 1"),
        (b'{"a": "unclosed', "isn't JSON: unterminated string starting at line 1, column 7"),
    ],
)
def test_it_says_why_there_is_nothing_to_read(content: bytes, message: str) -> None:
    assert problems_of(content) == [("$", message)]


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b'{"a": 1} trailing', 1, 10),
        (b"{}{}", 1, 3),
        (b'{\n  "a": tru\n}', 2, 8),
        (b'{"a": "line\nbreak"}', 1, 12),
        (b'{"a": "\x00"}', 1, 8),
        (b'{"a": "\\x"}', 1, 8),
        (b"{'a': 1}", 1, 2),
        (b"[01]", 1, 3),
        (b"[+1]", 1, 2),
        (b"[.5]", 1, 2),
        (b"[0x1]", 1, 3),
        (b"// no\n{}", 1, 1),
        (b"--boundary\r\nContent-Disposition: form-data", 1, 1),
        (b"\xc2\xa0{}", 1, 1),
    ],
)
def test_it_says_where_text_is_not_json(content: bytes, line: int, column: int) -> None:
    with pytest.raises(JsonProblems) as caught:
        read(content)
    assert caught.value.value is UNREADABLE
    [problem] = caught.value.problems
    assert problem.path == "$"
    assert problem.message.startswith("isn't JSON: ") and problem.message.endswith(f" at line {line}, column {column}")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 100_000])
def test_it_refuses_deep_nesting_without_recursing(opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    content = opening * depth + b"0" + closing * depth
    assert [message for _, message in problems_of(content)] == [TOO_DEEP]


def test_it_names_the_place_where_nesting_goes_too_deep() -> None:
    content = b'{"details": ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}"
    assert problems_of(content) == [("$.details" + "[0]" * (MAX_DEPTH - 1), TOO_DEEP)]


def test_it_reads_nesting_up_to_the_limit() -> None:
    assert read(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@pytest.mark.parametrize(
    "number",
    ["0", "-0", "1.0", "1E5", "1e-7", "1e999999", "-1e999999", "0.1000000000000000055", "9" * 5000, "1" + "0" * 400],
)
def test_it_keeps_a_number_as_it_is_spelled(number: str) -> None:
    assert read(f'{{"n": {number}}}'.encode()) == {"n": Number(number)}
    assert load(number) == Number(number)


@pytest.mark.parametrize(("number", "whole"), [("0", True), ("-12", True), ("1.0", False), ("1e3", False)])
def test_it_knows_a_whole_number_by_its_spelling(number: str, whole: bool) -> None:
    assert Number(number).is_integer is whole


def test_it_keeps_an_escaped_nul_and_a_whole_surrogate_pair() -> None:
    assert read(b'["a\\u0000b", "\\ud83d\\ude00"]') == ["a\0b", "\U0001f600"]


def test_it_lists_a_hundred_problems_and_says_that_there_are_more() -> None:
    problems = problems_of(b"[" + b"NaN," * 5000 + b"NaN]")
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-2:] == [
        ("$[99]", "is NaN, which JSON doesn't have"),
        ("$", "has more problems than the 100 listed"),
    ]


def test_it_shortens_an_overlong_key_in_a_path() -> None:
    [(path, _)] = problems_of(b'{"' + b"k" * 100_000 + b'": NaN}')
    assert path == "$['" + "k" * 80 + "…']"


@pytest.mark.parametrize(
    "content",
    [
        b"[" + b"[]," * 1_100_000 + b"0]",
        b"[" + b"0," * 1_100_000 + b"0]",
        b'{"a": ["' + b'\\",' * 1_100_000 + b'", ' + b"1," * 1_100_000 + b"1]}",
    ],
)
def test_it_refuses_more_values_than_memory_should_hold(content: bytes) -> None:
    assert problems_of(content) == [("$", "holds more than 1000000 values")]


def test_commas_inside_a_text_are_not_values() -> None:
    csv = "1,2," * 600_000
    assert read(json.dumps({"text": csv}).encode()) == {"text": csv}


@pytest.mark.parametrize("content", [b'{"a": "' + b'\\",' * 500_000, b'"' + b'\\",[' * 500_000])
def test_it_gives_up_on_an_unclosed_text_in_one_pass(content: bytes) -> None:
    [(path, message)] = problems_of(content)
    assert path == "$" and message.startswith("isn't JSON: unterminated string")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", []),
        (" { } ", []),
        ('{"a":1}', [("a", "1")]),
        ('{ "a" : 1.50 , "b":\n[1, 2 ] , "c" : {"d": "}"} }', [("a", "1.50"), ("b", "[1, 2 ]"), ("c", '{"d": "}"}')]),
        (r'{"\u0061\u0000": "\u0000\ud83d\ude00", "n": null}', [("a\0", r'"\u0000\ud83d\ude00"'), ("n", "null")]),
        ('{"n": %s}' % ("9" * 5000), [("n", "9" * 5000)]),
    ],
)
def test_it_gives_the_raw_text_of_each_member(text: str, expected: list[tuple[str, str]]) -> None:
    assert members(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[]", []), (" [ ] ", []), ('[1,"]" , {"a": [2]}]', ["1", '"]"', '{"a": [2]}']), ("[1e5 ]", ["1e5"])],
)
def test_it_gives_the_raw_text_of_each_element(text: str, expected: list[str]) -> None:
    assert elements(text) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_members_put_together_again_are_the_object(value: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert {key: json.loads(raw) for key, raw in members(text)} == value
    assert [key for key, _ in members(text)] == list(value)


@given(st.lists(json_values))
def test_elements_put_together_again_are_the_array(value: list[Any]) -> None:
    assert json.loads("[" + ",".join(elements(json.dumps(value))) + "]") == value


@given(st.binary() | st.text(alphabet='{}[]":,\\u0d8aNn1e.- ').map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_path(content: bytes) -> None:
    try:
        read(content)
    except JsonProblems as refused:
        assert refused.problems and all(problem.path.startswith("$") for problem in refused.problems)
        "".join(map(str, refused.problems)).encode()  # every problem can be sent
