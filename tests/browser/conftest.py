"""A person at a real browser, in front of the running product."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def scene(transactional_db: None) -> Any:
    from django.core.cache import cache

    from tests import scenes

    cache.clear()  # sign-in attempts of other tests
    return scenes.stage()


@pytest.fixture
def messages() -> Iterator[list[str]]:
    """What the browser's console said, which is to be nothing; that an answer is a refusal is no news."""
    told: list[str] = []
    yield told
    assert [one for one in told if "responded with a status of 4" not in one] == []


@pytest.fixture
def visit(browser: Any, live_product: Any, messages: list[str]) -> Iterator[Callable[..., Any]]:
    """`visit(user)`: a page of this person, signed in by the form. Options go to the browser's context."""
    from tests.factories import PASSWORD

    contexts = []

    def open_page(user: Any, **options: Any) -> Any:
        context = browser.new_context(
            **{"base_url": live_product.url, "viewport": {"width": 1280, "height": 900}, **options}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda problem: messages.append(str(problem)))
        page.goto("/sign-in/")
        page.get_by_label("Name").fill(user.username)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        return page

    yield open_page
    for context in contexts:
        context.close()
