"""The second person: what waits for one, and their word on it."""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audit.models import AuditSeal
from reviews import words
from reviews.claims import note_views
from reviews.decisions import approve, refuse
from reviews.forms import SecondForm
from reviews.models import Approval, Decision, Standing, User
from reviews.permissions import Refused, check_can_second, check_can_view_cases
from reviews.queues import SecondRow, second_person
from reviews.rules import InvalidDecision, StaleVerdict
from reviews.views.common import person
from reviews.views.decided import code_words
from reviews.views.deciding import complain
from reviews.views.evidence import shown_evidence
from reviews.views.finding_rows import gone, row_state
from reviews.views.items import Item, selection, subject_of
from reviews.views.presenting import reported


@dataclass(frozen=True, slots=True)
class Shown:
    row: SecondRow
    item: Item  # the finding as its case page shows it
    beside: str  # what the decision does to the verdict
    code_words: str
    url: str
    form: SecondForm | None


@require_safe
def second(request: HttpRequest) -> HttpResponse:
    user = person(request)
    check_can_view_cases(user)
    return page(request, user)


def page(
    request: HttpRequest,
    user: User,
    decision_id: UUID | None = None,
    form: SecondForm | None = None,
    trouble: str = "",
    status: int = 200,
) -> HttpResponse:
    waiting = second_person(user.tenant, user)
    session = request.session.session_key or ""
    note_views(user=user, cases=[row.case for row in waiting], session=session, at=timezone.now())
    standing = Standing.objects.in_bulk([row.decision.finding_id for row in waiting])
    rows = [
        shown(row, standing[row.decision.finding_id], form if row.decision.id == decision_id else None)
        for row in waiting
    ]
    gone = form is not None and all(row.row.decision.id != decision_id for row in rows)
    context = {
        "rows": rows,
        "form": form,
        "trouble": trouble,
        "typed": request.POST.get("reason", "") if gone else "",
        "done": done(request, user),
    }
    return render(request, "second.html", context, status=status)


def shown(row: SecondRow, standing: Standing, sent: SecondForm | None) -> Shown:
    prefix = f"second_{row.decision.id}_%s"
    made = row.decision
    return Shown(
        row=row,
        item=item_of(row, standing),
        beside=words.beside_verdict(made.kind, row.verdict.verdict if row.verdict else ""),
        code_words=code_words(row.decision.outcome, row.decision.reason_code),
        url=f"{reverse('case', args=[row.case.id])}?finding={row.decision.finding_id}",
        form=(sent or SecondForm(auto_id=prefix)) if row.actionable else None,
    )


def item_of(row: SecondRow, standing: Standing) -> Item:
    """What the report and the source say, as on the case's own page."""
    finding = row.decision.finding
    return Item(
        row=finding,
        reported=reported(finding, subject_of(row.case)),
        selection=selection(finding, standing),
        state=row_state(finding, standing),
        standing=standing,
        verdict=row.verdict,
        evidence=shown_evidence(row.verdict) if row.verdict else None,
        labels=None,
        gone=gone(finding, row.case),
    )


def done(request: HttpRequest, user: User) -> dict[str, object] | None:
    """What was just recorded, named by the address, so that a reload shows it again and records nothing."""
    try:
        approval_id = UUID(request.GET.get("recorded", ""))
    except ValueError:
        return None
    approval = Approval.objects.filter(id=approval_id, tenant_id=user.tenant_id).first()
    return {"approval": approval, "seal": AuditSeal.objects.get(event_id=approval.event_id)} if approval else None


@require_POST
def decide(request: HttpRequest, decision_id: UUID) -> HttpResponse:
    user = person(request)
    check_can_view_cases(user)
    decision = get_object_or_404(Decision, id=decision_id, tenant_id=user.tenant_id)
    check_can_second(user, decision)
    form = SecondForm(request.POST, auto_id=f"second_{decision_id}_%s")
    form.full_clean()
    answer = {"approve": approve, "refuse": refuse}.get(request.POST.get("word", ""))
    if answer is None:
        return page(request, user, decision_id, form, "Say whether you approve or refuse.", status=422)
    try:
        approval = answer(user=user, decision=decision, reason=form.cleaned_data.get("reason", ""), at=timezone.now())
    except InvalidDecision as problem:
        complain(form, problem)
        return page(request, user, decision_id, form, status=422)
    except StaleVerdict as problem:
        return page(request, user, decision_id, form, problem.sentence, status=409)
    except Refused as problem:
        return page(request, user, decision_id, form, str(problem), status=409)
    return redirect(f"{reverse('second')}?recorded={approval.id}")
