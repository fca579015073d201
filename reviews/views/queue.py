"""What needs a person, and who has taken it on."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from reviews import claims, words
from reviews.listing import count_unchecked
from reviews.models import User
from reviews.permissions import can_submit_report, check_can_claim, check_can_view_cases
from reviews.queues import Page, Row, waiting
from reviews.views.common import filters_of, get_case, kept_filters, next_or, person
from reviews.views.deciding import row_address
from verifier.domain.findings import SUBJECT_LANE
from verifier.intake import VERIFICATION_SWITCH
from verifier.models import Case, Switch

GROUPS = {
    "verdict": ("Why", {**words.VERDICTS, **words.CASE_REASONS}),
    "material_type": ("Claim", words.MATERIAL),
    "stage": ("So far", words.STAGES),
    "holder": ("Held", words.HOLDERS),
}
SINGLE = {
    "provider": "asked at",
    "cause": "because",
    "severity": "severity",
    "corroboration": "labelled",
    "text": "with",
}


@dataclass(frozen=True, slots=True)
class Chip:
    name: str
    url: str
    chosen: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A waiting row in the words of the page."""

    row: Row
    url: str
    about: str
    age: str
    held: str
    mine: bool


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    user = person(request)
    check_can_view_cases(user)
    at = timezone.now()
    page = waiting(user.tenant, filters_of(request.GET), user=user, at=at)
    return render(request, "queue.html", context_of(request, user, page, at))


def context_of(request: HttpRequest, user: User, page: Page, at: datetime) -> dict[str, object]:
    kept = kept_filters(request.GET)
    return {
        "page": page,
        "rows": [shown(row, user, kept, at) for row in page.rows],
        "groups": groups(kept, page),
        "single": [
            Chip(f"{told} {spoken(name, kept[name])}", address(kept | {name: ""}), True)
            for name, told in SINGLE.items()
            if name in kept
        ],
        "filtered": bool(kept),
        "switched_on": partial(Switch.is_on, VERIFICATION_SWITCH),  # asked only where nothing waits
        "may_claim": user.has_perm("reviews.decide"),
        "may_upload": can_submit_report(user),
        "unchecked": count_unchecked(user.tenant),
        "no_cases": not page.total and not Case.objects.filter(tenant_id=user.tenant_id).exists(),
        "here": request.get_full_path(),
        "newer": address(kept | {"page": str(page.number - 1)}) if page.number > 1 else "",
        "older": address(kept | {"page": str(page.number + 1)}) if page.number < page.pages else "",
    }


def spoken(name: str, value: str) -> str:
    return words.say(name, value) if name in words.TABLES else value


def groups(kept: dict[str, str], page: Page) -> list[tuple[str, list[Chip]]]:
    """For each filter the choices that have something in them, and the one chosen; choosing it again removes it."""
    found = []
    for name, (label, names) in GROUPS.items():
        counts = page.counts.get(name, {})
        chips = [
            Chip(
                names[code],
                address(kept | {name: "" if kept.get(name) == code else code}),
                kept.get(name) == code,
                counts.get(code),
            )
            for code in names
            if code in counts or kept.get(name) == code or (name == "holder" and page.total)
        ]
        if chips:
            found.append((label, chips))
    return found


def address(filters: dict[str, str]) -> str:
    """The queue under these filters; a changed filter starts on its first page."""
    query = urlencode({name: value for name, value in filters.items() if value})
    return f"{reverse('queue')}{'?' if query else ''}{query}"


def shown(row: Row, user: User, kept: dict[str, str], at: datetime) -> Shown:
    held_for = f" {age(row.held_since, at)}" if row.held_since else ""
    return Shown(
        row=row,
        url=row_address(row, kept),
        about=about(row),
        age=age(row.since, at),
        held=f"you{held_for}" if row.holder_id == user.pk else f"{row.holder}{held_for}" if row.holder else "",
        mine=row.holder_id == user.pk,
    )


def about(row: Row) -> str:
    """Subject, report, whether it may be another; when and by whom it was re-checked; how far it is corroborated."""
    facts = [row.subject_name, row.report_id]
    if row.finding_id and row.lane != SUBJECT_LANE:
        facts.append(words.LANES.get(row.lane) or f"attributed as “{row.lane}”")
    if row.rechecked_at and row.provider:
        facts.append(f"re-checked {row.rechecked_at:%-d %b %H:%M} UTC with {words.providers(row.provider)}")
    if row.corroboration_count is not None and row.source_trust is not None:
        sources = "single source" if row.corroboration_count == 1 else f"{row.corroboration_count} sources"
        facts.append(f"{sources if row.corroboration_count else 'no named source'}, trust {row.source_trust:.2f}")
    return " · ".join(facts)


def age(since: datetime, at: datetime) -> str:
    minutes = max(0, int((at - since).total_seconds() // 60))
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"


@require_POST
def claim(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    check_can_claim(user, case)
    try:
        claims.claim(user=user, case=case, at=timezone.now())
    except claims.Held as problem:
        return render(
            request, "held.html", {"case": case, "sentence": str(problem), "until": problem.until}, status=409
        )
    return redirect(next_or(request, reverse("case", args=[case.id])))


@require_POST
def release(request: HttpRequest, case_id: UUID) -> HttpResponse:
    case = get_case(request, case_id)
    user = person(request)
    check_can_claim(user, case)
    try:
        claims.release(user=user, case=case, at=timezone.now())
    except claims.NotHeld as problem:
        return render(request, "held.html", {"case": case, "sentence": str(problem)}, status=409)
    return redirect(next_or(request, reverse("case", args=[case.id])))
