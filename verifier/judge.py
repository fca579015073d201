"""The judge: does what a search found state this claim about this one? (ADR-0111, through instructor)

Exactly one call to an OpenAI-compatible endpoint, temperature 0, bounded tokens, one total time. What instructor would
let pass is checked again on the raw answer: finish reason, refusal, the one tool call and its name. The judgement is
read by our own strict reader, which takes no key twice and no second answer. Whatever goes wrong is a `JudgeSilent`;
the texts of exceptions are never logged, they can hold evidence and keys.
https://platform.openai.com/docs/api-reference/chat/create · https://python.useinstructor.com
"""

import asyncio
import json
import logging
import re
import ssl
import time
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

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
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
REASONED = re.compile(r"\A\s*(?:<think>)?.*?</think>", re.DOTALL)  # how local models think aloud before they answer
MALFORMED = "the answer has another form"
OUR_PARAMETERS = {"temperature", "seed", "max_tokens", "tools", "tool_choice", "response_format"}
DETAILS = {  # exception class, anywhere in the chain of causes: what may be said of it
    "TimeoutError": "no answer in time",
    "APITimeoutError": "no answer in time",
    "APIConnectionError": "the connection failed",
    "AuthenticationError": "the key was refused",
    "PermissionDeniedError": "the key was refused",
    "NotFoundError": "the model is not known",
    "RateLimitError": "rate limit or quota",
    "BadRequestError": "the request was refused",
    "UnprocessableEntityError": "the request was refused",
    "InternalServerError": "the endpoint failed",
    "APIStatusError": "the endpoint failed",
    "IncompleteOutputException": "the answer was cut off",
    "ResponseParsingError": MALFORMED,
    "ValidationError": MALFORMED,
    "JSONDecodeError": MALFORMED,
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
            raw = await ask(prompt, claim, summary, seconds, seen)
        result: answers.Judgement | JudgeSilent = read(judgement_in(raw), raw, prompt, seen)
    except Exception as problem:  # noqa: BLE001  # instructor wraps every failure; none may confirm or end a run
        result = silent(detail_of(problem), prompt, seen)
    word = result.detail if isinstance(result, JudgeSilent) else f"corroborates={result.corroborates}"
    milliseconds = round((time.monotonic() - began) * 1000)
    logger.info(
        "judge case=%s model=%s prompt=%s %s %d ms", case_id, settings.JUDGE_MODEL, prompt.id, word, milliseconds
    )
    return result


async def ask(prompt: Prompt, claim: str, summary: str, seconds: float, seen: dict[str, bool]) -> Any:
    """One call. Claim and evidence travel as a JSON string: nothing in them can end it or be rendered as a template."""
    import openai

    async def note_header(response: Any) -> None:
        seen["simulated"] = response.headers.get(SIMULATED_HEADER, "").lower() == "true"

    async with openai.DefaultAsyncHttpxClient(
        verify=certificates(),
        event_hooks={"response": [note_header]},
        follow_redirects=False,  # evidence goes to the endpoint that was configured, and nowhere else
        trust_env=urlsplit(base_url()).hostname not in LOOPBACK,  # a proxy has no way to this machine's own endpoint
    ) as transport:
        _, raw = await make_client(transport).chat.completions.create_with_completion(
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
    return raw


def make_client(transport: Any) -> Any:
    """An instructor client for JUDGE_MODEL; `transport` is the HTTP client of this one question.

    Every provider is spoken to as an OpenAI-compatible endpoint: instructor's own builders of the others keep the
    client's hidden retries and take no transport.
    """
    import instructor

    return instructor.from_provider(
        f"openai/{settings.JUDGE_MODEL.partition('/')[2]}",
        async_client=True,
        mode=instructor.Mode[settings.JUDGE_MODE],
        base_url=base_url(),
        api_key=settings.JUDGE_API_KEY or "none",
        max_retries=0,
        http_client=transport,
    )


def base_url() -> str:
    own = settings.JUDGE_PROVIDERS.get(settings.JUDGE_MODEL.partition("/")[0])
    if own is None:
        raise Unusable("the model setting can't be used")
    return str(settings.JUDGE_BASE_URL or own)


def judgement_in(raw: Any) -> Judgement:
    """The one judgement, from the one place where the mode has it. Raises Unusable for what must not count."""
    message = finished_message(raw)
    calls = message.tool_calls or []
    if getattr(message, "function_call", None):
        raise Unusable(MALFORMED)
    if settings.JUDGE_MODE in JSON_MODES:
        if calls:
            raise Unusable(MALFORMED)
        return read_strictly(only_object(message.content) if settings.JUDGE_MODE == "MD_JSON" else message.content)
    if len(calls) != 1 or calls[0].function.name != Judgement.__name__:
        raise Unusable(MALFORMED)
    return read_strictly(calls[0].function.arguments)


def finished_message(raw: Any) -> Any:
    """The message of an answer that came to its own end. instructor takes filtered and refused ones too."""
    choices = getattr(raw, "choices", None)
    if not choices or len(choices) != 1:
        raise Unusable(MALFORMED)
    choice = choices[0]
    if choice.finish_reason == "content_filter":
        raise Unusable("the answer was filtered")
    if choice.finish_reason not in FINISHED:
        raise Unusable("the answer was cut off")
    if getattr(choice.message, "refusal", None):
        raise Unusable("the judge refused")
    return choice.message


def only_object(text: str) -> str:
    """The one JSON object in a text, after what was thought aloud. Two are two answers, so neither counts."""
    text = REASONED.sub("", text, count=1)
    found, at = [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            _, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        found.append(text[at:end])
        at = end
    if len(found) != 1:
        raise Unusable(MALFORMED)
    return found[0]


def read_strictly(text: str) -> Judgement:
    """Takes no key twice: of two values one would silently win."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise Unusable(MALFORMED)
        return dict(pairs)

    return Judgement.model_validate(json.loads(text, object_pairs_hook=once))


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
    """What may be said of a failure: by class and code, never by its text."""
    if isinstance(problem, Unusable):
        return str(problem)
    raw = getattr(problem, "last_completion", None)
    if raw is not None:
        try:
            finished_message(raw)
        except Unusable as told:
            return str(told)
    return next((said for link in causes(problem) if (said := word_for(link))), "no usable answer")


def causes(problem: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = problem
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


def word_for(error: BaseException) -> str:
    if getattr(error, "code", None) == "insufficient_quota":
        return "the quota is used up"
    parameter = getattr(error, "param", None)
    if isinstance(parameter, str) and parameter in OUR_PARAMETERS:
        return f"the model does not take our {parameter}"
    if isinstance(error, AssertionError) and str(error).startswith("Unable to generate"):
        return "the judge refused"  # instructor's only sign of a refusal
    return DETAILS.get(type(error).__name__, "")
