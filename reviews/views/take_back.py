"""Taking a decision back: a further row with its reason. It only ever adds scrutiny."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from reviews.decisions import reverse as reverse_decision
from reviews.forms import TakeBackForm
from reviews.models import Decision
from reviews.permissions import Refused, check_can_reverse
from reviews.rules import InvalidDecision
from reviews.views import deciding
from reviews.views.case_page import case_page
from reviews.views.common import get_case, person
from reviews.views.decide import Trouble, again, to_recorded


@require_POST
def take_back(request: HttpRequest, case_id: UUID, decision_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    decision = get_object_or_404(Decision.objects.select_related("finding"), id=decision_id, case=case)
    check_can_reverse(user, decision)
    form = TakeBackForm(request.POST)
    form.full_clean()
    at = timezone.now()
    try:
        made = reverse_decision(
            user=user,
            decision=decision,
            reason=form.cleaned_data.get("reason", ""),
            form_token=form.cleaned_data.get("form_token"),
            at=at,
        )
    except (InvalidDecision, Refused) as problem:
        page = case_page(case=case, user=user, finding_id=str(decision.finding_id), query="", at=at)
        empty = deciding.new_form(user, page)
        return again(request, user, page, empty, Trouble(str(problem)), typed=False)
    return to_recorded(request, made)
