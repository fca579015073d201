"""The queue is a query: two views that say how each decision-driving finding stands, and what waits for a person.

They are the one place of that rule. The case JSON, the queues and the decisions all read it here. They run with the
rights of whoever asks (`security_invoker`), so row security holds in them.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from audit.operations import Grant

# One row a claim of the case (a finding id, and of whom it says which kind of thing): the newest report's that was
# re-checked with it selected. A newer report that leaves a finding out, clears it, says it of somebody else or came
# with the switch off takes nothing out of the queue.
# `run`: the newest run over that report that was asked for with the switch on. A later run with the switch off
# re-checks nothing, so it lifts nothing either.
# `v`, the verdict in force: that run's own. While the run hasn't ended, the newest earlier one; once it has ended
# without one, none, which counts as indeterminate (unrecorded).
# `forced`: a finding of an advisory report is listed apart, unless an earlier report enforced it.
# `d`: the newest decision on this very text of the finding that was neither taken back nor refused.
STANDING = """
CREATE VIEW reviews_standing WITH (security_invoker = true) AS
SELECT f.id AS finding_id,
       c.tenant_id,
       c.id AS case_id,
       run.id AS run_id,
       v.id AS verdict_id,
       d.id AS decision_id,
       r.received_at,
       f.severity_rank,
       r.id = c.current_report_id AS current,
       NOT r.advisory_only OR EXISTS (
           SELECT FROM verifier_finding before JOIN verifier_report enforcing ON enforcing.id = before.report_id
           WHERE before.case_id = c.id AND before.finding_id = f.finding_id AND before.selected
             AND enforcing.iteration < r.iteration AND NOT enforcing.advisory_only
             AND EXISTS (SELECT FROM verifier_verification asked
                         WHERE asked.case_id = c.id AND asked.report_id = enforcing.id AND asked.correctness_enabled)
       ) AS forced,
       word.verdict,
       word.cause,
       answer.matches AND d.outcome IN ('stands', 'does_not_stand') AND (NOT d.needs_second OR d.approved IS TRUE)
           AS answered,
       answer.matches AND d.needs_second AND d.approved IS NULL AS awaiting_second,
       (word.verdict <> 'confirmed' OR word.cause = 'screening_warning')
           AND NOT (answer.matches AND d.outcome IN ('stands', 'does_not_stand')
                    AND (NOT d.needs_second OR d.approved IS TRUE)) AS open
