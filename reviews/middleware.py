"""Whose data a request may see, and what becomes of a refusal."""

from collections.abc import Callable

from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from audit.log import record, set_current_tenant
from audit.models import ActorType
from reviews.models import User
from reviews.permissions import Refused

ALIVE = "/healthz"  # the process says that it is up without asking anybody


class TenantMiddleware:
    """Works every request for the tenant of its user, and leaves the connection working for nobody afterwards.

    An API request sets its key's tenant itself; the end here covers that too, whatever way the request ended.
    Someone deactivated has no user any more: the session then stands for nobody and is asked to sign in.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
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
        """A refusal is said in its own sentence and stands in the trail."""
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
