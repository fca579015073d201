"""Signing in: counted, recorded, and silent about which names exist."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import SYSTEM_TENANT_ID, AuditEvent
from tests import factories, scenes


def attempt(client: Client, username: str, password: str, **more: str) -> tuple[int, str]:
    answer = client.post(reverse("sign_in"), {"username": username, "password": password, **more})
    return answer.status_code, answer.content.decode()


def without_secrets(page: str, username: str) -> str:
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


def test_after_five_failures_even_the_right_password_is_refused_with_the_minutes_to_wait(scene: scenes.Scene) -> None:
    client = Client()
    statuses = [attempt(client, scene.officer.username, "wrong")[0] for _ in range(5)]
    status, page = attempt(client, scene.officer.username, factories.PASSWORD)
    assert statuses == [422] * 5
    assert status == 429
    assert "For now no password is accepted, not even the right one." in page
    assert re.search(r"Wait ([2-5] minutes|1 minute), then try again\.", page)
    assert client.get(reverse("queue")).status_code == 302


def test_signing_in_is_no_failure_however_often(scene: scenes.Scene) -> None:
    statuses = [attempt(Client(), scene.officer.username, factories.PASSWORD)[0] for _ in range(8)]
    assert statuses == [302] * 8


def test_a_success_takes_back_no_failure(scene: scenes.Scene) -> None:
    tried = ["wrong"] * 4 + [factories.PASSWORD, "wrong", factories.PASSWORD]
    assert [attempt(Client(), scene.officer.username, one)[0] for one in tried] == [422] * 4 + [302, 422, 429]


def test_guesses_made_side_by_side_are_no_more_than_one_after_the_other(
    scene: scenes.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each further guess arrives while the one before still has its password looked at."""
    looked_at: list[int] = []

    def look(*_: object, **__: object) -> None:
        looked_at.append(1)
        if len(looked_at) < 20:
            attempt(Client(), scene.officer.username, "wrong")

    monkeypatch.setattr("reviews.views.access.authenticate", look)
    attempt(Client(), scene.officer.username, "wrong")
    assert len(looked_at) == 5


def test_many_names_from_one_address_are_refused_too(scene: scenes.Scene) -> None:
    statuses = [attempt(Client(), f"name-{number}", "wrong")[0] for number in range(61)]
    assert statuses[-1] == 429


def test_behind_a_trusted_proxy_one_client_does_not_use_up_anothers_attempts(
    scene: scenes.Scene, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = 1
    theirs, own = Client(HTTP_X_FORWARDED_FOR="203.0.113.7"), Client(HTTP_X_FORWARDED_FOR="203.0.113.8")
    for _ in range(5):
        attempt(theirs, scene.officer.username, "wrong")
    assert attempt(theirs, scene.officer.username, factories.PASSWORD)[0] == 429
    assert attempt(own, scene.officer.username, factories.PASSWORD)[0] == 302


@pytest.mark.parametrize("proxies", [0, 1])
def test_a_forged_header_buys_no_attempts(scene: scenes.Scene, settings: Any, proxies: int) -> None:
    settings.TRUSTED_PROXIES = proxies
    for number in range(5):
        forged = f"198.51.100.{number}" + (", 203.0.113.7" if proxies else "")
        attempt(Client(HTTP_X_FORWARDED_FOR=forged), scene.officer.username, "wrong")
    forged = "198.51.100.9" + (", 203.0.113.7" if proxies else "")
    assert attempt(Client(HTTP_X_FORWARDED_FOR=forged), scene.officer.username, factories.PASSWORD)[0] == 429


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