FROM verifier_case c
JOIN verifier_finding f ON f.case_id = c.id AND f.selected
JOIN verifier_report r ON r.id = f.report_id
JOIN LATERAL (
    SELECT run.id, run.status IN ('finished', 'failed') AS ended
    FROM verifier_verification run
    WHERE run.case_id = c.id AND run.report_id = r.id AND run.correctness_enabled
    ORDER BY run.queued_at DESC, run.id DESC LIMIT 1
) run ON true
LEFT JOIN verifier_findingverdict own ON own.verification_id = run.id AND own.finding_id = f.id
LEFT JOIN LATERAL (
    SELECT earlier.id, earlier.verdict, earlier.cause, earlier.evidence_sha256
    FROM verifier_findingverdict earlier JOIN verifier_verification given ON given.id = earlier.verification_id
    WHERE own.id IS NULL AND NOT run.ended AND earlier.finding_id = f.id
    ORDER BY given.queued_at DESC, given.id DESC LIMIT 1
) earlier ON true
CROSS JOIN LATERAL (
    SELECT coalesce(own.id, earlier.id) AS id,
           coalesce(own.verdict, earlier.verdict) AS verdict,
           coalesce(own.cause, earlier.cause) AS cause,
           coalesce(own.evidence_sha256, earlier.evidence_sha256) AS evidence_sha256
) v
CROSS JOIN LATERAL (
    SELECT CASE WHEN v.id IS NOT NULL THEN v.verdict WHEN run.ended THEN 'indeterminate' ELSE 'pending' END AS verdict,
           CASE WHEN v.id IS NOT NULL THEN v.cause WHEN run.ended THEN 'unrecorded' ELSE '' END AS cause
) word
LEFT JOIN LATERAL (
    SELECT d.id, d.outcome, d.needs_second, d.verdict_id, second.approved,
           named.verdict, named.cause, named.evidence_sha256
    FROM reviews_decision d
    JOIN verifier_finding decided ON decided.id = d.finding_id
    LEFT JOIN reviews_approval second ON second.decision_id = d.id
    LEFT JOIN verifier_findingverdict named ON named.id = d.verdict_id
    WHERE d.case_id = c.id
      AND decided.finding_id = f.finding_id AND decided.content_sha256 = f.content_sha256
      AND second.approved IS NOT FALSE
      AND NOT EXISTS (SELECT FROM reviews_decision later WHERE later.reverses_id = d.id)
    ORDER BY d.decided_at DESC, d.id DESC LIMIT 1
) d ON true
CROSS JOIN LATERAL (
    SELECT d.id IS NOT NULL AND CASE
        WHEN d.verdict_id IS NULL THEN v.id IS NULL AND run.ended
        ELSE coalesce((d.verdict, d.cause, d.evidence_sha256) = (v.verdict, v.cause, v.evidence_sha256), false)
    END AS matches
) answer
WHERE r.id = c.current_report_id OR NOT EXISTS (
    SELECT FROM verifier_finding newer JOIN verifier_report told ON told.id = newer.report_id
    WHERE newer.case_id = c.id AND newer.finding_id = f.finding_id AND newer.selected AND told.iteration > r.iteration
      AND newer.claim_sha256 = f.claim_sha256
      AND EXISTS (SELECT FROM verifier_verification asked
                  WHERE asked.case_id = c.id AND asked.report_id = told.id AND asked.correctness_enabled)
);
"""

WAITING = """
CREATE VIEW reviews_waiting WITH (security_invoker = true) AS
SELECT s.finding_id::text AS id, s.tenant_id, s.case_id, s.finding_id, s.verdict_id, s.decision_id,
       CASE WHEN s.verdict = 'confirmed' THEN 'screening_warning'
            WHEN s.verdict = 'pending' THEN 'verification_pending'
            ELSE 'finding_' || s.verdict END AS reason,
       s.verdict, s.cause, s.awaiting_second, s.forced,
       CASE s.verdict WHEN 'contradicted' THEN 0 WHEN 'unsupported' THEN 1 WHEN 'indeterminate' THEN 2
                      WHEN 'confirmed' THEN 4 WHEN 'pending' THEN 5 ELSE 2 END AS urgency,
       s.severity_rank, s.received_at AS since
FROM reviews_standing s WHERE s.open AND {kept_s}
UNION ALL
SELECT c.id || ':verification_failed', c.tenant_id, c.id, NULL, NULL, NULL,
       'verification_failed', '', '', false, NOT r.advisory_only, 2, 0, r.received_at
FROM verifier_case c
JOIN verifier_report r ON r.id = c.current_report_id
JOIN verifier_verification run
    ON run.case_id = c.id AND run.report_id = r.id AND run.correctness_enabled AND run.status = 'failed'
WHERE NOT EXISTS (
    SELECT FROM verifier_verification newer
    WHERE newer.case_id = c.id AND newer.report_id = r.id AND newer.correctness_enabled
      AND (newer.queued_at, newer.id) > (run.queued_at, run.id)
) AND {kept_c}
UNION ALL
SELECT c.id || ':structural_gate', c.tenant_id, c.id, NULL, NULL, NULL,
       'structural_gate', '', '', false, true, 3, 0, r.received_at
