"""The first people and the first API key of an installation: the tenant `default` of `manage.py demo`."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.utils import timezone

from audit.log import record, tenant_scope
from audit.models import ActorType, Tenant
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
        users = {name: create_person(tenant, name) for name in PEOPLE}
        _, token = ApiKey.create(
            tenant=tenant,
            label="First key",
            scopes=SCOPES,
            by=ACTOR,
            actor_type=ActorType.SYSTEM,
            at=timezone.now(),
        )
        write_privately(options["file"], {"api_key": token, "users": users})


def create_person(tenant: Tenant, name: str) -> dict[str, str]:
    """The person with a new random password: one whose old password nobody has kept could sign in no more."""
    role, display_name = PEOPLE[name]
    password = secrets.token_urlsafe(15)
    with tenant_scope(tenant.id), transaction.atomic():
        user = User.objects.filter(username=name).first() or User(
            username=name, tenant=tenant, role=role, display_name=display_name
        )
        is_new = user.pk is None
        user.set_password(password)
        user.save()
        record(
            tenant_id=tenant.id,
            event_type="user_created" if is_new else "password_reset",
            actor=ACTOR,
            actor_type=ActorType.SYSTEM,
            subject=name,
            details={"username": name, "role": user.role},
            at=timezone.now(),
        )
    return {"username": name, "password": password}


def write_privately(path: Path, value: dict[str, Any]) -> None:
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(value, file)
    unfinished.replace(path)
