"""Folders for products that run for real."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


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
