"""What a case's events say is kept under the case's key: nobody reads it in the trail, and its loss is told apart."""

import hmac
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import psycopg
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit import log, sealed
from audit.chain import Kind, canonical, read_body
from audit.models import AuditEvent, CaseKey, Tenant
from audit.sealed import ERASED, UNREADABLE, CaseErased, Opened, key_of, open_event, open_events, reveal_events
from audit.verification import verify_tenant
from tests.audit.trails import append, bypass_guards, run, seal

NAME = "Maarja Tamm"
SAID = {"reason": f"{NAME} is another person.", "place": 3}


@pytest.fixture(autouse=True)
def no_keys_of_other_tests() -> Iterator[None]:
    sealed.keys.clear()
    yield
    sealed.keys.clear()


def stored(event: AuditEvent) -> AuditEvent:
    return AuditEvent.objects.get(id=event.id)


def destroy(case_id: UUID) -> None:
    run("UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = %s", case_id)


@pytest.mark.django_db
def test_the_trail_holds_no_word_of_it_in_clear(tenant: Tenant) -> None:
    event = append(tenant, case_id=uuid4(), subject=NAME, details=SAID)

    (row,) = run("SELECT audit_auditevent::text FROM audit_auditevent WHERE id = %s", event.id)
    assert NAME not in row[0]
    assert NAME.encode() not in bytes(stored(event).sealed or b"")
    assert open_event(stored(event)) == Opened(NAME, SAID)


@pytest.mark.django_db
def test_what_names_no_case_stays_in_clear(tenant: Tenant) -> None:
    event = append(tenant, subject="a switch", details=SAID)

    assert stored(event).sealed is None
    assert stored(event).subject == "a switch"
    assert open_event(stored(event)) == Opened("a switch", SAID)


@pytest.mark.django_db
def test_the_ciphertext_and_its_commitment_are_what_they_are_documented_to_be(tenant: Tenant) -> None:
    case_id = uuid4()
    event = stored(append(tenant, case_id=case_id, subject=NAME, details=SAID))
    key, ciphertext = bytes(CaseKey.objects.get(case_id=case_id).key or b""), bytes(event.sealed or b"")

    plaintext = AESGCM(key).decrypt(ciphertext[:12], ciphertext[12:], event.id.bytes)
    opening = hmac.digest(key, b"second-look:opening:" + event.id.bytes, "sha256")
    assert plaintext == canonical({"subject": NAME, "details": SAID}).encode()
    assert read_body(event.body)["sealed"] == {
        "sha256": sha256(ciphertext).hexdigest(),
        "commitment": hmac.digest(opening, plaintext, "sha256").hex(),
    }
    (revealed,) = reveal_events([event])
    assert isinstance(revealed, sealed.Revealed)
    assert (revealed.plaintext, revealed.opening) == (plaintext, opening)


@pytest.mark.django_db
def test_a_page_of_events_is_opened_with_one_query(tenant: Tenant) -> None:
    cases = [uuid4() for _ in range(5)]
    events = [stored(append(tenant, case_id=case_id, details={"n": n})) for n, case_id in enumerate(cases * 3)]

    with CaptureQueriesContext(connection) as queries:
        opened = open_events(events)

    assert len(queries) == 1
    assert [said.details["n"] for said in opened if isinstance(said, Opened)] == list(range(15))


@pytest.mark.django_db(transaction=True)
def test_a_known_key_costs_no_round_trip(tenant: Tenant) -> None:
    case_id = uuid4()
    append(tenant, case_id=case_id)
    with CaptureQueriesContext(connection) as without:
        append(tenant)
    with CaptureQueriesContext(connection) as with_case:
        append(tenant, case_id=case_id)

    assert len(with_case) == len(without)


@pytest.mark.django_db(transaction=True)
def test_a_key_that_was_rolled_back_is_not_used_again(tenant: Tenant) -> None:
    case_id = uuid4()
    with transaction.atomic():
        append(tenant, case_id=case_id)
        append(tenant, case_id=case_id)
        transaction.set_rollback(True)
    event = append(tenant, case_id=case_id, details=SAID)

    sealed.keys.clear()
    assert open_event(stored(event)) == Opened("INV-2026-0412", SAID)


