"""The Celery application. Tasks load an id, read the clock and make one call."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "verifier.settings")
app = Celery("verifier")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def guarded(**kwargs: Any) -> None:
    """Neither worker nor beat begins without the guards of the trail."""
    from audit.checks import end_where_unguarded  # only now: Django is set up

    end_where_unguarded()


worker_init.connect(guarded)
beat_init.connect(guarded)
