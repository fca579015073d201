"""What a sealed event costs: beside a save, alone, on one busy tenant and in batches (goals 1, 3, 4 and 5).

The bare side writes an identical table (columns and search indexes) without triggers and without a chain.
"""

import os
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from audit.log import EVERY_TENANT, append, record, set_current_tenant
from audit.models import ActorType
from tests import factories
from tests.bench.crowd import Work, rates, ratio
from tests.bench.measure import report
from verifier.models import Case

COLUMNS = "id, tenant_id, event_type, actor, actor_type, case_id, subject, outcome, body"
PLAIN_TABLE = """
DROP TABLE IF EXISTS bench_plain;
CREATE TABLE bench_plain (LIKE audit_auditevent INCLUDING DEFAULTS INCLUDING INDEXES);
DROP TABLE IF EXISTS bench_linked;
CREATE TABLE bench_linked (id uuid PRIMARY KEY, tenant_id uuid, sequence bigint, body text, hash bytea,
                           UNIQUE (tenant_id, sequence));
DROP TABLE IF EXISTS bench_head;
CREATE TABLE bench_head (tenant_id uuid PRIMARY KEY, sequence bigint, hash bytea);
"""
BODY = '{"actor":"' + "x" * 380 + '"}'


def run() -> bool:
    factories.switches()
    with connection.cursor() as cursor:
        cursor.execute(PLAIN_TABLE)
    fifty = [factories.case(factories.tenant()) for _ in range(50)]
    met = [
        beside_a_save(fifty, workers=4, least=0.75),
        beside_a_save(fifty[:1], workers=16, least=0.60),
        alone(fifty, workers=16, least=0.62),
        alone(fifty, workers=1, least=0.65),
        hot_tenant(fifty[0]),
        batches(fifty[0]),
    ]
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_plain; DROP TABLE bench_linked; DROP TABLE bench_head")
    return all(met)


def told(name: str, found: dict[str, list[float]], above: str, below: str, least: float, **more: Any) -> bool:
    value = ratio(found, above, below)
    return report(
        name=name,
        value=statistics.median(found[above]),
        unit="a second",
        baseline=statistics.median(found[below]),
        ratio=value,
        goal=f">= {least}",
        met=value >= least and all(more.pop("also", [])),
        **more,
    )


def beside_a_save(cases: list[Case], *, workers: int, least: float) -> bool:
    """A model's save with its event in one transaction, against the save alone (goal 1)."""
    found = rates(lambda number: saves(cases, number), workers)
    return told(f"event_beside_a_save_{len(cases)}_tenants_{workers}_connections", found, "event", "bare", least)


def saves(cases: list[Case], number: int) -> Work:
    set_current_tenant(EVERY_TENANT)
    mine = in_turn([Case.objects.get(id=case.id) for case in cases], number)

    def bare() -> None:
        case = mine()
        with transaction.atomic():
            case.save(update_fields=["subject_name"])

    def event() -> None:
        case = mine()
        with transaction.atomic():
            case.save(update_fields=["subject_name"])
            write(record, case)

    return {"bare": bare, "event": event}


def write(how: Callable[..., Any], case: Case) -> None:
    how(
        tenant_id=case.tenant_id,
        event_type="case_viewed",
        actor="officer",
        actor_type=ActorType.PERSON,
        case_id=case.id,
        subject=case.report_id,
        details={"finding": "f1", "seen": "x" * 120},
        at=datetime.now(UTC),
    )


def in_turn(values: list[Any], number: int) -> Callable[[], Any]:
    """Each worker goes round all of them, from a place of its own."""
    place = number * 7

    def following() -> Any:
        nonlocal place
        place += 1
        return values[place % len(values)]

    return following


def alone(cases: list[Case], *, workers: int, least: float) -> bool:
    """One sealed event in a transaction of its own, against one plain row (goal 3)."""
    found = rates(lambda number: inserts(cases, number), workers)
    return told(f"event_alone_{len(cases)}_tenants_{workers}_connections", found, "sealed", "plain", least)


