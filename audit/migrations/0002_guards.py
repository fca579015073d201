from django.db import migrations

from audit.models import SYSTEM_TENANT_ID
from audit.moves import OnlyMoves
from audit.operations import AppendOnly, Grant, SealAtCommit, TenantIsolation

ON_SYSTEM = f"tenant_id = '{SYSTEM_TENANT_ID}'"


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [
        SealAtCommit(),
        AppendOnly("audit_tenant"),
        AppendOnly("audit_auditevent"),
        AppendOnly("audit_auditseal"),
        OnlyMoves(
            "audit_casekey",
            fixed=["case_id", "tenant_id", "created_at"],
            rule="OLD.key IS NOT NULL AND NEW.key IS NULL",  # destroyed, once
        ),
        Grant("audit_tenant", "SELECT, INSERT"),
        Grant("audit_auditevent", "SELECT, INSERT"),
        Grant("audit_auditseal", "SELECT"),
        Grant("audit_chainhead", "SELECT"),
        Grant("audit_casekey", "SELECT, INSERT"),
        Grant("django_migrations", "SELECT"),
        # Events of no tenant are written from any request and read by auditors and admins of every tenant.
        TenantIsolation("audit_auditevent", also=ON_SYSTEM),
        TenantIsolation("audit_auditseal", also=ON_SYSTEM),
        TenantIsolation("audit_casekey"),
    ]
