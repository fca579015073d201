"""Whose data a request may see, how much it may send, what may be kept of its answer, and what becomes of a refusal."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from audit.log import record, set_current_tenant
from audit.models import ActorType
from audit.sealed import CaseErased
from reviews.models import User
from reviews.permissions import Refused

ALIVE = "/healthz"  # the process says that it is up without asking anybody
WITH_FIRST_PASSWORD = {"change_password", "sign_out", "stay"}
READ_THROUGH = 256 * 1024 * 1024  # bytes of an upload that is too large, so that its sender sees the answer

Next = Callable[[HttpRequest], HttpResponse]


class NotStoredMiddleware:
    """No browser and no proxy keeps an answer: after signing out nobody can leaf back to a case.

    Static files are answered before this.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Cache-Control"] = "no-store"
        return response


class BodyMiddleware:
    """Refuses a body by its announced length, before anything of it is read; more than announced is never read.

    It comes after the question who has signed in and before the check of the form's token, which reads the form.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        if getattr(view, "csrf_exempt", False):
            return None  # the API reads its bodies itself, by its own limit
        length = request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > most_bytes(request):
            return render(request, "413.html", status=413)
        return None


def most_bytes(request: HttpRequest) -> int:
    """A form's bytes, and a report's for someone signed in who uploads one."""
    form: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    match = request.resolver_match
    if match and match.view_name == "upload" and request.user.is_authenticated:
        return max(READ_THROUGH, settings.MAX_REPORT_BYTES + form)
    return form


class FirstPasswordMiddleware:
    """Whoever has a password that somebody else knows changes it before anything else."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        if not getattr(view, "login_required", True) or (match and match.view_name in WITH_FIRST_PASSWORD):
            return None
        if isinstance(request.user, User) and request.user.must_change_password:
            return redirect("change_password")
        return None


class TenantMiddleware:
    """Works every request for the tenant of its user, and leaves the connection working for nobody afterwards.

    An API request sets its key's tenant itself; the end here covers that too, whatever way the request ended.
    Someone deactivated has no user any more: the session then stands for nobody and is asked to sign in.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.tenant = None  # type: ignore[attr-defined]
        if request.path == ALIVE:
            return self.get_response(request)
        try:
            if isinstance(request.user, User):
                request.tenant = request.user.tenant  # type: ignore[attr-defined]
                set_current_tenant(str(request.user.tenant_id))
            return self.get_response(request)
        finally:
            work_for_nobody()

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        """A refusal is said in its own sentence and stands in the trail; of an erased case there is nothing to see."""
        if isinstance(problem, CaseErased):
            return render(request, "erased.html", status=410)
        if not isinstance(problem, Refused):
            return None
        note_refusal(request, problem)
        return render(request, "403.html", {"sentence": str(problem)}, status=403)


def work_for_nobody() -> None:
    """Ends the tenant's scope. A connection that can't say so any more is closed, which ends it as well."""
    if connection.connection is None or connection.needs_rollback:
        return
    try:
        set_current_tenant("")
    except DatabaseError:
        connection.close()


def note_refusal(request: HttpRequest, problem: Refused) -> None:
    user = request.user
    if not isinstance(user, User):
        return
    match = request.resolver_match
    with transaction.atomic():
        record(
            tenant_id=user.tenant_id,
            event_type="access_refused",
            actor=user.username,
            actor_type=ActorType.PERSON,
            actor_role=user.role,
            details={"page": match.view_name if match else "", "method": request.method, "reason": str(problem)},
            at=timezone.now(),
        )
