"""What was recorded, its number in the trail, and the next thing in the list one came from."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from audit.models import AuditSeal
from reviews import words
from reviews.models import Decision
from reviews.permissions import check_can_view_cases
from reviews.queues import waiting
from reviews.standing import status_of
from reviews.views import deciding
from reviews.views.common import filters_of, kept_filters, person


def to_recorded(request: HttpRequest, made: Decision) -> HttpResponse:
    return redirect(deciding.with_query(reverse("recorded", args=[made.id]), kept_filters(request.GET)))


def heading(made: Decision) -> str:
    if made.reverses_id:
        return "Recorded: the decision was taken back"
    outcome = words.say("outcome", made.outcome)
    return f"Recorded: {outcome[:1].lower()}{outcome[1:]}"


def consequence(made: Decision) -> str:
    if made.reverses_id:
        return "The decision no longer counts. Unless the finding is confirmed, it waits in the queue again."
    return deciding.SECOND if status_of(made) == "awaiting_second" else deciding.CONSEQUENCES[made.outcome]


@require_safe
def recorded(request: HttpRequest, decision_id: UUID) -> HttpResponse:
    """What was recorded, its number in the trail, and the next thing in the list one came from."""
    user = person(request)
    check_can_view_cases(user)
    made = get_object_or_404(
        Decision.objects.select_related("finding", "verdict", "author", "case", "reverses__author"),
        id=decision_id,
        tenant_id=user.tenant_id,
    )
    kept = kept_filters(request.GET)
    rows = waiting(user.tenant, filters_of(kept), user=user, at=timezone.now()).rows
    following = next(
        (row for row in rows if row.finding_pk and row.finding_pk != made.finding_id and not row.awaiting_second), None
    )
    context = {
        "decision": made,
        "seal": AuditSeal.objects.get(event_id=made.event_id),
        "heading": heading(made),
        "consequence": consequence(made),
        "trail_url": reverse("trail_event", args=[made.event_id]) if user.has_perm("audit.view_trail") else "",
        "next": following,
        "next_url": deciding.row_address(following, kept) if following else "",
        "queue_url": deciding.with_query(reverse("queue"), kept),
        "case_url": deciding.with_query(reverse("case", args=[made.case_id]), {"finding": str(made.finding_id)} | kept),
    }
    return render(request, "recorded.html", context)
