from django.db import migrations

from audit.moves import AppendOnlyUntilErased, OfKeptCase, OnlyMoves
from audit.operations import Grant, TenantIsolation

# What takes the place of a report's and an answer's words when their case is erased (`manage.py erase_case`).
WORDS = {
    "verifier_report": {
        "content": "''::bytea",
        "sha256": "''",
        "subject": "'{\"name\":\"erased\"}'",
        "quality_gate": "'{}'",
    },
    "verifier_finding": {
        "content": "'{}'",
        "content_sha256": "''",
        "claim_sha256": "''",
        "corroboration_group": "''",
        "title": "'erased'",
    },
    "verifier_screeningrecord": {"answer": "'{}'"},
    "verifier_findingverdict": {"evidence": "'{}'", "quote": "''", "reason": "'erased'"},
}
MOVING = ["verifier_case", "verifier_verification"]
# A newer report of the same case, a run of the same case; the name follows the report.
NEXT_REPORT = """
    (
        NEW.current_report_id IS NOT DISTINCT FROM OLD.current_report_id AND NEW.subject_name = OLD.subject_name
        OR EXISTS (
            SELECT FROM verifier_report newer
            WHERE newer.id = NEW.current_report_id AND newer.case_id = NEW.id AND newer.iteration > coalesce(
                (SELECT iteration FROM verifier_report WHERE id = OLD.current_report_id), 0
            )
        )
    ) AND (
        NEW.current_verification_id IS NOT DISTINCT FROM OLD.current_verification_id
        OR EXISTS (
            SELECT FROM verifier_verification run
            WHERE run.id = NEW.current_verification_id AND run.case_id = NEW.id AND run.report_id = NEW.current_report_id
        )
    )
"""
UNTIL_ITS_END = """
    OLD.status NOT IN ('finished', 'failed')
    AND (OLD.started_at IS NULL OR NEW.started_at IS NOT DISTINCT FROM OLD.started_at)
    AND (OLD.finished_at IS NULL OR NEW.finished_at IS NOT DISTINCT FROM OLD.finished_at)
"""
KEY = ["id", "tenant_id", "label", "scopes", "token_sha256", "hint", "created_at", "created_by"]


class Migration(migrations.Migration):
    dependencies = [("verifier", "0001_initial"), ("audit", "0002_guards")]
    operations = [
        *[AppendOnlyUntilErased(table, blanks=blanks) for table, blanks in WORDS.items()],
        # A finding comes in with its report only.
        *[OfKeptCase(table) for table in WORDS if table != "verifier_finding"],
        OnlyMoves(
            "verifier_case",
            fixed=["id", "tenant_id", "report_id", "created_at"],
            rule=NEXT_REPORT,
            blanks={"subject_name": "'erased'"},
            case="OLD.id",
        ),
        OnlyMoves(
            "verifier_verification",
            fixed=["id", "tenant_id", "case_id", "report_id", "correctness_enabled", "requested_by", "queued_at"],
            rule=UNTIL_ITS_END,
        ),
        OnlyMoves("verifier_apikey", fixed=KEY, rule="OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL"),
        *[Grant(table, "SELECT, INSERT") for table in WORDS],
        *[Grant(table, "SELECT, INSERT, UPDATE") for table in MOVING],
        *[TenantIsolation(table) for table in [*WORDS, *MOVING]],
        Grant("verifier_apikey", "SELECT, INSERT, UPDATE"),
        Grant("verifier_switch", "SELECT, INSERT, UPDATE"),
    ]
