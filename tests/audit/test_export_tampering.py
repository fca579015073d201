"""Whatever is changed in an export is found, and named with its place."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import sealed
from audit.models import Tenant
from audit.notary import write_checkpoint
from audit.signing import encode, hand_over
from tests.audit import offline
from tests.audit.exports import (
    AT,
    DATA,
    OPERATOR,
    THIEF,
    change_json,
    change_line,
    change_lines,
    hash_anew,
    in_turn,
    lines,
    make,
    sign,
    sign_anew,
)
from tests.audit.trails import append, seal

verify = offline.load()
BOTH = ("events.jsonl", "proofs.jsonl")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def signing(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.CHECKPOINT_KEY = encode(b"\1" * 32)
    settings.CHECKPOINT_STORE = "audit.checkpoints.DirectoryStore"
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    settings.CHECKPOINT_PUBLIC_KEYS = []
    sealed.keys.clear()
    yield
    sealed.keys.clear()


@pytest.fixture
def case(tenant: Tenant) -> UUID:
    case_id = uuid4()
    for place in range(3):
        append(tenant, case_id=case_id, subject="Õunapuu", details={"place": place})
        append(tenant, case_id=uuid4(), subject="another")
    append(tenant, subject="a switch", details={"on": True})
    seal()
    write_checkpoint(tenant=tenant, at=AT)
    append(tenant)
    append(tenant, case_id=case_id)
    seal()
    return case_id


@pytest.fixture
def whole(tenant: Tenant, case: UUID, tmp_path: Path) -> Path:
    """The whole trail: nine events."""
    make(tenant, tmp_path / "whole")
    assert offline.problems(verify, tmp_path / "whole") == []
    return tmp_path / "whole"


@pytest.fixture
def one(tenant: Tenant, case: UUID, tmp_path: Path) -> Path:
    """One case: four events."""
    make(tenant, tmp_path / "one", case)
    assert offline.problems(verify, tmp_path / "one") == []
    return tmp_path / "one"


FLIPS = st.tuples(st.sampled_from(DATA), st.integers(0), st.integers(1, 255))


@pytest.mark.parametrize("which", ["whole", "one"])
def test_any_byte_that_is_another_is_found_with_its_place(which: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(which)

    @given(FLIPS)
    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.nested_given])
    def flipped(flip: tuple[str, int, int]) -> None:
        name, place, by = flip
        held = (folder / name).read_bytes()
        place %= len(held)
        try:
            (folder / name).write_bytes(held[:place] + bytes([held[place] ^ by]) + held[place + 1 :])
            found = offline.problems(verify, folder)
        finally:
            (folder / name).write_bytes(held)
        line = held.count(b"\n", 0, place) + 1
        named = f"{name}, line {line}: " if name in BOTH else f"{name}"
        assert [each for each in found if each.startswith(named)], (found, held[place : place + 1])

    flipped()


@pytest.mark.parametrize("name", [*DATA, "verify.py"])
def test_a_file_that_is_cut_grown_or_gone_is_named(whole: Path, name: str) -> None:
    held = (whole / name).read_bytes()
    for content in (held[:-1], held[: len(held) // 2], b"", held + b"\n", None):
        (whole / name).unlink() if content is None else (whole / name).write_bytes(content)
        assert any(each.startswith(name) for each in offline.problems(verify, whole)), content
        (whole / name).write_bytes(held)


def drop(held: list[bytes]) -> None:
    del held[1]


def drop_last(held: list[bytes]) -> None:
    del held[-1]


def swap(held: list[bytes]) -> None:
    held[1], held[2] = held[2], held[1]


def double(held: list[bytes]) -> None:
    held.insert(1, held[1])


def say_otherwise(event: dict[str, Any]) -> None:
    event["body"] = event["body"].replace("m.tamm", "j.kask")


def withhold(event: dict[str, Any]) -> None:
    event["content"] = {"withheld": "erased"}


def checkpoint_says(**said: Any) -> Callable[[Path], None]:
    """And the operator signs it."""
    return change_json("checkpoint.json", in_turn(lambda content: content.update(said), signed_by_the_operator))


def earlier_says(**said: Any) -> Callable[[Path], None]:
    def change(content: dict[str, Any]) -> None:
        content["earlier"].update(said)
        signed_by_the_operator(content["earlier"])

    return change_json("consistency.json", change)


def signed_by_the_operator(content: dict[str, Any]) -> None:
    sign(content, OPERATOR)


HANDED = hand_over(old=OPERATOR, new=THIEF, at="2026-12-01T10:00:00Z").as_json()
NOBODYS = encode(bytes(64))
# Each done with a manifest that the operator himself signed afterwards: what is left are the proofs.
CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a dropped event": (change_lines(drop, *BOTH), "events.jsonl, line 2: event 2 is missing before event 3"),
    "a dropped line": (change_lines(drop, "events.jsonl"), "proofs.jsonl, line 2: the proof is of event 2"),
    "a dropped proof": (change_lines(drop, "proofs.jsonl"), "proofs.jsonl, line 2: the proof is of event 3"),
    "a last event cut off": (change_lines(drop_last, *BOTH), "events.jsonl: it holds 8 events, 9 were exported"),
    "a last line cut off": (change_lines(drop_last, "events.jsonl"), "events.jsonl, line 9: the line is missing"),
    "swapped events": (change_lines(swap, *BOTH), "events.jsonl, line 3: event 2 stands behind event 3"),
    "an event twice": (change_lines(double, *BOTH), "events.jsonl, line 3: event 2 stands behind event 2"),
    "swapped proofs": (
        change_line(4, lambda proof: proof["path"].reverse(), "proofs.jsonl"),
        "proofs.jsonl, line 4: the proof doesn't lead from event 4 (events.jsonl, line 4) to the signed root",
    ),
    "a proof without a hash": (
        change_line(4, lambda proof: proof["path"].append("ff"), "proofs.jsonl"),
        "proofs.jsonl, line 4: the proof is not made of hashes",
    ),
    "another actor": (change_line(2, say_otherwise), "events.jsonl, line 2: event 2 doesn't give its hash"),
    "another time": (
        change_line(2, lambda event: event.update(recorded_at=event["recorded_at"] + 1)),
        "events.jsonl, line 2: event 2 doesn't give its hash",
    ),
    "another place": (
        in_turn(*(change_line(9, lambda content: content.update(sequence=10), name) for name in BOTH)),
        "events.jsonl, line 9: event 10 is none of the 9",
    ),
    "another predecessor": (
        change_line(2, lambda event: event.update(previous_hash="00" * 32)),
        "events.jsonl, line 2: event 2 doesn't give its hash",
    ),
    "another plaintext": (
        change_line(1, lambda event: event["content"].update(plaintext=event["content"]["plaintext"] + " ")),
        "events.jsonl, line 1: the content shown is not what the event committed itself to",
    ),
    "another opening": (
        change_line(1, lambda event: event["content"].update(opening="00" * 32)),
        "events.jsonl, line 1: the content shown is not what the event committed itself to",
    ),
    "a content called erased": (
        change_line(1, withhold),
        "events.jsonl, line 1: the content is withheld as erased, and no event says that its case was erased",
    ),
    "a content left out": (
        change_line(1, lambda event: event.update(content=None)),
        "events.jsonl, line 1: what the event sealed and what is shown beside it are not both there",
    ),
    "a content of what sealed none": (
        change_line(7, lambda event: event.update(content={"opening": "00" * 32, "plaintext": "x"})),
        "events.jsonl, line 7: what the event sealed and what is shown beside it are not both there",
    ),
    "a further field": (
        change_line(5, lambda event: event.update(note="x")),
        "events.jsonl, line 5: not written as an export writes it",
    ),
    "a number of another kind": (
        change_line(5, lambda event: event.update(sequence=5.0)),
        "events.jsonl, line 5: sequence is missing or not what it must be",
    ),
    "a space": (
        change_lines(lambda held: held.__setitem__(4, held[4].replace(b":", b": ", 1)), "events.jsonl"),
        "events.jsonl, line 5: not written as an export writes it",
    ),
    "a last line without its end": (
        change_lines(lambda held: held.__setitem__(8, held[8][:-1]), "events.jsonl"),
        "events.jsonl, line 9: the line is cut off",
    ),
    "a line that is no text": (
        change_lines(lambda held: held.__setitem__(4, b"\xff\n"), "events.jsonl"),
        "events.jsonl, line 5: not JSON in UTF-8",
    ),
    "a line without an end to its depth": (
        change_lines(lambda held: held.__setitem__(4, b"[" * 100_000 + b"\n"), "events.jsonl"),
        "events.jsonl, line 5: not JSON in UTF-8",
    ),
    "a line that is a list": (
        change_lines(lambda held: held.__setitem__(4, b"[]\n"), "proofs.jsonl"),
        "proofs.jsonl, line 5: not a JSON object",
    ),
    "an empty line": (
        change_lines(lambda held: held.insert(4, b"\n"), "events.jsonl"),
        "events.jsonl, line 5: not JSON",
    ),
    "a checkpoint of another key": (
        change_json("checkpoint.json", lambda content: sign(content, THIEF)),
        f"checkpoint.json: signed by key {THIEF.key_id}, which is none of keys.json",
    ),
    "a checkpoint of another key in this one's name": (
        change_json("checkpoint.json", lambda content: sign(content, THIEF, OPERATOR.key_id)),
        f"checkpoint.json: the signature of key {OPERATOR.key_id} doesn't hold",
    ),
    "a checkpoint with another time": (
        change_json("checkpoint.json", lambda content: content.update(at="2027-01-01T00:00:00+00:00")),
        f"checkpoint.json: the signature of key {OPERATOR.key_id} doesn't hold",
    ),
    "a signed manifest as checkpoint": (
        lambda folder: (folder / "checkpoint.json").write_bytes((folder / "manifest.json").read_bytes()),
        "checkpoint.json: at is missing or not what it must be",
    ),
    "a checkpoint signed for another purpose": (
        checkpoint_says(purpose="second-look:export"),
        f"checkpoint.json: the signature of key {OPERATOR.key_id} doesn't hold",
    ),
    "a checkpoint that counts otherwise": (
        checkpoint_says(count=8),
        "checkpoint.json: the checkpoint's count is not its last event's place",
    ),
    "a checkpoint over another root": (
        checkpoint_says(root="00" * 32),
        "consistency.json: the later checkpoint doesn't continue the earlier one: history was rewritten",
    ),
    "a checkpoint with another last event": (
        checkpoint_says(head_hash="00" * 32),
        "events.jsonl, line 9: event 9 is not the one that the checkpoint names as the last",
    ),
    "another history before": (
        earlier_says(root="00" * 32),
        "consistency.json: the later checkpoint doesn't continue the earlier one: history was rewritten",
    ),
    "a history that is not earlier": (
        earlier_says(count=9, sequence=9),
        "consistency.json: the proof is not one from an earlier checkpoint to a later one",
    ),
    "an earlier checkpoint of another tenant": (
        earlier_says(tenant_id=str(uuid4())),
        "consistency.json: the checkpoint is of another tenant",
    ),
    "a proof of history that is not made of hashes": (
        change_json("consistency.json", lambda content: content["path"].append("ff")),
        "consistency.json: the proof is not one from an earlier checkpoint to a later one",
    ),
    "an earlier checkpoint of another key": (
        change_json("consistency.json", lambda content: sign(content["earlier"], THIEF, OPERATOR.key_id)),
        f"consistency.json: the signature of key {OPERATOR.key_id} doesn't hold",
    ),
    "a key under another's id": (
        change_json("keys.json", lambda content: content["keys"][0].update(public_key=encode(THIEF.public))),
        "keys.json: key 1 is not 32 bytes in base64, or its id not the start of its SHA-256",
    ),
    "a handing over that the old key did not sign": (
        change_json("keys.json", lambda content: content["handing_over"].append(HANDED | {"old_signature": NOBODYS})),
        "keys.json: a handing over of keys is not signed by its old key",
    ),
    "a handing over that the new key did not sign": (
        change_json("keys.json", lambda content: content["handing_over"].append(HANDED | {"new_signature": NOBODYS})),
        "keys.json: a handing over of keys is not signed by its new key",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_even_under_a_manifest_that_fits_it(whole: Path, what: str) -> None:
    change, words = CHANGES[what]
    change(whole)
    assert any(
        each.startswith(("manifest", words.split(",")[0].split(":")[0])) for each in offline.problems(verify, whole)
    )

    sign_anew(whole)

    found = offline.problems(verify, whole)
    assert any(each.startswith(words) for each in found), found


def test_an_event_hashed_anew_does_not_lead_to_the_root(tenant: Tenant, whole: Path) -> None:
    change_line(3, in_turn(say_otherwise, lambda event: hash_anew(event, tenant)))(whole)
    sign_anew(whole)

    found = offline.problems(verify, whole)

    assert found == [
        "proofs.jsonl, line 3: the proof doesn't lead from event 3 (events.jsonl, line 3) to the signed root",
        "events.jsonl, line 4: event 4 doesn't name the hash of the event before it",
        "events.jsonl: its 9 events together are not the 9 that the checkpoint signs",
    ]


def test_an_event_of_another_tenant_is_found(tenant: Tenant, whole: Path, make_tenant: Any, tmp_path: Path) -> None:
    stranger = make_tenant()
    for _ in range(3):
        append(stranger)
    seal()
    make(stranger, tmp_path / "stranger")
    foreign = lines(tmp_path / "stranger")[1]
    change_lines(lambda held: held.__setitem__(1, foreign), "events.jsonl")(whole)
    sign_anew(whole)
    assert "events.jsonl, line 2: event 2 doesn't give its hash" in offline.problems(verify, whole)[0]

    change_line(2, lambda event: hash_anew(event, tenant))(whole)
    sign_anew(whole)
    assert f"events.jsonl, line 2: the event is of another tenant ({stranger.id})" in offline.problems(verify, whole)

    (whole / "checkpoint.json").write_bytes((tmp_path / "stranger" / "checkpoint.json").read_bytes())
    sign_anew(whole)
    assert f"checkpoint.json: the checkpoint is of another tenant ({stranger.id})" in offline.problems(verify, whole)


def test_an_event_of_another_case_is_found(whole: Path, one: Path) -> None:
    def smuggle(folder: Path) -> None:
        for name in BOTH:
            foreign = lines(whole, name)[1]
            change_lines(lambda held, foreign=foreign: held.insert(1, foreign), name)(folder)

    smuggle(one)
    change_json("manifest.json", lambda content: content.update(events=5))(one)
    sign_anew(one)

    other = json.loads(json.loads(lines(whole)[1])["body"])["case_id"]
    assert offline.problems(verify, one) == [
        f"events.jsonl, line 2: the event is of another case ({other})",
    ]


def test_a_case_with_fewer_events_than_the_manifest_says_is_found(one: Path) -> None:
    change_lines(drop, *BOTH)(one)
    sign_anew(one)
    assert offline.problems(verify, one) == ["events.jsonl: it holds 3 events, 4 were exported"]


def test_a_forgery_that_fits_itself_is_found_by_the_key_that_is_known(whole: Path) -> None:
    def own_key(content: dict[str, Any]) -> None:
        content["keys"] = [{"key_id": THIEF.key_id, "public_key": encode(THIEF.public)}]

    change_json("keys.json", own_key)(whole)
    change_json("checkpoint.json", lambda content: sign(content, THIEF))(whole)
    change_json("consistency.json", lambda content: sign(content["earlier"], THIEF))(whole)
    sign_anew(whole, THIEF)

    assert offline.problems(verify, whole) == []
    assert offline.problems(verify, whole, OPERATOR.public) == [
        f"manifest.json: signed by key {THIEF.key_id}, which is none that you gave"
    ]


def test_what_a_forged_file_says_reaches_no_terminal_as_it_is(whole: Path) -> None:
    change_json("checkpoint.json", lambda content: sign(content, OPERATOR, "\x1b[2J\u202e"))(whole)
    sign_anew(whole)
    done = offline.run(whole)
    assert done.returncode == 1
    assert "\\x1b[2J\\u202e" in done.stdout


def test_a_manifest_that_leaves_files_out_or_names_others_is_refused(whole: Path) -> None:
    entry = {"bytes": 1, "sha256": "00" * 32}
    for change in (
        lambda content: content["files"].pop("proofs.jsonl"),
        lambda content: content["files"].update({"../secret": entry}),
        lambda content: content["files"].update({"notes.txt": "none"}),
    ):
        held = (whole / "manifest.json").read_bytes()
        change_json("manifest.json", in_turn(change, signed_by_the_operator))(whole)
        assert offline.problems(verify, whole) == ["manifest.json: it doesn't name the files that an export has"]
        (whole / "manifest.json").write_bytes(held)


def test_it_tells_twenty_one_by_one_and_counts_the_rest(tenant: Tenant, tmp_path: Path) -> None:
    for _ in range(30):
        append(tenant)
    seal()
    make(tenant, tmp_path / "out")
    for number in range(1, 31):
        change_line(number, say_otherwise)(tmp_path / "out")
    told = offline.run(tmp_path / "out").stdout.splitlines()
    assert len([each for each in told if each.startswith("WRONG events.jsonl")]) == verify.SHOWN
    assert "WRONG and 11 more" in told  # with the file itself
    assert not [each for each in told if "each gives its hash" in each]


def test_what_could_not_be_checked_is_said_and_is_no_pass(whole: Path) -> None:
    (whole / "keys.json").unlink()
    done = offline.run(whole)
    assert (done.returncode, done.stderr) == (1, "")
    assert "WRONG keys.json: can't be read (No such file or directory)" in done.stdout
    unchecked = "UNCHECKED  from there on: who signed, the manifest, the files, the checkpoints, the events"
    assert unchecked in done.stdout
    assert "This export is NOT what was signed, or could not be checked." in done.stdout


def test_lines_that_cannot_be_read_are_not_taken_for_none(whole: Path) -> None:
    (whole / "proofs.jsonl").unlink()
    assert offline.problems(verify, whole) == [
        "proofs.jsonl: missing",
        "proofs.jsonl: can't be read (No such file or directory)",
    ]


def test_what_breaks_the_verifier_itself_is_no_pass(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(verify, "is_continued", broken)
    assert offline.problems(verify, whole) == [f"{whole}: could not be checked (RuntimeError)"]


def test_what_was_put_beside_an_export_is_told(one: Path) -> None:
    (one / "notes.txt").write_text("mine")
    done = offline.run(one)
    assert done.returncode == 0
    assert "not of this export and not checked: notes.txt" in done.stdout


@pytest.mark.parametrize("key", ["", "x", encode(bytes(31)), "AAAA"])
def test_a_key_that_is_none_is_not_passed_over(one: Path, key: str) -> None:
    done = offline.run(one, "--key", key)
    assert (done.returncode, "a public key is 32 bytes in base64" in done.stderr) == (2, True)
