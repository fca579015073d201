"""The embedded product's secrets and addresses, in files only their owner may read."""

import base64
import json
import os
import secrets
from pathlib import Path
from typing import Any

from verifier.embedded.postgres import SUPERUSER
from verifier.embedded.roles import APPLICATION_ROLE, OWNER_ROLE


def write(path: Path, value: dict[str, Any]) -> None:
    """Replaces the file whole: a reader sees the old or the new one."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
    unfinished.replace(path)


def read(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text())  # type: ignore[no-any-return]
    except FileNotFoundError:
        return None


def new_secrets() -> dict[str, str]:
    names = (SUPERUSER, OWNER_ROLE, APPLICATION_ROLE, "secret_key")
    return {name: secrets.token_urlsafe(32) for name in names} | {"checkpoint_key": new_signing_key()}


def new_signing_key() -> str:
    """The seed of an Ed25519 key, as CHECKPOINT_KEY is written."""
    return base64.b64encode(secrets.token_bytes(32)).decode()
