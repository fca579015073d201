"""A case's re-checks against the sum of what its provider took: the rest is ours."""

import statistics
import time
from dataclasses import replace

from django.conf import settings
from django.utils import timezone

from tests import factories
from tests.bench.measure import report
from tests.replay import recorded, serving
from verifier import providers
from verifier.models import FindingVerdict
from verifier.services.findings import verify_case

LATENCY_SECONDS = 0.4
CHECKS = 6
CYCLES = 10


def run() -> bool:
    factories.switches()
    providers.warm_up()
    tenant = factories.tenant()
    answer = replace(recorded("opensanctions/match_empty.json"), delay_seconds=LATENCY_SECONDS)
    with serving(answer) as vendor:
        settings.OPENSANCTIONS_URL, settings.OPENSANCTIONS_API_KEY = vendor.url, "bench"
        taken = [one_case(tenant) for _ in range(CYCLES + 1)][1:]
    latencies = LATENCY_SECONDS * CHECKS
    ratio = statistics.median(taken) / latencies
    return report(
        name="rechecks_of_a_case",
        value=statistics.median(taken),
        unit="s",
        baseline=latencies,
        ratio=ratio,
        goal="<= 1.05",
        met=ratio <= 1.05,
    )


def one_case(tenant: object) -> float:
    subject = {"name": "Nordwind Bakery Oy", "entity_type": "company", "country": "FI"}
    case = factories.case(tenant, *[factories.finding(f"f{at}") for at in range(CHECKS)], subject=subject)  # type: ignore[arg-type]
    run_id = factories.run_of(case).id
    began = time.perf_counter()
    verify_case(verification_id=run_id, clock=timezone.now)
    seconds = time.perf_counter() - began
    assert FindingVerdict.objects.filter(verification_id=run_id, cause="screening_clear").count() == CHECKS
    return seconds
