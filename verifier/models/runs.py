"""Runs of the re-check and what they found. A verdict is never edited; a new run adds new ones."""

import uuid

from django.db import models

from audit.models import Tenant
from verifier.models.cases import Case, Finding, Report


class Verification(models.Model):
    """One run over one report. The queued row is the outbox: the relay hands it to a worker.

    Running means: a worker holds the advisory lock of this row. Running without the lock: its worker died.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Waiting to start"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="verifications")
    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="verifications", db_index=False)
    status = models.CharField(max_length=10, choices=Status.choices)
    correctness_enabled = models.BooleanField()  # the switch when the run was asked for
    requested_by = models.CharField(max_length=200)
    queued_at = models.DateTimeField()
    handed_over_at = models.DateTimeField(null=True)  # when the relay gave it to the broker
    started_at = models.DateTimeField(null=True)  # the first start; the 300 s count from here
    finished_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    working_on = models.ForeignKey(Finding, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    working_since = models.DateTimeField(null=True)
    failure = models.CharField(max_length=200, blank=True)  # exception class, never its text

    class Meta:
        indexes = [
            models.Index(
                fields=["queued_at"],
                name="verification_outbox",
                condition=models.Q(status__in=["queued", "running"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.case_id} {self.status}"

    @property
    def ended(self) -> bool:
        return self.status in {self.Status.FINISHED, self.Status.FAILED}


class ScreeningRecord(models.Model):
    """One screening answer exactly as interpreted, verdict or not. Append-only; a verdict creates none."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="screenings")
    verification = models.ForeignKey(Verification, on_delete=models.PROTECT, related_name="screenings", db_index=False)
    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="screenings", db_index=False)
    provider = models.CharField(max_length=40)
    status = models.CharField(max_length=20)  # hit | warning | other_listing | near_miss | clear | error
    answer = (
        models.JSONField()
    )  # request, listings, near misses, not_used, scope, algorithm, thresholds; see domain.answers
    simulated = models.BooleanField()
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.provider}: {self.status}"


class FindingVerdict(models.Model):
    """What one run says of one finding. Append-only, one per run and finding, written with its event."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="verdicts")
    verification = models.ForeignKey(Verification, on_delete=models.PROTECT, related_name="verdicts", db_index=False)
    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="verdicts")
    verdict = models.CharField(max_length=20)
    cause = models.CharField(max_length=40)
    reason = models.TextField()  # one plain sentence
    provider = models.CharField(max_length=100, blank=True)  # who answered; comma-separated when several did
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()  # without waiting for a slot
    slot_wait_ms = models.PositiveIntegerField(default=0)
    evidence = models.JSONField()  # what was asked and what came back; see domain.answers
    evidence_sha256 = models.CharField(max_length=64)  # of what matters in it: not order, score, request id or time
    quote = models.TextField(blank=True)
    model = models.CharField(max_length=200, null=True)
    prompt_id = models.CharField(max_length=100, null=True)
    prompt_sha256 = models.CharField(max_length=64, null=True)
    simulated = models.BooleanField()
    recorded_at = models.DateTimeField()
    event_id = models.UUIDField(unique=True)  # its `finding_correctness_verified` event

    class Meta:
        constraints = [models.UniqueConstraint(fields=["verification", "finding"], name="verdict_one_per_run")]
        # Every page says when answers are simulated; where none is, this is empty and costs nothing.
        indexes = [
            models.Index(fields=["tenant"], name="verdict_simulated", condition=models.Q(simulated=True)),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} ({self.cause})"
