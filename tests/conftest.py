"""Gives every test real services: PostgreSQL 18, Valkey, Chromium and, on request, the running product."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import uuid4

import django
import psycopg
import pytest

from tests import network, services

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
STARTED = pytest.StashKey[services.Services]()


def pytest_configure(config: pytest.Config) -> None:
    """Before Django reads its settings: the run's own services; a worker finds them in its environment."""
    if not WORKER:
        services.forget_callers_configuration()
        config.stash[STARTED] = services.Services()
        os.environ.update(config.stash[STARTED].environment())
        if not config.option.collectonly:
            config.stash[STARTED].start()
    sys.addaudithook(network.refuse_beyond_loopback)
    django.setup()  # only now: the settings read what was set above


def pytest_unconfigure(config: pytest.Config) -> None:
    if STARTED in config.stash:
        config.stash[STARTED].stop()


# The database


@pytest.fixture(scope="session", autouse=True)
def flush_lifts_guards() -> Iterator[None]:
    """Tests that commit are cleaned up by TRUNCATE, which the append-only tables refuse: lifted for that moment."""
    from django.test import TransactionTestCase

    refused = TransactionTestCase._fixture_teardown

    def lifted(test: TransactionTestCase) -> None:
        with truncate_guards_lifted():
            refused(test)

    TransactionTestCase._fixture_teardown = lifted  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = refused  # type: ignore[method-assign]


@contextmanager
def truncate_guards_lifted() -> Iterator[None]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('ALTER TABLE %s {} TRIGGER %I', tgrelid::regclass, tgname) FROM pg_trigger"
            " WHERE tgname LIKE '%\\_no\\_truncate'"
        )
        statements = [row[0] for row in cursor.fetchall()]
        for statement in statements:
            cursor.execute(statement.replace("{}", "DISABLE"))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement.replace("{}", "ENABLE ALWAYS"))


@pytest.fixture
def as_application(db: None) -> Callable[[], AbstractContextManager[None]]:
    """`with as_application():` Django's connection has the application role's rights, inside the test's transaction."""
    from django.conf import settings
    from django.db import connection

    @contextmanager
    def application_role() -> Iterator[None]:
        with connection.cursor() as cursor:
            cursor.execute(f"SET ROLE {settings.APPLICATION_ROLE}")
        try:
            yield
        finally:
            if not connection.needs_rollback:
                with connection.cursor() as cursor:
                    cursor.execute("RESET ROLE")

    return application_role


@pytest.fixture
def app_connection(transactional_db: None, application_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of its own as the application role; sees what was committed."""
    with psycopg.connect(application_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner_connection(transactional_db: None, owner_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of its own as the owner of the tables; sees what was committed."""
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def application_url(django_db_setup: None) -> str:
    return to_test_database(os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def owner_url(django_db_setup: None) -> str:
    return to_test_database(os.environ["DATABASE_OWNER_URL"])


def to_test_database(url: str) -> str:
    from django.db import connection

    return url.rsplit("/", 1)[0] + "/" + str(connection.settings_dict["NAME"])


@pytest.fixture
def make_tenant(db: None) -> Callable[..., Any]:
    from audit.models import Tenant

    def make(slug: str = "") -> Tenant:
        return Tenant.objects.create(slug=slug or f"tenant-{uuid4().hex[:12]}")

    return make


@pytest.fixture
def tenant(make_tenant: Callable[..., Any]) -> Any:
    return make_tenant()


# The browser


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
    closed = ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"]
    plain = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
    return {**browser_type_launch_args, "executable_path": chromium(), "headless": True, "args": quiet + closed + plain}


def chromium() -> str:
    import shutil

    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        pytest.exit(
            "Chromium is missing: install it (Debian: apt-get install chromium) or name it in CHROMIUM", returncode=3
        )
    return found


# The running product

pytest_plugins = ["tests.product"]


@pytest.fixture(autouse=True)
def loops_run_beside_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser's driver leaves its loop marked as running in the tests' thread: others get a thread of their own."""
    if asyncio._get_running_loop() is None:
        return
    run_here = asyncio.run

    def run_in_a_thread(main: Any, **more: Any) -> Any:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(run_here, main, **more).result()

    monkeypatch.setattr(asyncio, "run", run_in_a_thread)
