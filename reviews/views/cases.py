"""Cases: the list, the case itself, and its re-check under way."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from audit.models import ActorType
from reviews import listing, queues, words
from reviews.claims import note_view
from reviews.models import User
from reviews.permissions import can_submit_report, check_can_request_recheck, check_can_view_cases
from reviews.views.case_page import CasePage, case_page
from reviews.views.common import filters_of, get_case, kept_filters, next_or, person
from reviews.views.deciding import address as case_address
from reviews.views.deciding import context_of, new_form
from reviews.views.differences import changed_lately
from reviews.views.finding_list import LIST, Findings
from reviews.views.finding_rows import SWITCHED_OFF
from reviews.views.items import items
from verifier.intake import VERIFICATION_SWITCH, request_recheck
from verifier.models import Case, Switch

WHOLE = 50  # findings in full on one page
STATES = {
    "": "all",
    "review": "needs review",
    "advisory": "advisory: would need review",
    "unchecked": "not re-checked",
    "done": "nothing waits",
}


@require_safe
def cases(request: HttpRequest) -> HttpResponse:
    user = person(request)
    check_can_view_cases(user)
    search = request.GET.get("q", "").replace("\0", "").strip()[:200]
    state = request.GET.get("state", "")
    after = read_uuid(request.GET.get("after", ""))
    rows, following = listing.cases(user.tenant, state=state, text=search, after=after)
    context = {
        "rows": [(row, verdict_words(row.verdicts)) for row in rows],
        "search": search,
        "chips": [(name, address(code, search), code == state) for code, name in STATES.items()],
        "without_search": address(state, ""),
        "filtered": state in listing.STATES,
        "newest": address(state, search) if after else "",
        "older": address(state, search, following) if following else "",
        "may_upload": can_submit_report(user),
    }
    return render(request, "cases.html", context)


def address(state: str, search: str, after: UUID | None = None) -> str:
    query = {name: value for name, value in (("state", state), ("q", search), ("after", after)) if value}
    return f"{reverse('cases')}{'?' if query else ''}{urlencode(query)}"


def read_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def verdict_words(verdicts: dict[str, int]) -> str:
    told = [f"{verdicts[code]} {name.lower()}" for code, name in words.VERDICTS.items() if verdicts.get(code)]
    return ", ".join(told)


@require_safe
def advisory(request: HttpRequest) -> HttpResponse:
    user = person(request)
    check_can_view_cases(user)
    page = queues.advisory(user.tenant, filters_of(request.GET), user=user, at=timezone.now())
    context = {
        "page": page,
        "rows": page.rows,
        "newer": page_address(page.number - 1) if page.number > 1 else "",
        "older": page_address(page.number + 1) if page.number < page.pages else "",
    }
    return render(request, "advisory.html", context)


def page_address(number: int) -> str:
    return f"{reverse('advisory')}?page={number}"


@require_safe
def case(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    at = timezone.now()
    note_view(user=user, case=case, session=request.session.session_key or "", at=at)
    page = page_of(request, case, user)
    context = context_of(request, user, page, new_form(user, page)) | {"changed": changed_lately(case)}
    return render(request, "case.html", context)


@require_safe
def whole(request: HttpRequest, case_id: UUID) -> HttpResponse:
    """Every finding in full, to read through and to print; a large report's in parts."""
    case = get_case(request, case_id)
    user = person(request)
    at = timezone.now()
    note_view(user=user, case=case, session=request.session.session_key or "", at=at)
    found = Findings(case)
    parts = max(1, -(-found.total // WHOLE))
    number = min(part_of(request.GET.get("part", "")), parts)
    here = reverse("whole", args=[case.id])
    context = {
        "page": page_of(request, case, user),
        "items": items(case, found.part((number - 1) * WHOLE, WHOLE)),
        "before": (number - 1) * WHOLE,
        "total": found.total,
        "part": number,
        "parts": parts,
        "previous": f"{here}?part={number - 1}" if number > 1 else "",
        "next": f"{here}?part={number + 1}" if number < parts else "",
        "whole": True,
        "at": at,
    }
    return render(request, "whole.html", context)


def part_of(asked: str) -> int:
    return max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1


def page_of(request: HttpRequest, case: Case, user: User) -> CasePage:
    return case_page(
        case=case,
        user=user,
        finding_id=request.GET.get("finding", ""),
        query=kept_filters(request.GET),
        part=request.GET.get(LIST, ""),
        at=timezone.now(),
    )


@require_safe
def progress(request: HttpRequest, case_id: UUID) -> HttpResponse:
    """The part of the page that a running re-check changes. What is being typed is not among it."""
    case = get_case(request, case_id)
    user = person(request)
    page = page_of(request, case, user)
    context = context_of(request, user, page, new_form(user, page))
    seen = request.GET.get("seen", "")
    context |= {"here": case_address(page, page.item, kept_filters(request.GET))}  # not that of the poll
    context |= {"answer_changed": seen != (page.item.answer_id if page.item else "")}
    return render(request, "case/polled.html", context)


@require_POST
def recheck(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    check_can_request_recheck(user, case)
    if not Switch.is_on(VERIFICATION_SWITCH):  # a run would end at once, unasked
        return render(request, "held.html", {"case": case, "sentence": SWITCHED_OFF}, status=409)
    request_recheck(
        case=case,
        requested_by=user.username,
        actor_type=ActorType.PERSON,
        actor_role=user.role,
        at=timezone.now(),
    )
    return redirect(next_or(request, reverse("case", args=[case.id])))
