"""Where tests find the project, and the recorded payloads beside it."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"
