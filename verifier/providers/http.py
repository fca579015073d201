"""One bounded question to a provider over HTTP, and what makes its reply no answer.

The official SDKs read errors as empty results, so each room here reads the raw body itself and says `Unanswered` where
it proves nothing. Nothing of a body, an address, a key or a name leaves this module in a log line or in a detail text.
"""

import asyncio
import ipaddress
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpx

from verifier.domain.answers import Cause, MediaAnswer, NotAnswered, ScreeningAnswer

logger = logging.getLogger("verifier.providers")
AnswerT = TypeVar("AnswerT", ScreeningAnswer, MediaAnswer)

BODY_BYTES = 4 * 1024 * 1024
QUOTA_STATUSES = {402, 429, 432, 433}  # no credits, too many, Tavily's plan limit, Tavily's pay-as-you-go limit
PASSING_STATUSES = {500, 502, 503, 504}
RETRY_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0
LEAST_SECONDS_FOR_RETRY = 1.0  # a second attempt with less time than this only ends as a timeout
SIMULATED_HEADER = "x-second-look-simulated"


@dataclass(frozen=True, slots=True)
class Question:
    """One POST, and the two words that may stand in a log line beside the provider's name."""

    provider: str
    url: str
    headers: dict[str, str] = field(repr=False)
    body: dict[str, Any] = field(repr=False)
    case_id: str
    about: str  # material type or schema
    params: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """HTTP 200 with a whole body within bounds. Whether it answers is for the vendor's room to decide."""

    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    simulated: bool


