"""The trail's tables. Plain ids, no foreign keys out: the trail never blocks or breaks live data."""

import uuid

from django.db import models
from django.db.models.functions import Now

SYSTEM_TENANT_ID = uuid.UUID("00000000-0000-4000-8000-000000000001")
SYSTEM_TENANT_SLUG = "system"

# The event types of which there are thousands where there is one of any other.
EVERYDAY = (
    "report_received",
    "verification_queued",
    "verification_started",
    "verification_finished",
    "finding_correctness_verified",
    "case_viewed",
)


class Tenant(models.Model):
    """A customer whose data and trail stand apart. Insert-only. `system` holds events of no tenant."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.slug


class ActorType(models.TextChoices):
    PERSON = "person", "Person"
    SYSTEM = "system", "System"
    KEY = "key", "API key"
    CLOCK = "clock", "Timer"  # a schedule began it, not a person and not a message


class AuditEvent(models.Model):
    """What happened, as canonical JSON in `body`; the columns beside it only repeat parts of it for search.

    Appended by `audit.log.record` and by nothing else; the database refuses UPDATE, DELETE and TRUNCATE.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Its tenant's head refers to the tenant; a check here, for every event, would only say so again.
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    event_type = models.CharField(max_length=80)
    actor = models.CharField(max_length=200)
    actor_type = models.CharField(max_length=10, choices=ActorType.choices)
    case_id = models.UUIDField(null=True)
    # What it is about in a word: a finding, a key, a switch. Empty for a case's events, which keep theirs sealed.
    subject = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=40, blank=True, db_default="")  # the word that came out, never a sentence
    # The database's clock; a trigger overwrites whatever a writer sends.
    recorded_at = models.DateTimeField(db_default=models.Func(function="clock_timestamp"), editable=False)
    body = models.TextField()
    sealed = models.BinaryField(null=True)  # of a case's event: its subject and details under the case's key

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "recorded_at", "id"], name="audit_event_recent"),
            models.Index(fields=["tenant", "actor", "recorded_at", "id"], name="audit_event_actor"),
            models.Index(fields=["case_id", "recorded_at", "id"], name="audit_event_case"),
            # Every page and `/readyz` ask for the last of these.
            models.Index(
                fields=["tenant", "-recorded_at", "-id"],
                name="audit_event_verified",
                condition=models.Q(event_type="trail_verified"),
            ),
            # For the trail's filters, newest first. What comes with every report and every reading is found quickly
            # among the recent; an index of it all would cost each append and gain nothing.
            models.Index(
                fields=["tenant", "event_type", "recorded_at", "id"],
                name="audit_event_rarer",
                condition=~models.Q(event_type__in=EVERYDAY),
            ),
            models.Index(
                fields=["tenant", "outcome", "recorded_at", "id"],
                name="audit_event_outcome",
                condition=~models.Q(outcome=""),
            ),
            models.Index(
                fields=["tenant", "recorded_at", "id"], name="audit_event_subject", condition=~models.Q(subject="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} by {self.actor}"


class CaseKey(models.Model):
    """The key of all that a case's events say of people. Destroying it, once and by the owner only, erases that."""

    case_id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    key = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    destroyed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(key__isnull=False, destroyed_at=None)
                | models.Q(key=None, destroyed_at__isnull=False),
                name="case_key_or_destroyed",
            )
        ]
        # Whether a case is erased is asked wherever its rows come in or wait: this is empty until the first erasure.
        indexes = [models.Index(fields=["case_id"], name="case_key_destroyed", condition=models.Q(key=None))]

    def __str__(self) -> str:
        return f"key of case {self.case_id}"


class AuditSeal(models.Model):
    """The event's place in its tenant's chain, written by the database at commit under the tenant's lock."""

    # Written by the sealing trigger alone, from the event itself: nothing to check once more.
    event = models.OneToOneField(
        AuditEvent, on_delete=models.PROTECT, primary_key=True, related_name="seal", db_constraint=False
    )
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    sequence = models.BigIntegerField()
    previous_hash = models.BinaryField()
    event_hash = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "sequence"], name="audit_seal_sequence"),
            models.UniqueConstraint(fields=["tenant", "previous_hash"], name="audit_seal_no_fork"),
        ]

    def __str__(self) -> str:
        return f"#{self.sequence}"


class WrittenCheckpoint(models.Model):
    """That a checkpoint was signed and kept, for pages to list. The checkpoint itself stands outside the database."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    sequence = models.BigIntegerField()
    root = models.BinaryField()
    head_hash = models.BinaryField()
    key_id = models.CharField(max_length=16)
    written_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "sequence"], name="checkpoint_one_per_sequence")]

    def __str__(self) -> str:
        return f"checkpoint at #{self.sequence}"


class TrailExport(models.Model):
    """That somebody asked for an export on a page, and what became of it. It ends once; its file is kept for a day."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case_id = models.UUIDField(null=True)  # None: the whole trail
    asked_by = models.CharField(max_length=150)
    asked_role = models.CharField(max_length=20)
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, default="")  # why there is none, in a sentence
    events = models.BigIntegerField(default=0)
    unreadable = models.BigIntegerField(default=0)  # of which the content can't be read, and no erasure is why
    bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")  # of the file

    class Meta:
        indexes = [models.Index(fields=["tenant", "-asked_at", "-id"], name="export_newest")]

    def __str__(self) -> str:
        return f"export of {self.tenant_id}"


class ChainHead(models.Model):
    """The last link of a tenant's chain; its row lock orders the seals. Written by the database only."""

    tenant = models.OneToOneField(Tenant, on_delete=models.PROTECT, primary_key=True, related_name="+")
    sequence = models.BigIntegerField()
    previous_hash = models.BinaryField()  # empty before the first event
    event_hash = models.BinaryField()

    def __str__(self) -> str:
        return f"head of {self.tenant_id} at #{self.sequence}"
