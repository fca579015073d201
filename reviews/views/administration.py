"""What admins keep: switches of the installation, keys and people of their own tenant."""

from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews import administration, words
from reviews.administration import InvalidChange
from reviews.forms import KeyForm, SwitchForm, UserForm
from reviews.models import User
from reviews.permissions import Refused, check_can_administer, check_can_administer_user
from reviews.views.common import person
from verifier.models import ApiKey, Switch

SomeForm = TypeVar("SomeForm", SwitchForm, KeyForm, UserForm)
SECTIONS = (("Switches", "administration"), ("API keys", "administration_keys"), ("Users", "administration_users"))
DONE = {
    "switch": "The switch was changed",
    "revoked": "The key was revoked",
    "role": "The role was changed",
    "gone": "The person was deactivated",
}


def show(
    request: HttpRequest, template: str, section: str, context: dict[str, object], status: int = 200
) -> HttpResponse:
    sections = [{"name": name, "url": reverse(view), "current": view == section} for name, view in SECTIONS]
    done = DONE.get(request.GET.get("done", "")) if request.method == "GET" else None
    return render(
        request, f"administration/{template}.html", {"sections": sections, "done": done, **context}, status=status
    )


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
    request: HttpRequest, name: str = "", form: SwitchForm | None = None, status: int = 200
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
    return show(request, "switches", "administration", {"rows": rows, "form": form}, status)


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    admin = admin_of(request)
    if name not in words.SWITCHES:
        raise Http404
    form = SwitchForm(request.POST, auto_id=f"{name}_%s", label_suffix="")
    if not form.is_valid():
        return show_switches(request, name, form, status=422)
    try:
        administration.change_switch(
            admin=admin,
            name=name,
            enabled=form.cleaned_data["enabled"] == "yes",
            reason=form.cleaned_data["reason"],
            at=timezone.now(),
        )
    except InvalidChange as problem:
        return show_switches(request, name, with_problems(form, problem), status=422)
    return redirect(f"{reverse('administration')}?done=switch")


def with_problems(form: SomeForm, problem: InvalidChange) -> SomeForm:
    for field, sentence in problem.problems.items():
        form.add_error(field if field in form.fields else None, sentence)
    return form


@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    admin = admin_of(request)
    form = KeyForm(sent(request), label_suffix="")
    context: dict[str, object] = {}
    if request.method == "POST" and form.is_valid():
        try:
            key, token = administration.create_key(
                admin=admin, label=form.cleaned_data["label"], scopes=form.cleaned_data["scopes"], at=timezone.now()
            )
            context, form = {"token": token, "token_label": key.label}, KeyForm(label_suffix="")
        except InvalidChange as problem:
            with_problems(form, problem)
    found = ApiKey.objects.filter(tenant_id=admin.tenant_id).order_by("-created_at")
    return show(
        request, "keys", "administration_keys", {"keys": found, "form": form, **context}, 422 if form.errors else 200
    )


@require_POST
def revoke_key(request: HttpRequest, key_id: UUID) -> HttpResponse:
    admin = admin_of(request)
    key = get_object_or_404(ApiKey, id=key_id, tenant_id=admin.tenant_id)
    administration.revoke_key(admin=admin, key=key, at=timezone.now())
    return redirect(f"{reverse('administration_keys')}?done=revoked")


@require_http_methods(["GET", "POST"])
def users(request: HttpRequest) -> HttpResponse:
    admin = admin_of(request)
    form = UserForm(sent(request), label_suffix="")
    context: dict[str, object] = {}
    if request.method == "POST" and form.is_valid():
        try:
            made = administration.create_user(admin=admin, **form.cleaned_data, at=timezone.now())
            context, form = {"made": made}, UserForm(label_suffix="")
        except InvalidChange as problem:
            with_problems(form, problem)
    return show_users(request, admin, {"form": form, **context}, 422 if form.errors else 200)


def show_users(request: HttpRequest, admin: User, context: dict[str, object], status: int = 200) -> HttpResponse:
    people = User.objects.filter(tenant_id=admin.tenant_id).order_by("-is_active", "display_name", "pk")
    context = {"people": people, "roles": list(words.ROLES.items()), "form": UserForm(label_suffix=""), **context}
    return show(request, "users", "administration_users", context, status)


@require_POST
def change_role(request: HttpRequest, user_id: int) -> HttpResponse:
    return change_person(request, user_id, "role")


@require_POST
def deactivate(request: HttpRequest, user_id: int) -> HttpResponse:
    return change_person(request, user_id, "gone")


def change_person(request: HttpRequest, user_id: int, change: str) -> HttpResponse:
    """What the rules refuse, such as removing the last admin, is said on the page; what a role may not do is a 403."""
    admin = admin_of(request)
    changed = get_object_or_404(User, pk=user_id, tenant_id=admin.tenant_id)
    check_can_administer_user(admin, changed)
    try:
        if change == "role":
            administration.change_role(admin=admin, user=changed, role=request.POST.get("role", ""), at=timezone.now())
        else:
            administration.deactivate(admin=admin, user=changed, at=timezone.now())
    except (Refused, InvalidChange) as problem:
        return show_users(request, admin, {"trouble": str(problem)}, status=409)
    return redirect(f"{reverse('administration_users')}?done={change}")
