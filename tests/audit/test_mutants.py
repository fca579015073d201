"""The verifier must be able to fail: with any one of its checks taken out, some tampering is told otherwise."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.conf import settings as configured
from django.db import transaction

from audit import log, sealed
from audit.chain import canonical
from audit.checkpoints import read_checkpoint
from audit.log import Comparer, Departure, Recorded
from audit.merkle import bag
from audit.models import AuditEvent, Tenant, WrittenCheckpoint
from audit.notary import write_checkpoint
from audit.signing import Signer, encode
from audit.verification import verify_tenant
from tests.audit import mutants
from tests.audit.mutants import Mutant, SqlMutant
from tests.audit.test_checkpoints import cut_tail, rewrite_from_genesis
from tests.audit.test_verify_trail import CASES, LENGTH, copy_event
from tests.audit.trails import AT, append, append_many, bypass_guards, event_id_at, run, seal

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(240)]
SEED, ANOTHER = b"\1" * 32, b"\2" * 32
Tamper = Callable[[Tenant, Tenant], Any]


@dataclass(frozen=True)
class Scenario:
    """A trail that somebody was at, or nobody."""

    name: str
    tamper: Tamper
    before: Tamper = lambda tenant, other: None  # what the product itself did before
    missing_guards: tuple[str, ...] = ()


def nothing(tenant: Tenant, other: Tenant) -> None:
    """A whole trail must not be called broken either."""


FORGED = canonical({"forged": True})


def renumber_the_last(tenant: Tenant) -> None:
    run("UPDATE audit_auditseal SET sequence = 6 WHERE tenant_id = %s AND sequence = 5", tenant.id)


def odd_spelling(tenant: Tenant, other: Tenant) -> None:
    """PostgreSQL keeps no U+0000: the column has another sign for it, and that is no tampering."""
    append(tenant, actor="m\0tamm")
    seal()


def number_for_an_actor(tenant: Tenant, other: Tenant) -> None:
    event_id = event_id_at(tenant, 3)
    run("UPDATE audit_auditevent SET body = replace(body, '\"m.tamm\"', '7') WHERE id = %s", event_id)
    rewrite_from_genesis(tenant)


# Checkpoints


def signed_up_to(tenant: Tenant) -> None:
    write_checkpoint(tenant=tenant, at=AT)


def signed_then(change: Callable[[Tenant], Any]) -> Tamper:
    def tamper(tenant: Tenant, other: Tenant) -> None:
        signed_up_to(tenant)
        change(tenant)

    return tamper


def twice(tenant: Tenant, other: Tenant) -> None:
    signed_up_to(tenant)
    append_many(tenant, 2)
    signed_up_to(tenant)


def files(tenant: Tenant) -> list[Path]:
    return sorted((Path(configured.CHECKPOINT_DIR) / tenant.slug).iterdir())


def remove_the_file(tenant: Tenant) -> None:
    files(tenant)[-1].unlink()


def spoil_the_file(tenant: Tenant) -> None:
    place = files(tenant)[-1]
    place.chmod(0o640)
    place.write_bytes(b"{}")


def forge_the_signature(tenant: Tenant) -> None:
    place = files(tenant)[-1]
    text = place.read_text()
    start = text.index('"signature"') + 15
    place.chmod(0o640)
    place.write_text(text[:start] + ("B" if text[start] != "B" else "C") + text[start + 1 :])


def rename_the_file(tenant: Tenant) -> None:
    place = files(tenant)[-1]
    place.rename(place.with_name("000000000004.json"))


def as_long(tenant: Tenant, other: Tenant) -> None:
    append_many(other, LENGTH - 2)


def of_another_tenant(tenant: Tenant, other: Tenant) -> None:
    signed_up_to(other)
    signed_up_to(tenant)
    [theirs], [ours] = files(other), files(tenant)
    ours.unlink()
    ours.write_bytes(theirs.read_bytes())


def by_an_unknown_key(tenant: Tenant) -> None:
    with patch.object(configured, "CHECKPOINT_KEY", encode(ANOTHER)):
        signed_up_to(tenant)


def without_a_key(tenant: Tenant) -> None:
    configured.CHECKPOINT_KEY = ""
    for place in files(tenant):
        place.unlink()


def signed_falsely(**lies: Any) -> Callable[[Tenant], None]:
    """By whoever has the key: only the trail itself is against it."""

    def change(tenant: Tenant) -> None:
        place = files(tenant)[-1]
        said = replace(read_checkpoint(place.read_bytes()), **lies)
        place.chmod(0o640)
        place.write_bytes(replace(said, signature=Signer(SEED).sign(said.message())).content())

    return change


OTHER_PEAKS = (b"\1" * 32, b"\2" * 32)


# What is sealed


DESTROY = "UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = '{case}'"
LENGTHEN = "UPDATE audit_auditevent SET sealed = sealed || '\\x00' WHERE id = '{event}'"


def of_sealed(statement: str) -> Tamper:
    def tamper(tenant: Tenant, other: Tenant) -> None:
        event = AuditEvent.objects.get(id=event_id_at(tenant, 3))
        run(statement.format(event=event.id, case=event.case_id))

    return tamper


def seal_another_content(tenant: Tenant, other: Tenant) -> None:
    """Under the right key, and with its hash in the body: the commitment alone is against it."""
    event = AuditEvent.objects.get(id=event_id_at(tenant, 3))
    assert event.case_id is not None
    key = sealed.key_of(tenant.id, event.case_id)
    forged = sealed.seal(key=key, event_id=event.id, subject="x", details={"reason": "that was said"})
    before, after = (sha256(bytes(text)).hexdigest() for text in (event.sealed or b"", forged.ciphertext))
    change = "UPDATE audit_auditevent SET sealed = %s, body = replace(body, %s, %s) WHERE id = %s"
    run(change, forged.ciphertext, before, after, event.id)
    rewrite_from_genesis(tenant)


def two_contents(tenant: Tenant, other: Tenant) -> None:
    for sequence in (2, 4):
        run("UPDATE audit_auditevent SET sealed = '\\x00' WHERE id = %s", event_id_at(tenant, sequence))


def say_erased(tenant: Tenant, other: Tenant) -> None:
    case_id = AuditEvent.objects.get(id=event_id_at(tenant, 3)).case_id
    append(tenant, event_type="case_erased", case_id=case_id, details={"reason": "Its time is over."})
    seal()


def destroy(tenant: Tenant, other: Tenant) -> None:
    case_id = AuditEvent.objects.get(id=event_id_at(tenant, 3)).case_id
    run("UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = %s", case_id)


# Rows of other apps


ROWS: list[Recorded] = []
STATES: list[Departure] = []


def four_rows(tenant: Tenant, other: Tenant) -> None:
    events = [
        append(tenant, event_type="decision_recorded", details={"place": place, "outcome": "stands"})
        for place in range(4)
    ]
    seal()
    ROWS.extend(Recorded(event.id, {"place": place, "outcome": "stands"}) for place, event in enumerate(events))


def rows(name: str, change: Callable[[], Any]) -> Scenario:
    """Four rows with their events, and what somebody did to the rows."""
    return Scenario(name, lambda tenant, other: change(), four_rows)


def reword(place: int) -> None:
    ROWS[place] = Recorded(ROWS[place].event_id, ROWS[place].details | {"outcome": "does_not_stand"})


def widen(place: int) -> None:
    ROWS[place] = Recorded(ROWS[place].event_id, ROWS[place].details | {"more": None})


def add_row(event_id: int) -> None:
    ROWS.append(Recorded(UUID(int=event_id), {}))


def row_of_a_case(tenant: Tenant, other: Tenant) -> None:
    event = append(tenant, event_type="decision_recorded", case_id=uuid4(), details={"outcome": "stands"})
    append(tenant, event_type="case_erased", case_id=event.case_id, details={"reason": "Its time is over."})
    seal()
    ROWS.append(Recorded(event.id, {"outcome": "stands"}))


def destroy_its_key(tenant: Tenant, other: Tenant) -> None:
    case_id = AuditEvent.objects.get(id=ROWS[0].event_id).case_id
    run("UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = %s", case_id)


def departing(*sequences: int | None) -> Tamper:
    def tamper(tenant: Tenant, other: Tenant) -> None:
        for sequence in sequences:
            event_id = event_id_at(tenant, sequence) if sequence else None
            STATES.append(Departure(event_id, f"departs at {sequence}"))

    return tamper


SCENARIOS = [
    Scenario("whole", nothing),
    *(Scenario(case.name, case.tamper) for case in CASES),
    Scenario("doubled behind itself", lambda tenant, other: copy_event(tenant, sequence=6, source=5)),
    Scenario("branched behind itself", lambda tenant, other: copy_event(tenant, sequence=6, source=5, body=FORGED)),
    Scenario("the last renumbered", lambda tenant, other: renumber_the_last(tenant)),
    Scenario("a text that the database spells otherwise", nothing, odd_spelling),
    Scenario("a column that is no text in the body", number_for_an_actor),
    Scenario("a guard is missing", nothing, missing_guards=("audit_auditevent_append_only is missing",)),
    Scenario("signed, and whole", signed_then(lambda tenant: None)),
    Scenario("signed twice, and whole", nothing, twice),
    Scenario("signed, then the tail cut", signed_then(cut_tail)),
    Scenario("signed, then rewritten", signed_then(rewrite_from_genesis)),
    Scenario("signed, and its file removed", signed_then(remove_the_file)),
    Scenario("signed, and its file spoiled", signed_then(spoil_the_file)),
    Scenario("signed, and the signature forged", signed_then(forge_the_signature)),
    Scenario("signed, and the file renamed", signed_then(rename_the_file)),
    Scenario("signed, with a root that isn't its peaks'", signed_then(signed_falsely(root=b"\0" * 32))),
    Scenario("signed, with another tree", signed_then(signed_falsely(root=bag(OTHER_PEAKS), peaks=OTHER_PEAKS))),
    Scenario("signed, with another head", signed_then(signed_falsely(head_hash=b"\0" * 32))),
    Scenario("signed for another tenant", of_another_tenant, as_long),
    Scenario("signed by an unknown key", lambda tenant, other: by_an_unknown_key(tenant)),
    Scenario("signed, then key and files gone", signed_then(without_a_key)),
    Scenario("sealed content changed", of_sealed(LENGTHEN)),
    Scenario("sealed content removed", of_sealed("UPDATE audit_auditevent SET sealed = NULL WHERE id = '{event}'")),
    Scenario("case key removed", of_sealed("DELETE FROM audit_casekey WHERE case_id = '{case}'")),
    Scenario("case key changed", of_sealed("UPDATE audit_casekey SET key = sha256('x') WHERE case_id = '{case}'")),
    Scenario("case key destroyed without a word", of_sealed(DESTROY)),
    Scenario("another content under the key", seal_another_content),
    Scenario("two sealed contents changed", two_contents),
    Scenario("case erased as it should be", destroy, say_erased),
    Scenario("case said to be erased", nothing, say_erased),
    rows("rows as recorded", lambda: None),
    rows("a row reworded", lambda: reword(2)),
    rows("two rows reworded", lambda: (reword(1), reword(3))),
    rows("a row with more than was recorded", lambda: widen(0)),
    rows("the first row removed", lambda: ROWS.pop(0)),
    rows("a middle row removed", lambda: ROWS.pop(1)),
    rows("the last row removed", lambda: ROWS.pop()),
    rows("all rows removed", lambda: ROWS.clear()),
    rows("a row before all events", lambda: add_row(1)),
    rows("a row behind all events", lambda: add_row(2**128 - 1)),
    rows("a row without event, another reworded", lambda: (reword(3), add_row(1))),
    rows("a row behind all events, another reworded", lambda: (reword(0), add_row(2**128 - 1))),
    Scenario("the row of an erased case", destroy_its_key, row_of_a_case),
    Scenario("a state departs", departing(3)),
    Scenario("states depart, the earliest last", departing(4, 2)),
    Scenario("states depart, the earliest first", departing(2, 4)),
    Scenario("states depart, one at no event", departing(None, 3)),
    Scenario("states depart, one at no event, last", departing(3, None)),
]  # fmt: skip
# Taking these out changes nothing that is told, and why.
EQUIVALENT = {
    "chain.verify: `broken is None and link.tenant != tenant_id.bytes` never holds": "one tenant's rows are asked for",
    "walk.follow: without `row[TENANT] == tenant`": "one tenant's rows are asked for, and it goes into each hash",
    "walk.follow: without `not count % BATCH`": "memory only",
    "walk.follow: without `row[BESIDE] == 1`": "every trail is then read the slow way",
    "walk.Witnesses.verdict: without `self.next.checkpoint is not None`": "for the types: `advance` keeps no other",
    "chain.disagreement: without `said != value`": "speed only",
    "verification.verify_tenant: without `not walked.sound`": "a whole trail is then read once more",
    "verification.verify_tenant: without `result.broken is None`": "a broken one is then read once more",
    "verification.against_checkpoints: `not walked.sound` never holds": "two reads of one snapshot are the same",
    "verification.look_further: without `broken.sequence is None`": "for the types: a broken link has a place",
    "verification.look_further: without `link is None`": "for the types: it was read a moment before",
    "verification.wrong_end: without `head`": "for the types: without a head no event is expected",
    "verification.wrong_end: without `result.head_hash`": "for the types: without an event no hash is expected",
    "comparing.difference: `not isinstance(event.said, Opened)` never holds": "what can't be read is told of before",
}


@contextmanager
def staged(scenario: Scenario, make_tenant: Any, settings: Any, folder: Path) -> Iterator[Tenant]:
    settings.CHECKPOINT_KEY, settings.CHECKPOINT_DIR, settings.CHECKPOINT_PUBLIC_KEYS = encode(SEED), folder, []
    ROWS.clear()
    STATES.clear()
    sealed.keys.clear()
    comparer = Comparer("a table", lambda tenant_id: list(ROWS), ("decision_recorded",))
    with (
        patch.dict(log._comparers, {"a table": comparer}, clear=True),
        patch.dict(log._states, {"a state": lambda tenant_id: list(STATES)}, clear=True),
        transaction.atomic(),
    ):
        point = transaction.savepoint()
        tenant, other = make_tenant(), make_tenant()
        append_many(tenant, LENGTH)
        append_many(other, 2)
        scenario.before(tenant, other)
        bypass_guards()
        run("ALTER TABLE audit_casekey DISABLE TRIGGER USER")
        scenario.tamper(tenant, other)
        ROWS.sort(key=lambda row: row.event_id)
        yield tenant
        transaction.savepoint_rollback(point)


def outcome(scenario: Scenario, tenant: Tenant) -> Any:
    """What is told, or how the verifier fell over."""
    point = transaction.savepoint()
    try:
        found = verify_tenant(tenant=tenant, missing_guards=list(scenario.missing_guards))
    except Exception as problem:  # noqa: BLE001  # a verifier without a check may fall over anyhow
        transaction.savepoint_rollback(point)
        return type(problem).__name__
    transaction.savepoint_commit(point)
    return found.broken, found.signed_until


def test_with_any_check_taken_out_some_tampering_is_told_otherwise(
    make_tenant: Any, settings: Any, tmp_path: Path
) -> None:
    alive: list[Mutant | SqlMutant] = mutants.every()
    folders = count()
    for scenario in SCENARIOS:
        with staged(scenario, make_tenant, settings, tmp_path / str(next(folders))) as tenant:
            told = outcome(scenario, tenant)
            left = []
            for mutant in alive:
                with mutant.alive():
                    if outcome(scenario, tenant) == told:
                        left.append(mutant)
            alive = left
    assert len(SCENARIOS) > 70
    assert WrittenCheckpoint.objects.count() == 0, "nothing of it stays"
    assert {str(mutant) for mutant in alive} == EQUIVALENT.keys()
