"""The product's settings with what only speeds tests up."""

from pathlib import Path

from verifier.settings import *  # noqa: F403
from verifier.settings import STATIC_ROOT, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # whitenoise warns where it is absent, and warnings are errors
