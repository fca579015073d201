"""People and what they decide. A decision is a new row that names the verdict it answers; none is ever edited."""

import hashlib
import uuid
from typing import ClassVar

from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models, transaction
from django.utils import timezone

from audit.log import record, tenant_scope
from audit.models import ActorType, Tenant
from verifier.models import Case, Finding, FindingVerdict, Verification

PERMISSIONS = {
    "officer": {"reviews.decide", "reviews.submit_report", "reviews.view_cases", "reviews.request_recheck"},
    "admin": {
        "reviews.administer",
        "reviews.submit_report",
        "reviews.view_cases",
        "reviews.request_recheck",
        "audit.view_trail",
        "audit.view_system_trail",
    },
    "auditor": {"reviews.view_cases", "audit.view_trail", "audit.view_system_trail"},
}


class User(AbstractBaseUser):
    """A person of one tenant in one role. Names are unique in the installation, so sign-in needs no tenant."""

    class Role(models.TextChoices):
        OFFICER = "officer", "Officer"
        ADMIN = "admin", "Admin"
        AUDITOR = "auditor", "Auditor"

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+")
    username = models.CharField(max_length=150, unique=True)
    display_name = models.CharField(max_length=150)
    role = models.CharField(max_length=10, choices=Role.choices)
    trained_at = models.DateField(null=True)  # last training in the use of this tool (AI Act, Article 26(2))
    is_active = models.BooleanField(default=True)
    must_change_password = models.BooleanField(default=False)  # somebody else knows it
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[BaseUserManager["User"]] = BaseUserManager()  # type: ignore[assignment]

    class Meta:
        # What an author refers to: nobody can decide for another tenant.
        constraints = [models.UniqueConstraint(fields=["id", "tenant"], name="user_of_tenant")]

    def __str__(self) -> str:
        return self.display_name

    @property
    def password_fingerprint(self) -> str:
        """SHA-256 of the stored hash, hex: it tells a changed one. Salt and hash have more randomness than anybody can
        try out, so neither they nor the password follow from it.
        """
        return hashlib.sha256(self.password.encode()).hexdigest()

    def check_password(self, raw_password: str | None) -> bool:
        """As Django's, except that storing it anew, with a hasher's newer parameters, is an event."""
        return check_password(raw_password, self.password, self.hash_anew)

    def hash_anew(self, raw_password: str) -> None:
        self.set_password(raw_password)
        with tenant_scope(self.tenant_id), transaction.atomic():
            self.save(update_fields=["password"])
            record(
                tenant_id=self.tenant_id,
                event_type="password_rehashed",
                actor=self.username,
                actor_type=ActorType.SYSTEM,
                actor_role=self.role,
                subject=self.username,
                details={"user_id": self.pk, "password_fingerprint": self.password_fingerprint},
                at=timezone.now(),
            )

    def has_perm(self, permission: str, obj: object = None) -> bool:
        return self.is_active and permission in PERMISSIONS[self.role]


class Decision(models.Model):
    """What an officer says of a finding under one verdict. Append-only."""

    class Kind(models.TextChoices):
        AGREE = "agree", "Agree"
        OVERRIDE = "override", "Override"
        ASK_FOR_MORE = "ask_for_more", "Ask for more"
        ESCALATE = "escalate", "Escalate"

    class Outcome(models.TextChoices):
        STANDS = "stands", "Stands"
        DOES_NOT_STAND = "does_not_stand", "Does not stand"
        NEEDS_MORE = "needs_more", "More is needed"
        ESCALATED = "escalated", "Escalated"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="decisions")
    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.ForeignKey(FindingVerdict, null=True, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    outcome = models.CharField(max_length=20, choices=Outcome.choices)
    reason_code = models.CharField(max_length=40)
    reason = models.TextField()
    evidence = models.JSONField()  # what the officer relied on, as shown
    needs_second = models.BooleanField()
    reverses = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="reversed_by")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()
    form_token = models.UUIDField(unique=True)  # the form that was sent: sent twice, recorded once
    event_id = models.UUIDField(unique=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(reason="") & ~models.Q(reason_code=""), name="decision_has_reason"
            ),
            models.UniqueConstraint(fields=["id", "author"], name="decision_author"),  # what an approval refers to
        ]

    def __str__(self) -> str:
        return f"{self.finding}: {self.outcome}"


