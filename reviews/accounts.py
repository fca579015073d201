"""First accounts of an installation, made without an admin, and the private file their secrets are written to."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.log import record, tenant_scope
from audit.models import ActorType, Tenant
from reviews.models import User
from reviews.recorded import person_details


def create_person(tenant: Tenant, name: str, role: str, display_name: str, *, actor: str) -> dict[str, str]:
    """The person with a new random password: one whose old password nobody has kept could sign in no more."""
    password = secrets.token_urlsafe(15)
    with tenant_scope(tenant.id), transaction.atomic():
        user = User.objects.filter(username=name).first() or User(
            username=name, tenant=tenant, role=role, display_name=display_name
        )
        is_new = user.pk is None
        user.set_password(password)
        user.must_change_password = False  # nobody but its reader has seen it
        user.save()
        record(
            tenant_id=tenant.id,
            event_type="user_created" if is_new else "password_reset",
            actor=actor,
            actor_type=ActorType.SYSTEM,
            subject=name,
            details=person_details(user),
            at=timezone.now(),
        )
    return {"username": name, "password": password}


def write_privately(path: Path, value: dict[str, Any]) -> None:
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(value, file)
    unfinished.replace(path)
