"""Believable cases for pages to show: each verdict with the evidence a real run would have kept."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from audit.models import Tenant
from reviews.models import User
from tests import factories
from verifier.domain import evidence
from verifier.domain.answers import (
    Cause,
    Judgement,
    Listing,
    MediaItem,
    MergedMedia,
    NotAnswered,
    ScreeningAnswer,
    ScreeningQuery,
)
from verifier.models import Case

QUOTE = "prosecutors in Tallinn charged two managers of Acme Trading OÜ with fraud"
QUERY = ScreeningQuery(
    "Company",
    {"name": ["Acme Trading OÜ"], "jurisdiction": ["ee"], "registrationNumber": ["12345678"]},
    ("The report's founding date could not be read as a date.",),
)
NEAR = Listing(
    entity_id="NK-near",
    caption="Akme Trade LLC",
    schema="Company",
    score=0.61,
    match=False,
    topics=("sanction",),
    datasets=("eu_fsf", "us_ofac_sdn"),
    properties={"country": ["ru"], "registrationNumber": ["7701234567"]},
    source_urls=("https://data.example.org/eu-list",),
    last_change="2026-05-02",
)
HIT = Listing(
    entity_id="NK-hit",
    caption="Acme Trading OÜ",
    schema="Company",
    score=0.97,
    match=True,
    topics=("sanction",),
    datasets=("eu_fsf",),
    properties={"country": ["ee"], "registrationNumber": ["12345678"]},
    source_urls=("https://data.example.org/eu-list",),
    last_change="2026-06-11",
)


@dataclass(frozen=True)
class Scene:
    tenant: Tenant
    officer: User
    second: User
    admin: User
    auditor: User
    case: Case


def screening(*listings: Listing, not_used: tuple[str, ...] = ()) -> ScreeningAnswer:
    return ScreeningAnswer(
        provider="opensanctions",
        listings=listings,
        query=QUERY,
        not_used=not_used,
        scope="sanctions",
        algorithm="logic-v2",
        threshold=0.70,
        cutoff=0.50,
        total_matches=sum(one.match for one in listings),
    )


def media() -> tuple[str, MergedMedia, Judgement]:
    items = (
        MediaItem(
            provider="tavily",
            url="https://news.example.org/tallinn-fraud",
            title="Managers charged in Tallinn",
            text=f"On Monday {QUOTE}. The company denies the charge.",
            published="2026-05-14",
        ),
        MediaItem(
            provider="exa",
            url="https://press.example.org/acme",
            title="Acme Trading opens a second warehouse",
            text="The firm opened a warehouse near Tartu.",
            cut=True,
        ),
    )
    merged = MergedMedia(
        providers=("tavily", "exa"),
        items=items,
        queries={"tavily": '"Acme Trading OÜ" fraud charge'},
        partial=(NotAnswered("brightdata", Cause.PROVIDER_TIMEOUT),),
        notes=(),
        summary="\n".join(item.text for item in items),
        simulated=False,
    )
    said = Judgement(
        corroborates=True,
        quote=QUOTE,
        reason="The first text states that prosecutors charged two managers of this company.",
        model="openai/gpt-4.1-mini",
        prompt_id="corroborates_v1",
        prompt_sha256="ab" * 32,
    )
    return '"Acme Trading OÜ" fraud charge', merged, said


def people(tenant: Tenant) -> dict[str, User]:
    return {
        "officer": factories.user(tenant, username=f"m.tamm-{tenant.slug}", display_name="Mari Tamm"),
        "second": factories.user(tenant, username=f"j.kask-{tenant.slug}", display_name="Jaan Kask"),
        "admin": factories.user(tenant, "admin", username=f"admin-{tenant.slug}", display_name="Ada Admin"),
        "auditor": factories.user(tenant, "auditor", username=f"auditor-{tenant.slug}", display_name="Otto Auditor"),
    }


def stage(slug: str = "") -> Scene:
    """A tenant with its people and one case that shows every verdict, labels, an outage and a clean finding."""
    factories.switches()
    tenant = factories.tenant(slug)
    at = timezone.now() - timedelta(hours=2)
    described = "Listed on 3 May under the regime for trade in dual-use goods. Source: consolidated list."
    case = factories.case(
        tenant,
        factories.finding(
            "f1",
            title="Subject designated on an EU sanctions list",
            description=described,
            regulatory_basis="AMLR Art. 34",
        ),
        factories.finding(
            "f2",
            title="Subject named on a national list",
            severity="high",
            details={"list": "national", "score": 0.930},
        ),
        factories.criminal(
            "c1",
            title="Prosecutor charged two managers",
            severity="high",
            source_url="https://news.example.org/tallinn-fraud",
        ),
        factories.media("m1", title="Regulator fined the subject", severity="medium"),
        factories.media("m2", title="Press reports on unpaid wages", severity="medium", _provider="tavily"),
        factories.clean("n1", title="No politically exposed persons found", category="pep", type="pep_match"),
        at=at,
        subject={
            "name": "Acme Trading OÜ",
            "entity_type": "company",
            "country": "EE",
            "registration_number": "12345678",
        },
    )
    record_verdicts(case)
    factories.end(factories.run_of(case), at=at + timedelta(minutes=1))
    return Scene(tenant=tenant, case=case, **people(tenant))


def record_verdicts(case: Case) -> None:
    clear, hit = screening(NEAR, not_used=("registrationNumber",)), screening(HIT)
    query, merged, said = media()
    silent = NotAnswered("tavily", Cause.QUOTA, http_status=432)
    nothing = MergedMedia(("exa",), (), {"exa": query}, (), (), "", False)
    at = factories.run_of(case).queued_at + timedelta(seconds=20)
    listed = "The list holds near misses only, so it does not hold this hit today."
    refused = "Tavily refused the question because its quota is used up, so nothing is known."
    asked = {
        "f1": (
            "contradicted",
            Cause.NEAR_MISS,
            listed,
            "opensanctions",
            evidence.screening_evidence(QUERY, clear),
            evidence.fingerprint(clear),
        ),
        "f2": (
            "confirmed",
            Cause.SCREENING_HIT,
            "The list holds this subject today.",
            "opensanctions",
            evidence.screening_evidence(QUERY, hit),
            evidence.fingerprint(hit),
        ),
        "c1": (
            "confirmed",
            Cause.CORROBORATED,
            "A text found today states this claim.",
            "tavily,exa",
            evidence.media_evidence(query, merged, said),
            evidence.fingerprint(merged),
        ),
        "m1": (
            "unsupported",
            Cause.NO_HITS,
            "The search was answered and found nothing about this claim.",
            "exa",
            evidence.media_evidence(query, nothing, None),
            evidence.fingerprint(nothing),
        ),
        "m2": (
            "indeterminate",
            Cause.QUOTA,
            refused,
            "tavily",
            evidence.media_evidence(query, silent, None),
            evidence.fingerprint(silent),
        ),
    }
    for name, (word, cause, reason, provider, kept, digest) in asked.items():
        judged: dict[str, Any] = {
            "quote": said.quote,
            "model": said.model,
            "prompt_id": said.prompt_id,
            "prompt_sha256": said.prompt_sha256,
        }
        factories.verdict(
            factories.finding_of(case, name),
            word,
            str(cause),
            at=at,
            reason=reason,
            provider=provider,
            evidence=kept,
            evidence_sha256=digest,
            **(judged if name == "c1" else {}),
        )
