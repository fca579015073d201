"""Retention and erasure: refused until its day, then nothing of the case is readable and the trail still verifies."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client

from audit.erasing import guards
from audit.models import ActorType, AuditEvent, CaseKey
from audit.sealed import ERASED, Opened, keys, open_event, open_events
from audit.verification import verify_tenant
from reviews import decisions
from reviews.claims import claim
from reviews.erasure import NotErased, erase_case
from reviews.models import Approval, Claim, Decision, RetentionRecord, Waiting
from reviews.retention import Hand, InvalidRetention, Retention, anniversary, hold, record_end, retention_of
from tests import factories as make
from tests.paths import PROJECT
from verifier.intake import InvalidReport
from verifier.models import Case, Finding, FindingVerdict, Report, ScreeningRecord, SearchText

pytestmark = pytest.mark.django_db(transaction=True)
HAND = Hand("ada", ActorType.PERSON, "admin")
NAME = "Maarja Tamm"
SECRETS = (NAME, "Designated under", "a passage", "Another person of the same", "Register extract")
ENDED = date(2021, 3, 1)
DUE = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _on(transactional_db: None) -> None:
    keys.clear()
    make.switches()


@pytest.fixture
def tenant(transactional_db: None) -> Any:
    return make.tenant()


@pytest.fixture
def case(tenant: Any) -> Case:
    """A case with everything a case can have, each part with words of its own."""
    told = make.finding("f1", title="Designated under a regulation", summary=f"{NAME} is listed.")
    made = make.case(tenant, told, report_id="inv-7", subject={"name": NAME}, quality_gate={"why": NAME})
    on, run, officer = make.finding_of(made), make.run_of(made), make.user(tenant)
    make.verdict(on, quote=f"a passage about {NAME}", reason=f"{NAME} is not there.", evidence={"q": NAME})
    ScreeningRecord.objects.create(
        tenant=tenant,
        case=made,
        verification=run,
        finding=on,
        provider="opensanctions",
        status="clear",
        answer={"q": NAME},
        simulated=False,
        started_at=make.AT,
        duration_ms=1,
    )
    make.end(run)
    reason = f"Another person of the same name, says {NAME}."
    decision = make.decide(officer, on, "does_not_stand", reason=reason, evidence=["Register extract"])
    decisions.approve(user=make.user(tenant), decision=decision, reason=reason, at=make.later())
    claim(user=officer, case=made, at=make.later(2))
    return made


def ended(case: Case, on: date = ENDED, at: datetime = DUE) -> None:
    record_end(case=case, ended_on=on, reason="Maarja Tamm closed her accounts.", hand=HAND, at=at)


def erase(case: Case, at: datetime = DUE) -> Any:
    return erase_case(
        case_id=case.id, reason="Its time of keeping is over.", hand=Hand("erase_case", ActorType.SYSTEM), at=at
    )


def everything() -> str:
    """Every table of ours, as text; bytes as what they spell."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^(audit|verifier|reviews)_' ORDER BY 1"
        )
        tables = [name for (name,) in cursor.fetchall()]
        found = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {table}")
            for row in cursor.fetchall():
                found += [
                    bytes(value).decode(errors="replace") if isinstance(value, bytes | memoryview) else str(value)
                    for value in row
                ]
    return "\n".join(found)


# When


@pytest.mark.parametrize(
    ("day", "expected"), [(date(2021, 3, 1), date(2026, 3, 1)), (date(2024, 2, 29), date(2029, 3, 1))]
)
def test_the_years_run_to_the_same_day(day: date, expected: date) -> None:
    assert anniversary(day, 5) == expected


