"""What the trail holds of a verdict, and the rows that `verify_trail` compares with it."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from audit.chain import canonical
from audit.log import Recorded
from verifier.models import Case, FindingVerdict

MOST_FOUND = 200


def verdict_details(verdict: FindingVerdict) -> dict[str, Any]:
    """The verdict without names and quotes; a hash stands for what can hold them."""
    return {
        "verdict_id": str(verdict.id),
        "verification_id": str(verdict.verification_id),
        "finding_id": verdict.finding.finding_id,
        "material_type": verdict.finding.material_type or None,
        "verdict": str(verdict.verdict),
        "cause": str(verdict.cause),
        "provider": verdict.provider,
        "evidence_sha256": verdict.evidence_sha256,
        "model": verdict.model,
        "prompt_id": verdict.prompt_id,
        "prompt_sha256": verdict.prompt_sha256,
        "duration_ms": verdict.duration_ms,
        "slot_wait_ms": verdict.slot_wait_ms,
        "simulated": verdict.simulated,
        "content_sha256": content_sha256(verdict),
    }


def content_sha256(verdict: FindingVerdict) -> str:
    """Of what the row holds beyond this: its sentence, its quote and its stored evidence."""
    held = {"reason": verdict.reason, "quote": verdict.quote, "evidence": verdict.evidence}
    return hashlib.sha256(canonical(held).encode()).hexdigest()


def verdict_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """Every verdict of a tenant as its event must show it, in the order of the events' ids."""
    rows = FindingVerdict.objects.select_related("finding").filter(tenant_id=tenant_id).order_by("event_id")
    for verdict in rows.iterator(chunk_size=500):
        yield Recorded(verdict.event_id, verdict_details(verdict))


def references_of(tenant_id: UUID, case_ids: Iterable[UUID]) -> dict[UUID, str]:
    """What people call these cases, for the pages of the trail."""
    return dict(Case.objects.filter(tenant_id=tenant_id, id__in=list(case_ids)).values_list("id", "report_id"))


def find_cases(tenant_id: UUID, text: str) -> Iterable[UUID]:
    """The newest cases whose reference holds `text`."""
    found = Case.objects.filter(tenant_id=tenant_id, report_id__icontains=text).order_by("-created_at", "-id")
    return found.values_list("id", flat=True)[:MOST_FOUND]