@pytest.mark.django_db(transaction=True)
def test_several_who_make_a_cases_key_at_once_use_one(tenant: Tenant) -> None:
    case_id = uuid4()

    def write(place: int) -> UUID:
        try:
            return append(tenant, case_id=case_id, details={"place": place}).id
        finally:
            connection.close()

    with patch.object(sealed.keys, "get", lambda case_id: None), ThreadPoolExecutor(6) as threads:
        written = list(threads.map(write, range(12)))

    opened = open_events([AuditEvent.objects.get(id=event_id) for event_id in written])
    assert [said.details["place"] for said in opened if isinstance(said, Opened)] == list(range(12))
    assert CaseKey.objects.filter(case_id=case_id).count() == 1


def test_a_process_forgets_keys_after_a_minute_and_beyond_a_thousand() -> None:
    cache, ids = sealed.Cache(), [uuid4() for _ in range(1001)]
    for case_id in ids:
        cache.put(case_id, b"k")

    assert cache.get(ids[0]) is None
    assert cache.get(ids[1]) == b"k"
    a_minute_later = sealed.monotonic() + 61
    with patch.object(sealed, "monotonic", lambda: a_minute_later):
        assert cache.get(ids[-1]) is None


@pytest.mark.django_db
def test_the_key_of_another_tenants_case_is_not_handed_out(tenant: Tenant, make_tenant: Any) -> None:
    case_id = uuid4()
    key_of(tenant.id, case_id)
    sealed.keys.clear()

    with pytest.raises(CaseKey.DoesNotExist):
        key_of(make_tenant().id, case_id)


# A destroyed key


@pytest.mark.django_db
def test_with_its_key_destroyed_nobody_can_read_it(tenant: Tenant) -> None:
    event = append(tenant, case_id=uuid4(), details=SAID)
    destroy(event.case_id)  # type: ignore[arg-type]

    assert open_event(stored(event)) is ERASED


@pytest.mark.django_db
def test_of_an_erased_case_nothing_more_is_told_but_that_it_happened(tenant: Tenant) -> None:
    event = append(tenant, case_id=uuid4(), details=SAID)
    destroy(event.case_id)  # type: ignore[arg-type]

    bare = stored(append(tenant, case_id=event.case_id, subject=NAME))
    assert open_event(bare) == Opened("", {})
    with pytest.raises(CaseErased):
        append(tenant, case_id=event.case_id, details=SAID)


KEY_ATTEMPTS = {
    "another key": "UPDATE audit_casekey SET key = sha256('x')",
    "another case": "UPDATE audit_casekey SET case_id = gen_random_uuid(), key = NULL, destroyed_at = now()",
    "another date": "UPDATE audit_casekey SET created_at = now(), key = NULL, destroyed_at = now()",
    "no word of when": "UPDATE audit_casekey SET key = NULL",
    "a destroyed one come back": "UPDATE audit_casekey SET key = sha256('x'), destroyed_at = NULL",
    "a destroyed one again": "UPDATE audit_casekey SET destroyed_at = now() - interval '1 year'",
    "removed": "DELETE FROM audit_casekey",
    "cleared": "TRUNCATE audit_casekey",
}


@pytest.mark.django_db
@pytest.mark.parametrize("attempt", KEY_ATTEMPTS)
def test_a_key_is_destroyed_once_and_never_changed(tenant: Tenant, attempt: str) -> None:
    case_id = uuid4()
    key_of(tenant.id, case_id)
    seal()
    if "destroyed" in attempt:
        destroy(case_id)

    with pytest.raises(DatabaseError, match=r"is refused|case_key_or_destroyed"):
        run(KEY_ATTEMPTS[attempt])


def test_the_application_role_can_neither_destroy_a_key_nor_see_another_tenants(
    app_connection: psycopg.Connection[Any], tenant: Tenant, make_tenant: Any
) -> None:
    with transaction.atomic():
        key_of(tenant.id, uuid4())
    app_connection.execute("SELECT set_config('app.current_tenant', %s, false)", [str(make_tenant().id)])

    assert app_connection.execute("SELECT count(*) FROM audit_casekey").fetchone() == (0,)
    with pytest.raises(psycopg.Error, match="permission denied"):
        app_connection.execute("UPDATE audit_casekey SET key = NULL, destroyed_at = now()")


