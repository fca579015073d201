"""Takes a case's personal text away for good: its key destroyed, its rows blanked as the guards let the owner do it.

What is blanked is read from the migrations, where each guard says which values it lets in: there is no second list.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from audit.models import CaseKey
from audit.moves import AppendOnlyUntilErased, OnlyMoves
from audit.sealed import key_of, keys

KEYS = "audit_casekey"
OWNS = "SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = to_regclass(%s)"


def connected_as_owner() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(OWNS, [KEYS])
        row = cursor.fetchone()
        return bool(row and row[0])


def erase(*, tenant_id: UUID, case_id: UUID, at: datetime) -> dict[str, int]:
    """Inside the owner's transaction; returns how many rows of each table were blanked.

    The caller appends `case_erased` in the same transaction: a key destroyed without it is found by `verify_trail`.
    """
    key_of(tenant_id, case_id)  # a case of which nothing was ever recorded has none yet, and gets no other later
    CaseKey.objects.filter(case_id=case_id, tenant_id=tenant_id).update(key=None, destroyed_at=at)
    transaction.on_commit(lambda: keys.forget(case_id))
    with connection.cursor() as cursor:
        blanked = {}
        for guard in guards():
            cursor.execute(statement(guard), [case_id])
            blanked[guard.table] = cursor.rowcount
        return blanked


def guards() -> Iterator[AppendOnlyUntilErased | OnlyMoves]:
    return (guard for guard in changeable() if guard.blanks)


def changeable() -> Iterator[AppendOnlyUntilErased | OnlyMoves]:
    """The guards of all tables whose rows may change at all."""
    for migration in MigrationLoader(None, ignore_no_migrations=True).disk_migrations.values():
        for operation in migration.operations:
            if isinstance(operation, AppendOnlyUntilErased | OnlyMoves):
                yield operation


def statement(guard: AppendOnlyUntilErased | OnlyMoves) -> str:
    values = ", ".join(f"{column} = {value}" for column, value in guard.blanks.items())
    of_case = guard.case.replace("OLD.", f"{guard.table}.")
    return f"UPDATE {guard.table} SET {values} WHERE {of_case} = %s"  # noqa: S608  # our own migrations' words


def vacuum() -> None:
    """Outside any transaction: gives the space of the former row versions back to the tables, to be written over."""
    with connection.cursor() as cursor:
        for table in [KEYS, *(guard.table for guard in changeable())]:
            cursor.execute(f"VACUUM {table}")
