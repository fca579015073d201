"""The reports of a case: each as it was received, and what it says otherwise than the one before it."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.changes import findings_changed, reports_of, steps, top_level
from reviews.claims import note_view
from reviews.models import Standing
from reviews.text import size
from reviews.views.common import get_case, person
from reviews.views.differences import Row, fields, in_short, rows
from verifier.domain.changes import WEAKER
from verifier.domain.json_text import load
from verifier.domain.subjects import read_subject
from verifier.models import Case, Report

REPORTS = 20  # on one page
PAGE = 100  # changed findings on one page


@require_safe
def reports(request: HttpRequest, case_id: UUID) -> HttpResponse:
    """Every report that came, and what one of them, the newest unless another is asked for, changed."""
    case = get_case(request, case_id)
    note_view(user=person(request), case=case, session=request.session.session_key or "", at=timezone.now())
    every = reports_of(case)
    total = every.count()
    pages = -(-total // REPORTS)
    number = min(page_number(request.GET.get("reports", "")), pages)
    shown = list(every[(number - 1) * REPORTS : number * REPORTS + 1])
    told = {step.after.id: step for step in steps(shown)}
    wanted = find(case, request.GET.get("iteration", ""))
    before = case.reports.filter(iteration__lt=wanted.iteration).order_by("-iteration").first()
    context: dict[str, Any] = {
        "case": case,
        "total": total,
        "reports": [(each, size(each.size), in_short(told.get(each.id))) for each in shown[:REPORTS]],
        "newer_reports": address(case, wanted, reports=number - 1) if number > 1 else "",
        "older_reports": address(case, wanted, reports=number + 1) if number < pages else "",
        "wanted": wanted,
        "before": before,
    }
    if before is not None:
        step = told.get(wanted.id) or steps([wanted, before])[0]
        context |= {"in_short": in_short(step)}
        context |= compared(case, before, wanted, page_number(request.GET.get("page", "")))
    return render(request, "reports.html", context)


@require_safe
def report(request: HttpRequest, case_id: UUID) -> HttpResponse:
    """The bytes as received, of the newest report or the one asked for: to take them away is to read the case."""
    case = get_case(request, case_id)
    found = find(case, request.GET.get("iteration", ""))
    note_view(user=person(request), case=case, session=request.session.session_key or "", at=timezone.now())
    answer = HttpResponse(bytes(found.content), content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="report-{case.id}-r{found.iteration}.json"'
    return answer


def find(case: Case, asked: str) -> Report:
    """The report of the iteration asked for; without one, the newest."""
    assert case.current_report is not None, "a case is saved together with its first report"
    if not asked:
        return case.current_report
    iteration = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    found = Report.objects.filter(case=case, tenant_id=case.tenant_id, iteration=iteration).first()
    if found is None:
        raise Http404
    return found


def compared(case: Case, before: Report, after: Report, page: int) -> dict[str, Any]:
    found = findings_changed(before, after)
    pages = max(1, -(-len(found) // PAGE))
    page = min(page, pages)
    subjects = read_subject(load(before.subject)), read_subject(load(after.subject))
    lines, more_fields = fields(top_level(before), top_level(after))
    return {
        "fields": lines,
        "more_fields": more_fields,
        "changed": len(found),
        "taken_back": sum(each.differences[0].aspect in WEAKER for each in found),
        "first": (page - 1) * PAGE + 1,
        "rows": with_addresses(case, rows(found[(page - 1) * PAGE : page * PAGE], subjects)),
        "page": page,
        "pages": pages,
        "previous": address(case, after, page=page - 1) if page > 1 else "",
        "next": address(case, after, page=page + 1) if page < pages else "",
    }


def with_addresses(case: Case, shown: list[Row]) -> list[tuple[Row, str]]:
    """Each with its address on the case page, which lists the newest report's findings and those that were put to a
    re-check; the others stand here alone.
    """
    ids = [each.finding.id for each in shown]
    standing = Standing.objects.filter(case=case, tenant_id=case.tenant_id, finding_id__in=ids)
    listed = set(standing.values_list("finding_id", flat=True))
    here = reverse("case", args=[case.id])
    return [(each, f"{here}?finding={each.finding.id}" if is_listed(each, case, listed) else "") for each in shown]


def is_listed(each: Row, case: Case, listed: set[UUID]) -> bool:
    return each.finding.report_id == case.current_report_id or each.finding.id in listed


def page_number(asked: str) -> int:
    return max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1


def address(case: Case, wanted: Report, **pages: int) -> str:
    query = urlencode({"iteration": wanted.iteration, **pages})
    return f"{reverse('reports', args=[case.id])}?{query}{'#changes' if 'page' in pages else ''}"
