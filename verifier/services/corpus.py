"""Takes a file of law into the corpus, holds it, or refuses it: whole or not at all, and each time with its event."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from audit.chain import printable
from audit.log import Recorded, record, tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType
from verifier.law import instruments
from verifier.law.gate import Before, gaps, holds
from verifier.law.reading import read_law
from verifier.law.texts import Act, Article, Paragraph, Point, Unreadable, sha256_of_act
from verifier.models import LawArticle, LawImport, LawText

State = LawImport.State
LONGEST_NAME, LONGEST_KEY = 300, 80
UNDATED = "The file doesn't say as of when its text stands, so the day of its import is taken. Say so with --as-of."
AT_ONCE = 500  # articles a statement
PUBLISHERS = ("celex", "bwb", "eli", "number")  # the identifiers an act is known by, the surest first


@dataclass(frozen=True, slots=True)
class Hand:
    """Who hands a file in."""

    name: str
    actor_type: ActorType
    role: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the file is said to be, where it doesn't say so itself, and why it is to come in all the same."""

    instrument: str = ""
    as_of: date | None = None
    accept: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file. `text`: what the corpus holds of it, the new text or the same one that was there."""

    source: LawImport
    text: LawText | None = None
    warnings: list[str] = field(default_factory=list)


def take_in(*, name: str, content: bytes, said: Said, by: Hand, at: datetime) -> Taken:
    source = LawImport(
        name=printable(name)[:LONGEST_NAME],
        raw_sha256=sha256(content).hexdigest(),
        content=b"",
        imported_at=at,
        imported_by=by.name,
    )
    try:
        act = read_law(content)
        instrument, as_of = said.instrument or instrument_of(act), said.as_of or act.version_date or at.date()
    except Unreadable as problem:
        return refused(source, problem, by)
    source.content = content
    with tenant_scope(SYSTEM_TENANT_ID), transaction.atomic():
        one_import_at_a_time()
        before = text_before(instrument, act.language, as_of)
        if before is not None and (before.as_of, before.sha256) == (as_of, act.sha256):
            return imported(source, before, [], by)
        found = holds(act, compared(before, as_of))
        if found and not said.accept.strip():
            source.kind, source.reason = found[0].kind, " ".join(hold.sentence for hold in found)
            return noted(Taken(source), State.HELD, by, {"instrument": instrument, "as_of": as_of.isoformat()})
        source.accepted = said.accept.strip() if found else ""
        warnings = [*act.warnings, *gaps(act), *([] if said.as_of or act.version_date else [UNDATED])]
        taken = imported(source, new_text(act, instrument, as_of, warnings), warnings, by)
        keep_articles(taken.text, act)
        return taken


def one_import_at_a_time() -> None:
    """So that each is held against the one before it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('second-look:law', 0))")


def instrument_of(act: Act) -> str:
    """The key of an act that is known here by one of its identifiers or its title, else its surest identifier."""
    told = [act.identifiers[name] for name in PUBLISHERS if act.identifiers.get(name)]
    known = instruments.by_identifier(told) or instruments.by_title(act.title)
    if known:
        return known
    if told or act.title:
        return (told[0] if told else act.title)[:LONGEST_KEY]
    raise Unreadable("no_instrument", "The file doesn't say which act it is. Say so with --instrument.")


def text_before(instrument: str, language: str, as_of: date) -> LawText | None:
    """The text at the same date, else the newest one before it."""
    texts = LawText.objects.filter(instrument=instrument, language=language, as_of__lte=as_of)
    return texts.order_by("-as_of", "-revision").first()


def compared(before: LawText | None, as_of: date) -> Before | None:
    if before is None:
        return None
    letters = sum(len(text) for text in before.articles.values_list("text", flat=True).iterator())
    return Before(letters, before.as_of == as_of, before.sha256)


def new_text(act: Act, instrument: str, as_of: date, warnings: list[str]) -> LawText:
    there = LawText.objects.filter(instrument=instrument, language=act.language, as_of=as_of).count()
    return LawText(
        instrument=instrument,
        language=act.language,
        as_of=as_of,
        revision=there + 1,
        title=act.title,
        format=act.format,
        identifiers=act.identifiers,
        sha256=act.sha256,
        article_count=len(act.articles),
        excerpt=act.excerpt,
        warnings=warnings,
    )


def keep_articles(text: LawText | None, act: Act) -> None:
    rows = [article_row(text, place, article) for place, article in enumerate(act.articles)]
    LawArticle.objects.bulk_create(rows, batch_size=AT_ONCE)


def article_row(text: LawText | None, place: int, article: Article) -> LawArticle:
    return LawArticle(
        law=text,
        position=place,
        container=article.container,
        number=article.number,
        heading=article.heading,
        text=article.text,
        sha256=article.sha256,
        deleted=article.deleted,
        parts=[paragraph_parts(paragraph) for paragraph in article.paragraphs],
    )


def paragraph_parts(paragraph: Paragraph) -> dict[str, Any]:
    points = [point_parts(point) for point in paragraph.points]
    return {"number": paragraph.number, "text": paragraph.text, "sha256": paragraph.sha256, "points": points}


def point_parts(point: Point) -> dict[str, Any]:
    points = [point_parts(each) for each in point.points]
    return {"label": point.label, "text": point.text, "sha256": point.sha256, "points": points}


def refused(source: LawImport, problem: Unreadable, by: Hand) -> Taken:
    source.kind, source.reason = problem.kind, str(problem)
    with tenant_scope(SYSTEM_TENANT_ID), transaction.atomic():
        return noted(Taken(source), State.REFUSED, by, {})


def imported(source: LawImport, text: LawText, warnings: list[str], by: Hand) -> Taken:
    taken = noted(Taken(source, text, warnings), State.IMPORTED, by, text_details(text, text.sha256))
    if text._state.adding:
        text.source = source
        text.save(force_insert=True)
    return taken


def noted(taken: Taken, state: LawImport.State, by: Hand, told: dict[str, Any]) -> Taken:
    """The file's row with its event, on the chain of the whole installation."""
    source = taken.source
    source.state = state
    source.event_id = record(
        tenant_id=SYSTEM_TENANT_ID,
        event_type="law_imported",
        actor=by.name,
        actor_type=by.actor_type,
        actor_role=by.role,
        subject=source.name,
        outcome=str(state),
        details={**import_details(source), **told},
        at=source.imported_at,
    ).id
    source.save(force_insert=True)
    return taken


def import_details(source: LawImport) -> dict[str, Any]:
    return {
        "import_id": str(source.id),
        "raw_sha256": source.raw_sha256,
        "kind": source.kind,
        "reason": source.reason,
        "accepted": source.accepted,
    }


def text_details(text: LawText, of_articles: str) -> dict[str, Any]:
    return {
        "instrument": text.instrument,
        "language": text.language,
        "as_of": text.as_of.isoformat(),
        "revision": text.revision,
        "sha256": of_articles,
        "articles": text.article_count,
    }


def import_rows(tenant_id: UUID) -> Iterator[Recorded]:
    """For `verify_trail`: every file with its event, and the articles read from it hashed anew."""
    if tenant_id != SYSTEM_TENANT_ID:
        return
    for source in (
        LawImport.objects.defer("content").select_related("text").order_by("event_id").iterator(chunk_size=50)
    ):
        text = getattr(source, "text", None)
        told = text_details(text, hash_of_articles(text)) if text else {}
        yield Recorded(source.event_id, {**import_details(source), **told})


def hash_of_articles(text: LawText) -> str:
    rows = text.articles.order_by("position").values_list("container", "number", "text")
    return sha256_of_act(rows.iterator())
