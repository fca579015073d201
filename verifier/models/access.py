"""Who may call the API, and the switches that administration keeps."""

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import connection, models, transaction

from audit.log import record, tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType, AuditEvent, Tenant

SCOPES = ("reports", "cases", "monitoring")


class ApiKey(models.Model):
    """A tenant's key to the API. Only the SHA-256 of the token is kept; the token has 256 random bits."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=100)
    scopes = models.JSONField()
    token_sha256 = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # the token's first characters, to tell keys apart
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    revoked_at = models.DateTimeField(null=True)

    creation: AuditEvent | None = None  # its event, on the object that `create` gives

    def __str__(self) -> str:
        return f"{self.label} ({self.hint}…)"

    @staticmethod
    def digest(token: str) -> str:
        return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()

    @staticmethod
    def new_token() -> str:
        return "sl_" + secrets.token_urlsafe(32)

    @classmethod
    def find(cls, token: str) -> Self | None:
        """The key with this token that isn't revoked. Looked up by its hash, so timing tells nothing of a token."""
        return cls.objects.select_related("tenant").filter(token_sha256=cls.digest(token), revoked_at=None).first()

    @classmethod
    def create(
        cls,
        *,
        tenant: Tenant,
        label: str,
        scopes: Sequence[str],
        by: str,
        actor_type: ActorType = ActorType.PERSON,
        actor_role: str = "",
        id: uuid.UUID | None = None,
        at: datetime,
    ) -> tuple[Self, str]:
        """A new key and its token, which exists nowhere else. Raises ValueError for a scope there isn't.

        With an `id` of the caller's own, asking twice makes one key: the second time raises IntegrityError.
        """
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not scopes:
            raise ValueError(f"the scopes of a key are some of {', '.join(SCOPES)}, not {', '.join(unknown) or 'none'}")
        token = cls.new_token()
        key = cls(
            id=id or uuid.uuid4(),
            tenant=tenant,
            label=label,
            scopes=[scope for scope in SCOPES if scope in scopes],
            created_by=by,
            created_at=at,
        )
        key.token_sha256, key.hint = cls.digest(token), token[:9]
        with tenant_scope(tenant.id), transaction.atomic():
            key.save(force_insert=True)
            key.creation = key.note("api_key_created", by, actor_type, actor_role, at)
        return key, token

    def revoke(
        self, *, by: str, actor_type: ActorType = ActorType.PERSON, actor_role: str = "", at: datetime
    ) -> AuditEvent | None:
        """From now on the key opens nothing. Revoking it again changes nothing and leaves no event."""
        event = None
        with tenant_scope(self.tenant_id), transaction.atomic():
            if ApiKey.objects.filter(id=self.id, revoked_at=None).update(revoked_at=at):
                event = self.note("api_key_revoked", by, actor_type, actor_role, at)
        self.refresh_from_db(fields=["revoked_at"])
        return event

    def told(self) -> dict[str, object]:
        """What its events say of it. The token's hash tells nothing of the token."""
        told = {"key_id": str(self.id), "label": self.label, "hint": self.hint, "scopes": self.scopes}
        return {**told, "token_sha256": self.token_sha256}

    def note(self, event_type: str, by: str, actor_type: ActorType, actor_role: str, at: datetime) -> AuditEvent:
        return record(
            tenant_id=self.tenant_id,
            event_type=event_type,
            actor=by,
            actor_type=actor_type,
            actor_role=actor_role,
            subject=str(self),
            details=self.told(),
            at=at,
        )


class Switch(models.Model):
    """An installation-wide switch. The environment gives its first value, administration the later ones."""

    name = models.CharField(max_length=80, primary_key=True)
    enabled = models.BooleanField()
    environment_value = (
        models.BooleanField()
    )  # the environment's value when last seen; a changed one is applied at start
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=200)
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.name}={'on' if self.enabled else 'off'}"

    @classmethod
    def states(cls) -> dict[str, bool]:
        """Every switch as it stands: administration's word, else the environment's."""
        return settings.SWITCHES | dict(cls.objects.filter(name__in=settings.SWITCHES).values_list("name", "enabled"))

    @classmethod
    def is_on(cls, name: str) -> bool:
        """Raises KeyError for a switch there isn't."""
        return cls.states()[name]

    @classmethod
    def change(
        cls, *, name: str, enabled: bool, by: str, actor_role: str = "", reason: str, at: datetime
    ) -> AuditEvent | None:
        """Sets a switch for the whole installation. Setting it to what it is already changes nothing: no event."""
        if not reason.strip():
            raise ValueError("a switch is changed for a reason")
        first_value = settings.SWITCHES[name]
        with transaction.atomic():
            hold_switches()
            if cls.is_on(name) == enabled:
                return None
            switch = Switch.objects.filter(name=name).first() or Switch(name=name, environment_value=first_value)
            return switch.set(
                enabled=enabled, by=by, actor_type=ActorType.PERSON, actor_role=actor_role, reason=reason, at=at
            )

    @classmethod
    def apply_environment(cls, *, at: datetime) -> list[str]:
        """At start: first values, and values that the environment changed since the last start. Returns their names."""
        applied = []
        with transaction.atomic():
            hold_switches()
            known = {switch.name: switch for switch in cls.objects.all()}
            for name, value in sorted(settings.SWITCHES.items()):
                switch = known.get(name)
                if switch is not None and switch.environment_value == value:
                    continue
                reason = "First value from the environment." if switch is None else "The environment's value changed."
                changed = switch or Switch(name=name)
                changed.environment_value = value
                changed.set(enabled=value, by="environment", actor_type=ActorType.SYSTEM, reason=reason, at=at)
                applied.append(name)
        return applied

    def set(
        self, *, enabled: bool, by: str, actor_type: ActorType, actor_role: str = "", reason: str, at: datetime
    ) -> AuditEvent:
        """Inside a transaction: keeps the value and its event, on the chain of the tenant `system`."""
        self.enabled, self.changed_by, self.reason, self.changed_at = (enabled, by, reason, at)
        self.save()
        return record(
            tenant_id=SYSTEM_TENANT_ID,
            event_type="switch_changed",
            actor=by,
            actor_type=actor_type,
            actor_role=actor_role,
            subject=self.name,
            outcome="on" if self.enabled else "off",
            details=self.told(),
            at=at,
        )

    def told(self) -> dict[str, object]:
        """What its event says of it: every column."""
        return {
            "switch": self.name,
            "enabled": self.enabled,
            "environment_value": self.environment_value,
            "changed_by": self.changed_by,
            "changed_at": self.changed_at.isoformat(timespec="microseconds"),
            "reason": self.reason,
        }


def hold_switches() -> None:
    """Changes of switches pass one after the other, also by several processes that start at once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('second-look:switches', 0))")
