"""What import-linter can't say: the core imports the standard library only, and no file grows past reading."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import PROJECT

CORE = [*sorted((PROJECT / "verifier" / "domain").rglob("*.py")), PROJECT / "audit" / "chain.py"]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def is_core_or_standard(name: str) -> bool:
    own = name == "audit.chain" or name == "verifier.domain" or name.startswith("verifier.domain.")
    return own or name.split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(PROJECT)))
def test_the_core_imports_the_standard_library_only(path):
    assert [name for name in imported(path) if not is_core_or_standard(name)] == []


@pytest.mark.parametrize("name", ["django.db", "verifier.models", "verifier.domains", "audit", ".models"])
def test_the_rule_refuses_what_is_not_of_the_core(name):
    assert not is_core_or_standard(name)
