"""What an admin is told after a change: read from its event, so that reloading tells the same."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from audit.chain import read_body
from audit.models import SYSTEM_TENANT_ID, AuditEvent, AuditSeal
from reviews import words
from reviews.models import User

ONCE = "shown_once"  # in the session: a secret from its making to the one page that shows it


@dataclass(frozen=True, slots=True)
class Told:
    """`secret`: shown this once. `url`: the event in the trail, for those who may see it."""

    sentence: str
    sequence: int
    url: str
    trail: str  # whose numbers these are
    secret: str = ""


def told(user: User, event_id: str, secret: str = "") -> Told | None:
    """Of a change this person made themselves; of any other id, nothing."""
    try:
        asked = UUID(event_id)
    except ValueError:
        return None
    chains = [user.tenant_id, SYSTEM_TENANT_ID]
    seals = AuditSeal.objects.select_related("event").filter(event_id=asked, tenant_id__in=chains)
    seal = seals.filter(event__actor=user.username, event__event_type__in=SENTENCES).first()
    if seal is None:
        return None
    sentence = SENTENCES[seal.event.event_type](read_body(seal.event.body)["details"])
    url = reverse("trail_event", args=[asked]) if user.has_perm("audit.view_trail") else ""
    trail = "system trail" if seal.tenant_id == SYSTEM_TENANT_ID else "trail"
    return Told(sentence, seal.sequence, url, trail, secret)


def named(details: dict[str, Any]) -> str:
    person = User.objects.filter(pk=details["user_id"]).first()
    return person.display_name if person else str(details["username"])


def with_article(code: str) -> str:
    return f"an {words.say('role', code).lower()}"  # each of the three begins with a vowel


SENTENCES = {
    "switch_changed": lambda it: f"“{words.say('switch', it['switch'])}” was turned {'on' if it['enabled'] else 'off'}",
    "api_key_created": lambda it: f"The key “{it['label']}” ({it['hint']}…) was created",
    "api_key_revoked": lambda it: f"The key “{it['label']}” ({it['hint']}…) was revoked and opens nothing any more",
    "user_created": lambda it: f"{named(it)} was added as {with_article(it['role'])}",
    "role_changed": lambda it: f"{named(it)} was {with_article(it['from'])} and is now {with_article(it['to'])}",
    "password_reset": lambda it: f"{named(it)} has a new first password, and was signed out everywhere",
    "user_deactivated": lambda it: f"{named(it)} was deactivated and can’t sign in any more",
}


def keep_secret(request: HttpRequest, *, event: AuditEvent, secret: str, form_token: UUID | None) -> None:
    """Inside the transaction that made it: who sees the thing made by this form finds its secret too."""
    request.session[ONCE] = {"event": str(event.id), "secret": secret, "form": str(form_token)}
    request.session.save()


def made_by(request: HttpRequest, form_token: UUID | None) -> bool:
    """Whether this form, sent twice at once, has made what still waits to be shown."""
    stored = type(request.session)(request.session.session_key)
    return form_token is not None and bool(stored.get(ONCE, {}).get("form") == str(form_token))


def tell(request: HttpRequest, user: User) -> Told | None:
    """A secret that waits comes first, and is forgotten with this page; else the event the address names."""
    kept = request.session.pop(ONCE, None)
    if kept:
        return told(user, kept["event"], kept["secret"])
    return told(user, request.GET.get("event", ""))
