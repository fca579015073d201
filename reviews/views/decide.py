"""Deciding about one finding: check, then record. Nothing typed is ever lost to an error."""

from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from reviews import words
from reviews.claims import Held
from reviews.decisions import check_current, decide
from reviews.forms import DecisionForm
from reviews.models import Decision, User
from reviews.permissions import Refused, check_can_decide
from reviews.rules import InvalidDecision, Stale
from reviews.standing import kind_of
from reviews.views import deciding
from reviews.views.case_page import CasePage, case_page
from reviews.views.common import get_case, person
from reviews.views.decided import code_words
from reviews.views.items import Item
from reviews.views.recorded import to_recorded
from reviews.views.trouble import trouble_of
from verifier.models import Case, Finding


@require_POST
def decision(request: HttpRequest, case_id: UUID, finding_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    check_can_decide(user, case)
    finding = get_object_or_404(Finding, id=finding_id, case=case)
    recording = request.POST.get("step") == "record"
    earlier = sent_before(request, user, case)
    if earlier is not None and (recording or says(earlier, request.POST)):
        return to_recorded(request, earlier)
    page = page_about(case, user, finding)
    if page.item is None or page.item.row != finding:
        return refused(request, user, finding, NewerReport(page, finding))
    form = deciding.sent_form(request.POST, page.item)
    if request.POST.get("step") == "change":
        return again(request, user, page, as_typed(form), status=200)
    return record(request, user, page, form) if recording else check(request, user, page, form)


def check(request: HttpRequest, user: User, page: CasePage, form: DecisionForm) -> HttpResponse:
    """The page that repeats everything. It records nothing."""
    item = page.item
    assert item is not None
    problem = stale(page.case, item.row, form)
    if problem:
        return refused(request, user, item.row, problem)
    if not form.is_valid():
        return again(request, user, page, form)
    outcome = form.cleaned_data["outcome"]
    context = {
        "page": page,
        "item": item,
        "form": form,
        "outcome": outcome,
        "beside": words.beside_verdict(kind_of(item.verdict_code, outcome), item.verdict_code),
        "reason_code_words": code_words(outcome, form.cleaned_data["code"]),
        "evidence_words": form.cleaned_data["evidence"],
        "consequence": deciding.consequence(item.row, outcome),
        "held_by_other": held_by_other(page, user),
        "act": deciding.ACTS[outcome],
        "fields": [(name, value) for name in form.fields for value in request.POST.getlist(name)],
        "action": request.get_full_path(),
    }
    return render(request, "check.html", context)


def held_by_other(page: CasePage, user: User) -> str:
    """A hold decides nothing, but two people at one case had better know of each other."""
    return str(Held(page.claim)) if page.claim is not None and page.claim.holder_id != user.pk else ""


def stale(case: Case, finding: Finding, form: DecisionForm) -> Stale | Refused | None:
    form.full_clean()
    try:
        check_current(case, finding, form.cleaned_data.get("verdict_id"), form.cleaned_data.get("newest_word_id"))
    except (Stale, Refused) as problem:
        return problem
    except InvalidDecision:
        return None  # the write says so itself
    return None


def record(request: HttpRequest, user: User, page: CasePage, form: DecisionForm) -> HttpResponse:
    """One press or five: the form's token makes it one decision."""
    assert page.item is not None
    if not form.is_valid():
        problem = stale(page.case, page.item.row, form)
        return refused(request, user, page.item.row, problem) if problem else again(request, user, page, form)
    try:
        made = decide(
            user=user,
            finding=page.item.row,
            verdict_id=form.cleaned_data["verdict_id"],
            newest_word_id=form.cleaned_data["newest_word_id"],
            outcome=form.cleaned_data["outcome"],
            reason_code=form.cleaned_data["code"],
            reason=form.cleaned_data["reason"],
            evidence=form.cleaned_data["evidence"],
            form_token=form.cleaned_data["form_token"],
            at=timezone.now(),
        )
    except (Stale, InvalidDecision, Refused) as late:
        return refused(request, user, page.item.row, late)
    return to_recorded(request, made)


def sent_before(request: HttpRequest, user: User, case: Case) -> Decision | None:
    """Refresh, Back and resend lead to what was recorded the first time, whatever has changed since."""
    try:
        token = UUID(request.POST.get("form_token", ""))
    except ValueError:
        return None
    return Decision.objects.filter(form_token=token, author=user, case=case).first()


def says(earlier: Decision, typed: QueryDict) -> bool:
    """Whether these are the words that were recorded: Back and resend repeat them, a change of mind doesn't."""
    sent = (typed.get("outcome"), typed.get("reason", "").strip(), typed.getlist("evidence"))
    return sent == (earlier.outcome, earlier.reason, earlier.evidence)


def as_typed(form: DecisionForm) -> DecisionForm:
    """The same fields to change, without complaints about what is not there yet."""
    form.full_clean()
    form.errors.clear()
    return form


def again(request: HttpRequest, user: User, page: CasePage, form: DecisionForm, status: int = 422) -> HttpResponse:
    """The case page with everything that was typed, and what is missing."""
    return render(request, "case.html", deciding.context_of(request, user, page, form), status=status)


def refused(request: HttpRequest, user: User, finding: Finding, problem: Exception) -> HttpResponse:
    """The case as it is now, beside everything that was typed: what is sent again from here, is sent knowingly."""
    page = page_about(get_case(request, finding.case_id), user, finding)
    form = retyped(request.POST, page.item) if page.item and is_about(page, finding) and page.item.standing else None
    newest = deciding.newest_shown(page.item) if page.item and form else None
    unseen = newest if newest and str(newest.newest.id) != request.POST.get("newest_word_id") else None
    trouble = trouble_of(problem, request.POST, unseen, form_is_there=form is not None)
    context = deciding.context_of(request, user, page, form) | {"stale": trouble}
    return render(request, "case.html", context, status=409)


def page_about(case: Case, user: User, finding: Finding) -> CasePage:
    """The page of this finding; where a newer report tells it again, of the finding as told there."""
    at = timezone.now()
    page = case_page(case=case, user=user, finding_id=str(finding.id), query={}, at=at)
    if page.item is None or page.item.row == finding:
        return page
    told = Finding.objects.filter(report=case.current_report, finding_id=finding.finding_id).first()
    return case_page(case=case, user=user, finding_id=str(told.id), query={}, at=at) if told else page


def is_about(page: CasePage, finding: Finding) -> bool:
    return page.item is not None and page.item.row.finding_id == finding.finding_id


class NewerReport(Exception):
    def __init__(self, page: CasePage, finding: Finding) -> None:
        now = "Below it is as that report tells it" if is_about(page, finding) else "This finding is not in it"
        super().__init__(f"A newer report of this case has arrived. {now}.")


def retyped(typed: QueryDict, item: Item) -> DecisionForm:
    """Everything typed, to be sent under what the page shows now, as a form of its own."""
    data = typed.copy()
    data["form_token"] = str(uuid4())
    for name, shown in deciding.shown_ids(item).items():
        data[name] = str(shown or "")
    return as_typed(deciding.sent_form(data, item))
