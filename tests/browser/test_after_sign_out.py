"""What a shared machine shows after its last person has signed out."""

from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect


def test_back_after_signing_out_shows_no_case(scene: Any, visit: Callable[..., Page]) -> None:
    page = visit(scene.officer)
    page.goto(f"/cases/{scene.case.id}/")
    page.goto("/cases/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/**")
    for _ in range(3):
        page.go_back()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert "Acme" not in page.content()


def test_static_files_stay_in_the_browsers_cache(live_product: Any) -> None:
    page = httpx.get(f"{live_product.url}/sign-in/", trust_env=False)
    static = httpx.get(f"{live_product.url}/static/css/base.css", trust_env=False)
    assert page.headers["Cache-Control"] == "no-store"
    assert (static.status_code, "no-store" in static.headers["Cache-Control"]) == (200, False)
