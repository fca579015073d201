"""Signing in and out. Every attempt leaves an event, and no answer tells whether a name exists."""

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from redis.exceptions import RedisError

from audit.log import record, tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType
from reviews import attempts
from reviews.addresses import client_address
from reviews.forms import SignInForm
from reviews.models import User
from reviews.views.common import next_or

WRONG = "This name and password do not belong together, or the account is not active."
TOO_MANY = (
    "There were too many attempts that failed. For now no password is accepted, not even the right one. "
    "Wait {wait}, then try again."
)
NO_COUNTER = "Sign-in is not possible just now, because attempts cannot be counted. Try again in a minute."


@login_not_required
@sensitive_post_parameters("password")
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
        attempt = attempts.count(address=client_address(request), name=form.cleaned_data["username"], at=timezone.now())
    except (RedisError, OSError):
        return page(request, form, NO_COUNTER, status=503)
    if attempt.wait:
        return refuse_for_now(request, form, attempt.wait)
    user = authenticate(request, **form.cleaned_data)
    if not isinstance(user, User):
        note_failure(form.cleaned_data["username"])
        return page(request, form, WRONG, status=422)
    attempt.give_back()
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
    following = request.POST.get("next", request.GET.get("next", ""))
    context = {"form": form, "problem": problem, "try_again": status == 422, "next": following}
    return render(request, "sign_in.html", context, status=status)


def refuse_for_now(request: HttpRequest, form: SignInForm, minutes: int) -> HttpResponse:
    wait = "1 minute" if minutes == 1 else f"{minutes} minutes"
    answer = page(request, form, TOO_MANY.format(wait=wait), status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer


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