FROM verifier_case c
JOIN verifier_report r ON r.id = c.current_report_id AND r.forces_review
WHERE {kept_c};
"""
# Nothing of an erased case waits for anybody: there is nothing left to look at.
KEPT = "NOT EXISTS (SELECT FROM audit_casekey erased WHERE erased.case_id = {case} AND erased.key IS NULL)"
WAITING = WAITING.format(kept_s=KEPT.format(case="s.case_id"), kept_c=KEPT.format(case="c.id"))

# What the application's own rules say first, the database says last.
CONSTRAINTS = """
ALTER TABLE reviews_decision
    ADD CONSTRAINT decision_author_of_tenant FOREIGN KEY (author_id, tenant_id) REFERENCES reviews_user (id, tenant_id),
    ADD CONSTRAINT decision_says_why CHECK (char_length(btrim(reason)) >= 20),
    ADD CONSTRAINT decision_relies_on_evidence CHECK (
        CASE WHEN jsonb_typeof(evidence) = 'array' THEN jsonb_array_length(evidence) >= 1 ELSE false END),
    ADD CONSTRAINT decision_kind_fits_outcome CHECK (
        CASE outcome WHEN 'needs_more' THEN kind = 'ask_for_more' WHEN 'escalated' THEN kind = 'escalate'
                     ELSE kind IN ('agree', 'override') END);
ALTER TABLE reviews_approval
    ADD CONSTRAINT approval_by_of_tenant FOREIGN KEY (by_id, tenant_id) REFERENCES reviews_user (id, tenant_id),
    ADD CONSTRAINT approval_says_why CHECK (char_length(btrim(reason)) >= 20);
"""
LIFT_CONSTRAINTS = """
ALTER TABLE reviews_approval DROP CONSTRAINT approval_says_why, DROP CONSTRAINT approval_by_of_tenant;
ALTER TABLE reviews_decision DROP CONSTRAINT decision_kind_fits_outcome,
    DROP CONSTRAINT decision_relies_on_evidence, DROP CONSTRAINT decision_says_why,
    DROP CONSTRAINT decision_author_of_tenant;
"""


def reference(to: str, **options: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to=to, **options)


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_guards")]
    operations = [
        migrations.AddConstraint(
            "user", models.UniqueConstraint(fields=["id", "tenant"], name="user_of_tenant")
        ),
        migrations.RunSQL(CONSTRAINTS, LIFT_CONSTRAINTS),
        migrations.RunSQL(STANDING, "DROP VIEW reviews_standing;"),
        migrations.RunSQL(WAITING, "DROP VIEW reviews_waiting;"),
        Grant("reviews_standing", "SELECT"),
        Grant("reviews_waiting", "SELECT"),
        migrations.CreateModel(
            "Standing",
            [
                (
                    "finding",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="standing",
                        serialize=False,
                        to="verifier.finding",
                    ),
                ),
                ("tenant", reference("audit.tenant")),
                ("case", reference("verifier.case")),
                ("run", reference("verifier.verification")),
                ("decision", reference("reviews.decision", null=True)),
                ("verdict_row", reference("verifier.findingverdict", null=True, db_column="verdict_id")),
                ("verdict", models.CharField(max_length=20)),
                ("cause", models.CharField(max_length=40)),
                ("answered", models.BooleanField()),
                ("awaiting_second", models.BooleanField()),
                ("open", models.BooleanField()),
                ("current", models.BooleanField()),
                ("forced", models.BooleanField()),
                ("severity_rank", models.PositiveSmallIntegerField()),
                ("received_at", models.DateTimeField()),
            ],
            {"db_table": "reviews_standing", "managed": False},
        ),
        migrations.CreateModel(
            "Waiting",
            [
                ("id", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("tenant", reference("audit.tenant")),
                ("case", reference("verifier.case")),
                ("finding", reference("verifier.finding", null=True)),
                ("verdict_row", reference("verifier.findingverdict", null=True, db_column="verdict_id")),
                ("decision", reference("reviews.decision", null=True)),
                ("reason", models.CharField(max_length=40)),
                ("verdict", models.CharField(max_length=20)),
                ("cause", models.CharField(max_length=40)),
                ("awaiting_second", models.BooleanField()),
                ("forced", models.BooleanField()),
                ("urgency", models.PositiveSmallIntegerField()),
                ("severity_rank", models.PositiveSmallIntegerField()),
                ("since", models.DateTimeField()),
            ],
            {"db_table": "reviews_waiting", "managed": False},
        ),
    ]
