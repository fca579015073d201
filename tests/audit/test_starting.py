"""No process serves while a guard is missing: each as it is started in earnest, by the application role."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from audit.checks import NOT_AGAIN, ask_once, end_where_unguarded
from tests.paths import PROJECT
from tests.product import TOOLS, free_port
from verifier.embedded import children

GUARD = "audit_auditseal_append_only"
START_SECONDS = 60


def commands(folder: Path) -> dict[str, list[Any]]:
    celery = [TOOLS / "celery", "-A", "verifier"]
    schedule = ["--schedule", folder / "schedule", "--pidfile", ""]
    return {
        "web": [TOOLS / "gunicorn", "verifier.wsgi", "--bind", f"127.0.0.1:{free_port()}"],
        "web by ASGI": [sys.executable, "-c", "import verifier.asgi"],
        "worker": [*celery, "worker", "--pool", "threads", "--concurrency", "1"],
        "beat": [*celery, "beat", *schedule],
        "relay": [sys.executable, "manage.py", "relay"],
    }


@contextmanager
def all_started(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    started = {
        name: children.start(command, log=folder / name, cwd=PROJECT, environment=environment)
        for name, command in commands(folder).items()
    }
    try:
        yield started
    finally:
        for process in started.values():
            children.stop(process)


def test_no_process_starts_with_a_guard_disabled_and_each_names_it(
    owner_connection: psycopg.Connection[Any], product_environment: dict[str, str], tmp_path: Path
) -> None:
    owner_connection.execute(f"ALTER TABLE audit_auditseal DISABLE TRIGGER {GUARD}")
    try:
        with all_started(tmp_path, product_environment) as started:
            ended = {name: process.wait(START_SECONDS) for name, process in started.items()}
    finally:
        owner_connection.execute(f"ALTER TABLE audit_auditseal ENABLE ALWAYS TRIGGER {GUARD}")

    said = {name: (tmp_path / name).read_text() for name in ended}
    assert ended == dict.fromkeys(ended, NOT_AGAIN)
    for name in ended:
        assert f"does not serve. Audit guard: trigger {GUARD} on audit_auditseal is disabled" in said[name], name


def test_no_process_starts_while_nobody_can_say_whether_the_guards_stand(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connection.close()

    with monkeypatch.context() as away, pytest.raises(SystemExit) as ended:
        away.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        away.setitem(connection.settings_dict, "PORT", "1")
        end_where_unguarded(patience=0)

    assert ended.value.code == NOT_AGAIN
    assert "the database does not answer" in caplog.text


def test_a_database_that_comes_up_meanwhile_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([None, None, []])
    monkeypatch.setattr("audit.checks.ask_once", lambda: next(answers))
    monkeypatch.setattr("audit.checks.sleep", lambda seconds: None)

    end_where_unguarded()

    assert list(answers) == []


def test_the_start_leaves_no_connection_behind(transactional_db: None) -> None:
    assert ask_once() == []
    assert connection.connection is None
