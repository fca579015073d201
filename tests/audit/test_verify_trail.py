"""`manage.py verify_trail` against trails that an owner of the tables tampered with behind the application's back."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from audit import log
from audit.chain import Kind, canonical, link_hash, microseconds, read_body
from audit.log import Recorded, register_comparer
from audit.models import AuditEvent, AuditSeal, ChainHead, Tenant
from audit.verification import verify_tenant
from tests.audit.trails import append, append_many, bypass_guards, event_id_at, run, seal
from tests.paths import PROJECT

pytestmark = pytest.mark.django_db
LENGTH = 5


@pytest.fixture(autouse=True)
def only_our_comparers() -> Iterator[None]:
    """The rows of other apps have tests of their own."""
    with patch.dict(log._comparers, clear=True):
        yield


def set_event(column: str, value: str) -> Callable[[Tenant, Tenant], None]:
    def change(tenant: Tenant, other: Tenant) -> None:
        run(f"UPDATE audit_auditevent SET {column} = {value} WHERE id = %s", event_id_at(tenant, 3))

    return change


def set_seal(sequence: int, column: str, value: str) -> Callable[[Tenant, Tenant], None]:
    def change(tenant: Tenant, other: Tenant) -> None:
        run(f"UPDATE audit_auditseal SET {column} = {value} WHERE event_id = %s", event_id_at(tenant, sequence))

    return change


def remove(*sequences: int) -> Callable[[Tenant, Tenant], None]:
    def change(tenant: Tenant, other: Tenant) -> None:
        for sequence in sequences:
            event_id = event_id_at(tenant, sequence)
            run("DELETE FROM audit_auditseal WHERE event_id = %s", event_id)
            run("DELETE FROM audit_auditevent WHERE id = %s", event_id)

    return change


def remove_event_only(tenant: Tenant, other: Tenant) -> None:
    run("DELETE FROM audit_auditevent WHERE id = %s", event_id_at(tenant, 3))


def swap_places(tenant: Tenant, other: Tenant) -> None:
    run("UPDATE audit_auditseal SET sequence = 7 - sequence WHERE tenant_id = %s AND sequence IN (3, 4)", tenant.id)


def swap_contents(tenant: Tenant, other: Tenant) -> None:
    third, fourth = (AuditEvent.objects.get(id=event_id_at(tenant, sequence)) for sequence in (3, 4))
    for event, body in ((third, fourth.body), (fourth, third.body)):
        run("UPDATE audit_auditevent SET body = %s WHERE id = %s", body, event.id)


def copy_event(tenant: Tenant, *, sequence: int, source: int, body: str | None = None) -> None:
    """Puts a copy of an event at `sequence`, with a hash of its own that is right when it is another event."""
    event = AuditEvent.objects.get(id=event_id_at(tenant, source))
    stored = AuditSeal.objects.get(event=event)
    previous, copy_id = bytes(stored.previous_hash), uuid4()
    text = body or event.body
    run(
        "INSERT INTO audit_auditevent"
        " (id, tenant_id, event_type, actor, actor_type, case_id, subject, recorded_at, body)"
        " SELECT %s, tenant_id, event_type, actor, actor_type, case_id, subject, recorded_at, %s"
        " FROM audit_auditevent WHERE id = %s",
        copy_id,
        text,
        event.id,
    )
    own = link_hash(
        previous_hash=previous,
        tenant=tenant.id.bytes,
        sequence=sequence,
        microseconds=microseconds(event.recorded_at),
        body=text.encode(),
    )
    event_hash = bytes(stored.event_hash) if body is None else own
    run(
        "INSERT INTO audit_auditseal (event_id, tenant_id, sequence, previous_hash, event_hash)"
        " VALUES (%s, %s, %s, %s, %s)",
        copy_id,
        tenant.id,
        sequence,
        previous,
        event_hash,
    )


def double_in_place(tenant: Tenant, other: Tenant) -> None:
    copy_event(tenant, sequence=3, source=3)


def insert_in_the_middle(tenant: Tenant, other: Tenant) -> None:
    copy_event(tenant, sequence=3, source=3, body=canonical({"forged": True}))


def double_at_the_end(tenant: Tenant, other: Tenant) -> None:
    copy_event(tenant, sequence=LENGTH + 1, source=3)


def branch_at_the_end(tenant: Tenant, other: Tenant) -> None:
    copy_event(tenant, sequence=LENGTH + 1, source=3, body=canonical({"forged": True}))


def rewrite_with_its_hash(tenant: Tenant, other: Tenant) -> None:
    event = AuditEvent.objects.get(id=event_id_at(tenant, 3))
    body = canonical(read_body(event.body) | {"details": {"place": "another"}})
    stored = AuditSeal.objects.get(event=event)
    event_hash = link_hash(
        previous_hash=bytes(stored.previous_hash),
        tenant=tenant.id.bytes,
        sequence=3,
        microseconds=microseconds(event.recorded_at),
        body=body.encode(),
    )
    run("UPDATE audit_auditevent SET body = %s WHERE id = %s", body, event.id)
    run("UPDATE audit_auditseal SET event_hash = %s WHERE event_id = %s", event_hash, event.id)


def move_to_another_tenant(tenant: Tenant, other: Tenant) -> None:
    run("UPDATE audit_auditevent SET tenant_id = %s WHERE id = %s", other.id, event_id_at(tenant, 3))


def splice_in_from_another_tenant(tenant: Tenant, other: Tenant) -> None:
    remove(3)(tenant, other)
    run("UPDATE audit_auditseal SET tenant_id = %s, sequence = 3 WHERE event_id = %s", tenant.id, event_id_at(other, 2))


def set_head(assignment: str) -> Callable[[Tenant, Tenant], None]:
    def change(tenant: Tenant, other: Tenant) -> None:
        run(f"UPDATE audit_chainhead SET {assignment} WHERE tenant_id = %s", tenant.id)

    return change


def remove_head(tenant: Tenant, other: Tenant) -> None:
    run("DELETE FROM audit_chainhead WHERE tenant_id = %s", tenant.id)


def unseal_the_last(tenant: Tenant, other: Tenant) -> None:
    """The seals are cut and the head set back, but the event itself is left."""
    last, before = event_id_at(tenant, LENGTH), AuditSeal.objects.get(tenant=tenant, sequence=LENGTH - 1)
    run("DELETE FROM audit_auditseal WHERE event_id = %s", last)
    run(
        "UPDATE audit_chainhead SET sequence = 4, event_hash = %s WHERE tenant_id = %s",
        bytes(before.event_hash),
        tenant.id,
    )


def add_without_a_seal(tenant: Tenant, other: Tenant) -> None:
    append(tenant)


FLIP = "set_byte({0}, 0, get_byte({0}, 0) # 1)"


@dataclass(frozen=True)
class Case:
    name: str
    tamper: Callable[[Tenant, Tenant], None]
    kind: Kind
    sequence: int

    def __str__(self) -> str:
        return self.name


CASES = [
    Case("one bit of the body", set_event("body", "overlay(body placing 'l' from 11 for 1)"), Kind.PAYLOAD_CHANGED, 3),
    Case(
        "the role in the body",
        set_event("body", "replace(body, 'officer', 'auditor')"),
        Kind.PAYLOAD_CHANGED,
        3,
    ),
    Case("white space in the body", set_event("body", "body || ' '"), Kind.PAYLOAD_CHANGED, 3),
    Case("the time", set_event("recorded_at", "recorded_at + interval '1 microsecond'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the actor beside it", set_event("actor", "'somebody.else'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the actor's kind beside it", set_event("actor_type", "'system'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the type beside it", set_event("event_type", "'case_read'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the subject beside it", set_event("subject", "'another'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the outcome beside it", set_event("outcome", "'confirmed'"), Kind.PAYLOAD_CHANGED, 3),
    Case("the case beside it", set_event("case_id", "NULL"), Kind.PAYLOAD_CHANGED, 3),
    Case("the hash", set_seal(3, "event_hash", FLIP.format("event_hash")), Kind.PAYLOAD_CHANGED, 3),
    Case("the previous hash", set_seal(3, "previous_hash", FLIP.format("previous_hash")), Kind.LINK_BROKEN, 3),
    Case("the first previous hash", set_seal(1, "previous_hash", FLIP.format("previous_hash")), Kind.WRONG_GENESIS, 1),
    Case("rewritten with its hash", rewrite_with_its_hash, Kind.LINK_BROKEN, 4),
    Case("two places swapped", swap_places, Kind.LINK_BROKEN, 3),
    Case("two contents swapped", swap_contents, Kind.PAYLOAD_CHANGED, 3),
    Case("first removed", remove(1), Kind.GAP, 1),
    Case("middle removed", remove(3), Kind.GAP, 3),
    Case("middle removed, its seal left", remove_event_only, Kind.GAP, 3),
    Case("last removed", remove(5), Kind.TAIL_CUT, 5),
    Case("all removed", remove(1, 2, 3, 4, 5), Kind.TAIL_CUT, 1),
    Case("inserted in the middle", insert_in_the_middle, Kind.FORK, 3),
    Case("doubled in place", double_in_place, Kind.DUPLICATE, 3),
    Case("doubled at the end", double_at_the_end, Kind.DUPLICATE, 6),
    Case("branched at the end", branch_at_the_end, Kind.FORK, 6),
    Case("moved to another tenant", move_to_another_tenant, Kind.PAYLOAD_CHANGED, 3),
    Case("spliced in from another tenant", splice_in_from_another_tenant, Kind.LINK_BROKEN, 3),
    Case("head set back", set_head("sequence = 3"), Kind.TAIL_CUT, 4),
    Case("head set forward", set_head("sequence = 9"), Kind.TAIL_CUT, 6),
    Case("head with another hash", set_head(f"event_hash = {FLIP.format('event_hash')}"), Kind.LINK_BROKEN, 5),
    Case("head removed", remove_head, Kind.TAIL_CUT, 1),
    Case("seal of the last removed", unseal_the_last, Kind.TAIL_CUT, 5),
    Case("an event without a seal", add_without_a_seal, Kind.TAIL_CUT, 6),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_names_what_was_done_and_where(case: Case, make_tenant: Any) -> None:
    tenant, other = make_tenant(), make_tenant()
    append_many(tenant, LENGTH)
    append_many(other, 2)
    bypass_guards()
    case.tamper(tenant, other)

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (case.kind, case.sequence)


def test_a_break_of_one_tenant_does_not_mark_another(make_tenant: Any) -> None:
    tenant, other = make_tenant(), make_tenant()
    append_many(tenant, 3)
    append_many(other, 3)
    bypass_guards()
    remove(2)(tenant, other)

    assert verify_tenant(tenant=tenant, missing_guards=[]).broken
    assert verify_tenant(tenant=other, missing_guards=[]).broken is None


def test_a_verification_that_fails_half_way_leaves_its_connection_usable(tenant: Tenant) -> None:
    append_many(tenant, LENGTH)

    def half_way(stream: Any, *others: Any) -> None:
        next(stream)
        raise RuntimeError("half way")

    with patch("audit.walk.follow", half_way), pytest.raises(RuntimeError):
        verify_tenant(tenant=tenant, missing_guards=[])

    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


# The command


def verify(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("verify_trail", *arguments, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_it_prints_one_object_a_tenant(tenant: Tenant) -> None:
    append_many(tenant, 3)

    code, out = verify("--json")

    head = bytes(ChainHead.objects.get(tenant=tenant).event_hash).hex()
    whole = {
        "tenant": tenant.slug,
        "events": 3,
        "ok": True,
        "first_bad_sequence": None,
        "kind": None,
        "head_hash": head,
    }
    assert code == 0
    assert whole in json.loads(out)
    assert {"system", tenant.slug} <= {each["tenant"] for each in json.loads(out)}


def test_it_exits_1_when_a_trail_is_broken_and_says_where(tenant: Tenant) -> None:
    append_many(tenant, 3)
    bypass_guards()
    remove(2)(tenant, tenant)

    code, out = verify("--tenant", tenant.slug, "--json")
    said_code, said = verify("--tenant", tenant.slug)

    (found,) = json.loads(out)
    assert (code, said_code) == (1, 1)
    assert (found["ok"], found["kind"], found["first_bad_sequence"], found["events"]) == (False, "gap", 2, 2)
    assert "BROKEN at event 2 (gap): event 2 is missing; event 3 follows" in said


def test_what_no_checkpoint_covers_is_said_beside_the_json_too(tenant: Tenant) -> None:
    append_many(tenant, 1)
    out, err = StringIO(), StringIO()

    call_command("verify_trail", "--tenant", tenant.slug, "--json", stdout=out, stderr=err)

    assert json.loads(out.getvalue())[0]["ok"]
    assert err.getvalue().startswith(f"{tenant.slug}: No checkpoint ")
    assert "a cut tail or an older backup can't be seen" in err.getvalue()


def test_a_tenant_without_events_is_whole(tenant: Tenant) -> None:
    code, out = verify("--tenant", tenant.slug, "--json")

    assert code == 0
    assert json.loads(out)[0] | {"tenant": ""} == {
        "tenant": "",
        "events": 0,
        "ok": True,
        "first_bad_sequence": None,
        "kind": None,
        "head_hash": None,
    }


def test_an_unknown_tenant_is_said() -> None:
    with pytest.raises(CommandError, match="There is no tenant nowhere"):
        call_command("verify_trail", "--tenant", "nowhere")


def test_a_missing_guard_breaks_every_trail_and_is_named(tenant: Tenant) -> None:
    run("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_auditevent_append_only")

    code, out = verify("--tenant", tenant.slug, "--json")
    seal()
    _, said = verify("--tenant", tenant.slug)

    assert code == 1
    assert json.loads(out)[0]["kind"] == "guard_missing"
    assert "audit_auditevent_append_only" in said


def test_its_result_can_be_recorded_as_an_event_of_the_trail(tenant: Tenant) -> None:
    append_many(tenant, 2)

    verify("--tenant", tenant.slug, "--record")

    event = AuditEvent.objects.get(tenant=tenant, event_type="trail_verified")
    told = read_body(event.body)["details"]
    assert (event.outcome, told["tenant"], told["ok"], told["events"]) == ("ok", tenant.slug, True, 2)


def test_a_result_that_is_another_than_the_last_is_always_recorded(tenant: Tenant) -> None:
    append_many(tenant, 3)

    def outcomes() -> list[str]:
        verify("--tenant", tenant.slug)
        seal()
        events = AuditEvent.objects.filter(tenant=tenant, event_type="trail_verified").order_by("seal__sequence")
        return list(events.values_list("outcome", flat=True))

    assert outcomes() == [], "all is well, as far as was known"
    run("ALTER TABLE audit_chainhead DISABLE TRIGGER USER")
    run("UPDATE audit_chainhead SET sequence = sequence + 1 WHERE tenant_id = %s", tenant.id)
    assert outcomes() == ["broken"]
    assert outcomes() == ["broken"]


@pytest.mark.django_db(transaction=True)
def test_the_application_role_can_run_it(tenant: Tenant, product_environment: dict[str, str]) -> None:
    append_many(tenant, 2)
    command = [sys.executable, "manage.py", "verify_trail", "--json", "--record"]

    ended = subprocess.run(
        command, check=False, cwd=PROJECT, env=product_environment, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert {each["tenant"]: each["events"] for each in json.loads(ended.stdout)} == {"system": 0, tenant.slug: 2}
    recorded = AuditEvent.objects.filter(event_type="trail_verified").values_list("tenant__slug", flat=True)
    assert set(recorded) == {"system", tenant.slug}


# Rows and the events that recorded them

Rows = list[Recorded]


def compare(rows: Rows) -> None:
    register_comparer(
        "a table", lambda tenant_id: sorted(rows, key=lambda row: row.event_id), event_types=("decision_recorded",)
    )


def decisions(tenant: Tenant, count: int) -> tuple[list[UUID], Rows]:
    """Events, and the rows they recorded."""
    rows = []
    for place in range(count):
        details = {"outcome": "stands", "place": place, "second": None}
        event = append(tenant, event_type="decision_recorded", details=details | {"shown": ["more"]})
        rows.append(Recorded(event.id, details))
    seal()
    return [row.event_id for row in rows], rows


def test_rows_that_say_what_their_events_recorded_are_whole(tenant: Tenant) -> None:
    append_many(tenant, 2)
    _, rows = decisions(tenant, 3)
    compare(rows)

    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


@pytest.mark.parametrize(
    ("changed", "detail"),
    [
        ({"outcome": "does_not_stand"}, "a table: the row's outcome is not what the event recorded"),
        ({"place": True}, "a table: the row's place is not what the event recorded"),
        ({"unheard_of": None}, "a table: the row's unheard_of is not what the event recorded"),
    ],
)
def test_a_row_that_says_something_else_is_found(tenant: Tenant, changed: dict[str, Any], detail: str) -> None:
    _, rows = decisions(tenant, 3)
    compare([rows[0], Recorded(rows[1].event_id, rows[1].details | changed), rows[2]])

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence, broken.detail) == (Kind.ROW_DISAGREES, 2, detail)


def test_a_row_that_is_gone_is_found(tenant: Tenant) -> None:
    _, rows = decisions(tenant, 3)
    compare(rows[:1])

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (Kind.ROW_DISAGREES, 2)


def test_a_row_without_its_event_is_found(tenant: Tenant) -> None:
    _, rows = decisions(tenant, 2)
    stranger = Recorded(uuid4(), {})
    compare([*rows, stranger])

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (Kind.ROW_DISAGREES, None)
    assert str(stranger.event_id) in broken.detail
