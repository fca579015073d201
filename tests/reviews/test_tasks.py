"""What the clock does."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from reviews.tasks import forget_expired_sessions
from verifier.celery import app

pytestmark = pytest.mark.django_db


def test_only_sessions_that_have_ended_are_forgotten() -> None:
    now = timezone.now()
    Session.objects.create(session_key="ended", session_data="", expire_date=now - timedelta(minutes=1))
    Session.objects.create(session_key="open", session_data="", expire_date=now + timedelta(minutes=1))

    forget_expired_sessions()

    assert list(Session.objects.values_list("session_key", flat=True)) == ["open"]


def test_every_scheduled_task_exists() -> None:
    app.loader.import_default_modules()

    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)
