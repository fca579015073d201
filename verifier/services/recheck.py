"""One live re-check of one finding: asks providers and, for adverse hits, the judge, inside one total time.

Facts go into the rules as values: this module asks, `verifier.domain` decides. Nothing here raises for what a
provider or the judge does.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

from verifier.domain import evidence
from verifier.domain.answers import (
    Cause,
    Judgement,
    JudgeSilent,
    MediaAnswer,
    MergedMedia,
    NotAnswered,
    ScreeningAnswer,
)
from verifier.domain.findings import MaterialType, ReportedFinding
from verifier.domain.media import merge
from verifier.domain.screening import screening_status
from verifier.domain.subjects import Subject, claim_text, media_query, screening_query
from verifier.domain.verdicts import Outcome, classify_adverse, classify_screening, deadline, unmapped
from verifier.judge import judge_claim, judge_configured
from verifier.providers import media_providers, screening_provider
from verifier.slots import brightdata_slot

logger = logging.getLogger(__name__)
LEAST_SECONDS = 5.0
GRACE_SECONDS = 0.5  # a provider keeps its own deadline and tells more; ours is for one that doesn't
JUDGE_SHARE = 1 / 3  # of an adverse re-check's time, kept for the judge once there is something to judge
BRIGHTDATA = "brightdata"
Searched = list[MediaAnswer | NotAnswered]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Screening:
    """A screening answer for its own record, whatever the verdict makes of it."""

    status: str
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recheck:
    """What a re-check found, ready to be recorded. `duration_ms` doesn't count the wait for a slot."""

    outcome: Outcome
    provider: str
    evidence: dict[str, Any]
    evidence_sha256: str
    duration_ms: int
    slot_wait_ms: int = 0
    quote: str = ""
    model: str | None = None
    prompt_id: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False
    screening: Screening | None = None


def recheck(
    *,
    finding: ReportedFinding,
    subject: Subject,
    material_type: MaterialType | None,
    case_id: str,
    remaining: Callable[[], float],
) -> Recheck:
    """Re-derives one finding. `remaining` tells the seconds left of the whole run's budget."""
    if material_type is None:
        return not_rechecked(unmapped())
    if material_type is MaterialType.SANCTIONS:
        return recheck_screening(finding, subject, case_id, remaining)
    return recheck_adverse(finding, subject, material_type, case_id, remaining)


def not_rechecked(outcome: Outcome) -> Recheck:
    """The explicit verdict of a finding that no provider was asked about."""
    value = NotAnswered("", outcome.cause)
    return Recheck(outcome, "", evidence.not_asked(value), evidence.fingerprint(value), duration_ms=0)


def recheck_screening(
    finding: ReportedFinding, subject: Subject, case_id: str, remaining: Callable[[], float]
) -> Recheck:
    provider = screening_provider()
    query = screening_query(finding, subject)
    seconds = min(settings.FINDING_CORRECTNESS_RECHECK_TIMEOUT_SECONDS, remaining())
    began = time.monotonic()
    answer: ScreeningAnswer | NotAnswered
    if provider is None:
        answer = NotAnswered("opensanctions", Cause.PROVIDER_NOT_CONFIGURED)
    else:
        asking = provider.screen(query, case_id=case_id, timeout=seconds)
        answer = asyncio.run(within(seconds, asking, provider.name))
    kept = evidence.screening_evidence(query, answer)
    return Recheck(
        outcome=classify_screening(answer),
        provider=answer.provider,
        evidence=kept,
        evidence_sha256=evidence.fingerprint(answer),
        duration_ms=milliseconds_since(began),
        simulated=answer.simulated,
        screening=Screening(status_word(answer), kept) if provider else None,
    )


def status_word(answer: ScreeningAnswer | NotAnswered) -> str:
    return "error" if isinstance(answer, NotAnswered) else str(screening_status(answer))


def recheck_adverse(
    finding: ReportedFinding,
    subject: Subject,
    material_type: MaterialType,
    case_id: str,
    remaining: Callable[[], float],
) -> Recheck:
    """Waits for a Bright Data slot where one is needed, before this re-check's own time starts to run."""
    with ExitStack() as slot:
        unavailable: Searched = []
        providers = media_providers()
        waited_from = time.monotonic()
        if any(provider.name == BRIGHTDATA for provider in providers):
            wait = min(settings.SLOT_WAIT_SECONDS, remaining() - LEAST_SECONDS)
            if slot.enter_context(brightdata_slot(max(wait, 0.0))) is None:
                providers = [provider for provider in providers if provider.name != BRIGHTDATA]
                unavailable = [NotAnswered(BRIGHTDATA, Cause.CAPACITY)]
        slot_wait_ms = milliseconds_since(waited_from)
        seconds = min(settings.FINDING_CORRECTNESS_ADVERSE_RECHECK_TIMEOUT_SECONDS, remaining())
        if remaining() < LEAST_SECONDS:
            return not_rechecked(deadline())
        query = media_query(finding, subject)
        asking = [
            provider.search(
                query,
                limit=settings.FINDING_CORRECTNESS_CORROBORATION_FINDINGS,
                case_id=case_id,
                material_type=str(material_type),
                timeout=seconds,
            )
            for provider in providers
        ]
        names = [provider.name for provider in providers]
        began = time.monotonic()
        media, judgement = asyncio.run(
            search_and_judge(
                asking=asking,
                names=names,
                unavailable=unavailable,
                claim=claim_text(finding, subject),
                case_id=case_id,
                seconds=seconds,
                release_slot=slot.close,
            )
        )
    return adverse_result(query, media, judgement, milliseconds_since(began), slot_wait_ms)


