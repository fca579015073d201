"""The JSON API: who may call it, what comes in, and how every answer looks. What reads cases is in `reviews.api`."""

import functools
import logging
from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone
from ninja import NinjaAPI, Router, Schema, Status
from ninja.errors import AuthorizationError, HttpError, ValidationError
from ninja.security import HttpBearer
from redis import RedisError

from audit.log import record, set_current_tenant
from audit.models import ActorType
from audit.sealed import CaseErased
from verifier import intake
from verifier.models import ApiKey, Case, Verification
from verifier.schemas import REPORT_SCHEMA

logger = logging.getLogger(__name__)
PART = 64 * 1024
DRAIN_BYTES = 256 * 1024 * 1024  # read and thrown away of a body that is too large, so that its sender sees the answer
REFUSALS_SECONDS = 60  # one event a minute for the same key and reason is enough

BROKEN_OFF = "The body broke off before its announced end."

View = Callable[..., HttpResponse]


class KeyAuth(HttpBearer):
    """A tenant's key with one scope. Afterwards `request.auth` is the key and the connection works for its tenant."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        key = ApiKey.find(token)
        if key is None:
            note_revoked(request, token)
            return None
        request.tenant = key.tenant  # type: ignore[attr-defined]
        set_current_tenant(str(key.tenant_id))
        if self.scope not in key.scopes:
            note_refusal(request, key, f"the key lacks the scope {self.scope}")
            raise AuthorizationError(403, f"This key lacks the scope {self.scope}.")
        return key


def note_revoked(request: HttpRequest, token: str) -> None:
    """A key that once was good is worth an event; a token that never was one could only flood the trail."""
    key = ApiKey.objects.filter(token_sha256=ApiKey.digest(token)).first()
    if key is None:
        logger.warning("API call with an unknown key: %s %s", request.method, request.path)
        return
    set_current_tenant(str(key.tenant_id))
    note_refusal(request, key, "the key is revoked")


def note_refusal(request: HttpRequest, key: ApiKey, reason: str) -> None:
    if not is_first(f"access_refused:{key.id}:{reason.replace(' ', '_')}"):
        return
    with transaction.atomic():
        record(
            tenant_id=key.tenant_id,
            event_type="access_refused",
            actor=str(key),
            actor_type=ActorType.KEY,
            details={"key_id": str(key.id), "page": request.path, "method": request.method, "reason": reason},
            at=timezone.now(),
        )


def is_first(name: str) -> bool:
    """Whether this didn't happen within the last minute; when that can't be told, it counts as the first time."""
    try:
        return bool(cache.add(name, True, REFUSALS_SECONDS))
    except RedisError as problem:
        logger.warning("cache does not answer: %s", type(problem).__name__)
        return True


class Accepted(Schema):
    case_id: UUID
    verification_id: UUID
    status_url: str


class Refused(Schema):
    detail: str


class ReportProblem(Schema):
    path: str
    message: str


class InvalidReport(Schema):
    errors: list[ReportProblem]


api = NinjaAPI(
    title="Second Look",
    version="1",
    urls_namespace="api",
    description="Compliance reports in; every decision-driving finding re-checked; what was found and decided out.",
)
router = Router(auth=KeyAuth("reports"), tags=["reports"])


@router.post(
    "/reports",
    response={202: Accepted, 200: Accepted, 401: Refused, 403: Refused, 409: Refused, 413: Refused, 422: InvalidReport},
    summary="Submit a report",
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": REPORT_SCHEMA}}}},
)
def submit_report(request: HttpRequest) -> Status[Any]:
    """202: accepted, its verification waits to start. 200: this very report was here before, same ids.
    409: another report of this `report_id` is here; a changed one needs a higher `iteration`.
    """
    key = caller(request)
    accepted = intake.accept_report(
        tenant_id=key.tenant_id,
        content=read_body(request),
        received_by=str(key),
        actor_type=ActorType.KEY,
        at=timezone.now(),
    )
    return Status(202 if accepted.created else 200, answer(accepted.case, accepted.verification))


@router.post(
    "/cases/{uuid:case_id}/verifications",
    auth=KeyAuth("cases"),
    response={202: Accepted, 401: Refused, 403: Refused, 404: Refused},
    summary="Run the re-check again",
)
def run_again(request: HttpRequest, case_id: UUID) -> Status[Any]:
    """A new verification; the old verdicts stay. While one is waiting or running, that one is the answer."""
    key = caller(request)
    case = Case.objects.filter(id=case_id, tenant_id=key.tenant_id).first()
    if case is None:
        raise Http404
    verification = intake.request_recheck(case=case, requested_by=str(key), actor_type=ActorType.KEY, at=timezone.now())
    return Status(202, answer(case, verification))


def caller(request: HttpRequest) -> ApiKey:
    return request.auth  # type: ignore[attr-defined, no-any-return]


def answer(case: Case, verification: Verification) -> dict[str, Any]:
    status_url = f"{reverse('api:api-root')}cases/{case.id}"
    return {"case_id": case.id, "verification_id": verification.id, "status_url": status_url}


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_body(request: HttpRequest) -> bytes:
    """The received bytes; raises ReportTooLarge at the first byte too many, whatever length was announced."""
    stream = body_stream(request)
    content = bytearray()
    try:
        while part := stream.read(PART):
            content += part
            if len(content) > settings.MAX_REPORT_BYTES:
                drain(stream)
                raise intake.ReportTooLarge
    except OSError:
        raise HttpError(400, BROKEN_OFF) from None
    if len(content) < int(request.headers.get("Content-Length") or 0):
        raise HttpError(400, BROKEN_OFF)
    return bytes(content)


def body_stream(request: HttpRequest) -> Readable:
    """Django reads nothing of a body without Content-Length; where the server knows its end we read it ourselves."""
    environ = getattr(request, "environ", {})
    if environ.get("wsgi.input_terminated") and not environ.get("CONTENT_LENGTH"):
        return environ["wsgi.input"]  # type: ignore[no-any-return]
    return request


def drain(stream: Readable) -> None:
    left = DRAIN_BYTES
    while left > 0 and (part := stream.read(PART)):
        left -= len(part)


@api.exception_handler(intake.InvalidReport)
def invalid_report(request: HttpRequest, problem: intake.InvalidReport) -> HttpResponse:
    errors = [{"path": each.path, "message": each.message} for each in problem.problems]
    return api.create_response(request, {"errors": errors}, status=422)


@api.exception_handler(ValidationError)
def invalid_parameter(request: HttpRequest, problem: ValidationError) -> HttpResponse:
    errors = [{"path": ".".join(map(str, each["loc"])), "message": each["msg"]} for each in problem.errors]
    return api.create_response(request, {"errors": errors}, status=422)


@api.exception_handler(intake.ReportConflict)
def conflict(request: HttpRequest, problem: intake.ReportConflict) -> HttpResponse:
    return refusal(request, 409, str(problem))


@api.exception_handler(CaseErased)
def gone(request: HttpRequest, problem: CaseErased) -> HttpResponse:
    return refusal(request, 410, str(problem))


@api.exception_handler(intake.ReportTooLarge)
def too_large(request: HttpRequest, problem: intake.ReportTooLarge) -> HttpResponse:
    return refusal(request, 413, str(problem))


@api.exception_handler(HttpError)
def refused(request: HttpRequest, problem: HttpError) -> HttpResponse:
    if problem.status_code != 401:
        return refusal(request, problem.status_code, str(problem))
    response = refusal(request, 401, "Send a valid key as `Authorization: Bearer <key>`.")
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Http404)
def not_found(request: HttpRequest, problem: Exception | None = None) -> HttpResponse:
    return refusal(request, 404, "There is nothing here that this key may see.")


@api.exception_handler(Exception)
def failed(request: HttpRequest, problem: Exception) -> HttpResponse:
    logger.error("API call failed: %s %s", request.method, request.path, exc_info=problem)
    return server_error(request)


def server_error(request: HttpRequest) -> HttpResponse:
    return refusal(request, 500, "Something went wrong here. Nothing was saved; the same call may be made again.")


def refusal(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    return api.create_response(request, {"detail": detail}, status=status)


def finish(view: View) -> View:
    """What all views of the API share: no session needed, and 405 in JSON too."""

    @functools.wraps(view)
    def finished(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            allowed = response["Allow"]
            response = refusal(request, 405, f"The method {request.method} isn't one of {allowed}.")
            response["Allow"] = allowed
        return response

    return login_not_required(finished)


def urls() -> tuple[list[URLPattern | URLResolver], str, str]:
    """The API's addresses, once every router is added."""
    patterns, application, namespace = api.urls
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            pattern.callback = finish(pattern.callback)
    return patterns, application, namespace
