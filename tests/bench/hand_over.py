"""Handing a run over: what the outbox adds to the transaction of a run, against what sending after commit adds to it.

The run's row is written in either design, since it is the record of the run; the queued row itself is the outbox, so
that handing over adds a notification and nothing else. The other reading, in which the whole row counts as handing
over, stands beside it as `with_the_row`.
"""

import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from django.db import transaction

from tests import factories
from tests.bench.measure import interleaved, median_ratio, report
from verifier.intake import save_and_announce
from verifier.models import Case, Verification
from verifier.tasks import verify

PER_SLICE = 60


def run() -> bool:
    factories.switches()
    case = factories.case(factories.tenant())
    case = Case.objects.get(id=case.id)
    variants = {"bare": save, "row": save_with_run, "outbox": save_with_outbox, "delay": save_with_run_and_delay}
    times = interleaved({name: partial(repeat, variant, case) for name, variant in variants.items()})
    added = {name: [each - row for each, row in zip(times[name], times["row"], strict=True)] for name in times}
    ratio = median_ratio(added["outbox"], added["delay"])
    whole = [outbox - bare for outbox, bare in zip(times["outbox"], times["bare"], strict=True)]
    return report(
        name="hand_over_in_the_transaction",
        value=statistics.median(added["outbox"]) / PER_SLICE * 1000,
        unit="ms added to the transaction",
        baseline=statistics.median(added["delay"]) / PER_SLICE * 1000,
        ratio=ratio,
        goal="<= 0.4",
        met=ratio <= 0.4,
        with_the_row=round(median_ratio(whole, added["delay"]), 3),
    )


def repeat(variant: Callable[[Case], None], case: Case) -> None:
    for _ in range(PER_SLICE):
        variant(case)


def save(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])


def save_with_run(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])
        new_run(case).save(force_insert=True)


def save_with_outbox(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])
        save_and_announce(new_run(case))


def save_with_run_and_delay(case: Case) -> None:
    with transaction.atomic():
        case.save(update_fields=["subject_name"])
        run_row = new_run(case)
        run_row.save(force_insert=True)
        transaction.on_commit(lambda: verify.delay(verification_id=str(run_row.id)))


def new_run(case: Case) -> Verification:
    return Verification(
        tenant_id=case.tenant_id,
        case=case,
        report_id=case.current_report_id,
        status=Verification.Status.QUEUED,
        correctness_enabled=True,
        requested_by="bench",
        queued_at=datetime.now(UTC),
    )
