"""Taking a decision back: a further row with its reason. It only ever adds scrutiny."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from reviews.decisions import reverse as reverse_decision
from reviews.forms import TakeBackForm
from reviews.models import Decision, User
from reviews.permissions import Refused, check_can_reverse
from reviews.rules import InvalidDecision
from reviews.views import deciding
from reviews.views.case_page import case_page
from reviews.views.common import get_case, person
from reviews.views.recorded import to_recorded
from reviews.views.trouble import Trouble


@require_POST
def take_back(request: HttpRequest, case_id: UUID, decision_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    decision = get_object_or_404(Decision.objects.select_related("finding"), id=decision_id, case=case)
    check_can_reverse(user, decision)
    form = deciding.sent_take_back(request.POST)
    form.full_clean()
    reason = form.cleaned_data.get("reason", "")
    try:
        made = reverse_decision(
            user=user,
            decision=decision,
            reason=reason,
            form_token=form.cleaned_data.get("form_token"),
            at=timezone.now(),
        )
    except InvalidDecision as problem:
        deciding.complain(form, problem)
        return again(request, user, decision, {"take_back": form}, status=422)
    except Refused as problem:
        trouble = Trouble(str(problem), typed=[("Your reason", reason)] if reason else [])
        return again(request, user, decision, {"stale": trouble}, status=409)
    return to_recorded(request, made)


def again(
    request: HttpRequest,
    user: User,
    decision: Decision,
    changes: dict[str, TakeBackForm | Trouble],
    status: int,
) -> HttpResponse:
    """The finding's page as it is now. What was typed stands in its field, or where the field is gone, above."""
    case = get_case(request, decision.case_id)
    page = case_page(case=case, user=user, finding_id=str(decision.finding_id), query={}, at=timezone.now())
    context = deciding.context_of(request, user, page, deciding.new_form(user, page))
    return render(request, "case.html", context | changes, status=status)
