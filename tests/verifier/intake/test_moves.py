"""What may change in a case, a run and a key, and what an owner who changes more than that is found out by."""

from contextlib import nullcontext
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import SYSTEM_TENANT_ID, Tenant
from audit.verification import verify_tenant
from tests import factories as make
from verifier.models import ApiKey, Case, Report, Verification

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _on(transactional_db: None) -> None:
    make.switches()


def run(sql: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)


def as_role(role: str, as_application: Any, sql: str) -> None:
    with as_application() if role == "application" else nullcontext(), transaction.atomic():
        run("SELECT set_config('app.current_tenant', '*', true)")
        run(sql)


@pytest.fixture
def case(tenant: Tenant) -> Case:
    """Two iterations, the second one's run under way; beside it a case of the same subject."""
    told = make.report(make.finding(), report_id="inv-1")
    make.accept(tenant, told)
    second = make.accept(tenant, {**told, "iteration": 2}, make.later()).case
    make.case(tenant, report_id="inv-2")
    run_row = make.run_of(second)
    run_row.status, run_row.started_at = "running", make.later(2)
    run_row.save()
    ApiKey.create(tenant=tenant, label="First", scopes=["cases"], by="ada", at=make.AT)
    return second


OF_OTHER = "(SELECT {what} FROM verifier_case WHERE report_id = 'inv-2')"
OLDER = "(SELECT id FROM verifier_report WHERE case_id = verifier_case.id AND iteration = 1)"
OLDER_RUN = f"(SELECT id FROM verifier_verification WHERE report_id = {OLDER})"
CASE, RUN, KEY = (
    f"UPDATE {table} SET {{change}} WHERE {which}"
    for table, which in (
        ("verifier_case", "report_id = 'inv-1'"),
        ("verifier_verification", "status = 'running'"),
        ("verifier_apikey", "true"),
    )
)
REFUSED = {
    "the case's id": CASE.format(change="id = gen_random_uuid()"),
    "the case's tenant": CASE.format(change=f"tenant_id = '{SYSTEM_TENANT_ID}'"),
    "the case's reference": CASE.format(change="report_id = 'inv-3'"),
    "the case's birth": CASE.format(change="created_at = now()"),
    "the case's name alone": CASE.format(change="subject_name = 'Somebody'"),
    "the case back to its older report": CASE.format(change=f"current_report_id = {OLDER}"),
    "the case to no report": CASE.format(change="current_report_id = NULL"),
    "the case to another's report": CASE.format(
        change=f"current_report_id = {OF_OTHER.format(what='current_report_id')}"
    ),
    "the case to another's run": CASE.format(
        change=f"current_verification_id = {OF_OTHER.format(what='current_verification_id')}"
    ),
    "the case to a run of its older report": CASE.format(change=f"current_verification_id = {OLDER_RUN}"),
    "the case gone": "DELETE FROM verifier_case",
    "all cases gone": "TRUNCATE verifier_case CASCADE",
    "the run's case": RUN.format(change=f"case_id = {OF_OTHER.format(what='id')}"),
    "the run's report": RUN.format(change=f"report_id = {OF_OTHER.format(what='current_report_id')}"),
    "the run's switch": RUN.format(change="correctness_enabled = false"),
    "who asked for the run": RUN.format(change="requested_by = 'somebody else'"),
    "when the run was asked for": RUN.format(change="queued_at = now()"),
    "when the run started": RUN.format(change="started_at = now()"),
    "the run as never started": RUN.format(change="started_at = NULL"),
    "the run gone": "DELETE FROM verifier_verification",
    "all runs gone": "TRUNCATE verifier_verification CASCADE",
    "the key's scopes": KEY.format(change="scopes = '[\"reports\"]'"),
    "the key's token": KEY.format(change="token_sha256 = 'x'"),
    "the key's name": KEY.format(change="label = 'Other'"),
    "the key gone": "DELETE FROM verifier_apikey",
    "all keys gone": "TRUNCATE verifier_apikey",
}


@pytest.mark.parametrize("attempt", REFUSED)
@pytest.mark.parametrize("role", ["owner", "application"])
def test_it_refuses(case: Case, as_application: Any, role: str, attempt: str) -> None:
    with pytest.raises(DatabaseError) as refused:
        as_role(role, as_application, REFUSED[attempt])

    assert getattr(refused.value.__cause__, "sqlstate", "") == "42501"  # insufficient_privilege


@pytest.mark.parametrize("status", ["finished", "failed"])
@pytest.mark.parametrize("change", ["status = 'queued'", "finished_at = now()", "attempts = 9", "failure = ''"])
def test_an_ended_run_never_changes(case: Case, status: str, change: str) -> None:
    make.end(make.run_of(case), status)

    with pytest.raises(DatabaseError, match="is refused"):
        run(f"UPDATE verifier_verification SET {change} WHERE status = %s", status)


@pytest.mark.parametrize("change", ["revoked_at = NULL", "revoked_at = now()"])
def test_a_revoked_key_stays_revoked(case: Case, change: str) -> None:
    ApiKey.objects.get().revoke(by="ada", at=make.AT)

    with pytest.raises(DatabaseError, match="is refused"):
        run(f"UPDATE verifier_apikey SET {change}")


