"""The product as processes of its own, serving the test database with the application role's rights."""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.paths import PROJECT
from verifier.embedded import children

START_SECONDS = 60.0
TOOLS = Path(sys.executable).parent


@dataclass(frozen=True)
class Product:
    url: str
    log: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def product_environment(application_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the product's processes: the application role, never the owner."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_")}
    switches = ("FINDING_CORRECTNESS_VERIFICATION_ENABLED", "FINDING_CORROBORATION_ENABLED")
    return environment | {
        "DATABASE_URL": application_url,
        "DATA_DIR": str(tmp_path_factory.mktemp("product")),
        "PYTHONUNBUFFERED": "1",
        **dict.fromkeys(switches, "true"),
    }


@pytest.fixture(scope="session")
def live_product(product_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The web server. Tests that use it commit: give them `transactional_db`."""
    port, log = free_port(), tmp_path_factory.mktemp("web") / "web.log"
    command = [
        "gunicorn",
        "verifier.wsgi",
        "--worker-class",
        "gthread",
        "--threads",
        "4",
        "--bind",
        f"127.0.0.1:{port}",
    ]
    process = children.start([TOOLS / command[0], *command[1:]], log=log, cwd=PROJECT, environment=product_environment)
    product = Product(url=f"http://127.0.0.1:{port}", log=log)
    try:
        wait_for(lambda: process.poll() is None and reachable(product.url), f"the web server did not start: see {log}")
        yield product
    finally:
        children.stop(process)


def reachable(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", trust_env=False, timeout=5)
    except httpx.TransportError:
        return False
    return True


@pytest.fixture
def worker(product_environment: dict[str, str], tmp_path: Path) -> Iterator[Any]:
    """A Celery worker for this test, as `manage.py demo` starts it."""
    command = ["celery", "-A", "verifier", "worker", "--pool", "threads", "--concurrency", "4"]
    quick = ["--without-mingle", "--without-gossip", "--hostname", f"test-{os.getpid()}@local"]
    process = children.start(
        [TOOLS / command[0], *command[1:], *quick],
        log=tmp_path / "worker.log",
        cwd=PROJECT,
        environment=product_environment,
    )
    yield process
    children.stop(process)


@pytest.fixture
def relay(product_environment: dict[str, str], tmp_path: Path) -> Iterator[Any]:
    """The relay for this test: hands queued verifications to the worker."""
    process = children.start(
        [sys.executable, "manage.py", "relay"], log=tmp_path / "relay.log", cwd=PROJECT, environment=product_environment
    )
    yield process
    children.stop(process)


def wait_for(condition: Callable[[], bool], otherwise: str, seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise)
        time.sleep(0.05)
