"""Every address by every role: who gets in, who is refused, who finds nothing there."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from audit.models import AuditEvent
from reviews import urls
from tests import factories, scenes
from verifier.models import ApiKey

ROLES = ("officer", "admin", "auditor")
OPEN = {"sign_in"}
# name: statuses of GET for officer, admin, auditor
READING = {
    "home": (200, 200, 200),
    "queue": (200, 200, 200),
    "cases": (200, 200, 200),
    "case": (200, 200, 200),
    "report": (200, 200, 200),
    "reports": (200, 200, 200),
    "whole": (200, 200, 200),
    "progress": (200, 200, 200),
    "retention": (403, 200, 200),
    "recorded": (200, 200, 200),
    "second": (200, 200, 200),
    "advisory": (200, 200, 200),
    "law": (200, 200, 200),
    "law_text": (200, 200, 200),
    "law_article": (200, 200, 200),
    "upload": (200, 200, 403),
    "administration": (403, 200, 403),
    "administration_keys": (403, 200, 403),
    "administration_users": (403, 200, 403),
    "revoke_key": (403, 200, 403),
    "change_role": (403, 422, 403),  # asked without a role
    "deactivate": (403, 200, 403),
    "reset_password": (403, 200, 403),
    "change_password": (200, 200, 200),
}
# name: statuses of an empty POST: what the role may do is refused for what is missing, never for the role
ACTING = {
    "claim": (302, 403, 403),
    "release": (302, 403, 403),
    "recheck": (302, 302, 403),
    "decide": (409, 403, 403),
    "retention_end": (403, 422, 403),
    "retention_hold": (403, 422, 403),
    "take_back": (422, 403, 403),
    "second_decide": (403, 403, 403),  # the officer here is its author
    "upload": (422, 422, 403),
    "switch": (403, 422, 403),
    "administration_keys": (403, 422, 403),
    "revoke_key": (403, 302, 403),
    "administration_users": (403, 422, 403),
    "change_role": (403, 422, 403),
    "deactivate": (403, 302, 403),
    "reset_password": (403, 302, 403),
    "change_password": (422, 422, 422),
    "stay": (302, 302, 302),
    "sign_out": (302, 302, 302),
}
OF_A_TENANT = (
    "case",
    "whole",
    "report",
    "reports",
    "progress",
    "retention",
    "retention_end",
    "retention_hold",
    "recorded",
    "claim",
    "release",
    "recheck",
    "decide",
    "take_back",
    "second_decide",
)


def addresses(scene: scenes.Scene) -> dict[str, str]:
    """An address for every page, about things of this tenant."""
    finding = factories.finding_of(scene.case, "f1")
    decision = factories.decide(scene.officer, finding, "does_not_stand")
    made, _ = ApiKey.create(tenant=scene.tenant, label="loader", scopes=["reports"], by="tests", at=factories.AT)
    law = factories.law_articles("34")[0]
    connection.check_constraints()  # seals, as a commit would
    arguments: dict[str, tuple[Any, ...]] = {
        "recorded": (decision.id,),
        "second_decide": (decision.id,),
        "take_back": (scene.case.id, decision.id),
        "decide": (scene.case.id, finding.id),
        "switch": ("MAKER_CHECKER_ENABLED",),
        "revoke_key": (made.id,),
        "law_text": (law.law_id,),
        "law_article": (law.id,),
        "change_role": (scene.second.pk,),
        "deactivate": (scene.second.pk,),
        "reset_password": (scene.second.pk,),
        **dict.fromkeys(
            ("case", "whole", "report", "reports", "progress", "recheck", "claim", "release"), (scene.case.id,)
        ),
        **dict.fromkeys(("retention", "retention_end", "retention_hold"), (scene.case.id,)),
    }
    return {name: reverse(name, args=arguments.get(name, ())) for name in names()}


def names() -> set[str]:
    return {str(pattern.name) for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)}


def test_every_address_has_its_row_in_these_tables() -> None:
    assert names() == READING.keys() | ACTING.keys() | OPEN


@pytest.mark.parametrize("role", ROLES)
def test_reading_is_by_role(scene: scenes.Scene, client_of: Callable[..., Client], role: str) -> None:
    client = client_of(getattr(scene, role))
    found = {name: client.get(address).status_code for name, address in addresses(scene).items() if name in READING}
    assert found == {name: statuses[ROLES.index(role)] for name, statuses in READING.items()}


@pytest.mark.parametrize("role", ROLES)
def test_no_answer_is_kept_by_the_browser(scene: scenes.Scene, client_of: Callable[..., Client], role: str) -> None:
    client, everywhere = client_of(getattr(scene, role)), addresses(scene)
    everywhere |= {"trail": reverse("trail"), "nowhere": "/nowhere/", "healthz": "/healthz", "readyz": "/readyz"}
    everywhere |= {"api": f"/api/v1/cases/{scene.case.id}", "trail_event": reverse("trail_event", args=[uuid4()])}
    kept = {name: client.get(address).headers.get("Cache-Control") for name, address in everywhere.items()}
    assert kept == dict.fromkeys(everywhere, "no-store")


def test_an_answer_of_the_api_is_not_kept_either(scene: scenes.Scene) -> None:
    _, token = ApiKey.create(tenant=scene.tenant, label="loader", scopes=["cases"], by="tests", at=factories.AT)
    answer = Client().get(f"/api/v1/cases/{scene.case.id}", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ACTING)
def test_acting_is_by_role(scene: scenes.Scene, client_of: Callable[..., Client], role: str, name: str) -> None:
    client = client_of(getattr(scene, role))
    address = addresses(scene)[name]
    if name == "release" and role == "officer":
        client.post(reverse("claim", args=[scene.case.id]))
    assert client.post(address).status_code == ACTING[name][ROLES.index(role)]


@pytest.mark.parametrize("name", sorted(ACTING.keys() - READING.keys()))
def test_an_act_is_no_get(scene: scenes.Scene, client_of: Callable[..., Client], name: str) -> None:
    assert client_of(scene.admin).get(addresses(scene)[name]).status_code == 405


def test_a_stranger_is_asked_to_sign_in_everywhere(scene: scenes.Scene) -> None:
    for name, address in addresses(scene).items():
        answer = Client().get(address)
        if name not in OPEN:
            assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, reverse("sign_in")), name


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", OF_A_TENANT)
def test_another_tenants_things_do_not_exist(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client], role: str, name: str
) -> None:
    address = addresses(elsewhere)[name]
    client = client_of(getattr(scene, role))
    answer = client.get(address) if name in READING else client.post(address)
    assert answer.status_code == 404


def test_another_tenants_people_and_keys_cannot_be_changed(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    theirs = addresses(elsewhere)
    client = client_of(scene.admin)
    assert [client.post(theirs[name]).status_code for name in ("revoke_key", "change_role", "deactivate")] == [404] * 3


def test_lists_hold_no_word_of_another_tenant(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    factories.verified(elsewhere.tenant, f1="contradicted")
    client = client_of(scene.auditor)
    for name in ("queue", "cases", "second", "advisory"):
        assert elsewhere.case.report_id not in client.get(reverse(name)).content.decode()


def test_a_refused_act_stands_in_the_trail(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.auditor).post(addresses(scene)["decide"])
    event = AuditEvent.objects.get(tenant=scene.tenant, event_type="access_refused")
    assert (answer.status_code, event.actor) == (403, scene.auditor.username)
    assert "Only officers decide about findings." in answer.content.decode()


@pytest.mark.parametrize("name", sorted(ACTING))
def test_a_post_without_our_token_is_refused(scene: scenes.Scene, client_of: Callable[..., Client], name: str) -> None:
    client = client_of(scene.officer, enforce_csrf_checks=True)
    before = AuditEvent.objects.count()
    address = addresses(scene)[name]
    made = AuditEvent.objects.count() - before
    answer = client.post(address)
    assert answer.status_code == 403
    assert "This form could not be accepted" in answer.content.decode()
    assert AuditEvent.objects.count() == before + made


def test_someone_deactivated_is_signed_out_at_once(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.officer)
    scene.officer.is_active = False
    scene.officer.save()
    assert client.get(reverse("queue")).status_code == 302


@pytest.mark.parametrize("role", ROLES)
def test_only_officers_see_controls_that_decide(
    scene: scenes.Scene, client_of: Callable[..., Client], role: str
) -> None:
    page = client_of(getattr(scene, role)).get(reverse("case", args=[scene.case.id])).content.decode()
    assert ("Check and record" in page) is (role == "officer")
    assert ('class="button small">Take the case' in page) is (role == "officer")


def test_the_author_sees_no_way_to_second_their_own_decision(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    addresses(scene)
    own = client_of(scene.officer).get(reverse("second")).content.decode()
    others = client_of(scene.second).get(reverse("second")).content.decode()
    assert "You decided this, so another officer must approve or refuse it." in own
    assert "Approve:" not in own
    assert "Approve:" in others


@pytest.mark.parametrize("role", ROLES)
def test_the_rail_shows_only_what_the_role_may_open(
    scene: scenes.Scene, client_of: Callable[..., Client], role: str
) -> None:
    client = client_of(getattr(scene, role))
    page = client.get(reverse("queue")).content.decode()
    rail = page.split('aria-label="Main"')[1].split("</nav>")[0]
    links = [part.split('"')[0] for part in rail.split('<a href="')[1:]]
    assert links
    assert {client.get(link).status_code for link in links} == {200}


@pytest.mark.parametrize("name", ["queue", "cases", "second", "advisory"])
def test_a_list_asks_the_database_as_often_for_many_rows_as_for_few(
    scene: scenes.Scene, client_of: Callable[..., Client], django_assert_max_num_queries: Any, name: str
) -> None:
    for _ in range(4):
        factories.verified(scene.tenant, f1="contradicted", f2="unsupported", f3="indeterminate")
    factories.decide(scene.officer, factories.finding_of(scene.case, "f1"), "does_not_stand")
    client = client_of(scene.officer)
    client.get(reverse(name))
    with django_assert_max_num_queries(12):
        client.get(reverse(name))


def test_an_address_that_is_none_says_so_in_our_own_words(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    answer = client_of(scene.officer).get(f"/cases/{uuid4()}/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_no_page_shows_a_code_or_an_exclamation(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    client = client_of(scene.admin)
    codes = (
        "does_not_stand",
        "not_selected_clean",
        "awaiting_second",
        "provider_error",
        "no_hits",
        "near_miss<",
        "Oops",
    )
    for name in ("queue", "cases", "second", "advisory", "case"):
        address = addresses(scene)[name] if name == "case" else reverse(name)
        page = client.get(address).content.decode().split("<main")[1]
        assert [code for code in codes if code in page and f"={code}" not in page] == []
        assert "!" not in page.replace("<!--", "")


def test_the_resolver_knows_all_pages() -> None:
    assert get_resolver().reverse_dict.getlist("home")
