"""The database's two roles and the database itself, made by a superuser: in the embedded cluster and in a real one.

The owner owns the tables and migrates them. The application owns nothing: it gets what the migrations grant.
"""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

OWNER_ROLE = "second_look_owner"
APPLICATION_ROLE = "second_look_app"
DATABASE = "second_look"


@dataclass(frozen=True)
class Login:
    role: str
    password: str = field(repr=False)


def ensure_role(connection: psycopg.Connection[Any], login: Login, *, may_create_databases: bool = False) -> None:
    """Creates the role or puts it right; the server only ever sees the password's SCRAM verifier."""
    exists = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [login.role]).fetchone() is not None
    verifier = connection.pgconn.encrypt_password(login.password.encode(), login.role.encode(), b"scram-sha-256")
    rights = SQL("CREATEDB" if may_create_databases else "NOCREATEDB")
    connection.execute(
        SQL("{} ROLE {} LOGIN NOSUPERUSER {} NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}").format(
            SQL("ALTER" if exists else "CREATE"), Identifier(login.role), rights, Literal(verifier.decode())
        )
    )


def ensure_database(connection: psycopg.Connection[Any], *, name: str, owner: str, application: str) -> None:
    """Creates the database for its owner; besides the owner only the application role may connect."""
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        creation = SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'")
        connection.execute(creation.format(Identifier(name), Identifier(owner)))
    for statement in access(name, application):
        connection.execute(statement)


def access(database: str, application: str) -> list[Composed]:
    return [
        SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(Identifier(database)),
        SQL("GRANT CONNECT ON DATABASE {} TO {}").format(Identifier(database), Identifier(application)),
    ]


def set_up(
    superuser_url: str,
    *,
    owner: Login,
    application: Login,
    database: str = DATABASE,
    may_create_databases: bool = False,
) -> None:
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        ensure_role(connection, owner, may_create_databases=may_create_databases)
        ensure_role(connection, application)
        ensure_database(connection, name=database, owner=owner.role, application=application.role)
