from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def seed_system_tenant(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """The chain of events of no tenant must exist before the first of them, after every migrate and flush."""
    from audit.models import SYSTEM_TENANT_ID, SYSTEM_TENANT_SLUG, Tenant

    Tenant.objects.using(using).get_or_create(id=SYSTEM_TENANT_ID, defaults={"slug": SYSTEM_TENANT_SLUG})


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        from audit import checks  # noqa: F401  # registers the check of the guards

        post_migrate.connect(seed_system_tenant, sender=self)
