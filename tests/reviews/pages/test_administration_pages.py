"""Administration: a token and a first password are shown once, changes need reasons, and the last admin stays."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
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


def test_a_keys_token_is_shown_once(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.admin)
    page = client.post(reverse("administration_keys"), {"label": "loader", "scopes": ["reports"]}).content.decode()
    token = page.split('class="token">')[1].split("<")[0]
    found = ApiKey.find(token)
    assert found is not None
    assert found.tenant == scene.tenant
    assert token not in client.get(reverse("administration_keys")).content.decode()


def test_a_revoked_key_opens_nothing(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    key, token = ApiKey.create(tenant=scene.tenant, label="old", scopes=["reports"], by="tests", at=factories.AT)
    client_of(scene.admin).post(reverse("revoke_key", args=[key.id]))
    assert ApiKey.find(token) is None


def test_a_new_person_signs_in_with_the_password_shown_once(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    name = f"new-{uuid4().hex[:8]}"
    data = {"username": name, "display_name": "New Person", "role": "officer"}
    client = client_of(scene.admin)
    page = client.post(reverse("administration_users"), data).content.decode()
    password = page.split('class="token">')[1].split("<")[0]
    answer = Client().post(reverse("sign_in"), {"username": name, "password": password})
    assert answer.status_code == 302
    assert password not in client.get(reverse("administration_users")).content.decode()
    assert AuditEvent.objects.filter(event_type="user_created", subject=name).count() == 1


def test_a_taken_name_is_refused_beside_its_field(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    data = {"username": scene.officer.username, "display_name": "Other", "role": "officer"}
    answer = client_of(scene.admin).post(reverse("administration_users"), data)
    assert answer.status_code == 422
    assert "This name is taken." in answer.content.decode()


@pytest.mark.parametrize("change", ["change_role", "deactivate"])
def test_an_admin_does_not_change_their_own_account(
    scene: scenes.Scene, client_of: Callable[..., Client], change: str
) -> None:
    answer = client_of(scene.admin).post(reverse(change, args=[scene.admin.pk]), {"role": "officer"})
    scene.admin.refresh_from_db()
    assert (answer.status_code, scene.admin.role, scene.admin.is_active) == (403, "admin", True)


def test_a_changed_role_holds_from_the_next_page_on(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    theirs = client_of(scene.second)
    client_of(scene.admin).post(reverse("change_role", args=[scene.second.pk]), {"role": "auditor"})
    assert theirs.get(reverse("upload")).status_code == 403
    assert User.objects.get(pk=scene.second.pk).role == "auditor"
