"""The product's settings with what only speeds tests up."""

import os
from pathlib import Path

from tests.services import broker_database_of

# Each worker has a database of its own in the broker. Set here, because pytest-django reads a worker's settings early.
broker = os.environ["REDIS_URL"].split("?")[0]
os.environ["REDIS_URL"] = f"{broker}?db={broker_database_of(os.environ.get('PYTEST_XDIST_WORKER', ''))}"

from verifier.settings import *  # noqa: E402, F403
from verifier.settings import STATIC_ROOT, STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # whitenoise warns where it is absent, and warnings are errors