class Approval(models.Model):
    """A second person's word on a decision: never its author's (the database refuses that). Append-only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="approval")
    decision_author = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+"
    )  # composite key to the decision
    approved = models.BooleanField()  # False: the second person refused it
    reason = models.TextField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    approved_at = models.DateTimeField()
    event_id = models.UUIDField(unique=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(by=models.F("decision_author")), name="approval_by_another_person"
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="approval_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{'approved' if self.approved else 'refused'}: {self.decision}"


class RetentionRecord(models.Model):
    """From when a case's time of keeping counts, and whether the law holds it. Append-only; the newest word counts."""

    class Kind(models.TextChoices):
        ENDED = "relationship_ended", "End of the relationship, or refusal"
        HELD = "legal_hold_set", "Legal hold"
        LIFTED = "legal_hold_lifted", "Legal hold lifted"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="retention_records")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    ended_on = models.DateField(null=True)  # of an end: the day of it
    reason = models.TextField()
    by = models.CharField(max_length=200)
    recorded_at = models.DateTimeField()
    event_id = models.UUIDField(unique=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="retention_has_reason"),
            models.CheckConstraint(
                condition=models.Q(kind="relationship_ended", ended_on__isnull=False)
                | models.Q(kind__in=["legal_hold_set", "legal_hold_lifted"], ended_on=None),
                name="retention_end_has_its_day",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.case}"


class Claim(models.Model):
    """Who works on a case just now; it lapses by itself. The one mutable row here: it decides nothing."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    case = models.OneToOneField(Case, on_delete=models.CASCADE, primary_key=True, related_name="claim")
    holder = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.case} held by {self.holder}"


class Standing(models.Model):
    """How each decision-driving finding of a case stands: a view, and the one place of that rule.

    One a claim (a finding id, and of whom it says which kind of thing), that of the newest report which had it
    re-checked: `current` is false for what a newer report no longer holds as a finding to re-check, which stays where
    it was. A finding has none where no run with the switch on was ever asked for. `verdict` is one of the four words
    (an unrecorded one is indeterminate) or `pending`; `open`: it needs a person, and no valid decision answers it.
    """

    finding = models.OneToOneField(Finding, primary_key=True, on_delete=models.DO_NOTHING, related_name="standing")
    tenant = models.ForeignKey(Tenant, on_delete=models.DO_NOTHING, related_name="+")
    case = models.ForeignKey(Case, on_delete=models.DO_NOTHING, related_name="+")
    run = models.ForeignKey(Verification, on_delete=models.DO_NOTHING, related_name="+")
    verdict_row = models.ForeignKey(
        FindingVerdict, null=True, on_delete=models.DO_NOTHING, related_name="+", db_column="verdict_id"
    )
    decision = models.ForeignKey(Decision, null=True, on_delete=models.DO_NOTHING, related_name="+")
    verdict = models.CharField(max_length=20)
    cause = models.CharField(max_length=40)
    answered = models.BooleanField()
    awaiting_second = models.BooleanField()
    open = models.BooleanField()
    current = models.BooleanField()
    forced = models.BooleanField()
    severity_rank = models.PositiveSmallIntegerField()
    received_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "reviews_standing"

    def __str__(self) -> str:
        return f"{self.finding_id}: {self.verdict}"


class Waiting(models.Model):
    """What waits for a person, and why: a view over the findings that are open, failed runs and structural gates.

    `forced` is false for what an advisory case only lists.
    """

    id = models.CharField(max_length=80, primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.DO_NOTHING, related_name="+")
    case = models.ForeignKey(Case, on_delete=models.DO_NOTHING, related_name="+")
    finding = models.ForeignKey(Finding, null=True, on_delete=models.DO_NOTHING, related_name="+")
    verdict_row = models.ForeignKey(
        FindingVerdict, null=True, on_delete=models.DO_NOTHING, related_name="+", db_column="verdict_id"
    )
    decision = models.ForeignKey(Decision, null=True, on_delete=models.DO_NOTHING, related_name="+")
    reason = models.CharField(max_length=40)
    verdict = models.CharField(max_length=20)
    cause = models.CharField(max_length=40)
    awaiting_second = models.BooleanField()
    forced = models.BooleanField()
    urgency = models.PositiveSmallIntegerField()
    severity_rank = models.PositiveSmallIntegerField()
    since = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "reviews_waiting"

    def __str__(self) -> str:
        return f"{self.case_id}: {self.reason}"