# What verify_trail says of an owner who lifts the guards


def broken(tenant_id: Any) -> tuple[str, str] | None:
    found = verify_tenant(tenant=Tenant.objects.get(id=tenant_id), missing_guards=[]).broken
    return (str(found.kind), found.detail) if found else None


def lifted(owner: psycopg.Connection[Any], table: str, sql: str) -> None:
    own = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal"
    names = [name for (name,) in owner.execute(own, [table])]
    for name in names:
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
    owner.execute(sql)
    for name in names:
        owner.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


OTHER_REPORT = f"current_report_id = {OLDER}"
FOUND = [
    # what is done, to which table, how, and what verify_trail says
    ("a byte of a report", "report", "content = content || ' '", "report: the row's report_sha256"),
    ("a report's hash", "report", "sha256 = 'x'", "report: the row's report_sha256"),
    ("a report's place", "report", "iteration = iteration + 5", "report: the row's iteration"),
    ("a report made advisory", "report", "advisory_only = true", "report: the row's advisory_only"),
    ("a gate opened", "report", "forces_review = NOT forces_review", "report: the row's forces_review"),
    ("a subject", "report", "subject = '{}'", "report: the row's read_sha256"),
    ("a finding taken out of the re-check", "finding", "selected = false", "report: the row's selected"),
    ("a finding made milder", "finding", "severity = 'low'", "report: the row's read_sha256"),
    ("a finding's words", "finding", "content = '{}'", "report: the row's read_sha256"),
    ("a case set back", "case", OTHER_REPORT, "doesn't show its newest report"),
    ("a case to no report", "case", "current_report_id = NULL", "doesn't show its newest report"),
    ("a case to an older run", "case", f"current_verification_id = {OLDER_RUN}", "doesn't show its newest run"),
    ("a case's reference", "case", "report_id = report_id || 'x'", "report: the row's report_id"),
    ("a key's scopes", "apikey", "scopes = '[\"reports\"]'", "is not the one that was made"),
    ("a key's token", "apikey", "token_sha256 = 'x'", "is not the one that was made"),
    ("a key revoked on the quiet", "apikey", "revoked_at = now()", "revoked without its event"),
]


@pytest.mark.parametrize(("table", "change", "words"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_verify_trail_finds(
    case: Case, owner_connection: psycopg.Connection[Any], table: str, change: str, words: str
) -> None:
    assert broken(case.tenant_id) is None
    lifted(owner_connection, f"verifier_{table}", f"UPDATE verifier_{table} SET {change}")

    found = broken(case.tenant_id)

    assert found is not None
    assert found[0] == "row_disagrees"
    assert words in found[1]


def test_verify_trail_finds_a_key_that_came_back(case: Case, owner_connection: psycopg.Connection[Any]) -> None:
    ApiKey.objects.get().revoke(by="ada", at=make.AT)
    assert broken(case.tenant_id) is None
    lifted(owner_connection, "verifier_apikey", "UPDATE verifier_apikey SET revoked_at = NULL")

    found = broken(case.tenant_id)
    assert found is not None
    assert "is in force again" in found[1]


def test_verify_trail_finds_a_key_that_is_gone(case: Case, owner_connection: psycopg.Connection[Any]) -> None:
    lifted(owner_connection, "verifier_apikey", "DELETE FROM verifier_apikey")

    found = broken(case.tenant_id)
    assert found is not None
    assert "is gone" in found[1]


def test_verify_trail_finds_a_key_that_nobody_made(case: Case) -> None:
    ApiKey.objects.create(
        tenant_id=case.tenant_id, label="x", scopes=["cases"], token_sha256="x", hint="x", created_at=make.AT
    )

    found = broken(case.tenant_id)
    assert found is not None
    assert "was never recorded" in found[1]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE verifier_switch SET enabled = NOT enabled WHERE name LIKE 'MAKER%'", "is not what was last set"),
        ("DELETE FROM verifier_switch WHERE name LIKE 'MAKER%'", "is gone"),
        (
            "INSERT INTO verifier_switch VALUES ('UNHEARD_OF', true, true, now(), 'somebody', '')",
            "UNHEARD_OF was never recorded",
        ),
    ],
)
def test_verify_trail_finds_a_switch_that_nobody_set(sql: str, words: str) -> None:
    assert broken(SYSTEM_TENANT_ID) is None
    run(sql)

    found = broken(SYSTEM_TENANT_ID)
    assert found is not None
    assert words in found[1]


def test_a_newer_report_and_a_further_run_still_move_the_case(tenant: Tenant, case: Case) -> None:
    make.end(make.run_of(case))
    make.rerun(case, make.later(5))
    third = make.accept(tenant, make.report(report_id="inv-1", iteration=3), make.later(9))

    moved = Case.objects.get(id=case.id)
    assert moved.current_report == Report.objects.get(case=case, iteration=3)
    assert moved.current_verification == Verification.objects.get(id=third.verification.id)
    assert broken(tenant.id) is None
