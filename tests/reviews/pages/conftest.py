"""A staged tenant beside a second one, and a client for each role. Django is imported only once its settings stand."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_attempts_counted() -> None:
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def scene(db: None) -> Any:
    from tests import scenes

    return scenes.stage()


@pytest.fixture
def elsewhere(db: None) -> Any:
    """Another tenant."""
    from tests import scenes

    return scenes.stage()


@pytest.fixture
def client_of() -> Callable[..., Any]:
    from django.test import Client

    def sign_in(user: Any, **options: Any) -> Client:
        client = Client(**options)
        client.force_login(user)
        return client

    return sign_in
