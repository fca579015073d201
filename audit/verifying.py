"""The page that says when each trail was last verified, with what result, and how far checkpoints cover it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from kombu.exceptions import OperationalError as BrokerAway

from audit.models import SYSTEM_TENANT_ID, AuditEvent, Tenant, WrittenCheckpoint
from audit.sealed import Opened, open_event
from audit.tasks import verify_now
from audit.views import VIEW, VIEW_SYSTEM, check_may, tenant_of
from audit.watch import SOUND, last_verified

SHOWN = 20  # checkpoints a trail
PATIENCE = timedelta(minutes=10)  # so long a page that asked looks for the answer by itself


@dataclass(frozen=True, slots=True)
class Verified:
    """One trail, its last result and its newest checkpoints."""

    slug: str
    event: AuditEvent | None
    words: str
    sound: bool
    checkpoints: list[WrittenCheckpoint]


@require_http_methods(["GET", "HEAD", "POST"])
def verification(request: HttpRequest) -> HttpResponse:
    check_may(request, VIEW)
    tenants = readable(request)
    if request.method == "POST":
        return ask(request, tenants)
    asked_at = when_asked(request)
    trails = verified(tenants)
    return render(
        request,
        "audit/verification.html",
        {
            "trails": trails,
            "asked": asked_at is not None,
            "waiting": is_waiting(asked_at, trails),
            "here": request.get_full_path(),
            "problem": request.GET.get("problem") == "broker",
        },
    )


def readable(request: HttpRequest) -> list[Tenant]:
    """The person's own tenant's trail, and the system's for those who may see it."""
    own = tenant_of(request)
    return [own, *(Tenant.objects.filter(id=SYSTEM_TENANT_ID) if request.user.has_perm(VIEW_SYSTEM) else ())]


def verified(tenants: list[Tenant]) -> list[Verified]:
    last = last_verified([tenant.id for tenant in tenants])
    return [shown(tenant, last.get(tenant.id)) for tenant in tenants]


def shown(tenant: Tenant, event: AuditEvent | None) -> Verified:
    opened = open_event(event) if event else None
    newest = WrittenCheckpoint.objects.filter(tenant=tenant).order_by("-sequence")
    return Verified(
        slug=tenant.slug,
        event=event,
        words=opened.subject if isinstance(opened, Opened) else "",
        sound=bool(event and event.outcome == SOUND),
        checkpoints=list(newest[:SHOWN]),
    )


def ask(request: HttpRequest, tenants: list[Tenant]) -> HttpResponse:
    """Hands the work to a worker: a long trail takes longer than a page may."""
    asked_at = timezone.now()
    try:
        verify_now.delay(
            tenant_ids=[str(tenant.id) for tenant in tenants],
            actor=request.user.get_username(),
            actor_role=getattr(request.user, "role", ""),
        )
    except BrokerAway:
        return redirect(f"{reverse('trail_verification')}?problem=broker")
    return redirect(f"{reverse('trail_verification')}?asked={int(asked_at.timestamp())}")


def when_asked(request: HttpRequest) -> datetime | None:
    told = request.GET.get("asked", "")
    return datetime.fromtimestamp(int(told), UTC) if told.isascii() and told.isdecimal() and len(told) <= 10 else None


def is_waiting(asked_at: datetime | None, trails: list[Verified]) -> bool:
    if asked_at is None or timezone.now() - asked_at > PATIENCE:
        return False
    return any(trail.event is None or trail.event.recorded_at < asked_at for trail in trails)
