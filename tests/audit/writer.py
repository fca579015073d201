"""A process that writes events as the application does: `python -m tests.audit.writer TENANT_ID COUNT`.

Prints the id of each event whose transaction committed. Every fifth transaction is rolled back, every third holds
three events.
"""

import os
import sys
from datetime import UTC, datetime
from uuid import UUID

import django


def main(tenant_id: UUID, count: int) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "verifier.settings"
    django.setup()
    from audit.log import tenant_scope

    with tenant_scope(tenant_id):
        for place in range(count):
            for event_id in write(tenant_id, place):
                print(event_id, flush=True)


def write(tenant_id: UUID, place: int) -> list[UUID]:
    from django.db import transaction

    from audit.log import record
    from audit.models import ActorType

    with transaction.atomic():
        written = [
            record(
                tenant_id=tenant_id,
                event_type="case_viewed",
                actor=f"process {os.getpid()}",
                actor_type=ActorType.PERSON,
                details={"place": place, "part": part},
                at=datetime.now(UTC),
            ).id
            for part in range(3 if place % 3 == 0 else 1)
        ]
        if place % 5 == 4:
            transaction.set_rollback(True)
            return []
    return written


if __name__ == "__main__":
    main(UUID(sys.argv[1]), int(sys.argv[2]))
