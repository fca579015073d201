"""Are the guards there? The usual failure of an append-only table is that its guard isn't.

What must be there is read from the migrations themselves, what is there from the catalogue, which every
role may read. Every process that serves asks this before it begins; `/readyz`, `manage.py verify_trail` and
`manage.py check --database default` ask it too.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from time import monotonic, sleep
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db import Error, connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader

from audit.moves import Guard
from audit.operations import AppendOnly, Grant, RowGuard, SealAtCommit, TenantIsolation, Trigger

logger = logging.getLogger(__name__)
PATIENCE_SECONDS = 20.0
NOT_AGAIN = 3  # gunicorn ends with it, where it would start a worker that ended otherwise again and again
UNIQUE = ("audit_seal_sequence", "audit_seal_no_fork", "audit_auditseal_pkey", "audit_chainhead_pkey")
PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
COLUMN_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "REFERENCES")
TRIGGERS = """
SELECT t.tgname, c.relname, t.tgtype, t.tgenabled = 'A' AND t.tgqual IS NULL, p.proname, p.prosrc
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = ANY(SELECT to_regclass(name) FROM unnest(%s::text[]) name) AND NOT t.tgisinternal
"""
UNIQUES = "SELECT conname FROM pg_constraint WHERE conname = ANY(%s) AND contype IN ('u', 'p') AND convalidated"
SEALING_FUNCTION = """
SELECT prosecdef AND 'search_path=pg_catalog, pg_temp' = ANY(proconfig), has_function_privilege(%s, oid, 'EXECUTE')
FROM pg_proc WHERE proname = 'second_look_seal'
"""
POLICIES = """
SELECT c.relname, p.polname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid
WHERE c.oid = ANY(SELECT to_regclass(name) FROM unnest(%s::text[]) name)
    AND c.relrowsecurity AND pg_get_expr(p.polqual, p.polrelid) LIKE '%%app.current_tenant%%'
    AND NOT EXISTS (
        SELECT FROM pg_policy other WHERE other.polrelid = c.oid AND other.oid <> p.oid AND other.polpermissive
    )
"""
ROLE = "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = %s"
OWNED = """
SELECT relname FROM pg_class
WHERE oid = ANY(SELECT to_regclass(name) FROM unnest(%s::text[]) name) AND pg_has_role(%s, relowner, 'MEMBER')
"""
HELD = """
SELECT name, privilege FROM unnest(%s::text[]) name, unnest(%s::text[]) privilege
WHERE to_regclass(name) IS NOT NULL AND (
    has_table_privilege(%s, to_regclass(name), privilege)
    OR privilege = ANY(%s) AND has_any_column_privilege(%s, to_regclass(name), privilege)
)
"""


@dataclass(frozen=True, slots=True)
class Promised:
    """What the migrations promise of guards."""

    triggers: tuple[Trigger, ...]
    isolated: tuple[str, ...]
    granted: tuple[tuple[str, frozenset[str]], ...]  # table and the privileges the application role may hold on it

    def tables(self) -> list[str]:
        return sorted({trigger.table for trigger in self.triggers} | {table for table, _ in self.granted})


def missing_guards() -> list[str]:
    """One sentence for each guard that isn't as the migrations promise; empty when all stand."""
    return list(find_missing(promised()))


def end_where_unguarded(*, patience: float = PATIENCE_SECONDS) -> None:
    """Ends the process, before it serves, where a guard is missing, and where nobody can say after some patience.

    For the start of a process only: it closes the connection it asked by.
    """
    deadline = monotonic() + patience
    while (missing := ask_once()) is None and monotonic() < deadline:
        sleep(0.5)
    if missing is None:
        missing = ["the database does not answer, so that nobody can say whether the guards stand"]
    for each in missing:
        logger.critical("This process does not serve. Audit guard: %s.", each)
    if missing:
        raise SystemExit(NOT_AGAIN)


def ask_once() -> list[str] | None:
    """What is missing; None where the database doesn't answer."""
    try:
        return missing_guards()
    except Error:
        return None
    finally:
        connection.close()