@pytest.mark.parametrize(
    ("kept", "today", "words"),
    [
        (Retention(None, held=False), date(2026, 3, 2), "has not begun"),
        (Retention(None, held=True), date(2026, 3, 2), "has not begun"),
        (Retention(ENDED, held=False), date(2026, 3, 1), "may be erased from 2026-03-02 on"),
        (Retention(ENDED, held=False), date(2026, 3, 2), None),
        (
            Retention(ENDED, held=True),
            date(2026, 3, 1),
            "hold is set. Once it is lifted, the case may be erased from 2026-03-02",
        ),
        (
            Retention(ENDED, held=True),
            date(2027, 1, 1),
            "hold is set. Once it is lifted, the case may be erased from 2027-01-01",
        ),
        (Retention(ENDED, held=False, erased_at=DUE), date(2027, 1, 1), "was erased on 2026-03-02"),
    ],
)
def test_it_says_from_when(kept: Retention, today: date, words: str | None) -> None:
    said = kept.refusal(today)
    assert (said is None) if words is None else (said is not None and words in said)


def test_before_its_day_nothing_is_erased(case: Case) -> None:
    with pytest.raises(NotErased, match="has not begun"):
        erase(case)
    ended(case)
    with pytest.raises(NotErased, match="from 2026-03-02 on"):
        erase(case, DUE - timedelta(days=1))
    hold(case=case, on=True, reason="The authority asked for it.", hand=HAND, at=DUE)
    with pytest.raises(NotErased, match="hold is set"):
        erase(case)
    assert NAME in everything()
    assert not AuditEvent.objects.filter(event_type="case_erased").exists()


def test_the_newest_word_counts(case: Case) -> None:
    ended(case)
    ended(case, date(2025, 1, 1), DUE + timedelta(hours=1))
    hold(case=case, on=True, reason="Asked for.", hand=HAND, at=DUE + timedelta(hours=2))
    hold(case=case, on=False, reason="No longer.", hand=HAND, at=DUE + timedelta(hours=3))

    assert retention_of(case) == Retention(date(2025, 1, 1), held=False)


def test_a_run_under_way_is_waited_for(tenant: Any) -> None:
    made = make.case(tenant)
    ended(made)
    with pytest.raises(NotErased, match="has not ended yet"):
        erase(made)


@pytest.mark.parametrize(
    ("problem", "act"),
    [
        ("future", lambda case: ended(case, DUE.date() + timedelta(days=1))),
        ("Say why", lambda case: record_end(case=case, ended_on=ENDED, reason=" ", hand=HAND, at=DUE)),
        ("not set", lambda case: hold(case=case, on=False, reason="x", hand=HAND, at=DUE)),
        ("at most 2000", lambda case: hold(case=case, on=True, reason="x" * 2001, hand=HAND, at=DUE)),
    ],
)
def test_what_cannot_be_meant_is_refused(case: Case, problem: str, act: Any) -> None:
    with pytest.raises(InvalidRetention, match=problem):
        act(case)
    assert not RetentionRecord.objects.exists()


