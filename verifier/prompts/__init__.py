"""Versioned prompts: a file a version, its name is the prompt's id. A changed text needs a new id (ADR-0121)."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as sent, with what names it in every verdict."""

    id: str
    text: str
    sha256: str


@cache
def load(prompt_id: str) -> Prompt:
    """The prompt of this id; raises FileNotFoundError when there is none."""
    content = (Path(__file__).parent / f"{prompt_id}.md").read_bytes()
    return Prompt(prompt_id, content.decode(), hashlib.sha256(content).hexdigest())
