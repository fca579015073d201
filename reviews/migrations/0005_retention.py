import uuid

import django.db.models.deletion
from django.db import migrations, models

from audit.moves import AppendOnlyUntilErased, OfKeptCase
from audit.operations import Grant, TenantIsolation

TABLE = "reviews_retentionrecord"


class Migration(migrations.Migration):
    dependencies = [("reviews", "0004_by_officers")]
    operations = [
        migrations.CreateModel(
            name="RetentionRecord",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("relationship_ended", "End of the relationship, or refusal"),
                            ("legal_hold_set", "Legal hold"),
                            ("legal_hold_lifted", "Legal hold lifted"),
                        ],
                        max_length=20,
                    ),
                ),
                ("ended_on", models.DateField(null=True)),
                ("reason", models.TextField()),
                ("by", models.CharField(max_length=200)),
                ("recorded_at", models.DateTimeField()),
                ("event_id", models.UUIDField(unique=True)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="retention_records",
                        to="verifier.case",
                    ),
                ),
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
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="retention_has_reason"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_on__isnull", False), ("kind", "relationship_ended")),
                            models.Q(
                                ("ended_on", None), ("kind__in", ["legal_hold_set", "legal_hold_lifted"])
                            ),
                            _connector="OR",
                        ),
                        name="retention_end_has_its_day",
                    ),
                ],
            },
        ),
        AppendOnlyUntilErased(TABLE, blanks={"reason": "'erased'"}),
        OfKeptCase(TABLE),
        Grant(TABLE, "SELECT, INSERT"),
        TenantIsolation(TABLE),
    ]
