"""Is the process up, and can it work? For load balancers and supervisors: no key, no secrets, quick answers."""

from collections.abc import Iterator
from functools import cache

import psycopg
import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse

from audit.checks import missing_guards
from audit.watch import broken_trails

SECONDS = 3


@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """503 for what stops the work. A trail found broken doesn't: it is 200, and says so."""
    reasons = [*database_reasons(), *broker_reasons()]
    if reasons:
        return JsonResponse({"status": "unavailable", "reasons": reasons}, status=503)
    broken = broken_trails()
    if broken:
        return JsonResponse({"status": "degraded", "reasons": [f"the trail of {slug} is broken" for slug in broken]})
    return JsonResponse({"status": "ready"})


def database_reasons() -> Iterator[str]:
    """A connection of its own first: it waits for three seconds only, where the process's own might for minutes."""
    try:
        psycopg.connect(**{**connection.get_connection_params(), "connect_timeout": SECONDS}).close()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{SECONDS}s'")
            yield from missing_migrations()
            yield from (f"audit guard: {missing}" for missing in missing_guards())
    except (psycopg.Error, DatabaseError):
        yield "the database does not answer"


def missing_migrations() -> Iterator[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    for app, name in sorted(shipped_migrations() - applied.keys()):
        yield f"migration {app}.{name} is not applied"


@cache
def shipped_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def broker_reasons() -> Iterator[str]:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as broker:
            broker.ping()
    except redis.RedisError:
        yield "the broker does not answer"
