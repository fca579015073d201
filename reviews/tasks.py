"""What the clock does for people's side of the product."""

from celery import shared_task
from django.contrib.sessions.backends.db import SessionStore


@shared_task
def forget_expired_sessions() -> None:
    """Rows of sessions that have ended are of no use and name people."""
    SessionStore.clear_expired()
