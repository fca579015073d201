"""Signing in and out. Every attempt leaves an event, and no answer tells whether a name exists."""

import hashlib

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_ratelimit.core import is_ratelimited
from redis.exceptions import RedisError

from audit.log import record, tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType
from reviews.forms import SignInForm
from reviews.models import User
from reviews.views.common import next_or

PER_NAME = "5/5m"  # attempts with one name from one address
PER_ADDRESS = "60/5m"  # attempts from one address, whatever the names
WRONG = "This name and password do not belong together, or the account is not active."
TOO_MANY = "There were too many attempts. Wait five minutes, then try again."
NO_COUNTER = "Sign-in is not possible just now, because attempts cannot be counted. Try again in a minute."


@login_not_required
@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("home")
    if request.method == "GET":
        return page(request, SignInForm())
    form = SignInForm(request.POST)
    if not form.is_valid():
        return page(request, form, status=422)
    try:
        if too_many(request):
            return page(request, form, TOO_MANY, status=429)
    except (RedisError, OSError):
        return page(request, form, NO_COUNTER, status=503)
    user = authenticate(request, **form.cleaned_data)
    if not isinstance(user, User):
        note_failure(form.cleaned_data["username"])
        return page(request, form, WRONG, status=422)
    with tenant_scope(user.tenant_id), transaction.atomic():
        login(request, user)
        request.session["stayed_at"] = timezone.now().isoformat()
        note(user, "signed_in")
    return redirect(next_or(request, resolve_url("home")))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    with transaction.atomic():
        note(user, "signed_out")
        logout(request)
    return redirect("sign_in")


@require_POST
def stay(request: HttpRequest) -> HttpResponse:
    """Starts the session's time again, from the warning that it is about to end."""
    request.session["stayed_at"] = timezone.now().isoformat()
    return HttpResponse(status=204) if request.headers.get("X-Requested-With") else redirect("home")


def page(request: HttpRequest, form: SignInForm, problem: str = "", status: int = 200) -> HttpResponse:
    context = {"form": form, "problem": problem, "next": request.POST.get("next", request.GET.get("next", ""))}
    return render(request, "sign_in.html", context, status=status)


def too_many(request: HttpRequest) -> bool:
    """Counts this attempt. Both counters run, so a name under attack doesn't hide an address that tries many."""
    address = request.META.get("REMOTE_ADDR") or "socket"
    name = hashlib.sha256(request.POST.get("username", "").strip().casefold().encode("utf-8", "replace")).hexdigest()
    limits = {
        "sign_in_name": (f"{address}:{name}", PER_NAME),
        "sign_in_address": (address, PER_ADDRESS),
    }
    exceeded = [
        is_ratelimited(request, group=group, key=lambda *_, value=value: value, rate=rate, increment=True)
        for group, (value, rate) in limits.items()
    ]
    return any(exceeded)


def note(user: User, event_type: str) -> None:
    record(
        tenant_id=user.tenant_id,
        event_type=event_type,
        actor=user.username,
        actor_type=ActorType.PERSON,
        actor_role=user.role,
        at=timezone.now(),
    )


def note_failure(username: str) -> None:
    """On the chain of the tenant whose name it is; an unknown name, which may be a mistyped password, is not kept."""
    user = User.objects.filter(username=username).first()
    tenant_id = user.tenant_id if user else SYSTEM_TENANT_ID
    with tenant_scope(tenant_id), transaction.atomic():
        record(
            tenant_id=tenant_id,
            event_type="sign_in_failed",
            actor=user.username if user else "unknown name",
            actor_type=ActorType.PERSON,
            actor_role=user.role if user else "",
            at=timezone.now(),
        )
