"""The outbox: queued verifications are handed to the broker, and those whose worker died are queued again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from audit.log import record
from audit.models import ActorType
from verifier.models import Verification
from verifier.services.locks import is_orphan

BATCH = 50
LOST_AFTER = timedelta(seconds=20)
Status = Verification.Status


def hand_over(*, send: Callable[[UUID], None], at: datetime, queue_is_empty: bool = False) -> int:
    """Gives queued runs to the broker, oldest first, and returns how many.

    A run handed over before counts as lost when the broker's queue is empty and nobody took it for a while
    (an emptied broker, a worker that died with the message): it is given again. A task that comes twice finds
    the run locked or ended. If `send` raises, nothing of the batch is marked and the next round tries again.
    """
    waiting = Q(handed_over_at=None)
    if queue_is_empty:
        waiting |= Q(handed_over_at__lt=at - LOST_AFTER)
    with transaction.atomic():
        queued = Verification.objects.select_for_update(skip_locked=True).filter(waiting, status=Status.QUEUED)
        ids = list(queued.order_by("queued_at").values_list("id", flat=True)[:BATCH])
        for verification_id in ids:
            send(verification_id)
        Verification.objects.filter(id__in=ids).update(handed_over_at=at)
    return len(ids)


def requeue_orphans(*, at: datetime) -> int:
    """Queues runs again that are marked running while nobody holds their lock; returns how many."""
    running = Verification.objects.filter(status=Status.RUNNING).order_by("queued_at")
    return sum(requeue_if_orphan(verification_id, at) for verification_id in running.values_list("id", flat=True))


def requeue_if_orphan(verification_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        if not is_orphan(verification_id):
            return False
        running = Verification.objects.select_for_update(of=["self"]).select_related("case")
        run = running.filter(id=verification_id, status=Status.RUNNING).first()
        if run is None:
            return False
        run.status, run.handed_over_at = Status.QUEUED, None
        run.save(update_fields=["status", "handed_over_at"])
        record(
            tenant_id=run.tenant_id,
            event_type="verification_requeued",
            actor="relay",
            actor_type=ActorType.SYSTEM,
            case_id=run.case_id,
            subject=run.case.report_id,
            details={"verification_id": str(run.id), "attempts": run.attempts},
            at=at,
        )
    return True
