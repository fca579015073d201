"""A report from a person's hand, by file field or drag and drop."""

from collections.abc import Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from audit.models import ActorType
from reviews.permissions import check_can_submit_report
from reviews.text import size
from reviews.views.common import person
from verifier.intake import InvalidReport, ReportConflict, ReportTooLarge, accept_report

MOST_PROBLEMS = 100  # shown; a file that isn't a report at all would have thousands


@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    user = person(request)
    check_can_submit_report(user)
    if request.method == "GET":
        return page(request)
    file = request.FILES.get("report")  # reads the request, and finds out how large the file is
    if too_large := getattr(request, "too_large", None):
        return refuse_size(request, *too_large)
    if file is None:
        return page(request, [{"message": "Choose the file of the report."}], status=422)
    try:
        accepted = accept_report(
            tenant_id=user.tenant_id,
            content=file.read(),
            received_by=user.username,
            actor_type=ActorType.PERSON,
            actor_role=user.role,
            at=timezone.now(),
        )
    except ReportTooLarge:
        return refuse_size(request, str(file.name), file.size or 0)
    except ReportConflict as problem:
        return page(request, [{"path": "$.iteration", "message": str(problem)}], status=409, name=file.name)
    except InvalidReport as problem:
        return page(request, problem.problems, status=422, name=file.name)
    return redirect("case", accepted.case.id)


def refuse_size(request: HttpRequest, name: str, bytes_sent: int) -> HttpResponse:
    most = settings.MAX_REPORT_BYTES
    message = (
        f"The file is {size(bytes_sent)} large ({bytes_sent:,} bytes). "
        f"A report may have at most {size(most)} ({most:,} bytes)."
    )
    return page(request, [{"message": message}], status=413, name=name)


def page(
    request: HttpRequest, problems: Sequence[object] = (), status: int = 200, name: str | None = ""
) -> HttpResponse:
    context = {
        "problems": problems[:MOST_PROBLEMS],
        "has_paths": status in (409, 422) and bool(name),
        "more_problems": len(problems) - MOST_PROBLEMS,
        "file_name": name,
        "most_bytes": settings.MAX_REPORT_BYTES,
        "most": size(settings.MAX_REPORT_BYTES),
    }
    return render(request, "upload.html", context, status=status)
