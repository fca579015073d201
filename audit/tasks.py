"""What the clock does for the trail."""

import logging

from celery import shared_task
from django.utils import timezone

from audit import notary, watch
from audit.models import ActorType, Tenant
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
