"""Celery tasks: load an id, read the clock, make one call."""

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from verifier.judge import judge_configured, warm_up
from verifier.services.findings import verify_case


@shared_task
def verify(*, verification_id: str, **later: Any) -> None:
    """Runs one verification; a second delivery of the same id finds it locked or ended and does nothing."""
    verify_case(verification_id=UUID(verification_id), clock=timezone.now)


@worker_init.connect
def import_the_judge(**kwargs: Any) -> None:
    """The model's libraries take a second to import: before the first case, not inside its time."""
    if judge_configured():
        warm_up()
