"""The arithmetic alone, without a database."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.chain import EPOCH, REPEATED, Kind, Link, canonical, genesis, microseconds, printable, read_body, verify

TENANT = UUID("7c1f1f0e-6f0a-4a53-9c39-2a6f0d6c3a11")
OTHER = UUID("0e5b5d3c-0d57-4f7c-8a55-4a5fd0a4b002")


def make_chain(length: int) -> list[Link]:
    links: list[Link] = []
    previous = genesis(TENANT)
    for sequence in range(1, length + 1):
        links.append(make_link(sequence, previous))
        previous = links[-1].event_hash
    return links


def make_link(sequence: int, previous: bytes, tenant: UUID = TENANT, **changed: object) -> Link:
    event_id, beside = UUID(int=sequence), ("case_viewed", "m.tamm", "person", f"INV-{sequence}", "")
    body = dict(zip(REPEATED, beside, strict=True)) | {
        "event_id": str(event_id),
        "tenant_id": str(tenant),
        "case_id": None,
        "details": {"place": sequence},
    }
    stored = canonical(body | changed).encode()
    link = Link(
        tenant.bytes, sequence, 1_700_000_000_000_000 + sequence, stored, previous, b"", event_id.bytes, None, beside
    )
    return link._replace(event_hash=link.computed_hash())


def test_a_chain_as_it_was_written_is_whole() -> None:
    links = make_chain(5)

    result = verify(links, TENANT)

    assert (result.events, result.head_hash, result.broken) == (5, links[-1].event_hash, None)


def test_an_empty_chain_is_whole_and_has_no_head() -> None:
    result = verify([], TENANT)

    assert (result.events, result.head_hash, result.broken) == (0, None, None)


def flipped(value: bytes) -> bytes:
    return bytes([value[0] ^ 1]) + value[1:]


@dataclass(frozen=True)
class Tampering:
    name: str
    kind: Kind
    sequence: int

    def __str__(self) -> str:
        return self.name


def tamper(name: str, links: list[Link]) -> list[Link]:
    third = links[2]
    match name:
        case "body flipped":
            links[2] = third._replace(body=third.body.replace(b"m.tamm", b"m.tamn"))
        case "hash flipped":
            links[2] = third._replace(event_hash=flipped(third.event_hash))
        case "time moved by a microsecond":
            links[2] = third._replace(microseconds=third.microseconds + 1)
        case "column beside it changed":
            links[2] = third._replace(beside=(third.beside[0], "somebody.else", *third.beside[2:]))
        case "case beside it changed":
            links[2] = third._replace(case_id=UUID(int=77).bytes)
        case "previous hash flipped":
            links[2] = third._replace(previous_hash=flipped(third.previous_hash))
        case "rewritten with its hash":
            links[2] = make_link(3, third.previous_hash, details={"place": 33})
        case "first not from genesis":
            links[0] = make_link(1, genesis(OTHER))
        case "first removed":
            del links[0]
        case "middle removed":
            del links[2]
        case "two removed":
            del links[1:3]
        case "two swapped":
            links[2], links[3] = links[3]._replace(sequence=3), third._replace(sequence=4)
        case "doubled":
            links.insert(2, third)
        case "another in the same place":
            links.insert(2, make_link(3, third.previous_hash, details={"place": 33}))
        case "another behind the same predecessor":
            links[3] = make_link(4, third.previous_hash)
        case "of another tenant":
            links[2] = make_link(3, third.previous_hash, tenant=OTHER)
    return links


TAMPERINGS = [
    Tampering("body flipped", Kind.PAYLOAD_CHANGED, 3),
    Tampering("hash flipped", Kind.PAYLOAD_CHANGED, 3),
    Tampering("time moved by a microsecond", Kind.PAYLOAD_CHANGED, 3),
    Tampering("column beside it changed", Kind.PAYLOAD_CHANGED, 3),
    Tampering("case beside it changed", Kind.PAYLOAD_CHANGED, 3),
    Tampering("previous hash flipped", Kind.LINK_BROKEN, 3),
    Tampering("rewritten with its hash", Kind.LINK_BROKEN, 4),
    Tampering("first not from genesis", Kind.WRONG_GENESIS, 1),
    Tampering("first removed", Kind.GAP, 1),
    Tampering("middle removed", Kind.GAP, 3),
    Tampering("two removed", Kind.GAP, 2),
    Tampering("two swapped", Kind.LINK_BROKEN, 3),
    Tampering("doubled", Kind.DUPLICATE, 3),
    Tampering("another in the same place", Kind.FORK, 3),
    Tampering("another behind the same predecessor", Kind.FORK, 4),
    Tampering("of another tenant", Kind.PAYLOAD_CHANGED, 3),
]


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=str)
def test_it_names_what_was_done_and_where(tampering: Tampering) -> None:
    broken = verify(tamper(tampering.name, make_chain(5)), TENANT).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (tampering.kind, tampering.sequence)


def test_a_link_of_another_tenant_is_found_even_when_it_fits() -> None:
    stranger = make_link(1, genesis(TENANT), tenant=OTHER)

    broken = verify([stranger], TENANT).broken

    assert broken is not None
    assert (broken.kind, broken.detail) == (Kind.PAYLOAD_CHANGED, "the event belongs to another tenant")


@pytest.mark.parametrize("body", [b"not json", b"[]", b'"text"', b"[" * 100_000])
def test_a_body_that_is_no_object_is_found_even_when_its_hash_is_right(body: bytes) -> None:
    link = make_chain(1)[0]._replace(body=body)
    link = link._replace(event_hash=link.computed_hash())

    broken = verify([link], TENANT).broken

    assert broken is not None
    assert broken.kind == Kind.PAYLOAD_CHANGED


def test_it_reads_no_further_than_the_first_break() -> None:
    links = make_chain(3)
    reader = count()
    broken_first = [links[0]._replace(body=b"{}"), *links[1:]]

    verify((link for link in broken_first if next(reader) >= 0), TENANT)

    assert next(reader) == 2  # the broken one and the one behind it


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_canonical_text_reads_back_as_what_was_written(body: dict[str, object]) -> None:
    text = canonical(body)

    assert read_body(text) == body
    assert canonical(read_body(text)) == text
    assert "\0" not in text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"bytes"])
def test_canonical_refuses_what_json_cannot_hold(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        canonical({"value": value})


def test_key_order_does_not_matter_to_the_canonical_text() -> None:
    assert canonical({"b": 1, "a": {"d": 2, "c": 3}}) == canonical({"a": {"c": 3, "d": 2}, "b": 1})


def test_one_and_one_point_zero_stay_apart() -> None:
    assert canonical({"n": 1}) != canonical({"n": 1.0})


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (EPOCH, 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), -1),
        (datetime(2026, 11, 30, 14, 2, 13, 204_567, UTC), 1_796_047_333_204_567),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), 253_402_300_799_999_999),
    ],
)
def test_moments_count_in_whole_microseconds(moment: datetime, expected: int) -> None:
    assert microseconds(moment) == expected
    assert timedelta(microseconds=expected) + EPOCH == moment


def test_nul_is_shown_as_the_replacement_character() -> None:
    assert printable("a\0b") == "a\ufffdb"
