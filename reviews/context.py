"""What every page shows around its content: where one can go, what waits there, and what to know first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from audit.models import SYSTEM_TENANT_ID, SYSTEM_TENANT_SLUG
from audit.watch import BROKEN, newest_results
from reviews import words
from reviews.models import User
from reviews.permissions import can_administer, can_submit_report, can_view_cases
from reviews.queues import Outage, Short, count_second, in_short
from verifier.intake import VERIFICATION_SWITCH
from verifier.models import FindingVerdict, Switch

SIMULATED = (
    "Answers marked by a hatched edge are simulated: they come from a stand-in, not from an outside source, "
    "and say nothing about real people or companies."
)
SWITCHED_OFF = (
    "The re-check is switched off: no source is asked about any finding, and a case that does not wait is not one that "
    "passed. An admin can switch it on under Administration."
)
ADMINISTRATION = (
    "administration",
    "administration_keys",
    "administration_users",
    "switch",
    "revoke_key",
    "change_role",
    "deactivate",
)
TRAIL = ("trail", "trail_event", "trail_verification", "trail_exports")
APART = ("upload", "trail")


@dataclass(frozen=True, slots=True)
class Entry:
    """A place in the rail."""

    name: str
    url: str
    icon: str
    current: bool
    count: int | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Banner:
    kind: str
    icon: str
    text: str
    url: str = ""
    action: str = ""


def page(request: HttpRequest) -> dict[str, Any]:
    """Callables, so that an answer that shows no rail asks for none of it."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"banners": [Banner("simulated", "outage", SIMULATED)] if settings.SIMULATED_ANSWERS else []}
    short = cache(lambda: in_short(user.tenant))  # asked once a page
    return {
        "rail": partial(rail, request, user, short),
        "banners": partial(banners, user, short),
        "session_ends": partial(session_ends, request),
        "session_age": settings.SESSION_COOKIE_AGE,
    }


def rail(request: HttpRequest, user: User, short: Callable[[], Short]) -> list[Entry]:
    """Only what exists and this role may open."""
    here = request.resolver_match.view_name if request.resolver_match else ""
    places: list[tuple[bool, str, tuple[str, ...], Callable[[], int] | None]] = [
        (can_view_cases(user), "Queue", ("queue", "home"), lambda: short().waiting),
        (can_view_cases(user), "Cases", ("cases", "case", "whole", "progress", "decide"), None),
        (can_view_cases(user), "Second officer", ("second",), counting_second(user)),
        (can_view_cases(user), "Advisory", ("advisory",), None),
        (can_view_cases(user), "Law", ("law", "law_text", "law_article"), None),
        (can_submit_report(user), "Upload", ("upload",), None),
        (user.has_perm("audit.view_trail"), "Trail", TRAIL, None),
        (can_administer(user), "Administration", ADMINISTRATION, None),
    ]
    return [
        Entry(name, reverse(names[0]), names[0], here in names, counting() if counting else None, names[0] in APART)
        for allowed, name, names, counting in places
        if allowed
    ]


def counting_second(user: User) -> Callable[[], int] | None:
    """An officer's own share of it; nobody else can answer there."""
    return (lambda: count_second(user.tenant, user)) if user.has_perm("reviews.decide") else None


def banners(user: User, short: Callable[[], Short]) -> list[Banner]:
    told = broken_trail_banners(user)
    told += [] if Switch.is_on(VERIFICATION_SWITCH) else [Banner("outage", "outage", SWITCHED_OFF)]
    told += [outage_banner(outage) for outage in short().outages]
    if settings.SIMULATED_ANSWERS or FindingVerdict.objects.filter(tenant_id=user.tenant_id, simulated=True).exists():
        told.append(Banner("simulated", "outage", SIMULATED))
    return told


def broken_trail_banners(user: User) -> list[Banner]:
    """For those who may read the trail: their tenant's, and the system's."""
    if not user.has_perm("audit.view_trail"):
        return []
    slugs = {user.tenant_id: user.tenant.slug, SYSTEM_TENANT_ID: SYSTEM_TENANT_SLUG}
    found = newest_results(list(slugs))
    return [
        Banner(
            "broken",
            "outage",
            f"The trail of {slug} was found broken when it was last verified. "
            "Its records can't be relied on until it is known what happened.",
            f"{reverse('trail')}?{'chain=system&' if slug == SYSTEM_TENANT_SLUG else ''}type=trail_verified",
            "Show the result",
        )
        for tenant_id, slug in slugs.items()
        if tenant_id in found and found[tenant_id].outcome == BROKEN
    ]


def outage_banner(outage: Outage) -> Banner:
    """Who did not answer, how many wait for that, and that none of them counts as passed."""
    name = words.providers(outage.provider)
    many = (
        "1 finding is indeterminate and needs"
        if outage.findings == 1
        else f"{outage.findings} findings are indeterminate and need"
    )
    why = ", ".join(words.CAUSES[cause].rstrip(".").lower() for cause in outage.causes)
    text = f"{name[:1].upper()}{name[1:]} left questions unanswered ({why}): {many} a person."
    return Banner(
        "outage", "outage", text, f"{reverse('queue')}?verdict=indeterminate&provider={outage.provider}", "Show them"
    )


def session_ends(request: HttpRequest) -> int:
    """Seconds until the session is over."""
    stayed_at = request.session.get("stayed_at")
    if not stayed_at:
        return settings.SESSION_COOKIE_AGE
    passed = (timezone.now() - datetime.fromisoformat(stayed_at)).total_seconds()
    return max(0, int(settings.SESSION_COOKIE_AGE - passed))
