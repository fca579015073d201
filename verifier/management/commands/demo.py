"""The embedded default: everything the product needs, in one data folder, by one command."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from verifier.embedded import keeping, product
from verifier.embedded.folders import Refused
from verifier.embedded.postgres import PostgresFailed
from verifier.embedded.surroundings import ignored_addresses
from verifier.embedded.valkey import ValkeyFailed

DEFAULT_PORT = 8000


class Command(BaseCommand):
    help = "Runs the whole product with embedded PostgreSQL and Valkey, until Ctrl-C."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"of the pages and the API ({DEFAULT_PORT})")
        parser.add_argument(
            "--empty", action="store_true", help="no demo data, no stand-ins, switches at their defaults"
        )
        parser.add_argument("--data-dir", type=Path, default=settings.DATA_DIR, help="where everything is kept")
        parser.add_argument("--reset", action="store_true", help="forget what is kept there and begin anew")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in ignored_addresses(os.environ):
            self.stderr.write(f"{name} is not used here: the demo runs its own services")
        wish = product.Wish(
            project=settings.BASE_DIR,
            data_dir=options["data_dir"],
            port=options["port"],
            empty=options["empty"],
            reset=options["reset"],
        )
        try:
            product.run(wish, say=self.say, ready=self.tell)
        except (Refused, PostgresFailed, ValkeyFailed) as problem:
            raise CommandError(str(problem)) from None

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def tell(self, running: product.Product) -> None:
        credentials = running.places.data_dir / "credentials.json"
        self.say(f"\nSecond Look is ready: {running.base_url}/")
        if not running.wish.empty:
            kept = keeping.read(credentials) or {}
            others = keeping.read(running.places.data_dir / "demo-accounts.json") or {}
            for user in [*kept.get("users", {}).values(), *others.get("users", {}).values()]:
                self.say(f"  {user['username']:<18} {user['password']}")
        self.say(f"Sign-ins, API key and addresses: {credentials}\nCtrl-C ends it.")