class Unanswered(Exception):
    """Why a reply, or its absence, answers nothing. The words are ours and safe to show."""

    def __init__(self, detail: str, cause: Cause = Cause.PROVIDER_ERROR, *, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause = cause
        self.retry_after = retry_after  # seconds after which one more attempt is safe; None: it is not


@dataclass(slots=True)
class Progress:
    """What is known so far of one question, for the log line and for `NotAnswered`."""

    attempts: int = 0
    http_status: int | None = None
    simulated: bool = False


async def ask(question: Question, read: Callable[[Reply], AnswerT], *, timeout: float) -> AnswerT | NotAnswered:
    """Ask once (twice where that is safe) within `timeout` seconds in all. Never raises, except when cancelled."""
    started, progress, outcome = time.monotonic(), Progress(), "cancelled"
    try:
        answer = await answer_or_cause(question, read, progress, timeout)
        outcome = outcome_word(answer)
        return answer
    finally:
        logger.info(
            "provider=%s case=%s about=%s outcome=%s http=%s attempts=%d ms=%d",
            question.provider,
            question.case_id,
            question.about,
            outcome,
            progress.http_status or "none",
            progress.attempts,
            (time.monotonic() - started) * 1000,
        )


async def answer_or_cause(
    question: Question, read: Callable[[Reply], AnswerT], progress: Progress, timeout: float
) -> AnswerT | NotAnswered:
    def not_answered(cause: Cause, detail: str) -> NotAnswered:
        return NotAnswered(question.provider, cause, detail, progress.http_status, progress.simulated)

    try:
        async with asyncio.timeout(timeout):  # over all of it: a server dripping byte after byte ends here too
            reply = await exchange(question, progress, ends_at=time.monotonic() + timeout)
        return read(reply)
    except TimeoutError:
        return not_answered(Cause.PROVIDER_TIMEOUT, f"no whole answer within {max(timeout, 0):.3g} s")
    except Unanswered as reason:
        return not_answered(reason.cause, reason.detail)
    except Exception as error:  # noqa: BLE001 (never raises; the text of an error may hold the body: only its kind is told)
        logger.error("provider=%s case=%s failed with %s", question.provider, question.case_id, type(error).__name__)
        return not_answered(Cause.PROVIDER_ERROR, f"the exchange failed ({type(error).__name__})")


def outcome_word(answer: ScreeningAnswer | MediaAnswer | NotAnswered) -> str:
    if isinstance(answer, NotAnswered):
        return answer.cause.value
    found = answer.listings if isinstance(answer, ScreeningAnswer) else answer.items
    return "answered" if found else "answered_empty"


async def exchange(question: Question, progress: Progress, *, ends_at: float) -> Reply:
    """The reply of the one attempt, or of a second where the first failure passes and the time allows it."""
    async with client(question.url) as http:
        try:
            return await attempt(http, question, progress)
        except Unanswered as refusal:
            pause = refusal.retry_after
            if pause is None or time.monotonic() + pause + LEAST_SECONDS_FOR_RETRY > ends_at:
                raise
            await asyncio.sleep(pause)
        return await attempt(http, question, progress)


def client(url: str) -> httpx.AsyncClient:
    """No redirects, certificates verified, no timeouts of its own: the caller's deadline covers everything.

    Proxies of the environment are used as a deployment expects, but never for a loopback address.
    """
    return httpx.AsyncClient(
        verify=certificates(), timeout=None, follow_redirects=False, trust_env=not is_loopback(url)
    )


@cache
def certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # certifi's, or the environment's SSL_CERT_FILE; read once


def warm_up() -> None:
    """What a process's first question would load inside its own time: certificates and the event loop's backend."""

    async def open_and_close() -> None:
        async with client("http://localhost"):
            await anyio.lowlevel.checkpoint()

    asyncio.run(open_and_close())


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def attempt(http: httpx.AsyncClient, question: Question, progress: Progress) -> Reply:
    progress.attempts += 1
    progress.http_status = None
    headers = {"accept": "application/json", "accept-encoding": "identity", **question.headers}
    try:
        async with http.stream(
            "POST", question.url, params=question.params, headers=headers, json=question.body
        ) as response:
            progress.http_status = response.status_code
            progress.simulated = response.headers.get(SIMULATED_HEADER, "").strip().lower() == "true"
            if response.status_code != 200:
                refuse_status(response.status_code, response.headers)
            return Reply(response.headers, await bounded_body(response), progress.simulated)
    except httpx.TransportError as error:
        raise broken_connection(error, progress) from None


async def bounded_body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > BODY_BYTES:
            raise Unanswered(f"the answer is larger than {BODY_BYTES // 1024 // 1024} MiB")
    return bytes(body)


def broken_connection(error: httpx.TransportError, progress: Progress) -> Unanswered:
    """Asking again is safe only while nothing of an answer has come; a refused certificate stays refused."""
    if progress.http_status is not None:
        return Unanswered("the answer was cut off")
    if is_tls_failure(error):
        return Unanswered("no trusted TLS connection")
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return Unanswered("the request could not be sent")
    return Unanswered("no connection", retry_after=RETRY_PAUSE_SECONDS)


def is_tls_failure(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


def refuse_status(status: int, headers: Mapping[str, str]) -> NoReturn:
    """Only 200 is an answer. Quotas are not tried again, unless the provider itself names a short wait."""
    pause = short_pause(headers)
    if status in QUOTA_STATUSES:
        again = pause if status == 429 else None
        raise Unanswered(f"HTTP {status}: quota or rate limit", Cause.QUOTA, retry_after=again)
    if status in PASSING_STATUSES:
        named = "retry-after" in headers
        raise Unanswered(f"HTTP {status}: provider failure", retry_after=pause if named else RETRY_PAUSE_SECONDS)
    raise Unanswered(f"HTTP {status}: {refusal_word(status)}")


def refusal_word(status: int) -> str:
    if status in {401, 403}:
        return "access refused"
    if 300 <= status < 400:
        return "redirect not followed"
    return "request refused" if status >= 400 else "no answer"


def short_pause(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, when short enough to wait for; its date form never is."""
    value = headers.get("retry-after", "").strip()
    if not (value.isascii() and value.isdigit() and len(value) < 4) or int(value) > LONGEST_PAUSE_SECONDS:
        return None
    return max(float(value), RETRY_PAUSE_SECONDS)


def json_object(body: bytes | str) -> dict[str, Any]:
    """The body as a JSON object: whole, UTF-8, numbers finite. Nothing is salvaged from a broken one."""
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Unanswered("the answer is not JSON") from None
    if not isinstance(value, dict):
        raise Unanswered("the answer is not a JSON object")
    return value


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def required_list(answer: Mapping[str, Any], key: str) -> list[Any]:
    value = answer.get(key)
    if not isinstance(value, list):
        raise Unanswered(f"the answer holds no list `{key}`")
    return value
