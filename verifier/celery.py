"""The Celery application. Tasks load an id, read the clock and make one call."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "verifier.settings")
app = Celery("verifier")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
