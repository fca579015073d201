from django.db import migrations

from audit.models import SYSTEM_TENANT_ID
from audit.operations import AppendOnly, Grant, SealAtCommit, TenantIsolation

ON_SYSTEM = f"tenant_id = '{SYSTEM_TENANT_ID}'"


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [
        SealAtCommit(),
        AppendOnly("audit_tenant"),
        AppendOnly("audit_auditevent"),
        AppendOnly("audit_auditseal"),
        Grant("audit_tenant", "SELECT, INSERT"),
        Grant("audit_auditevent", "SELECT, INSERT"),
        Grant("audit_auditseal", "SELECT"),
        Grant("audit_chainhead", "SELECT"),
        Grant("django_migrations", "SELECT"),
        # Events of no tenant are written from any request and read by auditors and admins of every tenant.
        TenantIsolation("audit_auditevent", also=ON_SYSTEM),
        TenantIsolation("audit_auditseal", also=ON_SYSTEM),
    ]
