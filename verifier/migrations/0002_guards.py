from django.db import migrations

from audit.operations import AppendOnly, Grant, TenantIsolation

APPEND_ONLY = ["verifier_report", "verifier_finding", "verifier_screeningrecord", "verifier_findingverdict"]
MOVING = ["verifier_case", "verifier_verification"]


class Migration(migrations.Migration):
    dependencies = [("verifier", "0001_initial"), ("audit", "0002_guards")]
    operations = [
        *[AppendOnly(table) for table in APPEND_ONLY],
        *[Grant(table, "SELECT, INSERT") for table in APPEND_ONLY],
        *[Grant(table, "SELECT, INSERT, UPDATE") for table in MOVING],
        *[TenantIsolation(table) for table in APPEND_ONLY + MOVING],
        Grant("verifier_apikey", "SELECT, INSERT, UPDATE"),
        Grant("verifier_switch", "SELECT, INSERT, UPDATE"),
    ]
