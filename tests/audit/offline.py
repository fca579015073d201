"""The verifier that goes with an export: loaded for its parts, and run as a regulator runs it."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.paths import PROJECT

VERIFIER = PROJECT / "audit" / "offline" / "verify.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("offline_verify", VERIFIER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a bare interpreter: no environment, no site packages, nothing of this project to import."""
    command = [sys.executable, "-I", "-S", "-B", str(folder / "verify.py"), *arguments]
    return subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=False)


def problems(module: ModuleType, folder: Path, *keys: bytes) -> list[str]:
    """What it says is wrong with an export, without a process of its own."""
    export = module.Export(folder, list(keys))
    module.examine(export)
    found: list[str] = export.wrong
    return found
