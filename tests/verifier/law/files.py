"""The official files that lie beside the project, each read once."""

from functools import lru_cache
from pathlib import Path

from tests.paths import SHARED
from verifier.law.reading import read_law
from verifier.law.texts import Act

LAW = SHARED / "law"


def path(pattern: str) -> Path:
    """The one file whose path under `law` fits."""
    [found] = LAW.glob(pattern)
    return found


@lru_cache(maxsize=64)
def act(pattern: str) -> Act:
    return read_law(path(pattern).read_bytes())
