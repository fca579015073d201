"""A case as it was reported. Nothing here is ever edited by a check."""

import uuid

from django.db import models

from audit.models import Tenant


class Case(models.Model):
    """One `report_id` of a tenant through all its iterations. The subject's name and the two `current_*` pointers
    follow the newest report, the rest stays.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+")
    report_id = models.CharField(max_length=200)
    subject_name = models.CharField(max_length=500)
    created_at = models.DateTimeField()
    current_report = models.ForeignKey("Report", null=True, on_delete=models.PROTECT, related_name="+")
    current_verification = models.ForeignKey("Verification", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "report_id"], name="case_one_per_report_id")]
        indexes = [models.Index(fields=["tenant", "created_at", "id"], name="case_recent")]

    def __str__(self) -> str:
        return self.report_id


class SearchText(models.Model):
    """What a case is found by: the ids, names, numbers and words of findings of all its reports, folded by
    `domain.search`.
    """

    case = models.OneToOneField(Case, primary_key=True, on_delete=models.PROTECT, related_name="search_text")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        return f"what {self.case_id} is found by"


class Report(models.Model):
    """The bytes as received, one row an iteration. Append-only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="reports")
    iteration = models.PositiveIntegerField()
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    subject = models.TextField()  # the JSON text of `subject`, as received
    quality_gate = models.TextField()  # the JSON text of `quality_gate`, as received; "{}" when absent
    advisory_only = models.BooleanField()
    forces_review = models.BooleanField()  # the structural gate's own word
    corroboration_labels = models.BooleanField()  # whether its findings were labelled (ADR-0151's switch at intake)
    received_at = models.DateTimeField()
    received_by = models.CharField(max_length=200)
    event_id = models.UUIDField(unique=True)  # its `report_received` event

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "iteration"], name="report_one_per_iteration")]

    def __str__(self) -> str:
        return f"{self.case} r{self.iteration}"


class Finding(models.Model):
    """One finding of one report: its JSON text as received, and what selection and labels say of it. Append-only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="findings", db_index=False)
    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="findings", db_index=False)
    position = models.PositiveIntegerField()  # its place in the report, from 0
    finding_id = models.CharField(max_length=200)  # the report's own `id`
    title = models.TextField()
    severity = models.CharField(max_length=100)  # as spelled in the report
    severity_rank = models.PositiveSmallIntegerField()  # 0 is the most severe
    content = models.TextField()  # the finding's JSON text as received
    content_sha256 = models.CharField(max_length=64)
    selected = models.BooleanField()
    selection_why = models.CharField(max_length=40)
    material_type = models.CharField(max_length=40, blank=True)
    lane = models.CharField(max_length=40, default="subject")  # subject | unverified_candidate
    two_persons = models.BooleanField(default=True)  # whether one officer alone can't set it aside
    claim_sha256 = models.CharField(max_length=64, default="")  # of whom it says which kind of thing
    recheck_position = models.PositiveIntegerField(null=True)  # its place among the selected, in the order of re-checks
    source_trust = models.FloatField(null=True)
    corroboration_group = models.CharField(max_length=64, default="")  # of those that say the same; "": without labels
    corroboration_count = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "position"], name="finding_one_per_position"),
            models.UniqueConstraint(fields=["report", "finding_id"], name="finding_one_per_id"),
        ]
        indexes = [models.Index(fields=["case", "finding_id"], name="finding_of_case")]

    def __str__(self) -> str:
        return f"{self.finding_id}: {self.title[:60]}"
