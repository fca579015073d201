"""What the API reads of cases. `verifier.urls` takes this router in; the key's scope is checked there."""

from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router

from audit.chain import read_body
from audit.models import AuditEvent
from audit.sealed import Closed, Opened, check_kept, open_events
from reviews.cases import case_json
from reviews.listing import CaseRow, cases
from reviews.text import moment
from verifier.models import ApiKey, Case

router = Router(tags=["cases"])
MOST = 200


def find_case(request: HttpRequest, case_id: UUID) -> Case:
    """A case of the key's tenant; another tenant's is as good as none. Raises CaseErased for one that was erased."""
    case = Case.objects.filter(id=case_id, tenant_id=caller(request).tenant_id).exclude(current_report=None).first()
    if case is None:
        raise Http404
    check_kept(case.id)
    return case


def caller(request: HttpRequest) -> ApiKey:
    return request.auth  # type: ignore[attr-defined, no-any-return]


@router.get("/cases", summary="List cases")
def list_cases(
    request: HttpRequest,
    needs_review: bool | None = None,
    after: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> dict[str, Any]:
    """Newest first. `next` is the `after` of the next page, or null on the last one."""
    rows, following = cases(caller(request).tenant, needs_review=needs_review, after=after, limit=limit)
    return {"cases": [summary(row) for row in rows], "next": str(following) if following else None}


def summary(row: CaseRow) -> dict[str, Any]:
    return {
        "case_id": str(row.id),
        "report_id": row.report_id,
        "iteration": row.iteration,
        "subject_name": row.subject_name,
        "created_at": moment(row.created_at),
        "needs_review": row.needs_review,
        "advisory_only": row.advisory,
        "verification": {"id": str(row.verification_id), "status": row.run},
        "verdicts": row.verdicts,
    }


@router.get("/cases/{uuid:case_id}", summary="Read a case")
def read_case(request: HttpRequest, case_id: UUID, history: bool = False) -> HttpResponse:
    """The case with its verdicts and decisions; `history=1` adds every one ever given, oldest first."""
    text = case_json(find_case(request, case_id), history=history)
    return HttpResponse(text.encode(), content_type="application/json; charset=utf-8")


@router.get("/cases/{uuid:case_id}/report", summary="Read the report as received")
def read_report(request: HttpRequest, case_id: UUID) -> HttpResponse:
    """The bytes of the current iteration exactly as they were received."""
    report = find_case(request, case_id).current_report
    assert report is not None, "find_case gives only cases with one"
    response = HttpResponse(bytes(report.content), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="report-{case_id}-{report.iteration}.json"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@router.get("/cases/{uuid:case_id}/events", summary="Read a case's trail")
def read_events(
    request: HttpRequest,
    case_id: UUID,
    after: int = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> dict[str, Any]:
    """Its events in the order of the chain, each with its place and hash. `next`: the `after` of the next page."""
    case = find_case(request, case_id)
    events = AuditEvent.objects.filter(tenant_id=case.tenant_id, case_id=case.id, seal__sequence__gt=after)
    page = list(events.select_related("seal").order_by("seal__sequence")[: limit + 1])
    following = page[limit - 1].seal.sequence if len(page) > limit else None
    shown = page[:limit]
    opened = open_events(shown)
    return {"events": [event_values(*each) for each in zip(shown, opened, strict=True)], "next": following}


def event_values(event: AuditEvent, opened: Opened | Closed) -> dict[str, Any]:
    """`details` and `subject` are null for what can't be read any more, and `closed` says why."""
    body = read_body(event.body)
    said = opened if isinstance(opened, Opened) else None
    return {
        "sequence": event.seal.sequence,
        "id": str(event.id),
        "event_type": event.event_type,
        "actor": event.actor,
        "actor_type": event.actor_type,
        "actor_role": body["actor_role"],
        "outcome": event.outcome,
        "subject": said.subject if said else None,
        "recorded_at": moment(event.recorded_at),
        "app_at": body["app_at"],
        "previous_hash": bytes(event.seal.previous_hash).hex(),
        "hash": bytes(event.seal.event_hash).hex(),
        "details": said.details if said else None,
        "closed": opened.value if isinstance(opened, Closed) else None,
    }
