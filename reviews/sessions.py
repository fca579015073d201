"""What a session keeps, such as a key between its making and the page that shows it, is no reader's of the database."""

import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.utils.encoding import force_bytes


class SealedSerializer:
    """JSON under a key that follows from SECRET_KEY. What can't be opened is no session (Django starts a new one)."""

    def dumps(self, obj: Any) -> bytes:
        return cipher().encrypt(json.dumps(obj, separators=(",", ":")).encode())

    def loads(self, data: bytes) -> Any:
        return json.loads(cipher().decrypt(data))


def cipher() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = [sha256(b"second-look:sessions:" + force_bytes(secret)).digest() for secret in secrets]
    return MultiFernet([Fernet(urlsafe_b64encode(key)) for key in keys])
