"""The first people and the first API key of an installation: the tenant `default` of `manage.py demo`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from audit.models import ActorType, Tenant
from reviews.accounts import create_person, write_privately
from reviews.models import User
from verifier.models import ApiKey
from verifier.models.access import SCOPES

PEOPLE = {
    "officer": (User.Role.OFFICER, "First Officer"),
    "officer2": (User.Role.OFFICER, "Second Officer"),
    "admin": (User.Role.ADMIN, "First Admin"),
    "admin2": (User.Role.ADMIN, "Second Admin"),
    "auditor": (User.Role.AUDITOR, "Auditor"),
}
ACTOR = "create_accounts"


class Command(BaseCommand):
    help = "Creates the tenant `default`, its people and an API key, and writes their secrets into FILE (mode 0600)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        tenant, _ = Tenant.objects.get_or_create(slug="default")
        users = {name: create_person(tenant, name, *told, actor=ACTOR) for name, told in PEOPLE.items()}
        _, token = ApiKey.create(
            tenant=tenant,
            label="First key",
            scopes=SCOPES,
            by=ACTOR,
            actor_type=ActorType.SYSTEM,
            at=timezone.now(),
        )
        write_privately(options["file"], {"api_key": token, "users": users})
