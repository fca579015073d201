"""Hands queued verifications to the broker until stopped. Run exactly as many as you like; one is enough."""

import logging
import signal
import threading
import time
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import Error, connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from audit.checks import end_where_unguarded
from audit.log import EVERY_TENANT, tenant_scope
from verifier.services.outbox import hand_over, requeue_orphans
from verifier.tasks import verify

logger = logging.getLogger(__name__)
LISTEN_SECONDS = 0.5  # a notification wakes us at once; this only bounds how long a lost one is missed
SWEEP_SECONDS = 2.0
PAUSE_SECONDS = 1.0
QUEUE = "celery"


class Command(BaseCommand):
    help = "Hands queued verifications to the broker and queues those again whose worker died."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stopping.set())
        end_where_unguarded()
        self.broker = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5)
        while not self.stopping.is_set():
            try:
                self.serve()
            except (Error, OperationalError, redis.RedisError) as problem:
                logger.warning("relay pauses: %s", type(problem).__name__)
                connection.close()
                self.stopping.wait(PAUSE_SECONDS)

    def serve(self) -> None:
        """Works on one connection until it breaks or the process is told to stop."""
        with tenant_scope(EVERY_TENANT):
            with connection.cursor() as cursor:
                cursor.execute("LISTEN verification_queued")
            swept = 0.0
            while not self.stopping.is_set():
                if time.monotonic() - swept >= SWEEP_SECONDS:
                    requeue_orphans(at=timezone.now())
                    hand_over(send=send, at=timezone.now(), queue_is_empty=self.broker.llen(QUEUE) == 0)
                    swept = time.monotonic()
                while hand_over(send=send, at=timezone.now()):
                    pass
                self.wait()

    def wait(self) -> None:
        for _ in connection.connection.notifies(timeout=LISTEN_SECONDS, stop_after=1):
            pass


def send(verification_id: UUID) -> None:
    verify.apply_async(kwargs={"verification_id": str(verification_id)}, retry=False)