@cache
def promised() -> Promised:
    return collect(MigrationLoader(None, ignore_no_migrations=True).disk_migrations.values())


def promised_so_far() -> Promised:
    """Of the migrations applied to this database only: a fresh one must be able to migrate."""
    loader = MigrationLoader(connection)
    return collect(migration for key, migration in loader.disk_migrations.items() if key in loader.applied_migrations)


def collect(migrations: Sequence[Migration] | Any) -> Promised:
    operations = [operation for migration in migrations for operation in migration.operations]
    guarding = AppendOnly | Guard | SealAtCommit | RowGuard
    guards = [operation for operation in operations if isinstance(operation, guarding)]
    grants = [operation for operation in operations if isinstance(operation, Grant)]
    return Promised(
        triggers=tuple(trigger for guard in guards for trigger in guard.triggers()),
        isolated=tuple(operation.table for operation in operations if isinstance(operation, TenantIsolation)),
        granted=tuple((grant.table, frozenset(grant.privileges.replace(" ", "").split(","))) for grant in grants),
    )


def find_missing(promise: Promised) -> Iterator[str]:
    yield from wrong_triggers(promise.triggers)
    if promise.triggers:
        yield from wrong_seals()
    yield from open_tables(promise.isolated)
    yield from excess_power(promise)


def rows(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def wrong_triggers(triggers: Sequence[Trigger]) -> Iterator[str]:
    there = {(name, table): rest for name, table, *rest in rows(TRIGGERS, sorted({t.table for t in triggers}))}
    for trigger in triggers:
        found = there.get((trigger.name, trigger.table))
        if found is None:
            yield f"trigger {trigger.name} is missing on {trigger.table}"
            continue
        kind, enabled, function, body = found
        if not enabled:
            yield f"trigger {trigger.name} on {trigger.table} is disabled or conditional"
        if (kind, function, body) != (trigger.kind, trigger.function, trigger.body):
            yield f"trigger {trigger.name} on {trigger.table} does something else than it should"


def wrong_seals() -> Iterator[str]:
    there = {name for (name,) in rows(UNIQUES, list(UNIQUE))}
    yield from (f"constraint {name} is missing" for name in UNIQUE if name not in there)
    if not rows(ROLE, settings.APPLICATION_ROLE):
        return
    for as_owner, callable_by_application in rows(SEALING_FUNCTION, settings.APPLICATION_ROLE):
        if not as_owner:
            yield "function second_look_seal doesn't run as its owner with a fixed search path"
        if callable_by_application:
            yield f"role {settings.APPLICATION_ROLE} may use function second_look_seal"


def open_tables(isolated: Sequence[str]) -> Iterator[str]:
    there = {(table, policy) for table, policy in rows(POLICIES, list(isolated))}
    for table in isolated:
        if (table, f"{table}_tenant") not in there:
            yield f"row security of {table} is off, changed or opened by a further policy"


def excess_power(promise: Promised) -> Iterator[str]:
    """Whatever lets the application role get around the guards."""
    role = settings.APPLICATION_ROLE
    attributes = rows(ROLE, role)
    if not attributes:
        yield f"role {role} doesn't exist"
        return
    superuser, bypasses = attributes[0]
    if superuser or bypasses:
        yield f"role {role} is {'a superuser' if superuser else 'exempt from row security'}"
        return
    owned = {table for (table,) in rows(OWNED, promise.tables(), role)}
    yield from (f"role {role} owns {table}" for table in sorted(owned))
    allowed = dict(promise.granted)
    for table, privilege in rows(HELD, promise.tables(), list(PRIVILEGES), role, list(COLUMN_PRIVILEGES), role):
        if table not in owned and privilege not in allowed.get(table, frozenset()):
            yield f"role {role} holds {privilege} on {table}"


@checks.register(checks.Tags.database)
def guards_stand(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """`manage.py check --database default` and `manage.py migrate` fail where an installed guard is gone."""
    if connection.alias not in (databases or ()):
        return []
    return [checks.Error(f"Guard: {missing}.", id="audit.E001") for missing in find_missing(promised_so_far())]
