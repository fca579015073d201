"""For a PostgreSQL of one's own: owner role, application role and database, by the same SQL as the demo's."""

import os
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser

from verifier.embedded.roles import Login, set_up


class Command(BaseCommand):
    help = (
        "Creates or puts right what DATABASE_URL (application role) and DATABASE_OWNER_URL (owner) name: "
        "both roles with their passwords, and the database."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--superuser-url",
            default=os.environ.get("DATABASE_SUPERUSER_URL", ""),
            help="a role that may create roles and databases (or DATABASE_SUPERUSER_URL, which no process list shows)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["superuser_url"]:
            raise CommandError("name a superuser: --superuser-url or DATABASE_SUPERUSER_URL")
        application, database = named("DATABASE_URL")
        owner, owners_database = named("DATABASE_OWNER_URL")
        if database != owners_database or application.role == owner.role:
            raise CommandError("DATABASE_URL and DATABASE_OWNER_URL must name one database and two roles")
        try:
            set_up(options["superuser_url"], owner=owner, application=application, database=database)
        except psycopg.Error as problem:
            raise CommandError(f"the database refused: {str(problem).splitlines()[0]}") from None
        self.stdout.write(f"database {database}: owner {owner.role}, application {application.role}")


def named(variable: str) -> tuple[Login, str]:
    parts = urlsplit(os.environ.get(variable, "").strip())
    database = unquote(parts.path.removeprefix("/"))
    if not (parts.username and parts.password and database):
        raise CommandError(f"{variable} must name a role, its password and a database")
    return Login(unquote(parts.username), unquote(parts.password)), database
