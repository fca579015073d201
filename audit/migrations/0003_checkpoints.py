import django.db.models.deletion
from django.db import migrations, models

from audit.operations import AppendOnly, Grant, TenantIsolation

TABLE = "audit_writtencheckpoint"


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_guards")]
    operations = [
        migrations.CreateModel(
            name="WrittenCheckpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("sequence", models.BigIntegerField()),
                ("root", models.BinaryField()),
                ("head_hash", models.BinaryField()),
                ("key_id", models.CharField(max_length=16)),
                ("written_at", models.DateTimeField()),
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
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "sequence"), name="checkpoint_one_per_sequence")
                ],
            },
        ),
        migrations.AddIndex(
            "auditevent",
            models.Index(
                fields=["tenant", "-recorded_at", "-id"],
                name="audit_event_verified",
                condition=models.Q(event_type="trail_verified"),
            ),
        ),
        AppendOnly(TABLE),
        Grant(TABLE, "SELECT, INSERT"),
        TenantIsolation(TABLE, also="tenant_id = '00000000-0000-4000-8000-000000000001'"),
    ]
