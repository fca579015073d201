import uuid

import django.db.models.deletion
from django.db import migrations, models

from audit.models import SYSTEM_TENANT_ID
from audit.moves import OnlyMoves
from audit.operations import Grant, TenantIsolation

TABLE = "audit_trailexport"


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_trail_indexes")]
    operations = [
        migrations.CreateModel(
            name="TrailExport",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("case_id", models.UUIDField(null=True)),
                ("asked_by", models.CharField(max_length=150)),
                ("asked_role", models.CharField(max_length=20)),
                ("asked_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("problem", models.TextField(blank=True, default="")),
                ("events", models.BigIntegerField(default=0)),
                ("unreadable", models.BigIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, default="", max_length=64)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.tenant",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "-asked_at", "-id"], name="export_newest")],
            },
        ),
        OnlyMoves(
            TABLE,
            fixed=["id", "tenant_id", "case_id", "asked_by", "asked_role", "asked_at"],
            rule="OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL",  # ended, once
        ),
        Grant(TABLE, "SELECT, INSERT, UPDATE"),
        TenantIsolation(TABLE, also=f"tenant_id = '{SYSTEM_TENANT_ID}'"),
    ]
