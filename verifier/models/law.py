"""The corpus of law, one for the whole installation: files as they came, and the texts read from them. Append-only."""

import uuid

from django.db import models


class LawImport(models.Model):
    """A file that somebody handed in, and what became of it."""

    class State(models.TextChoices):
        IMPORTED = "imported", "Imported"
        HELD = "held", "Held"  # readable, but somebody has to say that it is meant so
        REFUSED = "refused", "Refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=300)  # the file's, which tells nothing of what it is
    raw_sha256 = models.CharField(max_length=64)
    content = models.BinaryField()  # as it came; empty where it was refused
    state = models.CharField(max_length=10, choices=State.choices)
    kind = models.CharField(max_length=40, blank=True)  # why it was refused or held, for programs
    reason = models.TextField(blank=True)  # and in a sentence, with its place
    accepted = models.TextField(blank=True)  # what somebody said for taking it in all the same
    imported_at = models.DateTimeField()
    imported_by = models.CharField(max_length=200)
    event_id = models.UUIDField(unique=True)

    class Meta:
        indexes = [models.Index(fields=["-imported_at", "-id"], name="law_import_newest")]

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"


class LawText(models.Model):
    """One act in one language at one date. Of several revisions the highest counts; none replaces another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    instrument = models.CharField(max_length=80)  # its key in `verifier/data/instruments.json`, else its identifier
    language = models.CharField(max_length=8)
    as_of = models.DateField()
    revision = models.PositiveIntegerField()
    title = models.TextField()
    format = models.CharField(max_length=40)
    identifiers = models.JSONField()
    sha256 = models.CharField(max_length=64)  # of all its articles
    article_count = models.PositiveIntegerField()
    excerpt = models.BooleanField()
    warnings = models.JSONField()
    source = models.OneToOneField(LawImport, on_delete=models.PROTECT, related_name="text")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["instrument", "language", "as_of", "revision"], name="law_text_one_a_state")
        ]

    def __str__(self) -> str:
        return f"{self.instrument} {self.language} {self.as_of}"


class LawArticle(models.Model):
    """One article of one text; `parts` holds its paragraphs and points, each with its hash."""

    id = models.BigAutoField(primary_key=True)
    law = models.ForeignKey(LawText, on_delete=models.PROTECT, related_name="articles")
    position = models.PositiveIntegerField()
    container = models.CharField(max_length=200, blank=True)
    number = models.CharField(max_length=60)
    heading = models.TextField(blank=True)
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    deleted = models.BooleanField()
    parts = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["law", "container", "number"], name="law_article_one_a_number"),
            models.UniqueConstraint(fields=["law", "position"], name="law_article_one_a_place"),
        ]

    def __str__(self) -> str:
        return f"{self.container} {self.number}".strip()
