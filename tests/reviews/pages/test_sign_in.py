"""Signing in: counted, recorded, and silent about which names exist."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import SYSTEM_TENANT_ID, AuditEvent
from tests import factories, scenes


def attempt(client: Client, username: str, password: str, **more: str) -> tuple[int, str]:
    answer = client.post(reverse("sign_in"), {"username": username, "password": password, **more})
    return answer.status_code, answer.content.decode()


def without_secrets(page: str, username: str) -> str:
    import re

    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", page).replace(username, "NAME")


def test_the_right_password_opens_the_queue_and_is_recorded(scene: scenes.Scene) -> None:
    client = Client()
    answer = client.post(reverse("sign_in"), {"username": scene.officer.username, "password": factories.PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, reverse("home"))
    assert client.get(reverse("queue")).status_code == 200
    assert AuditEvent.objects.get(event_type="signed_in").tenant == scene.tenant


def test_a_wrong_password_an_unknown_name_and_a_closed_account_look_alike(scene: scenes.Scene) -> None:
    scene.second.is_active = False
    scene.second.save()
    tried = [(scene.officer.username, "wrong"), ("nobody.here", "wrong"), (scene.second.username, factories.PASSWORD)]
    pages = {
        (status, without_secrets(page, name))
        for name, password in tried
        for status, page in [attempt(Client(), name, password)]
    }
    assert len(pages) == 1
    assert pages.pop()[0] == 422


def test_a_failed_attempt_stands_on_the_chain_of_the_names_tenant(scene: scenes.Scene) -> None:
    attempt(Client(), scene.officer.username, "wrong")
    event = AuditEvent.objects.get(event_type="sign_in_failed")
    assert (event.tenant, event.actor) == (scene.tenant, scene.officer.username)


def test_an_unknown_name_stands_on_the_system_chain_and_is_not_kept(scene: scenes.Scene) -> None:
    attempt(Client(), "hunter2-typed-as-name", "wrong")
    event = AuditEvent.objects.get(event_type="sign_in_failed")
    assert event.tenant_id == SYSTEM_TENANT_ID
    assert "hunter2" not in event.body


def test_the_sixth_attempt_with_a_name_is_refused_even_with_the_right_password(scene: scenes.Scene) -> None:
    client = Client()
    statuses = [attempt(client, scene.officer.username, "wrong")[0] for _ in range(5)]
    status, page = attempt(client, scene.officer.username, factories.PASSWORD)
    assert statuses == [422] * 5
    assert status == 429
    assert "too many attempts" in page


def test_many_names_from_one_address_are_refused_too(scene: scenes.Scene) -> None:
    statuses = [attempt(Client(), f"name-{number}", "wrong")[0] for number in range(61)]
    assert statuses[-1] == 429


def test_empty_fields_are_named_in_the_summary_and_in_the_title(scene: scenes.Scene) -> None:
    status, page = attempt(Client(), "", "")
    assert status == 422
    assert "<title>Error: Sign in" in page
    assert "There is a problem" in page
    assert page.count("Enter your sign-in name.") == 2


@pytest.mark.parametrize(
    ("wanted", "led_to"),
    [
        ("/cases/", "/cases/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_it_leads_on_only_to_a_page_of_ours(scene: scenes.Scene, wanted: str, led_to: str) -> None:
    data = {"username": scene.officer.username, "password": factories.PASSWORD, "next": wanted}
    assert Client().post(reverse("sign_in"), data).headers["Location"] == led_to


def test_signing_out_ends_the_session_and_is_recorded(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.officer)
    client.post(reverse("sign_out"))
    assert client.get(reverse("queue")).status_code == 302
    assert AuditEvent.objects.filter(event_type="signed_out", actor=scene.officer.username).count() == 1


def test_it_says_when_attempts_cannot_be_counted(scene: scenes.Scene, settings: object) -> None:
    settings.CACHES = {  # type: ignore[attr-defined]
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    }
    status, page = attempt(Client(), scene.officer.username, factories.PASSWORD)
    assert status == 503
    assert "attempts cannot be counted" in page
