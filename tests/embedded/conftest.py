"""Folders for products that run for real."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import reachable_installation
from verifier.embedded import left_behind, postgres
from verifier.embedded.postgres import Cluster


@pytest.fixture
def home() -> Iterator[Path]:
    """Searchable by others, unlike pytest's own folders: root's database stays inside it and goes away with it."""
    yield from open_folder()


@pytest.fixture(scope="module")
def module_home() -> Iterator[Path]:
    yield from open_folder()


def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="second-look-home-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    home = Path(tempfile.mkdtemp(prefix="second-look-cluster-", dir="/tmp"))
    home.chmod(0o711)
    user = postgres.server_user()
    postgres.own_folder(home / "socket", user)
    yield Cluster(
        home=home,
        socket=home / "socket",
        log=home / "log",
        installed=reachable_installation(home),
        user=user,
        options=postgres.FOR_TESTS,
    )
    left_behind.stop_left_behind(home / "data")
    shutil.rmtree(home)
