"""The decision area of a case page: who sees it, what it offers, and what it says will happen."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone

from reviews import words
from reviews.forms import DecisionForm, SecondForm, TakeBackForm
from reviews.models import User
from reviews.neighbours import Neighbour, place_of
from reviews.permissions import can_administer, can_claim, can_decide, can_request_recheck, can_second
from reviews.queues import Row
from reviews.rules import InvalidDecision, concerns_two_persons, needs_second
from reviews.views.case_page import CasePage
from reviews.views.common import filters_of, kept_filters
from reviews.views.decided import Decided
from reviews.views.evidence import choices
from reviews.views.items import Item
from verifier.models import Finding


@dataclass(frozen=True, slots=True)
class Awaited:
    decision_id: UUID
    sentence: str
    url: str = ""


TAKE_BACK_IDS = "take_back_%s"
CONSEQUENCES = {
    "stands": (
        "The finding counts as standing and leaves the queue. The machine's verdict stays visible beside your decision."
    ),
    "does_not_stand": (
        "The finding counts as not standing and leaves the queue. It stays in the case, with its severity, its verdict "
        "and your reason."
    ),
    "needs_more": "The finding stays in the queue, and says that you asked for more.",
    "escalated": "The finding stays in the queue, and says that you escalated it.",
}
SECOND = "The decision goes to a second officer. Until another officer approves it the finding stays in the queue."
ACTS = {
    "stands": "Record: the finding stands",
    "does_not_stand": "Record: the finding does not stand",
    "needs_more": "Record: more is needed",
    "escalated": "Record: escalated",
}


def new_form(user: User, page: CasePage) -> DecisionForm | None:
    """An empty form, for an officer and a finding that has a verdict to decide under."""
    item = page.item
    if item is None or not can_decide(user, page.case) or why_not(item):
        return None
    return DecisionForm(
        evidence=offered(item),
        draft=str(item.row.id),
        initial={**shown_ids(item), "form_token": uuid4()},
    )


def sent_form(data: QueryDict, item: Item) -> DecisionForm:
    return DecisionForm(data, evidence=offered(item), draft=str(item.row.id))


def shown_ids(item: Item) -> dict[str, UUID | None]:
    """What a decision made on this page answers: the verdict and the newest word that stand on it."""
    newest = newest_shown(item)
    return {
        "verdict_id": item.verdict.id if item.verdict else None,
        "newest_word_id": newest.newest.id if newest else None,
    }


def newest_shown(item: Item) -> Decided | None:
    """The decision on the page about which somebody said something last."""
    return max(item.decisions, key=lambda one: (one.newest.at, one.newest.id), default=None)


def offered(item: Item) -> list[str]:
    return choices(item.evidence)


def why_not(item: Item) -> str:
    """Why nothing can be decided about this finding, for whoever asks."""
    if item.standing is None:
        return "This finding was not re-checked, so there is no verdict to decide under. It stays as reported."
    if item.standing.verdict == "pending":
        return "The re-check of this finding has not ended. It can be decided once its verdict is there."
    return ""


def undecidable(user: User, page: CasePage) -> str:
    if page.item is None:
        return ""
    return why_not(page.item) or (
        "" if can_decide(user, page.case) else "Officers decide about findings. You can read everything here."
    )


def what_next(finding: Finding) -> str:
    """Said before the click: what setting aside leads to, and that a page to check comes first."""
    if concerns_two_persons(finding) and needs_second(finding, "does_not_stand"):
        return (
            "Next: a page to check. “It does not stand” then goes to a second officer; "
            "the other outcomes take effect at once."
        )
    return "Next: a page to check. After that the decision takes effect at once."


def consequence(finding: Finding, outcome: str) -> str:
    return SECOND if needs_second(finding, outcome) else CONSEQUENCES[outcome]


def context_of(request: HttpRequest, user: User, page: CasePage, form: DecisionForm | None) -> dict[str, Any]:
    kept = kept_filters(request.GET)
    item = page.item
    return {
        "page": page,
        "item": item,
        "form": form,
        "definitions": words.DEFINITIONS,
        "undecidable": "" if form else undecidable(user, page),
        "what_next": what_next(item.row) if item and form else "",
        "action": decide_address(page, item, kept) if item else "",
        "here": request.get_full_path() if request.method == "GET" else address(page, item, kept),
        "walk": walk(user, page, kept),
        "query": urlencode(kept),
        "take_back": take_back_form(user, page),
        "awaited": awaited(user, item),
        "may": {
            "claim": can_claim(user, page.case) and page.claim is None,
            "release": page.claim is not None and page.claim.holder_id == user.pk,
            "recheck": can_request_recheck(user, page.case),
            "administer": can_administer(user),
            "trail": user.has_perm("audit.view_trail"),
        },
    }


def awaited(user: User, item: Item | None) -> Awaited | None:
    """Who has to answer the newest decision before it takes effect, and where, for whoever can."""
    standing = item.standing if item else None
    if standing is None or standing.decision is None or not standing.awaiting_second:
        return None
    decision = standing.decision
    if can_second(user, decision):
        sentence = f"{decision.author} has decided this. It takes effect only once a second officer approves: you can."
        return Awaited(decision.id, sentence, f"{reverse('second')}#decision-{decision.id}")
    if decision.author_id == user.pk:
        return Awaited(decision.id, "You decided this, so another officer must approve it before it takes effect.")
    return Awaited(decision.id, f"An officer other than {decision.author} must approve this before it takes effect.")


def take_back_form(user: User, page: CasePage) -> TakeBackForm | None:
    """For the decision in force, which is the newest of the finding in view."""
    newest = page.item.decisions[0] if page.item and page.item.decisions else None
    if newest is None or newest.status == "reversed" or not can_decide(user, page.case):
        return None
    return TakeBackForm(initial={"form_token": uuid4()}, auto_id=TAKE_BACK_IDS, label_suffix="")


def sent_take_back(data: QueryDict) -> TakeBackForm:
    return TakeBackForm(data, auto_id=TAKE_BACK_IDS, label_suffix="")


def complain(form: SecondForm, problem: InvalidDecision) -> None:
    """What the rules found wrong, at its field."""
    for name, sentence in problem.problems.items():
        form.add_error(name if name in form.fields else None, sentence)
        if name in form.fields:
            form.fields[name].widget.attrs["aria-invalid"] = "true"


def decide_address(page: CasePage, item: Item, kept: dict[str, str]) -> str:
    return with_query(reverse("decide", args=[page.case.id, item.row.id]), kept)


def address(page: CasePage, item: Item | None, kept: dict[str, str]) -> str:
    return with_query(reverse("case", args=[page.case.id]), ({"finding": str(item.row.id)} if item else {}) | kept)


def with_query(url: str, query: dict[str, str]) -> str:
    return f"{url}?{urlencode(query)}" if query else url


def walk(user: User, page: CasePage, kept: dict[str, str]) -> dict[str, Any] | None:
    """Where the finding stands in the queue one came from: N of M, previous and next under the same filters."""
    if page.item is None:
        return None
    place = place_of(user.tenant, page.item.row.id, filters_of(kept), user=user, at=timezone.now())
    if place is None:
        return None
    return {
        "place": place.number,
        "of": place.of,
        "previous": row_address(place.previous, kept) if place.previous else "",
        "next": row_address(place.next, kept) if place.next else "",
    }


def row_address(row: Row | Neighbour, kept: dict[str, str]) -> str:
    query = {"finding": str(row.finding_pk)} if row.finding_pk else {}
    address = with_query(reverse("case", args=[row.case_id]), query | kept)
    return address if row.finding_pk else f"{address}#reasons"
