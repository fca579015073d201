"""The launcher by itself: a cluster of its own in a folder of its own."""

import os
import signal

import psycopg
import pytest

from verifier.embedded import left_behind, postgres, roles
from verifier.embedded.postgres import Cluster, PostgresFailed
from verifier.embedded.roles import Login


def connect(cluster: Cluster, password: str) -> psycopg.Connection:
    return psycopg.connect(cluster.url(Login("postgres", password), "postgres"), autocommit=True)


def test_it_keeps_its_data_and_its_password_over_restarts(cluster):
    cluster.initialise("a password")
    first = cluster.start()
    with connect(cluster, "a password") as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    postgres.stop(first)
    cluster.initialise("another, which is not taken")
    second = cluster.start()
    with connect(cluster, "a password") as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (7,)
    postgres.stop(second)


def test_it_leaves_no_password_file(cluster):
    cluster.initialise("a password")
    assert sorted(path.name for path in cluster.home.iterdir() if path.name != "pginstall") == ["data", "socket"]


def test_an_interrupted_first_start_is_begun_anew(cluster):
    (cluster.home / "data.new").mkdir()
    (cluster.home / "data.new" / "half").touch()
    (cluster.home / "password").write_text("left")
    cluster.initialise("a password")
    assert (cluster.data / "PG_VERSION").exists()


def test_a_server_left_behind_is_stopped_before_the_next(cluster):
    cluster.initialise("a password")
    first = cluster.start()
    left_behind.stop_left_behind(cluster.data)
    assert first.wait(10) == 0
    second = cluster.start()
    assert second.poll() is None
    postgres.stop(second)


def test_a_server_that_can_not_start_names_its_log(cluster):
    cluster.initialise("a password")
    (cluster.data / "PG_VERSION").write_text("3\n")
    with pytest.raises(PostgresFailed, match=str(cluster.log)):
        cluster.start()


def test_a_killed_server_recovers(cluster):
    cluster.initialise("a password")
    first = cluster.start()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    left_behind.stop_left_behind(cluster.data)
    second = cluster.start()
    with connect(cluster, "a password") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    postgres.stop(second)


def test_setting_up_twice_puts_roles_right_and_keeps_the_database(cluster):
    cluster.initialise("a password")
    process = cluster.start()
    superuser = cluster.url(Login("postgres", "a password"), "postgres")
    for password in ("first", "second"):
        roles.set_up(superuser, owner=Login("o", password), application=Login("a", password), database="base")
    with psycopg.connect(cluster.url(Login("o", "second"), "base"), autocommit=True) as connection:
        connection.execute("CREATE TABLE mine ()")
    with psycopg.connect(cluster.url(Login("a", "second"), "base"), autocommit=True) as connection:
        for refused in ("CREATE TABLE theirs ()", "SELECT * FROM mine", "CREATE DATABASE more", "CREATE ROLE more"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(cluster.url(Login("a", "first"), "base"))
    postgres.stop(process)


def test_its_log_holds_no_values_of_refused_statements(cluster):
    cluster.initialise("a password")
    process = cluster.start()
    with connect(cluster, "a password") as connection:
        connection.execute("CREATE TABLE people (name text PRIMARY KEY)")
        connection.execute("INSERT INTO people VALUES ('Jane Roe')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO people VALUES ('Jane Roe')")
    postgres.stop(process)
    log = cluster.log.read_text()
    assert "duplicate key" in log
    assert "Jane Roe" not in log
