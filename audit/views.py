"""The trail's pages: read-only, for those whose role may see it."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from audit.event import read_event
from audit.filters import SYSTEM, Filters, Unreadable, read_filters
from audit.log import record
from audit.models import SYSTEM_TENANT_ID, ActorType, Tenant
from audit.trail import Page, read_page
from audit.words import EVENTS, OUTCOMES

VIEW, VIEW_SYSTEM = "audit.view_trail", "audit.view_system_trail"


@require_safe
def trail(request: HttpRequest) -> HttpResponse:
    check_may(request, VIEW)
    try:
        filters = read_filters(request.GET)
    except Unreadable as problem:
        return list_page(request, as_typed(request), None, problem)
    if filters.chain == SYSTEM:
        check_may(request, VIEW_SYSTEM)
    tenant_id = SYSTEM_TENANT_ID if filters.chain == SYSTEM else tenant_of(request).id
    return list_page(request, filters, read_page(tenant_id=tenant_id, filters=filters))


def list_page(
    request: HttpRequest, filters: Filters, page: Page | None, problem: Unreadable | None = None
) -> HttpResponse:
    context = {
        "filters": filters,
        "page": page,
        "problem": problem,
        "chips": filters.chips(page.case_name) if page else [],
        "event_types": EVENTS.items(),
        "type_unknown": filters.type and filters.type not in EVENTS,
        "outcomes": OUTCOMES.items(),
        "outcome_unknown": filters.outcome and filters.outcome not in OUTCOMES,
        "may_see_system": request.user.has_perm(VIEW_SYSTEM),
        "on_system": filters.chain == SYSTEM,
        "unfiltered": Filters(chain=filters.chain).address(),
        "newest": filters.newest(),
        "case_list": Filters(chain=filters.chain, case="").address()
        + ("&" if filters.chain == SYSTEM else "")
        + "case=",
    }
    return render(request, "audit/trail.html", context, status=400 if problem else 200)


def as_typed(request: HttpRequest) -> Filters:
    """The form as it was sent, to be put right; nothing is looked up with it."""
    names = ("case", "actor", "type", "outcome", "about", "since", "until")
    return Filters(**{name: request.GET.get(name, "").replace("\0", "")[:200] for name in names})


@require_safe
def event(request: HttpRequest, event_id: UUID) -> HttpResponse:
    check_may(request, VIEW)
    tenants = [tenant_of(request).id]
    if request.user.has_perm(VIEW_SYSTEM):
        tenants.append(SYSTEM_TENANT_ID)
    shown = read_event(tenants=tenants, event_id=event_id)
    if shown is None:
        raise Http404("There is no such event in the trails you may read.")
    return render(request, "audit/event.html", {"shown": shown})


def tenant_of(request: HttpRequest) -> Tenant:
    return request.tenant  # type: ignore[attr-defined, no-any-return]  # set by the tenant middleware


def check_may(request: HttpRequest, permission: str) -> None:
    """A refusal is itself an event; the reader gets the page that says so."""
    if request.user.has_perm(permission):
        return
    with transaction.atomic():
        record(
            tenant_id=tenant_of(request).id,
            event_type="access_refused",
            actor=request.user.get_username(),
            actor_type=ActorType.PERSON,
            actor_role=getattr(request.user, "role", ""),
            details={"page": request.path, "method": request.method, "reason": f"the role lacks {permission}"},
            at=timezone.now(),
        )
    raise PermissionDenied("The trail is read by auditors and admins.")
