"""The page on which auditors ask for a trail, or one case of it, as files that prove themselves, and fetch them."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError as BrokerAway

from audit import exporting
from audit.exporting import KEPT, MOST_AT_ONCE, Progress
from audit.log import case_names
from audit.models import SYSTEM_TENANT_ID, AuditEvent, Tenant, TrailExport
from audit.tasks import write_export
from audit.views import VIEW, VIEW_SYSTEM, check_may, tenant_of

SHOWN = 20
SILENT = timedelta(hours=1)  # after that, one that has not ended is not waited for
BROKER_AWAY = "It could not be asked for: the broker does not answer."


@dataclass(frozen=True, slots=True)
class Shown:
    export: TrailExport
    what: str
    progress: Progress | None
    waiting: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Problem:
    field: str
    sentence: str


@require_http_methods(["GET", "HEAD", "POST"])
def exports(request: HttpRequest) -> HttpResponse:
    check_may(request, VIEW)
    if request.method == "POST":
        return ask(request)
    return page(request, typed=request.GET.get("case", ""))


def page(request: HttpRequest, *, typed: str, on_system: bool = False, problem: Problem | None = None) -> HttpResponse:
    tenants = readable(request)
    newest = TrailExport.objects.select_related("tenant").filter(tenant__in=tenants).order_by("-asked_at", "-id")
    rows = shown(list(newest[:SHOWN]))
    context = {
        "tenants": tenants,
        "on_system": on_system,
        "typed": typed.replace("\0", "")[:200],
        "problem": problem,
        "rows": rows,
        "waiting": any(row.waiting for row in rows),
        "here": request.path,
        "kept_hours": int(KEPT.total_seconds() // 3600),
    }
    return render(request, "audit/exports.html", context, status=422 if problem else 200)


def readable(request: HttpRequest) -> list[Tenant]:
    """The person's own tenant, and the system for those who may see its trail."""
    own = tenant_of(request)
    return [own, *(Tenant.objects.filter(id=SYSTEM_TENANT_ID) if request.user.has_perm(VIEW_SYSTEM) else ())]


def shown(rows: list[TrailExport]) -> list[Shown]:
    now, told = timezone.now(), exporting.progress_of(rows)
    names: dict[UUID, str] = {}
    for tenant_id in {row.tenant_id for row in rows}:
        cases = {row.case_id for row in rows if row.tenant_id == tenant_id and row.case_id}
        names |= case_names.of(tenant_id, cases) if cases else {}
    return [
        Shown(
            export=row,
            what=f"case {names.get(row.case_id, str(row.case_id))}" if row.case_id else "the whole trail",
            progress=told.get(row.id),
            waiting=row.ended_at is None and now - row.asked_at < SILENT,
            kept=bool(row.sha256) and exporting.place_of(row.id).is_file(),
        )
        for row in rows
    ]


def ask(request: HttpRequest) -> HttpResponse:
    """Hands the work to a worker: a long trail takes longer than a page may."""
    typed, on_system = request.POST.get("case", "").replace("\0", "").strip(), request.POST.get("chain") == "system"
    if on_system:
        check_may(request, VIEW_SYSTEM)
    tenant = Tenant.objects.get(id=SYSTEM_TENANT_ID) if on_system else tenant_of(request)
    found = wanted_case(tenant, typed) if typed else None
    if not isinstance(found, Problem) and too_many(tenant):
        found = Problem("export", f"{MOST_AT_ONCE} exports of this trail are under way. Wait for one of them to end.")
    if isinstance(found, Problem):
        return page(request, typed=typed, on_system=on_system, problem=found)
    export = TrailExport.objects.create(
        tenant=tenant,
        case_id=found,
        asked_by=request.user.get_username(),
        asked_role=getattr(request.user, "role", ""),
        asked_at=timezone.now(),
    )
    try:
        write_export.delay(export_id=str(export.id))
    except BrokerAway:
        export.problem, export.ended_at = BROKER_AWAY, timezone.now()
        export.save(update_fields=["problem", "ended_at"])
    return redirect(reverse("trail_exports"))


def too_many(tenant: Tenant) -> bool:
    begun = timezone.now() - SILENT
    return TrailExport.objects.filter(tenant=tenant, ended_at=None, asked_at__gt=begun).count() >= MOST_AT_ONCE


def wanted_case(tenant: Tenant, typed: str) -> UUID | Problem:
    """The case by its id, or by the whole name of its report."""
    try:
        case_id = UUID(typed)
    except ValueError:
        found = case_names.of(tenant.id, case_names.find(tenant.id, typed))
        same = [case_id for case_id, name in found.items() if name == typed]
        return same[0] if same else Problem("case", f"This trail knows of no case “{typed[:100]}”.")
    if AuditEvent.objects.filter(tenant=tenant, case_id=case_id).exists():
        return case_id
    return Problem("case", f"This trail has no event of a case {case_id}.")


@require_safe
def download(request: HttpRequest, export_id: UUID) -> FileResponse:
    check_may(request, VIEW)
    tenants = readable(request)
    export = get_object_or_404(TrailExport.objects.select_related("tenant"), id=export_id, tenant__in=tenants)
    try:
        file = exporting.place_of(export.id).open("rb")
    except OSError:
        raise Http404("This export is not kept any more.") from None
    exporting.note_download(
        export, actor=request.user.get_username(), actor_role=getattr(request.user, "role", ""), at=timezone.now()
    )
    name = f"trail-{export.tenant.slug}-{export.asked_at:%Y-%m-%d}.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
