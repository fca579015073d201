"""Who may call the API, and the switches that administration keeps."""

import hashlib
import secrets
import uuid
from typing import Self

from django.db import models

from audit.models import Tenant

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

    def __str__(self) -> str:
        return f"{self.label} ({self.hint}…)"

    @staticmethod
    def digest(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @staticmethod
    def new_token() -> str:
        return "sl_" + secrets.token_urlsafe(32)

    @classmethod
    def find(cls, token: str) -> Self | None:
        """The key with this token that isn't revoked."""
        return cls.objects.select_related("tenant").filter(token_sha256=cls.digest(token), revoked_at=None).first()  # type: ignore[attr-defined, no-any-return]


class Switch(models.Model):
    """An installation-wide switch. The environment gives its first value, administration the later ones."""

    name = models.CharField(max_length=80, primary_key=True)
    enabled = models.BooleanField()
    environment_value = models.BooleanField()  # the environment's value when last seen; a changed one is applied at start
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=200)
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.name}={'on' if self.enabled else 'off'}"
