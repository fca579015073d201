"""What admins keep: switches of the installation, keys and people of their own tenant."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.models import AuditEvent
from reviews import administration, words
from reviews.administration import InvalidChange, SentBefore
from reviews.forms import KeyForm, SwitchForm, UserForm
from reviews.models import User
from reviews.permissions import Refused, check_can_administer, check_can_administer_user
from reviews.views.common import person
from reviews.views.told import keep_secret, made_by, tell, with_article
from verifier.models import ApiKey, Switch

SomeForm = TypeVar("SomeForm", SwitchForm, KeyForm, UserForm)
SECTIONS = (("Switches", "administration"), ("API keys", "administration_keys"), ("Users", "administration_users"))
MEANS = {
    "officer": "Officers decide about findings, take cases on and hand reports in. They don’t read the trail.",
    "admin": "Admins keep switches, keys and people, hand reports in and read the trail. They decide about no finding.",
    "auditor": "Auditors read every case and the trail, and change nothing.",
}


def show(
    request: HttpRequest, template: str, section: str, context: dict[str, object], status: int = 200
) -> HttpResponse:
    sections = [{"name": name, "url": reverse(view), "current": view == section} for name, view in SECTIONS]
    done = tell(request, person(request)) if request.method == "GET" and status == 200 else None
    return render(
        request, f"administration/{template}.html", {"sections": sections, "done": done, **context}, status=status
    )


def done(section: str, event: AuditEvent) -> HttpResponse:
    return redirect(f"{reverse(section)}?event={event.id}")


def admin_of(request: HttpRequest) -> User:
    user = person(request)
    check_can_administer(user)
    return user


def sent(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


@require_safe
def switches(request: HttpRequest) -> HttpResponse:
    admin_of(request)
    return show_switches(request)


def show_switches(
    request: HttpRequest, name: str = "", form: SwitchForm | None = None, status: int = 200, trouble: str = ""
) -> HttpResponse:
    kept = {one.name: one for one in Switch.objects.all()}
    rows = [
        {
            "name": one,
            "kept": kept.get(one),
            "enabled": kept[one].enabled if one in kept else first_value,
            "form": form if form and one == name else SwitchForm(auto_id=f"{one}_%s", label_suffix=""),
        }
        for one, first_value in settings.SWITCHES.items()
        if one in words.SWITCHES  # those that switch something here
    ]
    return show(request, "switches", "administration", {"rows": rows, "form": form, "trouble": trouble}, status)


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    admin = admin_of(request)
    if name not in words.SWITCHES:
        raise Http404
    form = SwitchForm(request.POST, auto_id=f"{name}_%s", label_suffix="")
    if not form.is_valid():
        return show_switches(request, name, form, status=422)
    enabled = form.cleaned_data["enabled"] == "yes"
    try:
        event = administration.change_switch(
            admin=admin, name=name, enabled=enabled, reason=form.cleaned_data["reason"], at=timezone.now()
        )
    except InvalidChange as problem:
        return show_switches(request, name, with_problems(form, problem), status=422)
    if event is None:
        trouble = f"“{words.say('switch', name)}” is {'on' if enabled else 'off'} already."
        return show_switches(request, trouble=trouble, status=409)
    return done("administration", event)


def with_problems(form: SomeForm, problem: InvalidChange) -> SomeForm:
    for field, sentence in problem.problems.items():
        form.add_error(field if field in form.fields else None, sentence)
    return form


@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    admin = admin_of(request)
    form = KeyForm(sent(request), initial={"form_token": uuid4()}, label_suffix="")
    if form.is_bound and form.is_valid():
        try:
            make_key(request, admin, form.cleaned_data)
            return redirect("administration_keys")
        except SentBefore:
            return redirect("administration_keys")
        except InvalidChange as problem:
            with_problems(form, problem)
    return show_keys(request, admin, form)


def make_key(request: HttpRequest, admin: User, told: dict[str, Any]) -> None:
    with transaction.atomic():
        key, token = administration.create_key(admin=admin, **told, at=timezone.now())
        assert key.creation is not None, "create leaves its event on the key"
        keep_secret(request, event=key.creation, secret=token, form_token=told["form_token"])


def show_keys(
    request: HttpRequest, admin: User, form: KeyForm | None = None, trouble: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {
        "keys": ApiKey.objects.filter(tenant_id=admin.tenant_id).order_by("-created_at"),
        "form": form or KeyForm(initial={"form_token": uuid4()}, label_suffix=""),
        "trouble": trouble,
    }
    return show(request, "keys", "administration_keys", context, 422 if form and form.errors else status)


@require_http_methods(["GET", "POST"])
def revoke_key(request: HttpRequest, key_id: UUID) -> HttpResponse:
    """Asks first; the second press does it."""
    admin = admin_of(request)
    key = get_object_or_404(ApiKey, id=key_id, tenant_id=admin.tenant_id)
    if key.revoked_at is None and request.method == "GET":
        return show(request, "revoke", "administration_keys", {"key": key})
    event = administration.revoke_key(admin=admin, key=key, at=timezone.now()) if key.revoked_at is None else None
    if event is None:
        return show_keys(request, admin, trouble=f"The key “{key.label}” is revoked already.", status=409)
    return done("administration_keys", event)


@require_http_methods(["GET", "POST"])
def users(request: HttpRequest) -> HttpResponse:
    admin = admin_of(request)
    form = UserForm(sent(request), initial={"form_token": uuid4()}, label_suffix="")
    if form.is_bound and form.is_valid():
        told = dict(form.cleaned_data)
        form_token = told.pop("form_token")
        try:
            make_user(request, admin, told, form_token)
            return redirect("administration_users")
        except InvalidChange as problem:
            if made_by(request, form_token):
                return redirect("administration_users")
            with_problems(form, problem)
    return show_users(request, admin, form)


def make_user(request: HttpRequest, admin: User, told: dict[str, Any], form_token: UUID | None) -> None:
    with transaction.atomic():
        made = administration.create_user(admin=admin, **told, at=timezone.now())
        keep_secret(request, event=made.event, secret=made.password, form_token=form_token)


def show_users(
    request: HttpRequest, admin: User, form: UserForm | None = None, trouble: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {
        "people": User.objects.filter(tenant_id=admin.tenant_id).order_by("-is_active", "display_name", "pk"),
        "roles": list(words.ROLES.items()),
        "form": form or UserForm(initial={"form_token": uuid4()}, label_suffix=""),
        "trouble": trouble,
    }
    return show(request, "users", "administration_users", context, 422 if form and form.errors else status)


@require_http_methods(["GET", "POST"])
def change_role(request: HttpRequest, user_id: int) -> HttpResponse:
    """Asks first; the second press does it. What the rules refuse is said on the page."""
    admin, user = admin_and(request, user_id)
    role = (request.POST if request.method == "POST" else request.GET).get("role", "")
    if role not in words.ROLES:
        return show_users(request, admin, trouble="Choose a role.", status=422)
    unchanged = f"{user.display_name} is {with_article(role)} already."
    if user.role == role:
        return show_users(request, admin, trouble=unchanged, status=409)
    if request.method == "GET":
        context = {"changed": user, "role": role, "as_role": with_article(role), "means": MEANS[role]}
        return show(request, "role", "administration_users", context)
    return change_person(
        request, lambda at: administration.change_role(admin=admin, user=user, role=role, at=at), unchanged
    )


@require_http_methods(["GET", "POST"])
def deactivate(request: HttpRequest, user_id: int) -> HttpResponse:
    """Asks first; the second press does it."""
    admin, user = admin_and(request, user_id)
    unchanged = f"{user.display_name} is deactivated already."
    if not user.is_active:
        return show_users(request, admin, trouble=unchanged, status=409)
    if request.method == "GET":
        return show(request, "deactivate", "administration_users", {"changed": user})
    return change_person(request, lambda at: administration.deactivate(admin=admin, user=user, at=at), unchanged)


@require_http_methods(["GET", "POST"])
def reset_password(request: HttpRequest, user_id: int) -> HttpResponse:
    """Asks first; the second press does it, and the new password is shown once."""
    admin, user = admin_and(request, user_id)
    if request.method == "GET":
        return show(request, "password", "administration_users", {"changed": user})
    try:
        with transaction.atomic():
            made = administration.reset_password(admin=admin, user=user, at=timezone.now())
            keep_secret(request, event=made.event, secret=made.password, form_token=None)
    except Refused as problem:
        return show_users(request, admin, trouble=str(problem), status=409)
    return redirect("administration_users")


def admin_and(request: HttpRequest, user_id: int) -> tuple[User, User]:
    """The admin and the person they may change; nobody changes their own account."""
    admin = admin_of(request)
    user = get_object_or_404(User, pk=user_id, tenant_id=admin.tenant_id)
    check_can_administer_user(admin, user)
    return admin, user


def change_person(
    request: HttpRequest, change: Callable[[datetime], AuditEvent | None], unchanged: str
) -> HttpResponse:
    try:
        event = change(timezone.now())
    except Refused as problem:
        return show_users(request, person(request), trouble=str(problem), status=409)
    if event is None:
        return show_users(request, person(request), trouble=unchanged, status=409)
    return done("administration_users", event)
