"""Tenants, people, cases and verdicts for tests: made by the product's own code where it has some, else row by row."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from audit.log import record
from audit.models import ActorType, Tenant
from reviews.models import Decision, User
from reviews.recorded import person_details
from verifier.domain.answers import Cause, NotAnswered
from verifier.domain.evidence import not_asked
from verifier.intake import Accepted, accept_report
from verifier.models import Case, Finding, FindingVerdict, LawArticle, LawImport, LawText, Switch, Verification
from verifier.services.recorded import verdict_details

AT = datetime(2026, 7, 20, 8, 30, tzinfo=UTC)
PASSWORD = "a long enough passphrase"
REASON = "The register entry shows another company of the same name."
CAUSES = {
    "confirmed": "screening_hit",
    "contradicted": "screening_clear",
    "unsupported": "no_hits",
    "indeterminate": "provider_timeout",
}


def tenant(slug: str = "") -> Tenant:
    return Tenant.objects.create(slug=slug or f"tenant-{uuid4().hex[:12]}")


def user(of: Tenant, role: str = "officer", **changes: Any) -> User:
    username = changes.pop("username", f"{role}-{uuid4().hex[:8]}")
    display_name = changes.pop("display_name", username)
    person = User(tenant=of, username=username, role=role, display_name=display_name, **changes)
    person.set_password(PASSWORD)
    with transaction.atomic():
        person.save()
        note_person(person, "user_created")
        if not person.is_active:
            note_person(person, "user_deactivated")
    return person


def note_person(person: User, event_type: str) -> None:
    record(
        tenant_id=person.tenant_id,
        event_type=event_type,
        actor="tests",
        actor_type=ActorType.SYSTEM,
        subject=person.username,
        details=person_details(person),
        at=AT,
    )


def switch(name: str, enabled: bool) -> None:
    row = Switch.objects.filter(name=name).first() or Switch(name=name)
    row.environment_value = enabled
    with transaction.atomic():
        row.set(enabled=enabled, by="tests", actor_type=ActorType.SYSTEM, reason="For a test.", at=AT)


def switches(*, verification: bool = True, labels: bool = True, maker_checker: bool = True) -> None:
    switch("FINDING_CORRECTNESS_VERIFICATION_ENABLED", verification)
    switch("FINDING_CORROBORATION_ENABLED", labels)
    switch("MAKER_CHECKER_ENABLED", maker_checker)


def finding(finding_id: str = "f1", **changes: Any) -> dict[str, Any]:
    """A sanctions claim that drives a decision; `changes` make it another."""
    listed = {
        "category": "sanctions",
        "type": "sanctions_hit",
        "severity": "critical",
        "title": f"Subject designated on a list ({finding_id})",
        "hit": True,
        "_provider": "opensanctions",
    }
    return {"id": finding_id, **listed, **changes}


def criminal(finding_id: str = "c1", **changes: Any) -> dict[str, Any]:
    claim = {"category": "criminal", "type": "entity_criminal_investigation", "title": f"Charged ({finding_id})"}
    return finding(finding_id, **{**claim, "_provider": "tavily", "hit": None, **changes})


def media(finding_id: str = "m1", **changes: Any) -> dict[str, Any]:
    claim = {"category": "adverse_media", "type": "adverse_media_hit", "title": f"Reported on ({finding_id})"}
    return finding(finding_id, **{**claim, "severity": "high", "_provider": "exa", "hit": None, **changes})


def clean(finding_id: str = "n1", **changes: Any) -> dict[str, Any]:
    """A finding that drives no decision."""
    told = {"severity": "info", "title": "No match found", "hit": False, "status": "clear"}
    return finding(finding_id, **{**told, **changes})


def report(*findings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "report_id": f"inv-{uuid4().hex[:10]}",
        "iteration": 1,
        "created_at": "2026-07-18T09:12:00Z",
        "subject": {"name": "Acme Trading OÜ", "entity_type": "company", "country": "EE"},
        "findings": list(findings or [finding()]),
        **changes,
    }


def accept(of: Tenant, told: dict[str, Any] | bytes, at: datetime = AT) -> Accepted:
    content = told if isinstance(told, bytes) else json.dumps(told, ensure_ascii=False).encode()
    return accept_report(tenant_id=of.id, content=content, received_by="tests", actor_type=ActorType.SYSTEM, at=at)


def case(of: Tenant, *findings: dict[str, Any], at: datetime = AT, **changes: Any) -> Case:
    """A case whose run is queued."""
    return accept(of, report(*findings, **changes), at).case


def finding_of(of: Case, finding_id: str = "f1") -> Finding:
    """The finding of the case's current report."""
    current = Case.objects.get(id=of.id).current_report_id
    return Finding.objects.get(report_id=current, finding_id=finding_id)


def run_of(of: Case) -> Verification:
    run = Case.objects.select_related("current_verification").get(id=of.id).current_verification
    assert run is not None
    return run


