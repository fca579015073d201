"""Text made fit for a page, and JSON put together from parts."""

import json

import pytest

from reviews.templatetags.look import shown
from reviews.text import BIDI_CONTROLS, apart, assemble, members_of


@pytest.mark.parametrize("control", ["\0", *BIDI_CONTROLS])
def test_what_can_deceive_the_eye_is_shown_as_a_mark(control: str) -> None:
    assert shown(f"a{control}b") == "a\ufffdb"


@pytest.mark.parametrize("text", ["שלום", "مرحبا\u200f", "Müller 🏦", "a\u200db"])
def test_writing_of_every_direction_stays_as_it_is(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("text", ["{}", ' {"a" : 1.0 , "b":{"a":[ ]}} ', '{"\\u0000": "\\"}"}'])
def test_an_object_put_together_again_holds_the_same(text: str) -> None:
    assert json.loads(assemble(members_of(text))) == json.loads(text)


@pytest.mark.parametrize("text", ["null", "[]", '"{}"', "1"])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert members_of(text) == []


def test_members_are_told_apart_by_name_in_their_order() -> None:
    told = members_of('{"c": 1, "a": 2, "b": 3}')
    assert apart(told, {"a"}) == ([("c", "1"), ("b", "3")], [("a", "2")])
