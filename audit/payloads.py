"""Holds what a case's events keep sealed against what the chain says of it.

The database hashes each ciphertext itself; where the case's key is there, the content is opened and its commitment
computed anew. A destroyed key is an erasure only when the chain says so.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connection

from audit.chain import Break, Kind
from audit.sealed import ERASED, UNREADABLE, Revealed, reveal

# A sealed event's body ends so, at a fixed length: its keys are sorted, and no writer's words stand behind `sealed`.
SEALED = """
SELECT s.sequence, e.id, e.case_id, e.sealed,
       coalesce(ending.fits AND substring(ending.text FROM 102 FOR 64) = encode(sha256(e.sealed), 'hex'), false),
       substring(ending.text FROM 26 FOR 64), k.case_id IS NOT NULL, k.key
FROM audit_auditevent e
CROSS JOIN LATERAL (SELECT right(e.body, 238) AS text) tail
CROSS JOIN LATERAL (
    SELECT tail.text, tail.text LIKE
        ',"sealed":{"commitment":"' || repeat('_', 64) || '","sha256":"' || repeat('_', 64)
        || '"},"subject":"","tenant_id":"' || repeat('_', 36) || '","v":2}' AS fits
) ending
LEFT JOIN audit_auditseal s ON s.event_id = e.id
LEFT JOIN audit_casekey k ON k.case_id = e.case_id AND k.tenant_id = e.tenant_id
WHERE e.tenant_id = %s AND (e.sealed IS NOT NULL OR ending.fits)
"""
ERASURES = """
SELECT coalesce(said.case_id, k.case_id), said.sequence, (
    SELECT min(s.sequence) FROM audit_auditevent e JOIN audit_auditseal s ON s.event_id = e.id
    WHERE e.case_id = k.case_id AND e.tenant_id = k.tenant_id
)
FROM (
    SELECT e.case_id, min(s.sequence) AS sequence FROM audit_auditevent e JOIN audit_auditseal s ON s.event_id = e.id
    WHERE e.tenant_id = %(tenant)s AND e.event_type = 'case_erased' GROUP BY e.case_id
) said
FULL JOIN (SELECT * FROM audit_casekey WHERE tenant_id = %(tenant)s AND key IS NULL) k ON k.case_id = said.case_id
WHERE said.case_id IS NULL OR k.case_id IS NULL
"""


def first_unsound(tenant_id: UUID) -> Break | None:
    """The earliest sealed content, or key, that is not what the chain says."""
    found = [*wrong_contents(tenant_id), *wrong_erasures(tenant_id)]
    return min(found, key=lambda wrong: (wrong.sequence is None, wrong.sequence or 0), default=None)


def wrong_contents(tenant_id: UUID) -> list[Break]:
    """The earliest one, or none: memory stays the same however many there are."""
    earliest: Break | None = None
    for sequence, detail in differences(tenant_id):
        if earliest is None or earliest.sequence is None or (sequence is not None and sequence < earliest.sequence):
            earliest = Break(Kind.PAYLOAD_CHANGED, sequence, detail)
    return [earliest] if earliest else []


def differences(tenant_id: UUID) -> Iterator[tuple[int | None, str]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(SEALED, [tenant_id])
        for sequence, *stored in cursor:
            detail = difference(*stored)
            if detail is not None:
                yield sequence, detail


def difference(
    event_id: UUID, case_id: UUID, sealed: Any, hash_agrees: bool, commitment: str, key_is_there: bool, key: Any
) -> str | None:
    """In words, what is wrong with one sealed content."""
    if sealed is None:
        return "the sealed content is gone"
    if not hash_agrees:
        return "the sealed content doesn't give the hash that the chain holds"
    if not key_is_there:
        return f"the key of case {case_id} is gone without an erasure"
    revealed = reveal(ERASED if key is None else bytes(key), event_id, sealed)
    if revealed is ERASED:
        return None
    if revealed is UNREADABLE:
        return f"the key of case {case_id} doesn't open the sealed content"
    assert isinstance(revealed, Revealed)
    if revealed.commitment() != commitment:
        return "the opened content doesn't give the commitment that the chain holds"
    return None


def wrong_erasures(tenant_id: UUID) -> list[Break]:
    """A key that was destroyed without a word in the chain, or one that the chain says is destroyed and isn't."""
    with connection.cursor() as cursor:
        cursor.execute(ERASURES, {"tenant": tenant_id})
        return [wrong_erasure(*row) for row in cursor.fetchall()]


def wrong_erasure(case_id: UUID, said: int | None, first: int | None) -> Break:
    if said is None:
        return Break(Kind.ROW_DISAGREES, first, f"the key of case {case_id} was destroyed, and no erasure is recorded")
    return Break(Kind.ROW_DISAGREES, said, f"case {case_id} was erased, but its key is not destroyed")