def inserts(cases: list[Case], number: int) -> Work:
    set_current_tenant(EVERY_TENANT)
    tenants = in_turn([case.tenant_id for case in cases], number)
    cursor = connection.cursor()
    return {
        "plain": lambda: insert(cursor, "bench_plain", tenants()),
        "sealed": lambda: insert(cursor, "audit_auditevent", tenants()),
    }


def row(tenant_id: UUID) -> tuple[Any, ...]:
    return (uuid4(), tenant_id, "case_viewed", "officer", "person", None, "", "", BODY)


def insert(cursor: Any, table: str, tenant_id: UUID) -> None:
    values = ", ".join(["%s"] * len(row(tenant_id)))
    cursor.execute(f"INSERT INTO {table} ({COLUMNS}) VALUES ({values})", row(tenant_id))


def hot_tenant(case: Case) -> bool:
    """Sixteen connections on one tenant, durable before the answer (goal 4): against a plain row, against the chain
    behind a row lock that applications usually write, and against one connection.
    """
    crowd = rates(lambda _: on_one(case), 16)
    single = rates(lambda _: {"durable": lambda: write(append, case)}, 1)
    times_locked = ratio(crowd, "durable", "locked")
    times_single = statistics.median(crowd["durable"]) / statistics.median(single["durable"])
    return told(
        "hot_tenant_16_connections",
        crowd,
        "durable",
        "plain",
        0.37,
        also=[times_locked >= 3, times_single >= 1.8],
        of_the_row_lock_chain=f"{times_locked:.2f} (>= 3)",
        of_one_connection=f"{times_single:.2f} (>= 1.8)",
    )


def on_one(case: Case) -> Work:
    set_current_tenant(EVERY_TENANT)
    cursor = connection.cursor()
    return {
        "plain": lambda: insert(cursor, "bench_plain", case.tenant_id),
        "durable": lambda: write(append, case),
        "locked": lambda: locked(cursor, case.tenant_id),
    }


def locked(cursor: Any, tenant_id: UUID) -> None:
    """The chain as applications write it: read the head under its lock, hash, insert, move the head."""
    import hashlib

    with transaction.atomic():
        cursor.execute("INSERT INTO bench_head VALUES (%s, 0, '') ON CONFLICT DO NOTHING", [tenant_id])
        cursor.execute("SELECT sequence, hash FROM bench_head WHERE tenant_id = %s FOR UPDATE", [tenant_id])
        sequence, head = cursor.fetchone()
        linked = hashlib.sha256(bytes(head) + BODY.encode()).digest()
        cursor.execute(
            "INSERT INTO bench_linked VALUES (%s, %s, %s, %s, %s)", [uuid4(), tenant_id, sequence + 1, BODY, linked]
        )
        cursor.execute(
            "UPDATE bench_head SET sequence = %s, hash = %s WHERE tenant_id = %s", [sequence + 1, linked, tenant_id]
        )


def batches(case: Case) -> bool:
    """A hundred events a transaction by COPY, against the same rows unchained, and against single ones (goal 5)."""
    found = rates(lambda _: copies(case), 1)
    hundredfold = ratio(found, "sealed", "single") * 100
    return told(
        "batch_of_100_events",
        found,
        "sealed",
        "plain",
        0.75,
        also=[hundredfold >= 10],
        of_single_events=f"{hundredfold:.1f} (>= 10)",
    )


def copies(case: Case) -> Work:
    set_current_tenant(EVERY_TENANT)
    cursor = connection.cursor()
    return {
        "plain": lambda: copy(cursor, "bench_plain", case.tenant_id),
        "sealed": lambda: copy(cursor, "audit_auditevent", case.tenant_id),
        "single": lambda: insert(cursor, "audit_auditevent", case.tenant_id),
    }


def copy(cursor: Any, table: str, tenant_id: UUID) -> None:
    with cursor.copy(f"COPY {table} ({COLUMNS}) FROM STDIN") as stream:
        for _ in range(100):
            stream.write_row(row(tenant_id))


__all__ = ["run"]
assert os.name == "posix", "workers are forked"
