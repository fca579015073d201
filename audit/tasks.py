"""What the clock does for the trail."""

import logging

from celery import shared_task
from django.utils import timezone

from audit import exporting, notary, watch
from audit.log import EVERY_TENANT, tenant_scope
from audit.models import ActorType, Tenant, TrailExport
from audit.signing import UnusableKey

logger = logging.getLogger(__name__)


@shared_task
def write_checkpoints() -> None:
    """One tenant's failure keeps none of the others back; what is wrong with a trail, verification names."""
    for tenant in Tenant.objects.order_by("slug"):
        try:
            notary.write_checkpoint(tenant=tenant, at=timezone.now())
        except (notary.NotSigned, UnusableKey, OSError) as problem:
            logger.error("no checkpoint: tenant=%s: %s", tenant.slug, problem)


@shared_task
def verify_now(*, tenant_ids: list[str], actor: str, actor_role: str) -> None:
    """Verifies these trails because a person asked; while another verification runs, that one is the answer."""
    tenants = list(Tenant.objects.filter(id__in=tenant_ids))
    watch.verify_all(
        clock=timezone.now, tenants=tenants, actor=actor, actor_type=ActorType.PERSON, actor_role=actor_role
    )


@shared_task
def verify_trails() -> None:
    """Verifies each trail that is due and records the result on it; while another verification runs, nothing."""
    watch.verify_due(clock=timezone.now)


@shared_task
def write_export(*, export_id: str) -> None:
    """Writes the export that a person asked for."""
    with tenant_scope(EVERY_TENANT):
        export = TrailExport.objects.select_related("tenant").get(id=export_id)
    exporting.make_export(export, timezone.now())


@shared_task
def forget_exports() -> None:
    """Removes exports' files that were kept long enough."""
    exporting.forget_exports(timezone.now())