def test_a_word_on_keeping_stands_with_its_event_or_not_at_all(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    ended(case)
    event = AuditEvent.objects.get(event_type="relationship_ended")
    said = open_event(event)
    assert RetentionRecord.objects.get().event_id == event.id
    assert isinstance(said, Opened)
    assert said.details["ended_on"] == "2021-03-01"

    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.retention.record", refuse)
    with pytest.raises(DatabaseError):
        hold(case=case, on=True, reason="Asked for.", hand=HAND, at=DUE)
    assert RetentionRecord.objects.count() == 1


# The erasure


def test_afterwards_nothing_of_it_is_readable_and_the_trail_still_verifies(tenant: Any, case: Case) -> None:
    ended(case)
    assert all(word in everything() for word in SECRETS)
    before = AuditEvent.objects.filter(case_id=case.id).count()

    erased = erase(case)

    left = everything()
    assert [word for word in SECRETS if word in left or word.casefold() in left] == []
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None
    assert AuditEvent.objects.filter(case_id=case.id).count() == before + 1
    old = AuditEvent.objects.filter(case_id=case.id).exclude(event_type="case_erased")
    assert set(open_events(list(old))) == {ERASED}
    said = open_event(AuditEvent.objects.get(id=erased.event.id))
    assert isinstance(said, Opened)
    assert said.details["reason"] == "Its time of keeping is over."
    assert (said.details["ended_on"], said.details["retention_years"]) == ("2021-03-01", 5)
    key = CaseKey.objects.get(case_id=case.id)
    assert (key.key, key.destroyed_at) == (None, DUE)


def test_what_happened_stays_countable(case: Case) -> None:
    counts = {
        model: model.objects.count() for model in (Report, Finding, FindingVerdict, ScreeningRecord, Decision, Approval)
    }
    ended(case)
    erase(case)

    assert {model: model.objects.count() for model in counts} == counts
    assert Case.objects.get().subject_name == "erased"
    assert SearchText.objects.get().text == "inv-7"
    assert not Claim.objects.exists()
    assert FindingVerdict.objects.get().verdict == "contradicted"
    assert Decision.objects.get().outcome == "does_not_stand"


def test_another_case_is_not_touched(tenant: Any, case: Case) -> None:
    other = make.case(tenant, subject={"name": "Jaan Kask"})
    ended(case)
    erase(case)

    assert "Jaan Kask" in everything()
    assert Case.objects.get(id=other.id).subject_name == "Jaan Kask"


def test_twice_is_refused(case: Case) -> None:
    ended(case)
    erase(case)
    with pytest.raises(NotErased, match="was erased on 2026-03-02"):
        erase(case)


def test_an_erasure_whose_event_fails_erases_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    ended(case)

    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.erasure.record", refuse)
    with pytest.raises(DatabaseError):
        erase(case)
    assert all(word in everything() for word in SECRETS)


def test_the_application_role_is_refused(case: Case, as_application: Any) -> None:
    ended(case)
    with as_application(), pytest.raises(NotErased, match="table owner"):
        erase(case)


# What the guards let through, and nothing else


def test_a_case_that_is_not_being_erased_cannot_be_blanked_by_the_owner(case: Case) -> None:
    for guard in guards():
        values = ", ".join(f"{column} = {value}" for column, value in guard.blanks.items())
        with pytest.raises(DatabaseError, match="is refused"), transaction.atomic(), connection.cursor() as cursor:
            if guard.table == "reviews_retentionrecord":
                ended(case)
            cursor.execute(f"UPDATE {guard.table} SET {values}")


def test_of_an_erased_case_the_owner_changes_nothing_else(case: Case) -> None:
    ended(case)
    erase(case)
    for statement in (
        "UPDATE verifier_findingverdict SET verdict = 'confirmed'",
        "UPDATE verifier_findingverdict SET reason = 'something else'",
        "UPDATE verifier_report SET content = 'x'",
        "UPDATE verifier_case SET subject_name = 'x'",
        "UPDATE reviews_decision SET outcome = 'stands'",
        "DELETE FROM verifier_report",
    ):
        with pytest.raises(DatabaseError, match="is refused"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_no_further_row_comes_into_an_erased_case(tenant: Any, case: Case) -> None:
    ended(case)
    erase(case)
    for table in (
        "verifier_report",
        "verifier_findingverdict",
        "verifier_screeningrecord",
        "reviews_decision",
        "reviews_approval",
        "reviews_retentionrecord",
    ):
        with pytest.raises(DatabaseError, match="has been erased"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1")


def test_a_report_under_its_reference_is_refused(tenant: Any, case: Case) -> None:
    ended(case)
    erase(case)
    with pytest.raises(InvalidReport) as refused:
        make.accept(tenant, make.report(report_id="inv-7", iteration=2))
    assert "has been erased" in refused.value.problems[0].message


def test_a_key_that_a_process_still_remembers_lets_no_word_in(tenant: Any, case: Case) -> None:
    """Another process erased the case within the minute."""
    ended(case)
    remembered = bytes(CaseKey.objects.get(case_id=case.id).key or b"")
    erase(case)
    keys.put(case.id, remembered)
    with pytest.raises(DatabaseError, match="has been erased"):
        ended(case)
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


# What people and callers then see


def test_nothing_of_it_waits_and_its_page_is_gone(tenant: Any) -> None:
    made = make.verified(tenant, f1="contradicted")
    assert Waiting.objects.filter(case=made).exists()
    ended(made)
    erase(made)

    assert not Waiting.objects.filter(case=made).exists()
    client = Client()
    client.force_login(make.user(tenant, "auditor"))
    answer = client.get(f"/cases/{made.id}/")
    assert answer.status_code == 410
    assert "has been erased" in answer.content.decode()
    for address in ("reports/", "report/?iteration=1"):
        assert client.get(f"/cases/{made.id}/{address}").status_code == 410
    assert client.get("/cases/").status_code == 200
    event = AuditEvent.objects.filter(case_id=made.id, event_type="report_received").get()
    assert client.get(f"/trail/{event.id}/").status_code == 200


def test_a_decision_on_its_finding_is_refused(tenant: Any) -> None:
    made = make.verified(tenant, f1="contradicted")
    officer, on = make.user(tenant), make.finding_of(made)
    ended(made)
    erase(made)
    keys.clear()
    with pytest.raises(Exception, match="has been erased"):
        make.decide(officer, on)
    assert not Decision.objects.exists()


# At the shell


def shell(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_the_commands_record_hold_and_erase(tenant: Any, case: Case) -> None:
    said = shell("record_end", str(case.id), "--on", "2019-01-31", "--reason", "Refused.")
    assert "may be erased now" in said
    assert "legal hold is set" in shell("legal_hold", str(case.id), "--set", "--reason", "Asked for.")
    with pytest.raises(CommandError, match="legal hold is set"):
        shell("erase_case", str(case.id), "--reason", "Over.")
    assert "may be erased now" in shell("legal_hold", str(case.id), "--lift", "--reason", "No longer.")
    assert "the key is destroyed" in shell("erase_case", str(case.id), "--reason", "Over.")
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None
    with pytest.raises(CommandError, match="erased"):
        shell("legal_hold", str(case.id), "--set", "--reason", "Too late.")


def test_the_command_works_as_owner_and_says_so_where_it_is_not(
    tenant: Any, case: Case, product_environment: dict[str, str], owner_url: str
) -> None:
    """Real processes with the real roles: the application's refuses, the owner's erases."""
    ended(case)
    command = [sys.executable, "manage.py", "erase_case", str(case.id), "--reason", "Over."]

    def run_with(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        told: dict[str, Any] = {"check": False, "capture_output": True, "text": True, "timeout": 60}
        return subprocess.run(command, cwd=PROJECT, env=environment, **told)

    refused = run_with(product_environment)
    assert (refused.returncode, "DATABASE_OWNER_URL" in refused.stderr) == (1, True)
    assert NAME in everything()
    done = run_with(product_environment | {"DATABASE_OWNER_URL": owner_url})
    assert done.returncode == 0, done.stderr
    assert NAME not in everything()
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


@pytest.mark.parametrize("command", [("record_end", "--on", "2020-01-01"), ("legal_hold", "--set"), ("erase_case",)])
def test_an_unknown_case_is_said(tenant: Any, command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="There is no case"):
        shell(command[0], str(uuid4()), *command[1:], "--reason", "x")


def test_verify_trail_finds_an_end_that_was_moved(
    tenant: Any, case: Case, owner_connection: psycopg.Connection[Any]
) -> None:
    ended(case)
    owner_connection.execute("ALTER TABLE reviews_retentionrecord DISABLE TRIGGER USER")
    owner_connection.execute("UPDATE reviews_retentionrecord SET ended_on = '2001-01-01'")
    for name in ("append_only", "no_truncate", "of_kept_case"):
        owner_connection.execute(
            f"ALTER TABLE reviews_retentionrecord ENABLE ALWAYS TRIGGER reviews_retentionrecord_{name}"
        )

    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken
    assert broken is not None
    assert broken.detail == "retention: the row's ended_on is not what the event recorded"
    assert broken.kind == "row_disagrees"
