"""Verifying a trail against draining the same COPY unread, and signing one against the pure hashing (goals 6 and 7)."""

import os
import statistics
import tempfile
from collections import deque
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from audit.checkpoints import signer
from audit.log import EVERY_TENANT, compose, tenant_scope
from audit.merkle import LEAF, whole_root
from audit.models import ActorType, ChainHead, Tenant
from audit.notary import signed, write_checkpoint
from audit.verification import Watched
from audit.walk import read, walk
from tests import factories
from tests.bench.measure import interleaved, median_ratio, report
from tests.bench.trail_append import COLUMNS
from verifier.embedded.keeping import new_signing_key

EVENTS = 1_048_576 if os.environ.get("BENCH_FULL") else 262_144
BATCH = 16_384


def run() -> bool:
    tenant = factories.tenant()
    with tempfile.TemporaryDirectory() as folder, tenant_scope(EVERY_TENANT):
        settings.CHECKPOINT_DIR, settings.CHECKPOINT_KEY = Path(folder), new_signing_key()
        fill(tenant)
        return all([verifying(tenant), signing(tenant)])


def fill(tenant: Tenant) -> None:
    """Events as the product writes them, sealed by the database in large transactions."""
    for _ in range(EVENTS // BATCH):
        copied = f"COPY audit_auditevent ({COLUMNS}) FROM STDIN"
        with transaction.atomic(), connection.cursor() as cursor, cursor.copy(copied) as stream:
            for _ in range(BATCH):
                stream.write_row(row(tenant))


def row(tenant: Tenant) -> tuple[Any, ...]:
    said = {"switch": "x" * 120, "enabled": True}
    event = compose(
        {
            "tenant_id": tenant.id,
            "event_type": "switch_changed",
            "actor": "m.tamm",
            "actor_type": ActorType.PERSON,
            "actor_role": "admin",
            "subject": "a switch",
            "outcome": "on",
            "details": said,
            "at": datetime.now(UTC),
        }
    )
    values = (event.id, event.tenant_id, event.event_type, event.actor, str(event.actor_type))
    return (*values, None, event.subject, event.outcome, event.body)


def verifying(tenant: Tenant) -> bool:
    write_checkpoint(tenant=tenant, at=datetime.now(UTC))
    times = interleaved({"drain": lambda: drain(tenant), "verify": lambda: verify(tenant)})
    ratio = median_ratio(times["drain"], times["verify"])
    return report(
        name=f"verifying_{EVENTS}_events",
        value=EVENTS / statistics.median(times["verify"]),
        unit="events a second",
        baseline=EVENTS / statistics.median(times["drain"]),
        ratio=ratio,
        goal=">= 0.7",
        met=ratio >= 0.7,
    )


def drain(tenant: Tenant) -> None:
    with transaction.atomic():
        deque(read(tenant.id), maxlen=0)


def verify(tenant: Tenant) -> None:
    """With its columns, and against the checkpoint over all of it."""
    watched = Watched.of(tenant)
    with transaction.atomic():
        walked = walk(tenant.id, watched.kept())
    assert walked.sound
    assert walked.mismatch is None
    assert walked.events == walked.signed_until == EVENTS


def signing(tenant: Tenant) -> bool:
    hashes = [number.to_bytes(32, "big") for number in range(EVENTS)]

    def pure() -> None:
        whole_root([sha256(LEAF + one).digest() for one in hashes])

    key, head = signer(), ChainHead.objects.get(tenant=tenant)
    assert key is not None

    def sign() -> None:
        with transaction.atomic():
            signed(key, tenant, None, head, datetime.now(UTC))

    times = interleaved({"pure": pure, "sign": sign})
    ratio = median_ratio(times["sign"], times["pure"])
    return report(
        name=f"signing_a_checkpoint_over_{EVENTS}_events",
        value=statistics.median(times["sign"]),
        unit="s",
        baseline=statistics.median(times["pure"]),
        ratio=ratio,
        goal="<= 3",
        met=ratio <= 3,
    )
