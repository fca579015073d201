"""Writes checkpoints: reads where a trail stands, signs it, keeps it outside.

It never signs over a wrong: a trail that is behind its newest checkpoint, or that no longer holds that one's last hash,
gets none, and says so.
"""

from collections.abc import Generator
from contextlib import closing
from datetime import datetime
from hashlib import sha256

from django.db import connection, transaction

from audit import checkpoints
from audit.checkpoints import Checkpoint, CheckpointStore, Kept, make_checkpoint
from audit.log import EVERY_TENANT, tenant_scope
from audit.merkle import LEAF, CompactRange
from audit.models import AuditSeal, ChainHead, Tenant, WrittenCheckpoint
from audit.reading import rows_of_one
from audit.signing import Signer

HASHES = """
COPY (
    SELECT event_hash FROM audit_auditseal WHERE tenant_id = %s AND sequence > %s AND sequence <= %s ORDER BY sequence
) TO STDOUT (FORMAT BINARY)
"""
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('second-look:checkpoint:' || %s, 0))"


class NotSigned(Exception):
    """No checkpoint can be written, and why. What stands in the trail or the store is for `verify_trail` to name."""


def write_checkpoint(*, tenant: Tenant, at: datetime) -> Checkpoint | None:
    """Signs and keeps where the tenant's trail stands; None when nothing came since the last. Raises NotSigned, OSError
    or UnusableKey.
    """
    signer = checkpoints.signer()
    if signer is None:
        raise NotSigned("no CHECKPOINT_KEY is set, so no checkpoint can be signed")
    place = checkpoints.store()
    with tenant_scope(EVERY_TENANT), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(ONE_AT_A_TIME, [str(tenant.id)])
        head = ChainHead.objects.filter(tenant=tenant).first()
        newest = newest_of(place, tenant)
        if newest is not None:
            check_continues(newest, head, tenant)
            note(newest, tenant)  # its writer may have died before
        if head is None or (newest is not None and newest.sequence == head.sequence):
            return None
        made = signed(signer, tenant, newest, head, at)
        place.write(tenant.slug, made.name, made.content())
        note(made, tenant)
        return made


def newest_of(place: CheckpointStore, tenant: Tenant) -> Checkpoint | None:
    names = place.names(tenant.slug)
    if not names:
        return None
    found: Kept = checkpoints.judged(place, checkpoints.keyring(place), names[-1], tenant.slug, tenant.id)
    if found.checkpoint is None:
        raise NotSigned(f"the newest checkpoint {found.name} can't be continued: {found.problem}")
    return found.checkpoint


def check_continues(newest: Checkpoint, head: ChainHead | None, tenant: Tenant) -> None:
    there = head.sequence if head else 0
    if newest.sequence > there:
        raise NotSigned(f"the newest checkpoint says {newest.sequence} events, the trail has {there}")
    if hash_at(tenant, newest.sequence) != newest.head_hash:
        raise NotSigned(f"event {newest.sequence} is not the one that the newest checkpoint signed")


def hash_at(tenant: Tenant, sequence: int) -> bytes | None:
    seal = AuditSeal.objects.filter(tenant=tenant, sequence=sequence).first()
    return bytes(seal.event_hash) if seal else None


def signed(signer: Signer, tenant: Tenant, newest: Checkpoint | None, head: ChainHead, at: datetime) -> Checkpoint:
    tree = newest.tree() if newest else CompactRange()
    with closing(leaves_after(tenant, tree.size, head.sequence)) as leaves:
        tree.extend(leaves)
    if tree.size != head.sequence:
        raise NotSigned(f"the head says {head.sequence} events, {tree.size} are there")
    if hash_at(tenant, head.sequence) != bytes(head.event_hash):
        raise NotSigned(f"the head doesn't name the hash of event {head.sequence}")
    return make_checkpoint(
        signer=signer,
        tenant=tenant.slug,
        tenant_id=tenant.id,
        head_hash=bytes(head.event_hash),
        tree=tree,
        at=at,
    )


def leaves_after(tenant: Tenant, begun: int, end: int) -> Generator[bytes, None, None]:
    """The leaf hashes of the events above `begun`, up to `end`."""
    with connection.cursor() as cursor, cursor.copy(HASHES, [tenant.id, begun, end]) as copy:
        for event_hash in rows_of_one(copy):
            yield sha256(LEAF + event_hash).digest()


def note(made: Checkpoint, tenant: Tenant) -> None:
    said = {
        "root": made.root,
        "head_hash": made.head_hash,
        "key_id": made.key_id,
        "written_at": datetime.fromisoformat(made.at),
    }
    WrittenCheckpoint.objects.get_or_create(tenant=tenant, sequence=made.sequence, defaults=said)
