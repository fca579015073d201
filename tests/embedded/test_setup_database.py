"""`manage.py setup_database` against a PostgreSQL that is not ours to start with."""

import io

import psycopg
import pytest
from django.core.management import CommandError, call_command

from verifier.embedded import postgres
from verifier.embedded.roles import Login


@pytest.fixture
def superuser_url(cluster):
    cluster.initialise("a password")
    process = cluster.start()
    yield cluster.url(Login("postgres", "a password"), "postgres")
    postgres.stop(process)


def test_it_creates_what_the_two_addresses_name(cluster, superuser_url, monkeypatch):
    application, owner = Login("the app", "p@ss/word"), Login("the-owner", "other:word")
    urls = {
        name: cluster.url(login, "look")
        for name, login in (("DATABASE_URL", application), ("DATABASE_OWNER_URL", owner))
    }
    for name, url in urls.items():
        monkeypatch.setenv(name, url.replace("the app", "the%20app"))
    said = io.StringIO()
    call_command("setup_database", superuser_url=superuser_url, stdout=said)
    assert said.getvalue() == "database look: owner the-owner, application the app\n"
    with psycopg.connect(
        host=str(cluster.socket), user="the-owner", password="other:word", dbname="look"
    ) as connection:
        owns = "SELECT datdba::regrole::text FROM pg_database WHERE datname = 'look'"
        assert connection.execute(owns).fetchone() == ('"the-owner"',)
    with psycopg.connect(host=str(cluster.socket), user="the app", password="p@ss/word", dbname="look") as connection:
        assert connection.execute(
            "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (False,)


@pytest.mark.parametrize(
    ("application", "owner", "sentence"),
    [
        ("", "postgresql://o:x@h/d", "DATABASE_URL must name a role, its password and a database"),
        ("postgresql://a@h/d", "postgresql://o:x@h/d", "DATABASE_URL must name a role, its password and a database"),
        (
            "postgresql://a:x@h/d",
            "postgresql://o:x@h",
            "DATABASE_OWNER_URL must name a role, its password and a database",
        ),
        ("postgresql://a:x@h/d", "postgresql://o:x@h/e", "must name one database and two roles"),
        ("postgresql://a:x@h/d", "postgresql://a:x@h/d", "must name one database and two roles"),
    ],
)
def test_it_refuses_addresses_that_do_not_fit(monkeypatch, application, owner, sentence):
    monkeypatch.setenv("DATABASE_URL", application)
    monkeypatch.setenv("DATABASE_OWNER_URL", owner)
    with pytest.raises(CommandError, match=sentence):
        call_command("setup_database", superuser_url="postgresql://nobody@127.0.0.1:1/x")


def test_it_says_when_the_superuser_is_refused_without_any_password(superuser_url, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://a:secret1@h/d")
    monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://o:secret2@h/d")
    with pytest.raises(CommandError, match="password authentication failed") as refusal:
        call_command("setup_database", superuser_url=superuser_url.replace("a%20password", "wrong"))
    assert "secret" not in str(refusal.value)


def test_it_asks_for_a_superuser():
    with pytest.raises(CommandError, match="name a superuser"):
        call_command("setup_database", superuser_url="")
