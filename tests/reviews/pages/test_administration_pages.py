"""Administration: a token and a first password are shown once, changes need reasons, and the last admin stays."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import authenticate
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.models import SYSTEM_TENANT_ID, AuditEvent
from reviews import words
from reviews.models import User
from tests import factories, scenes
from verifier.models import ApiKey, Switch

SWITCH = "MAKER_CHECKER_ENABLED"


def test_a_switch_changes_for_a_reason_and_the_page_says_who_and_why(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.admin)
    client.post(reverse("switch", args=[SWITCH]), {"enabled": "no", "reason": "One officer is on leave."})
    page = client.get(reverse("administration")).content.decode()
    assert not Switch.is_on(SWITCH)
    assert "One officer is on leave." in page
    assert scene.admin.username in page


def test_a_switch_without_a_reason_stays(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.admin).post(reverse("switch", args=[SWITCH]), {"enabled": "no", "reason": " "})
    assert (answer.status_code, Switch.is_on(SWITCH)) == (422, True)
    assert "Say why the switch is changed." in answer.content.decode()


def test_a_switch_that_is_none_is_not_found(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    assert client_of(scene.admin).post(reverse("switch", args=["NONE"])).status_code == 404


def follow(client: Client, answer: Any) -> str:
    """The page an act led to."""
    assert answer.status_code == 302, answer.content.decode()
    connection.check_constraints()  # seals, as a commit would
    return str(client.get(answer.headers["Location"]).content.decode())


def form_token_on(client: Client, section: str) -> str:
    page = client.get(reverse(section)).content.decode()
    return page.split('name="form_token" value="')[1].split('"')[0]


def token_on(page: str) -> str:
    return page.split('class="token">')[1].split("<")[0]


def test_a_keys_token_is_shown_once(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.admin)
    page = follow(client, client.post(reverse("administration_keys"), {"label": "loader", "scopes": ["reports"]}))
    found = ApiKey.find(token_on(page))
    assert found is not None
    assert found.tenant == scene.tenant
    assert f"The key “loader” ({found.hint}…) was created" in page
    assert token_on(page) not in client.get(reverse("administration_keys")).content.decode()


def test_pressing_twice_makes_one_key_and_shows_its_token(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.admin)
    data = {"label": "loader", "scopes": ["reports"], "form_token": form_token_on(client, "administration_keys")}
    client.post(reverse("administration_keys"), data)
    page = follow(client, client.post(reverse("administration_keys"), data))
    assert ApiKey.objects.filter(tenant=scene.tenant).count() == 1
    assert ApiKey.find(token_on(page)) is not None


def test_pressing_twice_adds_one_person_and_shows_the_password(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, name = client_of(scene.admin), f"new-{uuid4().hex[:8]}"
    token = form_token_on(client, "administration_users")
    data = {"username": name, "display_name": "New Person", "role": "officer", "form_token": token}
    client.post(reverse("administration_users"), data)
    page = follow(client, client.post(reverse("administration_users"), data))
    assert authenticate(username=name, password=token_on(page)) is not None


def test_a_revoked_key_opens_nothing(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    key, token = ApiKey.create(tenant=scene.tenant, label="old", scopes=["reports"], by="tests", at=factories.AT)
    client = client_of(scene.admin)
    page = follow(client, client.post(reverse("revoke_key", args=[key.id])))
    assert ApiKey.find(token) is None
    assert f"The key “old” ({key.hint}…) was revoked" in page


CONFIRMED = {
    "revoke_key": ("Revoke the key “loader”?", "whatever uses this key is refused"),
    "change_role": ("Make Jaan Kask an auditor?", "Auditors read every case and the trail, and change nothing."),
    "deactivate": ("Deactivate Jaan Kask?", "signed out at once"),
}


@pytest.mark.parametrize("name", CONFIRMED)
def test_it_asks_by_name_and_says_what_will_happen_before_anything_does(
    scene: scenes.Scene, client_of: Callable[..., Client], name: str
) -> None:
    key, token = ApiKey.create(tenant=scene.tenant, label="loader", scopes=["reports"], by="tests", at=factories.AT)
    address = reverse(name, args=[key.id if name == "revoke_key" else scene.second.pk])
    page = client_of(scene.admin).get(address, {"role": "auditor"}).content.decode()
    scene.second.refresh_from_db()
    assert [sentence for sentence in CONFIRMED[name] if sentence not in page] == []
    assert (scene.second.role, scene.second.is_active, ApiKey.find(token)) == ("officer", True, key)


def test_a_message_names_the_thing_its_new_state_and_the_event(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, changed = client_of(scene.admin), scene.second
    told = {
        "switch_changed": client.post(reverse("switch", args=[SWITCH]), {"enabled": "no", "reason": "On leave."}),
        "role_changed": client.post(reverse("change_role", args=[changed.pk]), {"role": "auditor"}),
        "user_deactivated": client.post(reverse("deactivate", args=[changed.pk])),
    }
    pages = {event_type: follow(client, answer) for event_type, answer in told.items()}
    assert f"“{words.SWITCHES[SWITCH]}” was turned off" in pages["switch_changed"]
    assert "Jaan Kask was an officer and is now an auditor" in pages["role_changed"]
    assert "Jaan Kask was deactivated" in pages["user_deactivated"]
    for event_type, page in pages.items():
        event = AuditEvent.objects.filter(event_type=event_type).latest("recorded_at")
        trail = "system trail" if event.tenant_id == SYSTEM_TENANT_ID else "trail"
        link = f'<a href="{reverse("trail_event", args=[event.id])}">in the {trail}</a>'
        assert f"Event <strong>#{event.seal.sequence}</strong>, {link}." in page


@pytest.mark.parametrize("name", ["change_role", "deactivate", "revoke_key", "switch"])
def test_what_changed_nothing_is_not_told_as_a_change(
    scene: scenes.Scene, client_of: Callable[..., Client], name: str
) -> None:
    key, _ = ApiKey.create(tenant=scene.tenant, label="loader", scopes=["reports"], by="tests", at=factories.AT)
    client = client_of(scene.admin)
    arguments = {"revoke_key": key.id, "switch": SWITCH}
    address = reverse(name, args=[arguments.get(name, scene.second.pk)])
    data = {"role": "auditor", "enabled": "no", "reason": "On leave."}
    client.post(address, data)
    before = AuditEvent.objects.count()
    answer = client.post(address, data)
    assert (answer.status_code, AuditEvent.objects.count()) == (409, before)
    assert re.search(r"already\. Nothing was changed\.", answer.content.decode())


@pytest.mark.parametrize("event", ["", "nothing", "6f1d6f0e-6a4b-4d7c-9a39-0f6f5b0e7d11"])
def test_an_address_tells_of_no_change_that_was_not_made(
    scene: scenes.Scene, client_of: Callable[..., Client], event: str
) -> None:
    page = client_of(scene.admin).get(reverse("administration"), {"event": event}).content.decode()
    assert 'class="done"' not in page


def test_another_tenants_change_is_not_told(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    theirs = client_of(elsewhere.admin).post(reverse("deactivate", args=[elsewhere.second.pk]))
    client = client_of(scene.admin)
    assert 'class="done"' not in follow(client, theirs)


def test_a_new_person_signs_in_with_the_password_shown_once(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    name = f"new-{uuid4().hex[:8]}"
    data = {"username": name, "display_name": "New Person", "role": "officer"}
    client = client_of(scene.admin)
    page = follow(client, client.post(reverse("administration_users"), data))
    answer = Client().post(reverse("sign_in"), {"username": name, "password": token_on(page)})
    assert answer.status_code == 302
    assert token_on(page) not in client.get(reverse("administration_users")).content.decode()
    assert AuditEvent.objects.filter(event_type="user_created", subject=name).count() == 1


def test_a_taken_name_is_refused_beside_its_field(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    data = {"username": scene.officer.username, "display_name": "Other", "role": "officer"}
    answer = client_of(scene.admin).post(reverse("administration_users"), data)
    assert answer.status_code == 422
    assert "This name is taken." in answer.content.decode()


@pytest.mark.parametrize("change", ["change_role", "deactivate"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_admin_does_not_change_their_own_account_and_so_never_the_last_one(
    scene: scenes.Scene, client_of: Callable[..., Client], change: str, method: str
) -> None:
    send = getattr(client_of(scene.admin), method)
    answer = send(reverse(change, args=[scene.admin.pk]), {"role": "officer"})
    assert "Another admin changes your own account." in answer.content.decode()
    scene.admin.refresh_from_db()
    assert (answer.status_code, scene.admin.role, scene.admin.is_active) == (403, "admin", True)


def test_a_changed_role_holds_from_the_next_page_on(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    theirs = client_of(scene.second)
    client_of(scene.admin).post(reverse("change_role", args=[scene.second.pk]), {"role": "auditor"})
    assert theirs.get(reverse("upload")).status_code == 403
    assert User.objects.get(pk=scene.second.pk).role == "auditor"
