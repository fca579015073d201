"""The trail's list in a long trail: each filter, first and deep, against single-column indexes; and what its indexes
cost an append (goal 11). A million events, or ten (`BENCH_FULL=1`).

Both sides run the list's own query; the other side reads a copy of the table with an index on the tenant and one on
the actor. The rows are put in by the owner past the seal, because no page looks at a hash.
"""

import os
import statistics
from dataclasses import replace
from hashlib import md5
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection

from audit.filters import Filters
from audit.log import EVERY_TENANT, tenant_scope
from audit.models import Tenant
from audit.trail import PAGE, matching, place_of
from tests import factories
from tests.bench.crowd import Work, rates
from tests.bench.measure import interleaved, median_ratio, report
from tests.bench.trail_append import BODY, COLUMNS, told

EVENTS = 10_000_000 if os.environ.get("BENCH_FULL") else 1_000_000
PLAIN = "bench_event"
# Of one tenant, over about a year: mostly what the machine did, thirty people, twenty thousand cases, rare changes.
FILL = f"""
ALTER TABLE audit_auditevent DISABLE TRIGGER USER;
ALTER TABLE audit_auditseal DISABLE TRIGGER USER;
INSERT INTO audit_auditevent
    (id, tenant_id, recorded_at, event_type, actor, actor_type, case_id, subject, outcome, body)
SELECT md5(n::text)::uuid, '{{tenant}}', '2026-01-01Z'::timestamptz + n * interval '{30_000_000 / EVENTS} s',
       CASE WHEN n % 10000 = 0 THEN 'role_changed' WHEN n % 3 = 0 THEN 'case_viewed' ELSE 'finding_correctness_verified'
       END,
       CASE WHEN n % 3 = 0 THEN 'officer' || n / 3 % 30 ELSE 'verifier' END, 'person',
       CASE WHEN n % 10000 > 0 THEN md5('case' || n % 20000)::uuid END,
       CASE WHEN n % 10000 = 0 THEN 'person ' || n / 10000 ELSE '' END,
       CASE WHEN n % 3 > 0 THEN (ARRAY['confirmed', 'contradicted', 'unsupported', 'indeterminate'])[1 + n % 4]
       ELSE '' END, '{{body}}'
FROM generate_series(1, {EVENTS}) n;
INSERT INTO audit_auditseal (event_id, tenant_id, sequence, previous_hash, event_hash)
SELECT md5(n::text)::uuid, '{{tenant}}', n, sha256(int8send(n - 1)), sha256(int8send(n))
FROM generate_series(1, {EVENTS}) n;
CREATE TABLE {PLAIN} AS TABLE audit_auditevent;
ALTER TABLE {PLAIN} ADD PRIMARY KEY (id);
CREATE INDEX ON {PLAIN} (tenant_id);
CREATE INDEX ON {PLAIN} (actor);
CREATE TABLE bench_indexed (LIKE audit_auditevent INCLUDING DEFAULTS INCLUDING INDEXES);
CREATE TABLE bench_keyed (LIKE audit_auditevent INCLUDING DEFAULTS, PRIMARY KEY (id));
GRANT ALL ON {PLAIN}, bench_indexed, bench_keyed TO PUBLIC;
VACUUM ANALYZE audit_auditevent; VACUUM ANALYZE audit_auditseal; VACUUM ANALYZE {PLAIN};
"""
EMPTY = f"""
DROP TABLE {PLAIN}; DROP TABLE bench_indexed; DROP TABLE bench_keyed;
TRUNCATE audit_auditseal; TRUNCATE audit_auditevent CASCADE;
"""


def run() -> bool:
    tenant = factories.tenant()
    as_owner(FILL.format(tenant=tenant.id, body=BODY))
    try:
        with tenant_scope(EVERY_TENANT):
            met = [each_filter(tenant), deep(tenant), window(tenant)]
        return all([*met, appending(tenant)])
    finally:
        as_owner(EMPTY + guards_on())


