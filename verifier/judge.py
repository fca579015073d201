"""The judge: does what a search found state this claim about this one? (ADR-0111, through instructor)

Exactly one call to an OpenAI-compatible endpoint, temperature 0, bounded tokens, one total time. What instructor would
let pass is checked again on the raw answer: finish reason, refusal, the one tool call and its name, its arguments.
Whatever goes wrong is a `JudgeSilent`; the texts of exceptions are never logged, they can hold evidence and keys.
https://platform.openai.com/docs/api-reference/chat/create · https://python.useinstructor.com
"""

import asyncio
import json
import logging
import ssl
import time
from functools import cache
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from verifier.domain import answers
from verifier.domain.answers import Cause, JudgeSilent
from verifier.prompts import Prompt, load

logger = logging.getLogger(__name__)
PROMPT_ID = "finding_corroboration_v1"
MAX_TOKENS = 500
SEED = 7
FINISHED = {"stop", "tool_calls"}
JSON_MODES = {"JSON", "JSON_SCHEMA", "MD_JSON"}
SIMULATED_HEADER = "x-second-look-simulated"
DETAILS = {  # exception class, anywhere in the chain of causes: what may be said of it
    "TimeoutError": "no answer in time",
    "APITimeoutError": "no answer in time",
    "APIConnectionError": "not reachable",
    "AuthenticationError": "the key was refused",
    "PermissionDeniedError": "the key was refused",
    "NotFoundError": "the model is not known",
    "RateLimitError": "rate limit or quota",
    "BadRequestError": "the request was refused",
    "UnprocessableEntityError": "the request was refused",
    "InternalServerError": "the endpoint failed",
    "IncompleteOutputException": "the answer was cut off",
    "ValidationError": "the answer has another form",
    "ConfigurationError": "the model setting can't be used",
}


class Judgement(BaseModel):
    """The judge's answer about one claim."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    corroborates: bool
    quote: str = Field(max_length=2000)
    reason: str = Field(max_length=1000)


class Unusable(Exception):
    """The answer came and must not be used; the message is safe to show."""


def judge_configured() -> bool:
    return bool(settings.JUDGE_MODEL)


def warm_up() -> None:
    """Imports the client libraries and loads certificates, which takes seconds, before any re-check's time runs."""
    import instructor  # noqa: F401
    import openai  # noqa: F401

    certificates()
    if judge_configured():
        make_client(None)


@cache
def certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


async def judge_claim(*, claim: str, summary: str, case_id: str, timeout: float) -> "answers.Judgement | JudgeSilent":
    """Asks whether `summary` states `claim`; `timeout` in seconds is a total. Raises nothing but cancellation.

    The quote is not checked here: that it stands in the summary is a rule of `domain.verdicts`.
    """
    prompt = load(PROMPT_ID)
    if not judge_configured():
        return JudgeSilent(Cause.JUDGE_NOT_CONFIGURED)
    seconds = min(float(settings.JUDGE_TIMEOUT_SECONDS), timeout)
    seen: dict[str, bool] = {}
    began = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            judged, raw = await ask(prompt, claim, summary, seconds, seen)
        check(raw)
        result: answers.Judgement | JudgeSilent = read(judged, raw, prompt, seen)
    except Exception as problem:  # noqa: BLE001  # instructor wraps every failure; none may confirm or end a run
        result = silent(detail_of(problem), prompt, seen)
    word = result.detail if isinstance(result, JudgeSilent) else f"corroborates={result.corroborates}"
    milliseconds = round((time.monotonic() - began) * 1000)
    logger.info(
        "judge case=%s model=%s prompt=%s %s %d ms", case_id, settings.JUDGE_MODEL, prompt.id, word, milliseconds
    )
    return result


