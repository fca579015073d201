"""What admins do: people, keys and switches. Each change is one transaction with its event.

What changes something gives that event back, and None where everything was so already.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from audit.log import record
from audit.models import ActorType, AuditEvent
from reviews.models import User
from reviews.permissions import Refused, check_can_administer, check_can_administer_user, check_same_tenant
from reviews.recorded import person_details
from verifier.models import ApiKey, Switch


class InvalidChange(Exception):
    """What was asked for can't be done. `problems`: a sentence for each field that is wrong."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


class SentBefore(Exception):
    """This very form has done its work already."""


@dataclass(frozen=True, slots=True)
class NewUser:
    """`password` exists nowhere else in the clear: show it once."""

    user: User
    password: str
    event: AuditEvent


TAKEN = "This name is taken. Choose another."


def create_user(
    *,
    admin: User,
    username: str,
    display_name: str,
    role: str,
    trained_at: date | None = None,
    password: str = "",
    at: datetime,
) -> NewUser:
    """A person of the admin's own tenant; without a password given, one is made. Raises Refused or InvalidChange."""
    check_can_administer(admin)
    username, display_name = username.strip(), display_name.strip()
    password = password or secrets.token_urlsafe(15)
    user = User(
        tenant=admin.tenant, username=username, display_name=display_name or username, role=role, trained_at=trained_at
    )
    check_new_user(user, password)
    user.set_password(password)
    user.must_change_password = True
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            event = note(admin, "user_created", user, person_details(user), at)
    except IntegrityError:  # someone else took the name since it was looked up
        raise InvalidChange({"username": TAKEN}) from None
    return NewUser(user, password, event)


def check_new_user(user: User, password: str) -> None:
    problems: dict[str, str] = {}
    if not user.username or len(user.username) > 150 or not user.username.isprintable():
        problems["username"] = "Give a name to sign in with, of at most 150 characters."
    elif User.objects.filter(username=user.username).exists():
        problems["username"] = TAKEN
    if len(user.display_name) > 150 or not user.display_name.isprintable():
        problems["display_name"] = "Give a name of at most 150 characters."
    if user.role not in User.Role.values:
        problems["role"] = "Choose a role."
    try:
        validate_password(password, user)
    except ValidationError as problem:
        problems["password"] = " ".join(problem.messages)
    if problems:
        raise InvalidChange(problems)


def change_role(*, admin: User, user: User, role: str, at: datetime) -> AuditEvent | None:
    """Raises Refused, also where it would leave the tenant without an admin, or InvalidChange."""
    if role not in User.Role.values:
        raise InvalidChange({"role": "Choose a role."})
    with transaction.atomic():
        admins = lock_admins(admin)
        user = User.objects.select_for_update().get(pk=user.pk)
        check_can_administer_user(admins.get(admin.pk, admin), user)
        if user.role == role:
            return None
        check_admin_left(admins, user, role != User.Role.ADMIN)
        before, user.role = user.role, role
        user.save(update_fields=["role"])
        return note(admin, "role_changed", user, {"from": before, "to": role}, at)


def deactivate(*, admin: User, user: User, at: datetime) -> AuditEvent | None:
    """The person can't sign in any more, and open sessions end. Raises Refused."""
    with transaction.atomic():
        admins = lock_admins(admin)
        user = User.objects.select_for_update().get(pk=user.pk)
        check_can_administer_user(admins.get(admin.pk, admin), user)
        if not user.is_active:
            return None
        check_admin_left(admins, user, True)
        user.is_active = False
        user.save(update_fields=["is_active"])
        return note(admin, "user_deactivated", user, {"role": user.role}, at)


def reset_password(*, admin: User, user: User, at: datetime) -> NewUser:
    """A new first password for someone who lost theirs; open sessions end. Raises Refused."""
    with transaction.atomic():
        admins = lock_admins(admin)
        user = User.objects.select_for_update().get(pk=user.pk)
        check_can_administer_user(admins.get(admin.pk, admin), user)
        if not user.is_active:
            raise Refused(f"{user.display_name} is deactivated.")
        password = secrets.token_urlsafe(15)
        user.set_password(password)
        user.must_change_password = True
        user.save(update_fields=["password", "must_change_password"])
        event = note(admin, "password_reset", user, {"password_fingerprint": user.password_fingerprint}, at)
        return NewUser(user, password, event)


def change_password(*, user: User, password: str, at: datetime) -> AuditEvent:
    """By the person, who then alone knows it; other sessions end. Raises InvalidChange."""
    try:
        validate_password(password, user)
    except ValidationError as problem:
        raise InvalidChange({"password": " ".join(problem.messages)}) from None
    if user.check_password(password):
        raise InvalidChange({"password": "This is the password you have. Choose another."})
    with transaction.atomic():
        user.set_password(password)
        user.must_change_password = False
        user.save(update_fields=["password", "must_change_password"])
        return note(user, "password_changed", user, {"password_fingerprint": user.password_fingerprint}, at)


def lock_admins(admin: User) -> dict[int, User]:
    """The tenant's active admins, as they are now. Two who remove each other at once pass one after the other."""
    admins = User.objects.select_for_update().filter(tenant_id=admin.tenant_id, role=User.Role.ADMIN, is_active=True)
    found = {person.pk: person for person in admins.order_by("pk")}
    if admin.pk not in found:
        raise Refused("Only admins administer.")
    return found


def check_admin_left(admins: dict[int, User], user: User, leaves: bool) -> None:
    if leaves and set(admins) <= {user.pk}:
        raise Refused("This is the last admin. Make someone else an admin first.")


def create_key(
    *, admin: User, label: str, scopes: Sequence[str], form_token: UUID | None = None, at: datetime
) -> tuple[ApiKey, str]:
    """A key of the admin's own tenant and its token, to be shown once. The form's token becomes the key's id.

    Raises Refused, InvalidChange, or SentBefore where the form has made its key already.
    """
    check_can_administer(admin)
    label = label.strip()
    if not label or len(label) > 100 or not label.isprintable():
        raise InvalidChange({"label": "Give the key a name of at most 100 characters."})
    try:
        return ApiKey.create(
            tenant=admin.tenant,
            label=label,
            scopes=scopes,
            by=admin.username,
            actor_role=admin.role,
            id=form_token,
            at=at,
        )
    except ValueError:
        raise InvalidChange({"scopes": "Choose at least one thing the key may do."}) from None
    except IntegrityError:
        raise SentBefore from None


def revoke_key(*, admin: User, key: ApiKey, at: datetime) -> AuditEvent | None:
    check_can_administer(admin)
    check_same_tenant(admin, key.tenant_id)
    return key.revoke(by=admin.username, actor_role=admin.role, at=at)


def change_switch(*, admin: User, name: str, enabled: bool, reason: str, at: datetime) -> AuditEvent | None:
    """For the whole installation, with a reason; its event stands on the chain of the tenant `system`."""
    check_can_administer(admin)
    if not reason.strip():
        raise InvalidChange({"reason": "Say why."})
    try:
        return Switch.change(
            name=name, enabled=enabled, by=admin.username, actor_role=admin.role, reason=reason.strip(), at=at
        )
    except KeyError:
        raise InvalidChange({"name": "There is no such switch."}) from None


def note(admin: User, event_type: str, user: User, details: dict[str, Any], at: datetime) -> AuditEvent:
    return record(
        tenant_id=admin.tenant_id,
        event_type=event_type,
        actor=admin.username,
        actor_type=ActorType.PERSON,
        actor_role=admin.role,
        subject=user.username,
        details={"user_id": user.pk, "username": user.username, **details},
        at=at,
    )
