"""Handing a run over: what the outbox row adds to a transaction, and what sending after commit adds to it."""

import statistics
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.db import transaction

from tests import factories
from tests.bench.measure import interleaved, report
from verifier.intake import save_and_announce
from verifier.models import Case, Verification
from verifier.tasks import verify

PER_SLICE = 60


def run() -> bool:
    factories.switches()
    case = factories.case(factories.tenant())
    case = Case.objects.get(id=case.id)
    times = interleaved(
        {
            "bare": lambda: repeat(lambda: save(case)),
            "outbox": lambda: repeat(lambda: save_with_outbox(case)),
            "delay": lambda: repeat(lambda: save_and_delay(case)),
        }
    )
    added = [
        (outbox - bare) / (delay - bare)
        for bare, outbox, delay in zip(*(times[name] for name in ("bare", "outbox", "delay")), strict=True)
    ]
    ratio = statistics.median(added)
    return report(
        name="hand_over_in_the_transaction",
        value=(statistics.median(times["outbox"]) - statistics.median(times["bare"])) / PER_SLICE * 1000,
        unit="ms added to a save",
        baseline=(statistics.median(times["delay"]) - statistics.median(times["bare"])) / PER_SLICE * 1000,
        ratio=ratio,
        goal="<= 0.4",
        met=ratio <= 0.4,
    )


def repeat(one: Any) -> None:
    for _ in range(PER_SLICE):
        one()


def save(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])


def save_with_outbox(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])
        save_and_announce(
            Verification(
                tenant_id=case.tenant_id,
                case=case,
                report_id=case.current_report_id,
                status=Verification.Status.QUEUED,
                correctness_enabled=True,
                requested_by="bench",
                queued_at=datetime.now(UTC),
            )
        )


def save_and_delay(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])
        transaction.on_commit(lambda: verify.delay(verification_id=str(uuid4())))
