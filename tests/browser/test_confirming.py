"""A change to a key or a person is asked about first, on a page that needs no script."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from reviews.models import User
from tests import factories
from tests.browser.acts import overflows, violations
from verifier.models import ApiKey


def test_without_script_a_key_is_made_once_and_revoked_after_a_question(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.admin, java_script_enabled=False)
    page.goto("/administration/keys/")
    page.get_by_label("What it is for").fill("Case loader")
    page.get_by_label("send reports").check()
    page.get_by_role("button", name="Create the key").click()
    token = page.locator(".token").inner_text()
    page.reload()
    expect(page.locator(".token")).to_have_count(0)
    assert ApiKey.objects.filter(tenant=scene.tenant).count() == 1
    page.get_by_role("link", name="Revoke… Case loader").click()
    assert ApiKey.find(token) is not None
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("heading", name="The key “Case loader”")).to_be_visible()
    assert ApiKey.find(token) is None


def test_a_role_changes_after_a_question_that_can_be_answered_no(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.admin)
    for answer, role in (("Leave the role", "officer"), ("Make Jaan Kask an auditor", "auditor")):
        page.goto("/administration/users/")
        page.get_by_label("Role of Jaan Kask").select_option("auditor")
        page.locator("form", has=page.get_by_label("Role of Jaan Kask")).get_by_role("button").click()
        page.locator(".confirm").get_by_text(answer).click()
        expect(page.get_by_role("heading", name="Users", exact=True)).to_be_visible()
        assert User.objects.get(pk=scene.second.pk).role == role


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "viewport": {"width": 320, "height": 700}}])
def test_the_questions_are_for_everyone(scene: Any, visit: Callable[..., Page], options: dict[str, Any]) -> None:
    key, _ = ApiKey.create(tenant=scene.tenant, label="loader", scopes=["reports"], by="tests", at=factories.AT)
    page = visit(scene.admin, **options)
    person = f"/administration/users/{scene.second.pk}"
    for address in (f"/administration/keys/{key.id}/revoke/", f"{person}/role/?role=auditor", f"{person}/deactivate/"):
        page.goto(address)
        assert (violations(page), overflows(page)) == ([], False)
