"""How long a case is kept: admins record its end and legal holds, auditors read them."""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audit.models import ActorType, AuditSeal
from reviews.forms import EndForm, WhyForm
from reviews.models import RetentionRecord, User
from reviews.permissions import can_administer, check_can_administer, check_can_view_retention
from reviews.retention import Hand, InvalidRetention, hold, record_end, retention_of
from reviews.views.common import get_case, person
from verifier.models import Case


@require_safe
def retention(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    check_can_view_retention(person(request), case)
    return show(request, case)


@require_POST
def end(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    hand, form = hand_of(person(request)), EndForm(request.POST, auto_id="end_%s", label_suffix="")
    if form.is_valid():
        try:
            return done(case, record_end(case=case, **form.cleaned_data, hand=hand, at=timezone.now()))
        except InvalidRetention as problem:
            complain(form, problem)
    return show(request, case, end_form=form, status=422)


@require_POST
def legal_hold(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    hand, form = hand_of(person(request)), WhyForm(request.POST, auto_id="hold_%s", label_suffix="")
    on = request.POST.get("on") == "yes"
    if form.is_valid():
        try:
            return done(case, hold(case=case, on=on, **form.cleaned_data, hand=hand, at=timezone.now()))
        except InvalidRetention as problem:
            complain(form, problem)
    return show(request, case, hold_form=form, status=422)


def hand_of(user: User) -> Hand:
    check_can_administer(user)
    return Hand(user.username, ActorType.PERSON, user.role)


def complain(form: WhyForm, problem: InvalidRetention) -> None:
    for field, sentence in problem.problems.items():
        form.add_error(field, sentence)


def done(case: Case, said: RetentionRecord) -> HttpResponse:
    return redirect(f"{reverse('retention', args=[case.id])}?event={said.event_id}")


def show(
    request: HttpRequest,
    case: Case,
    *,
    end_form: EndForm | None = None,
    hold_form: WhyForm | None = None,
    status: int = 200,
) -> HttpResponse:
    kept, said = retention_of(case), list(RetentionRecord.objects.filter(case=case).order_by("-recorded_at", "-id"))
    context = {
        "case": case,
        "kept": kept,
        "years": settings.RETENTION_YEARS,
        "refusal": kept.refusal(timezone.now().date()),
        "said": said,
        "done": told(request, said),
        "may_act": can_administer(person(request)),
        "end_form": end_form or EndForm(auto_id="end_%s", label_suffix=""),
        "hold_form": hold_form or WhyForm(auto_id="hold_%s", label_suffix=""),
        "form": end_form or hold_form,  # the one that was sent, whose problems stand first on the page
    }
    return render(request, "retention.html", context, status=status)


def told(request: HttpRequest, said: list[RetentionRecord]) -> dict[str, object] | None:
    """What was just recorded here, with its place in the trail."""
    wanted = request.GET.get("event", "")
    for each in said:
        if str(each.event_id) == wanted:
            return {"said": each, "seal": AuditSeal.objects.filter(event_id=each.event_id).first()}
    return None
