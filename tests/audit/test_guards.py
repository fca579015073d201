"""What the database refuses, whoever asks. Each attempt is real SQL or the ORM's own."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, transaction

from audit.models import AuditEvent, AuditSeal, Tenant
from tests.audit.trails import append_many, run

EVENTS = "audit_auditevent"
ATTEMPTS = {
    "update": "UPDATE {table} SET {column} = {column}",
    "update in a query": "WITH new AS (UPDATE {table} SET {column} = {column} RETURNING 1) SELECT count(*) FROM new",
    "delete": "DELETE FROM {table}",
    "delete in a query": "WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone",
    "merge that updates": (
        "MERGE INTO {table} t USING {table} s ON t.{key} = s.{key} WHEN MATCHED THEN UPDATE SET {column} = s.{column}"
    ),
    "merge that deletes": "MERGE INTO {table} t USING {table} s ON t.{key} = s.{key} WHEN MATCHED THEN DELETE",
    "insert on conflict": (
        "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({key}) DO UPDATE SET {column} = EXCLUDED.{column}"
    ),
    "truncate": "TRUNCATE {table} CASCADE",
    "truncate of the tenants": "TRUNCATE audit_tenant CASCADE",
}
GUARDED = [
    ("audit_auditevent", "id", "body"),
    ("audit_auditseal", "event_id", "sequence"),
    ("audit_tenant", "id", "slug"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "key", "column"), GUARDED, ids=[table for table, *_ in GUARDED])
@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("role", ["owner", "application"])
def test_it_refuses(
    tenant: Tenant, as_application: Any, role: str, attempt: str, table: str, key: str, column: str
) -> None:
    append_many(tenant, 2)
    statement = ATTEMPTS[attempt].format(table=table, key=key, column=column)

    with pytest.raises(DatabaseError) as refused:
        if role == "owner":
            run(statement)
        else:
            with as_application(), transaction.atomic():
                run("SELECT set_config('app.current_tenant', '*', false)")
                run(statement)

    assert refused.value.__cause__ is not None
    assert getattr(refused.value.__cause__, "sqlstate", "") == "42501"  # insufficient_privilege


ORM_ATTEMPTS: dict[str, Callable[[AuditEvent], Any]] = {
    "save": lambda event: event.save(),
    "delete": lambda event: AuditEvent.objects.filter(id=event.id)._raw_delete("default"),
    "QuerySet.update": lambda event: AuditEvent.objects.filter(id=event.id).update(actor="somebody.else"),
    "bulk_update": lambda event: AuditEvent.objects.bulk_update([event], ["actor"]),
    "update_or_create": lambda event: AuditEvent.objects.update_or_create(id=event.id, defaults={"actor": "else"}),
    "bulk_create over it": lambda event: AuditEvent.objects.bulk_create(
        [event], update_conflicts=True, update_fields=["actor"], unique_fields=["id"]
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("attempt", ORM_ATTEMPTS)
def test_the_orm_is_refused_as_well(tenant: Tenant, attempt: str) -> None:
    (event,) = append_many(tenant, 1)

    with pytest.raises(DatabaseError, match="append-only"):
        ORM_ATTEMPTS[attempt](event)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO audit_auditseal SELECT * FROM audit_auditseal",
        "INSERT INTO audit_chainhead SELECT * FROM audit_chainhead",
        "UPDATE audit_chainhead SET sequence = sequence - 1",
        "DELETE FROM audit_chainhead",
        "ALTER TABLE audit_auditevent DISABLE TRIGGER audit_auditevent_append_only",
        "ALTER TABLE audit_auditevent DISABLE ROW LEVEL SECURITY",
        "DROP TABLE audit_auditevent CASCADE",
        "DROP TRIGGER audit_event_seal ON audit_auditevent",
        "CREATE OR REPLACE FUNCTION second_look_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "SET session_replication_role = replica",
        "LOCK TABLE audit_auditevent IN ACCESS EXCLUSIVE MODE",
    ],
)
def test_the_application_role_can_neither_write_the_chain_nor_touch_its_guards(
    tenant: Tenant, as_application: Any, statement: str
) -> None:
    append_many(tenant, 1)

    with pytest.raises(DatabaseError, match="permission denied|must be owner"), as_application(), transaction.atomic():
        run(statement)


@pytest.mark.django_db
def test_the_application_role_cannot_hang_the_sealing_function_on_a_table_of_its_own(as_application: Any) -> None:
    with (
        pytest.raises(DatabaseError, match="permission denied for function .*second_look_seal"),
        as_application(),
        transaction.atomic(),
    ):
        run("CREATE TEMP TABLE mine (id uuid, tenant_id uuid, recorded_at timestamptz, body text)")
        run("CREATE TRIGGER forge AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION public.second_look_seal()")


@pytest.mark.django_db
def test_the_application_role_writes_no_event_of_another_tenant(
    tenant: Tenant, make_tenant: Any, as_application: Any
) -> None:
    other = make_tenant()

    with pytest.raises(DatabaseError, match="row-level security"), as_application(), transaction.atomic():
        run("SELECT set_config('app.current_tenant', %s, false)", str(tenant.id))
        append_many(other, 1)


def test_copy_can_replace_nothing_for_owner_or_application(
    owner_connection: psycopg.Connection[Any], app_connection: psycopg.Connection[Any], tenant: Tenant
) -> None:
    (event,) = append_many(tenant, 1)
    row = owner_connection.execute("SELECT * FROM audit_auditevent WHERE id = %s", [event.id]).fetchone()
    assert row is not None

    for role, refusal in ((owner_connection, "duplicate key"), (app_connection, "row-level security")):
        with (
            pytest.raises(psycopg.Error, match=refusal),
            role.cursor().copy("COPY audit_auditevent FROM STDIN") as copy,
        ):
            copy.write_row(row)

    assert AuditEvent.objects.filter(tenant=tenant).count() == 1


@pytest.mark.django_db
def test_the_guards_stand_in_replication_mode_too() -> None:
    triggers = run(
        "SELECT tgname, tgenabled::text FROM pg_trigger"
        " WHERE tgname ~ '_(append_only|no_truncate|seal|stamp)$' AND NOT tgisinternal"
    )

    assert len(triggers) >= 8
    assert {enabled for _, enabled in triggers} == {"A"}


@pytest.mark.django_db
def test_a_fork_is_refused_by_constraint_even_to_the_owner(tenant: Tenant) -> None:
    append_many(tenant, 3)
    (event,) = append_many(tenant, 1)
    run("ALTER TABLE audit_auditseal DISABLE TRIGGER USER")

    for column, value in (
        ("sequence", 2),
        ("previous_hash", bytes(AuditSeal.objects.get(tenant=tenant, sequence=2).previous_hash)),
    ):
        with pytest.raises(DatabaseError, match="audit_seal_(sequence|no_fork)"), transaction.atomic():
            run(f"UPDATE audit_auditseal SET {column} = %s WHERE event_id = %s", value, event.id)


@pytest.mark.django_db
def test_the_refusal_says_why(tenant: Tenant) -> None:
    append_many(tenant, 1)

    with pytest.raises(DatabaseError) as refused:
        run("DELETE FROM audit_auditevent")

    assert "DELETE on audit_auditevent is refused: this record is append-only" in str(refused.value)


def test_there_is_no_admin_site_to_edit_anything_in(settings: Any) -> None:
    assert "django.contrib.admin" not in settings.INSTALLED_APPS