# What verify_trail finds

FLIP = "set_byte(sealed, 20, get_byte(sealed, 20) # 1)"
TAMPERINGS: dict[str, tuple[str, Kind, str]] = {
    "one bit of the content": (
        f"UPDATE audit_auditevent SET sealed = {FLIP} WHERE id = %(second)s",
        Kind.PAYLOAD_CHANGED,
        "doesn't give the hash",
    ),
    "the content cut away": (
        "UPDATE audit_auditevent SET sealed = NULL WHERE id = %(second)s",
        Kind.PAYLOAD_CHANGED,
        "the sealed content is gone",
    ),
    "the content of another event": (
        "UPDATE audit_auditevent SET sealed = (SELECT sealed FROM audit_auditevent WHERE id = %(third)s)"
        " WHERE id = %(second)s",
        Kind.PAYLOAD_CHANGED,
        "doesn't give the hash",
    ),
    "a content where none was": (
        "UPDATE audit_auditevent SET sealed = 'x' WHERE id = %(plain)s",
        Kind.PAYLOAD_CHANGED,
        "doesn't give the hash",
    ),
    "another key": (
        "UPDATE audit_casekey SET key = sha256('x') WHERE case_id = %(case)s",
        Kind.PAYLOAD_CHANGED,
        "doesn't open",
    ),
    "no key": ("DELETE FROM audit_casekey WHERE case_id = %(case)s", Kind.PAYLOAD_CHANGED, "gone without an erasure"),
    "a key destroyed on the quiet": (
        "UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = %(case)s",
        Kind.ROW_DISAGREES,
        "no erasure is recorded",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_verify_trail_names_what_was_done_to_a_sealed_content(tenant: Tenant, tampering: str) -> None:
    plain = append(tenant)
    second = append(tenant, case_id=uuid4(), details=SAID)
    third = append(tenant, case_id=uuid4(), details=SAID)
    seal()
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None
    statement, kind, words = TAMPERINGS[tampering]
    bypass_guards()
    run("ALTER TABLE audit_casekey DISABLE TRIGGER USER")
    with connection.cursor() as cursor:
        cursor.execute(statement, {"plain": plain.id, "second": second.id, "third": third.id, "case": second.case_id})

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (kind, 1 if "where none was" in tampering else 2)
    assert words in broken.detail


@pytest.mark.django_db
def test_a_content_that_was_sealed_anew_under_the_same_key_is_found_by_its_commitment(tenant: Tenant) -> None:
    """The whole chain is rewritten over it, hashes and all: only the commitment still tells."""

    def exchanged(**given: Any) -> sealed.Sealed:
        other = sealed.seal(**given | {"details": {"reason": "another"}})
        return sealed.Sealed(other.ciphertext, sealed.seal(**given).commitment)

    with patch.object(log, "seal", exchanged):
        append(tenant, case_id=uuid4(), details=SAID)
    seal()

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (Kind.PAYLOAD_CHANGED, 1)
    assert "commitment" in broken.detail


@pytest.mark.django_db
def test_an_erasure_that_left_the_key_is_found(tenant: Tenant) -> None:
    event = append(tenant, case_id=uuid4())
    append(tenant, event_type="case_erased", case_id=event.case_id, subject="")
    seal()

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken

    assert broken is not None
    assert (broken.kind, broken.sequence) == (Kind.ROW_DISAGREES, 2)


SOMETHING_ELSE: dict[str, Callable[[AuditEvent], Any]] = {
    "its key is gone": lambda event: run("DELETE FROM audit_casekey WHERE case_id = %s", event.case_id),
    "its content is cut": lambda event: run("UPDATE audit_auditevent SET sealed = 'x' WHERE id = %s", event.id),
}


@pytest.mark.django_db
@pytest.mark.parametrize("what", SOMETHING_ELSE)
def test_what_cannot_be_opened_is_not_called_erased(tenant: Tenant, what: str) -> None:
    event = append(tenant, case_id=uuid4(), details=SAID)
    seal()
    bypass_guards()
    run("ALTER TABLE audit_casekey DISABLE TRIGGER USER")
    SOMETHING_ELSE[what](event)

    assert open_event(stored(event)) is UNREADABLE
