"""`make bench`: one JSON line a benchmark, exit 1 when a goal was missed. Names as arguments narrow the choice."""

import os
import sys
from dataclasses import replace

from tests import services
from verifier.embedded import postgres

BENCHES = (
    "labels",
    "slots",
    "hand_over",
    "rechecks",
    "intake",
    "trail_append",
    "trail_verify",
    "trail_pages",
    "first_start",
)
DURABLE = tuple(option for option in postgres.FOR_TESTS if not option.endswith("=off"))  # fsync as in production


def main(chosen: list[str]) -> int:
    started = services.Services()
    started.cluster = replace(started.cluster, options=DURABLE)
    services.forget_callers_configuration()
    os.environ.update(started.environment(), LOG_LEVEL="WARNING")
    started.start()
    try:
        return run_all(chosen or list(BENCHES))
    finally:
        started.stop()


def run_all(chosen: list[str]) -> int:
    import importlib

    import django
    from django.core.management import call_command

    from tests.bench.measure import foreign_cpu

    django.setup()
    call_command("migrate", verbosity=0)
    met = []
    for name in chosen:
        bench = importlib.import_module(f"tests.bench.{name}")
        before = foreign_cpu()
        met.append(bench.run())
        print(f"# {name}: other processes took {foreign_cpu(before)} cores", file=sys.stderr, flush=True)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