def adverse_result(
    query: str,
    media: MergedMedia | NotAnswered,
    judgement: Judgement | JudgeSilent | None,
    duration_ms: int,
    slot_wait_ms: int,
) -> Recheck:
    outcome = classify_adverse(media, judgement)
    return Recheck(
        outcome=outcome,
        provider=media.provider if isinstance(media, NotAnswered) else ",".join(media.providers),
        evidence=evidence.media_evidence(query, media, judgement),
        evidence_sha256=evidence.fingerprint(media),
        duration_ms=duration_ms,
        slot_wait_ms=slot_wait_ms,
        quote=judgement.quote if isinstance(judgement, Judgement) and outcome.cause is Cause.CORROBORATED else "",
        model=judgement.model if judgement else None,
        prompt_id=judgement.prompt_id if judgement else None,
        prompt_sha256=judgement.prompt_sha256 if judgement else None,
        simulated=media.simulated or bool(judgement and judgement.simulated),
    )


async def search_and_judge(
    *,
    asking: list[Coroutine[Any, Any, MediaAnswer | NotAnswered]],
    names: list[str],
    unavailable: Searched,
    claim: str,
    case_id: str,
    seconds: float,
    release_slot: Callable[[], None],
) -> tuple[MergedMedia | NotAnswered, Judgement | JudgeSilent | None]:
    """Asks all providers at once, then the judge when there are hits, within `seconds` in all."""
    ends_at = time.monotonic() + seconds
    answers = await search(asking, names, seconds, release_slot) + unavailable
    if not answers:
        return NotAnswered("adverse media", Cause.PROVIDER_NOT_CONFIGURED), None
    media = merge(
        answers,
        window=settings.FINDING_CORRECTNESS_CORROBORATION_FINDINGS,
        characters=settings.SUMMARY_CHARACTERS,
    )
    if isinstance(media, NotAnswered) or not media.items:
        return media, None
    if not judge_configured():
        return media, JudgeSilent(Cause.JUDGE_NOT_CONFIGURED)
    left = ends_at - time.monotonic()
    return media, await judge_claim(claim=claim, summary=media.summary, case_id=case_id, timeout=max(left, 0.0))


async def search(
    asking: list[Coroutine[Any, Any, MediaAnswer | NotAnswered]],
    names: list[str],
    seconds: float,
    release_slot: Callable[[], None],
) -> Searched:
    """All providers in parallel. Once there are hits, a provider that is still silent when only the judge's
    share of the time is left is given up (and noted as partial); without hits it may use the whole time.
    """
    tasks = [
        asyncio.create_task(within(seconds, coroutine, name)) for coroutine, name in zip(asking, names, strict=True)
    ]
    for task, name in zip(tasks, names, strict=True):
        if name == BRIGHTDATA:
            task.add_done_callback(lambda _: release_slot())
    if not tasks:
        return []
    kept_for_judge = seconds * JUDGE_SHARE if judge_configured() else 0.0
    _, silent = await asyncio.wait(tasks, timeout=seconds - kept_for_judge)
    if silent and not any(has_hits(task) for task in tasks):
        _, silent = await asyncio.wait(silent, timeout=kept_for_judge)
    for task in silent:
        task.cancel()
    await asyncio.gather(*silent, return_exceptions=True)
    return [
        NotAnswered(name, Cause.PROVIDER_TIMEOUT) if task.cancelled() else task.result()
        for task, name in zip(tasks, names, strict=True)
    ]


def has_hits(task: asyncio.Task[MediaAnswer | NotAnswered]) -> bool:
    if not task.done() or task.cancelled():
        return False
    answer = task.result()
    return isinstance(answer, MediaAnswer) and bool(answer.items)


async def within(
    seconds: float, asking: Coroutine[Any, Any, Answer | NotAnswered], provider: str
) -> Answer | NotAnswered:
    """The provider's answer, or why there is none: also when it breaks its promise not to raise or to end in time."""
    try:
        async with asyncio.timeout(seconds + GRACE_SECONDS):
            return await asking
    except TimeoutError:
        return NotAnswered(provider, Cause.PROVIDER_TIMEOUT)
    except Exception as problem:  # noqa: BLE001  # whatever a provider's code does, the finding gets its verdict
        logger.error("provider %s broke: %s", provider, type(problem).__name__)
        return NotAnswered(provider, Cause.PROVIDER_ERROR, detail=type(problem).__name__)


def milliseconds_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
