"""A prompt's text belongs to its id: whoever changes the text must give it a new id."""

from pathlib import Path

import pytest

from verifier import prompts

KNOWN = {
    "finding_corroboration_v1": "339233f848a9f952547febafbe32e5044a077aaa8322dadd59ae3022008e0be4",
}


def test_every_prompt_file_is_known_by_its_hash() -> None:
    files = {path.stem: prompts.load(path.stem).sha256 for path in Path(prompts.__file__).parent.glob("*.md")}

    assert files == KNOWN


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        prompts.load("nobody_v1")
