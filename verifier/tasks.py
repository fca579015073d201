"""Celery tasks: load an id, read the clock, make one call."""

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from verifier import judge, providers
from verifier.services.findings import verify_case


@shared_task
def verify(*, verification_id: str, **later: Any) -> None:
    """Runs one verification; a second delivery of the same id finds it locked or ended and does nothing."""
    verify_case(verification_id=UUID(verification_id), clock=timezone.now)


@worker_init.connect
def warm_up(**kwargs: Any) -> None:
    """Certificates and the model's libraries take seconds to load: before the first case, not inside its time."""
    providers.warm_up()
    if judge.judge_configured():
        judge.warm_up()
