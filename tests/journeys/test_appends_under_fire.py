"""Eight processes append without pause while one of them is killed every second: nothing acknowledged is missing."""

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from audit.models import AuditEvent, Tenant
from audit.verification import verify_tenant
from tests.audit.test_sealing import sequences, wait_until_gone
from tests.paths import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)
PROCESSES, SECONDS = 8, 20
ID_LENGTH = 36


class Writer:
    """A process that prints each event's id once its commit was answered."""

    def __init__(self, tenant: Tenant, environment: dict[str, str], folder: Path) -> None:
        self.said = tempfile.NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115  # closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.audit.writer", str(tenant.id), "1000000"],
            cwd=PROJECT,
            env=environment,
            stdout=self.said,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.said.close()

    def acknowledged(self) -> set[UUID]:
        """The last line may have been cut by the kill."""
        lines = Path(self.said.name).read_text().splitlines()
        return {UUID(line) for line in lines if len(line) == ID_LENGTH}


def test_nothing_acknowledged_is_missing_and_the_chain_is_whole(
    make_tenant: Any, product_environment: dict[str, str], tmp_path: Path
) -> None:
    tenant = make_tenant()
    writers = [Writer(tenant, product_environment, tmp_path) for _ in range(PROCESSES)]
    gone: list[Writer] = []
    chance = random.Random(7)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(1)
        killed = writers.pop(chance.randrange(len(writers)))
        killed.kill()
        gone.append(killed)
        writers.append(Writer(tenant, product_environment, tmp_path))
    for writer in writers:
        writer.kill()
    wait_until_gone(tenant)

    acknowledged = set().union(*[writer.acknowledged() for writer in [*writers, *gone]])
    assert len(acknowledged) > PROCESSES * SECONDS
    assert acknowledged <= set(AuditEvent.objects.filter(tenant=tenant).values_list("id", flat=True))
    result = verify_tenant(tenant=tenant, missing_guards=[])
    assert result.broken is None
    assert sequences(tenant) == list(range(1, result.events + 1))