async def ask(prompt: Prompt, claim: str, summary: str, seconds: float, seen: dict[str, bool]) -> tuple[Judgement, Any]:
    """One call. Claim and evidence travel as a JSON string: nothing in them can end it or be rendered as a template."""
    import openai

    async def note_header(response: Any) -> None:
        seen["simulated"] = response.headers.get(SIMULATED_HEADER, "").lower() == "true"

    hooks = {"response": [note_header]}
    async with openai.DefaultAsyncHttpxClient(verify=certificates(), event_hooks=hooks) as transport:
        judged, raw = await make_client(transport).chat.completions.create_with_completion(
            messages=[
                {"role": "system", "content": prompt.text},
                {"role": "user", "content": json.dumps({"claim": claim, "evidence": summary}, ensure_ascii=False)},
            ],
            response_model=Judgement,
            max_retries=0,
            strict=True,
            temperature=0,
            seed=SEED,
            max_tokens=MAX_TOKENS,
            timeout=seconds,
        )
    return judged, raw


def make_client(transport: Any) -> Any:
    """An instructor client for JUDGE_MODEL; `transport` is the HTTP client of this one question."""
    import instructor

    given: dict[str, Any] = {"api_key": settings.JUDGE_API_KEY or "none", "max_retries": 0}
    if settings.JUDGE_BASE_URL:
        given["base_url"] = settings.JUDGE_BASE_URL
    if transport is not None and settings.JUDGE_MODEL.startswith("openai/"):
        given["http_client"] = transport
    return instructor.from_provider(
        settings.JUDGE_MODEL, async_client=True, mode=instructor.Mode[settings.JUDGE_MODE], **given
    )


def check(raw: Any) -> None:
    """Raises Unusable for an answer that instructor takes and that must not count."""
    choices = getattr(raw, "choices", None)
    if not choices or len(choices) != 1:
        raise Unusable("the answer has another form")
    choice = choices[0]
    if choice.finish_reason == "content_filter":
        raise Unusable("the answer was filtered")
    if choice.finish_reason not in FINISHED:
        raise Unusable("the answer was cut off")
    if getattr(choice.message, "refusal", None):
        raise Unusable("the judge refused")
    if settings.JUDGE_MODE in JSON_MODES:
        return
    calls = choice.message.tool_calls or []
    if len(calls) != 1 or calls[0].function.name != Judgement.__name__:
        raise Unusable("the answer has another form")
    check_arguments(calls[0].function.arguments)


def check_arguments(text: str) -> None:
    """The arguments once more, by a reader that takes no key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise Unusable("the answer has another form")
        return dict(pairs)

    Judgement.model_validate(json.loads(text, object_pairs_hook=once))


def read(judged: Judgement, raw: Any, prompt: Prompt, seen: dict[str, bool]) -> answers.Judgement:
    usage = getattr(raw, "usage", None)
    return answers.Judgement(
        corroborates=judged.corroborates,
        quote=storable(judged.quote),
        reason=storable(judged.reason),
        model=str(getattr(raw, "model", "") or settings.JUDGE_MODEL)[:200],
        prompt_id=prompt.id,
        prompt_sha256=prompt.sha256,
        fingerprint=str(getattr(raw, "system_fingerprint", "") or "")[:100],
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        simulated=seen.get("simulated", False),
    )


def storable(text: str) -> str:
    """PostgreSQL holds neither U+0000 nor lone surrogates; a quote with one is in no summary anyway."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def silent(detail: str, prompt: Prompt, seen: dict[str, bool]) -> JudgeSilent:
    return JudgeSilent(
        Cause.JUDGE_FAILED, detail, settings.JUDGE_MODEL, prompt.id, prompt.sha256, seen.get("simulated", False)
    )


def detail_of(problem: BaseException) -> str:
    """What may be said of a failure: by class, never by its text."""
    if isinstance(problem, Unusable):
        return str(problem)
    link: BaseException | None = problem
    while link is not None:
        if type(link).__name__ in DETAILS:
            return DETAILS[type(link).__name__]
        if isinstance(link, AssertionError) and "Unable to generate" in str(link):
            return "the judge refused"
        link = link.__cause__ or link.__context__
    return "no usable answer"