def verdict(
    on: Finding,
    word: str = "contradicted",
    cause: str = "",
    *,
    run: Verification | None = None,
    at: datetime = AT,
    **changes: Any,
) -> FindingVerdict:
    """A verdict with its event, as a run records it."""
    cause = cause or CAUSES[word]
    values: dict[str, Any] = {
        "reason": f"It is {word}.",
        "provider": "opensanctions",
        "duration_ms": 412,
        "evidence": not_asked(NotAnswered("opensanctions", Cause.PROVIDER_ERROR)),
        "evidence_sha256": hashlib.sha256(f"{word}{cause}".encode()).hexdigest(),
        "simulated": False,
        **changes,
    }
    row = FindingVerdict(
        tenant_id=on.tenant_id,
        case_id=on.case_id,
        verification=run or run_of(on.case),
        finding=on,
        verdict=word,
        cause=cause,
        started_at=at,
        recorded_at=at,
        **values,
    )
    with transaction.atomic():
        row.event_id = record(
            tenant_id=on.tenant_id,
            event_type="finding_correctness_verified",
            actor="verifier",
            actor_type=ActorType.SYSTEM,
            case_id=on.case_id,
            subject=on.finding_id,
            outcome=word,
            details=verdict_details(row),
            at=at,
        ).id
        row.save(force_insert=True)
    return row


def end(run: Verification, status: str = "finished", at: datetime = AT) -> Verification:
    run.status, run.started_at, run.finished_at = status, run.started_at or at, at
    run.save(update_fields=["status", "started_at", "finished_at"])
    return run


def verified(of: Tenant, **words: str) -> Case:
    """A case with a finding for each name, all of a finished run: `verified(tenant, f1="contradicted")`."""
    made = case(of, *[finding(name) for name in words])
    for name, word in words.items():
        verdict(finding_of(made, name), word)
    end(run_of(made))
    return made


def rerun(of: Case, at: datetime, *, ended: bool = True, **words: str) -> Verification:
    """A further run over the current report that has ended with these verdicts, or has not ended yet."""
    held = Case.objects.get(id=of.id)
    run = Verification.objects.create(
        tenant_id=held.tenant_id,
        case=held,
        report_id=held.current_report_id,
        status="queued",
        correctness_enabled=True,
        requested_by="tests",
        queued_at=at,
    )
    held.current_verification = run
    held.save(update_fields=["current_verification"])
    for name, word in words.items():
        verdict(finding_of(held, name), word, run=run, at=at)
    return end(run, at=at) if ended else run


def decide(by: User, on: Finding, outcome: str = "stands", *, at: datetime = AT, **changes: Any) -> Decision:
    """A decision under the verdict in force and after all that was said before, by the product's own rules."""
    from reviews.decisions import REASON_CODES
    from reviews.decisions import decide as really_decide
    from reviews.models import Standing

    values = {
        "reason_code": next(iter(REASON_CODES[outcome])),
        "reason": REASON,
        "evidence": ["The answer of the re-check"],
        "form_token": uuid4(),
        **changes,
    }
    if "verdict_id" not in values:
        values["verdict_id"] = Standing.objects.get(finding=on).verdict_row_id
    if "newest_word_id" not in values:
        values["newest_word_id"] = newest_word_id(on)
    return really_decide(user=by, finding=on, outcome=outcome, at=at, **values)


def newest_word_id(on: Finding) -> UUID | None:
    """What a page made now would name as the newest thing said of the finding."""
    from reviews.decisions import about, with_words
    from reviews.standing import newest_word

    newest = newest_word(with_words(about(on)))
    return newest.id if newest else None


def later(minutes: float = 1) -> datetime:
    return AT + timedelta(minutes=minutes)


def law_articles(
    *numbers: str,
    instrument: str = "32024R1624",
    as_of: str = "2024-06-19",
    words: str = "Entities shall keep records.",
) -> list[LawArticle]:
    """A text in the corpus with these articles, each of one paragraph with one point."""
    source = LawImport.objects.create(
        name="en.xml",
        raw_sha256="ab" * 32,
        content=b"<html/>",
        state="imported",
        imported_at=AT,
        imported_by="tests",
        event_id=uuid4(),
    )
    text = LawText.objects.create(
        instrument=instrument,
        language="en",
        as_of=as_of,
        revision=1,
        title="On preventing money laundering",
        format="eurlex",
        identifiers={"celex": instrument},
        sha256="cd" * 32,
        article_count=len(numbers),
        excerpt=False,
        warnings=[],
        source=source,
    )
    parts = [{"number": "1", "text": words, "points": [{"label": "a", "text": "of customers", "points": []}]}]
    return [
        LawArticle.objects.create(
            law=text,
            position=place,
            number=number,
            heading="Records",
            text=f"{words}\nof customers",
            sha256=hashlib.sha256(words.encode()).hexdigest(),
            deleted=False,
            parts=parts,
        )
        for place, number in enumerate(numbers)
    ]
