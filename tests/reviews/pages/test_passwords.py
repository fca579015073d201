"""A password is its person's alone: a first one is changed before anything else, and no change goes unrecorded."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from audit.sealed import Opened, open_event
from audit.verification import verify_tenant
from reviews import administration
from reviews.models import User
from tests import scenes
from tests.audit.trails import run, seal
from tests.factories import PASSWORD

PAGE = "/account/password/"
NEW = "quiet harbour lantern"


@pytest.fixture(autouse=True)
def no_attempts() -> None:
    cache.clear()


def sign_in(user: User, password: str = PASSWORD) -> Client:
    client = Client()
    client.post(reverse("sign_in"), {"username": user.username, "password": password})
    return client


def change(client: Client, current: str = PASSWORD, password: str = NEW, again: str = "") -> Any:
    return client.post(PAGE, {"current": current, "password": password, "again": again or password})


def newest(event_type: str) -> AuditEvent:
    return AuditEvent.objects.filter(event_type=event_type).latest("recorded_at")


def wrong_with(tenant: Any) -> str:
    seal()
    broken = verify_tenant(tenant=tenant, missing_guards=[]).broken
    return broken.detail if broken else ""


@pytest.mark.parametrize("role", ["officer", "admin", "auditor"])
def test_everyone_changes_their_own(scene: scenes.Scene, role: str) -> None:
    user = getattr(scene, role)
    here, elsewhere = sign_in(user), sign_in(user)
    answer = change(here)
    assert "Your password was changed" in answer.content.decode()
    assert here.get(PAGE).status_code == 200
    assert elsewhere.get(PAGE).status_code == 302, "other sessions ended"
    user.refresh_from_db()
    assert user.check_password(NEW)
    event = newest("password_changed")
    said = open_event(event)
    assert isinstance(said, Opened)
    assert event.actor == user.username
    assert said.details["password_fingerprint"] == user.password_fingerprint
    assert NEW not in event.body
    assert user.password not in event.body


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"current": "not this one"}, "This is not the password you have now."),
        ({"password": "short"}, "too short"),
        ({"password": "password1234"}, "too common"),
        ({"password": PASSWORD}, "This is the password you have."),
        ({"again": "quiet harbour"}, "This is not the same as the new password."),
        ({"current": ""}, "Enter the password you have now."),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(scene: scenes.Scene, form: dict[str, str], sentence: str) -> None:
    client = sign_in(scene.officer)
    answer = change(client, **form)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert NEW not in answer.content.decode()
    assert not AuditEvent.objects.filter(event_type="password_changed").exists()
    scene.officer.refresh_from_db()
    assert scene.officer.check_password(PASSWORD)


def test_an_open_session_is_no_way_to_try_passwords(scene: scenes.Scene) -> None:
    client = sign_in(scene.officer)
    for attempt in range(6):
        answer = change(client, current=f"guess {attempt}")
    assert "too many attempts" in answer.content.decode()
    assert "too many attempts" in change(client).content.decode()


def test_a_first_password_is_changed_before_anything_else(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    admin = client_of(scene.admin)
    admin.post(reverse("administration_users"), {"username": "n.uus", "display_name": "Nele Uus", "role": "officer"})
    seal()
    page = admin.get(reverse("administration_users")).content.decode()
    first = page.split('<code class="token">')[1].split("<")[0]
    new = User.objects.get(username="n.uus")
    client = sign_in(new, first)
    for name in ("home", "queue", "cases", "second", "upload"):
        answer = client.get(reverse(name))
        assert (answer.status_code, answer.headers["Location"]) == (302, PAGE)
    answer = client.post(reverse("claim", args=[scene.case.id]))
    assert (answer.status_code, answer.headers["Location"]) == (302, PAGE)
    assert "Choose a password of your own" in client.get(PAGE).content.decode()
    assert change(client, first).status_code == 302
    assert client.get(reverse("queue")).status_code == 200
    assert wrong_with(scene.tenant) == ""


def test_an_admin_gives_a_new_one_to_someone_who_lost_theirs(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    admin, lost = client_of(scene.admin), sign_in(scene.officer)
    address = reverse("reset_password", args=[scene.officer.pk])
    assert "Nothing has happened yet." in admin.get(address).content.decode()
    assert sign_in(scene.officer).get("/").status_code == 200
    admin.post(address)
    seal()
    page = admin.get(reverse("administration_users")).content.decode()
    password = page.split('<code class="token">')[1].split("<")[0]
    assert password not in admin.get(reverse("administration_users")).content.decode(), "shown once"
    assert lost.get(PAGE).status_code == 302, "signed out"
    assert "Choose a password of your own" in sign_in(scene.officer, password).get(PAGE).content.decode()
    assert newest("password_reset").actor == scene.admin.username
    assert wrong_with(scene.tenant) == ""


@pytest.mark.parametrize("role", ["officer", "auditor", "admin"])
def test_nobody_else_gives_passwords(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client], role: str
) -> None:
    of_another_tenant = reverse("reset_password", args=[elsewhere.officer.pk])
    own = reverse("reset_password", args=[getattr(scene, role).pk])
    client = client_of(getattr(scene, role))
    for address in (
        of_another_tenant,
        own,
        *([] if role == "admin" else [reverse("reset_password", args=[scene.second.pk])]),
    ):
        assert client.post(address).status_code in {403, 404}
    assert not AuditEvent.objects.filter(event_type="password_reset").exists()


def test_a_hash_put_in_its_place_behind_the_application_is_found(scene: scenes.Scene) -> None:
    assert wrong_with(scene.tenant) == ""
    run("UPDATE reviews_user SET password = %s WHERE id = %s", make_password("of the thief"), scene.officer.pk)
    assert wrong_with(scene.tenant).endswith("password_fingerprint is not what was last recorded")


def test_storing_it_by_a_newer_method_is_recorded(scene: scenes.Scene, settings: Any) -> None:
    older, newer = (f"django.contrib.auth.hashers.{name}PasswordHasher" for name in ("PBKDF2SHA1", "PBKDF2"))
    settings.PASSWORD_HASHERS = [older]
    administration.change_password(user=scene.officer, password=NEW, at=timezone.now())
    settings.PASSWORD_HASHERS = [newer, older]
    sign_in(scene.officer, NEW)
    scene.officer.refresh_from_db()
    assert scene.officer.password.startswith("pbkdf2_sha256$")
    assert newest("password_rehashed").actor == scene.officer.username
    assert wrong_with(scene.tenant) == ""


@pytest.mark.parametrize("column", ["username", "display_name", "tenant_id", "id"])
def test_nobody_becomes_somebody_else(scene: scenes.Scene, elsewhere: scenes.Scene, column: str) -> None:
    values = {"username": "m.tamm", "display_name": "Jaan Kask", "tenant_id": elsewhere.tenant.id, "id": 999_999}
    with pytest.raises(DatabaseError, match="refused"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE reviews_user SET {column} = %s WHERE id = %s", [values[column], scene.officer.pk])
    with pytest.raises(DatabaseError, match="refused"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM reviews_user WHERE id = %s", [scene.officer.pk])


def test_a_role_without_its_event_is_found(scene: scenes.Scene) -> None:
    run("UPDATE reviews_user SET role = 'admin' WHERE id = %s", scene.officer.pk)
    assert wrong_with(scene.tenant).endswith(": role is not what was last recorded")


def test_a_session_can_not_be_read_in_the_database(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    admin = client_of(scene.admin)
    admin.post(reverse("administration_users"), {"username": "n.uus", "display_name": "Nele Uus", "role": "officer"})
    stored = Session.objects.get(session_key=admin.session.session_key)
    from django.core import signing

    raw = signing.b64_decode(stored.session_data.split(":")[0].lstrip(".").encode())
    assert b"secret" not in raw
    assert admin.session["shown_once"]["secret"]
    seal()
    assert "Nele Uus was added" in admin.get(reverse("administration_users")).content.decode()


def test_a_session_of_another_key_is_none(scene: scenes.Scene, settings: Any) -> None:
    client = sign_in(scene.officer)
    assert client.get(PAGE).status_code == 200
    settings.SECRET_KEY = "another" * 10
    assert client.get(PAGE).status_code == 302