def as_owner(statements: str) -> None:
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for statement in statements.split(";"):
            if statement.strip():
                owner.execute(statement)


def guards_on() -> str:
    """As they were, so that the benchmarks after this one meet the product's own tables."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        named = owner.execute(
            "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'D'"
        ).fetchall()
    return "".join(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};" for table, name in named)


def choices() -> dict[str, Filters]:
    a_case = str(UUID(bytes=md5(b"case777", usedforsecurity=False).digest()))
    return {
        "who": Filters(actor="officer7"),
        "what, rare": Filters(type="role_changed"),
        "what, common": Filters(type="case_viewed"),
        "outcome": Filters(outcome="contradicted"),
        "about": Filters(about="person 7"),
        "who and what": Filters(actor="officer7", type="case_viewed"),
        "case": Filters(case=a_case),
    }


def page(tenant: Tenant, filters: Filters, table: str = "") -> list[Any]:
    """One page of the list, by the list's own query, from its own table or from the plain one."""
    query = matching(tenant.id, filters)[: PAGE + 1].query
    sql, values = query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql.replace("audit_auditevent", table) if table else sql, values)
        return cursor.fetchall()


def further(tenant: Tenant, filters: Filters) -> Filters:
    """The same list from its middle on."""
    until = replace(filters, until="2026-07-01")
    return replace(filters, before=str(place_of(page(tenant, until)[0], until)))


def each_filter(tenant: Tenant) -> bool:
    met = []
    for name, filters in choices().items():
        times = interleaved(
            {"list": lambda f=filters: page(tenant, f), "plain": lambda f=filters: page(tenant, f, PLAIN)}, cycles=10
        )
        ratio = median_ratio(times["list"], times["plain"])
        met.append(
            report(
                name=f"trail_page_{name.replace(', ', '_').replace(' ', '_')}_of_{EVENTS}",
                value=statistics.median(times["list"]),
                unit="s",
                baseline=statistics.median(times["plain"]),
                ratio=ratio,
                goal="<= 0.1",
                met=ratio <= 0.1,
            )
        )
    return all(met)


def deep(tenant: Tenant) -> bool:
    met = []
    for name, filters in choices().items():
        if name in {"what, rare", "about", "case"}:
            continue  # a page or two in all
        later = further(tenant, filters)
        times = interleaved({"first": lambda f=filters: page(tenant, f), "deep": lambda f=later: page(tenant, f)})
        ratio = median_ratio(times["deep"], times["first"])
        met.append(
            report(
                name=f"trail_page_deep_{name.replace(', ', '_').replace(' ', '_')}",
                value=statistics.median(times["deep"]),
                unit="s",
                baseline=statistics.median(times["first"]),
                ratio=ratio,
                goal="<= 5",
                met=ratio <= 5,
            )
        )
    return all(met)


def window(tenant: Tenant) -> bool:
    whole = Filters(actor="officer7")
    month = replace(whole, since="2026-05-01", until="2026-05-31")
    times = interleaved({"whole": lambda: page(tenant, whole), "month": lambda: page(tenant, month)})
    ratio = median_ratio(times["month"], times["whole"])
    return report(
        name="trail_page_in_a_time_window",
        value=statistics.median(times["month"]),
        unit="s",
        baseline=statistics.median(times["whole"]),
        ratio=ratio,
        goal="<= 2",
        met=ratio <= 2,
    )


def appending(tenant: Tenant) -> bool:
    found = rates(lambda _: inserts(tenant), 1)
    return told("append_with_the_trails_indexes", found, "indexed", "keyed", 0.68)


def inserts(tenant: Tenant) -> Work:
    cursor = connection.cursor()

    def insert(table: str) -> None:
        row = (uuid4(), tenant.id, "case_viewed", "officer", "person", uuid4(), "", "", BODY)
        cursor.execute(f"INSERT INTO {table} ({COLUMNS}) VALUES ({', '.join(['%s'] * len(row))})", row)

    return {"indexed": lambda: insert("bench_indexed"), "keyed": lambda: insert("bench_keyed")}
