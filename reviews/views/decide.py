"""Deciding about one finding: check, record, and what was recorded. Nothing typed is ever lost to an error."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audit.models import AuditSeal
from reviews import words
from reviews.decisions import check_current, decide
from reviews.forms import DecisionForm
from reviews.models import Decision, User
from reviews.permissions import Refused, check_can_decide, check_can_view_cases
from reviews.queues import waiting
from reviews.rules import InvalidDecision, StaleVerdict
from reviews.standing import Told, kind_of, status_of
from reviews.views import deciding
from reviews.views.case_page import CasePage, case_page
from reviews.views.common import filters_of, get_case, kept_filters, person
from reviews.views.decided import code_words
from verifier.models import Case, Finding


@require_POST
def decision(request: HttpRequest, case_id: UUID, finding_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    check_can_decide(user, case)
    finding = get_object_or_404(Finding, id=finding_id, case=case)
    page = case_page(case=case, user=user, finding_id=str(finding.id), query="", at=timezone.now())
    if page.item is None or page.item.row != finding:
        return again(
            request,
            user,
            page,
            None,
            Trouble("A newer report of this case has arrived, and this finding is not in it as it was."),
        )
    form = deciding.sent_form(request.POST, page.item)
    if request.POST.get("step") == "change":
        return again(request, user, page, as_typed(form), status=200)
    if request.POST.get("step") == "record":
        return record(request, user, page, form)
    return check(request, user, page, form)


class Trouble:
    """Why nothing was recorded, and what is different from what was shown."""

    def __init__(self, sentence: str, old: Told | None = None, new: Told | None = None) -> None:
        self.sentence = sentence
        self.rows = differences(old, new) if old and new else []


def differences(old: Told, new: Told) -> list[tuple[str, str, str]]:
    pairs = (
        ("Verdict", words.say("verdict", old.verdict), words.say("verdict", new.verdict)),
        ("Because", words.say("cause", old.cause), words.say("cause", new.cause)),
        ("In words", old.reason, new.reason),
        ("Evidence SHA-256", old.evidence_sha256[:12], new.evidence_sha256[:12]),
    )
    return [(name, before or "none", now or "none") for name, before, now in pairs if before != now]


def check(request: HttpRequest, user: User, page: CasePage, form: DecisionForm) -> HttpResponse:
    """The page that repeats everything. It records nothing."""
    item = page.item
    assert item is not None
    trouble = stale(page.case, item.row, form)
    if trouble or not form.is_valid():
        return again(request, user, page, form, trouble)
    outcome = form.cleaned_data["outcome"]
    context = {
        "page": page,
        "item": item,
        "form": form,
        "outcome": outcome,
        "kind": kind_of(item.verdict_code, outcome),
        "reason_code_words": code_words(outcome, form.cleaned_data["code"]),
        "evidence_words": form.cleaned_data["evidence"],
        "consequence": deciding.consequence(item.row, outcome),
        "act": deciding.ACTS[outcome],
        "fields": [(name, value) for name in form.fields for value in request.POST.getlist(name)],
        "action": request.get_full_path(),
    }
    return render(request, "check.html", context)


def stale(case: Case, finding: Finding, form: DecisionForm) -> Trouble | None:
    form.full_clean()
    try:
        check_current(case, finding, form.cleaned_data.get("verdict_id"))
    except StaleVerdict as problem:
        return Trouble(problem.sentence, problem.old, problem.new)
    except Refused as problem:
        return Trouble(str(problem))
    return None


def record(request: HttpRequest, user: User, page: CasePage, form: DecisionForm) -> HttpResponse:
    """One press or five: the form's token makes it one decision."""
    assert page.item is not None
    earlier = sent_before(user, page, form)
    if earlier is not None:
        return to_recorded(request, earlier)
    trouble = stale(page.case, page.item.row, form)
    if trouble or not form.is_valid():
        return again(request, user, page, form, trouble)
    try:
        made = decide(
            user=user,
            finding=page.item.row,
            verdict_id=form.cleaned_data["verdict_id"],
            outcome=form.cleaned_data["outcome"],
            reason_code=form.cleaned_data["code"],
            reason=form.cleaned_data["reason"],
            evidence=form.cleaned_data["evidence"],
            form_token=form.cleaned_data["form_token"],
            at=timezone.now(),
        )
    except StaleVerdict as problem:
        return again(request, user, page, form, Trouble(problem.sentence, problem.old, problem.new))
    except InvalidDecision as problem:
        return again(request, user, page, form, Trouble(str(problem)))
    except Refused as problem:
        return again(request, user, page, form, Trouble(str(problem)))
    return to_recorded(request, made)


def sent_before(user: User, page: CasePage, form: DecisionForm) -> Decision | None:
    """Refresh, Back and resend lead to what was recorded the first time, even when the verdict has changed since."""
    form.full_clean()
    token = form.cleaned_data.get("form_token")
    return Decision.objects.filter(form_token=token, author=user, case=page.case).first() if token else None


def as_typed(form: DecisionForm) -> DecisionForm:
    """The same fields to change, without complaints about what is not there yet."""
    form.full_clean()
    form.errors.clear()
    return form


def again(
    request: HttpRequest,
    user: User,
    page: CasePage,
    form: DecisionForm | None,
    trouble: Trouble | None = None,
    status: int = 422,
    typed: bool = True,
) -> HttpResponse:
    """The case page with everything that was typed; after a stale verdict the form names the present one."""
    if typed and form is not None and trouble is not None and page.item is not None:
        data = request.POST.copy()
        data["verdict_id"] = str(page.item.verdict.id) if page.item.verdict else ""
        form = as_typed(deciding.sent_form(data, page.item))
    context: dict[str, Any] = deciding.context_of(request, user, page, form)
    return render(request, "case.html", context | {"stale": trouble}, status=409 if trouble else status)


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
        Decision.objects.select_related("finding", "verdict", "author", "case"),
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
