"""A person's own password. Whoever was given one by somebody else changes it here before anything else."""

from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from redis.exceptions import RedisError

from reviews import administration, attempts
from reviews.addresses import client_address
from reviews.administration import InvalidChange
from reviews.forms import PasswordForm
from reviews.models import User
from reviews.views.common import person

WRONG = "This is not the password you have now."
TOO_MANY = "There were too many attempts with a wrong password. Wait {wait} min, then try again."
NO_COUNTER = "A password can't be changed just now, because attempts cannot be counted. Try again in a minute."


@sensitive_post_parameters("current", "password", "again")
@require_http_methods(["GET", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = PasswordForm(request.POST if request.method == "POST" else None, label_suffix="")
    if not form.is_bound:
        return page(request, user, form)
    if form.is_valid() and knows_it(request, user, form):
        was_first = user.must_change_password
        try:
            administration.change_password(user=user, password=form.cleaned_data["password"], at=timezone.now())
        except InvalidChange as problem:
            form.add_error("password", problem.problems["password"])
        else:
            update_session_auth_hash(request, user)
            return redirect("home") if was_first else page(request, user, PasswordForm(label_suffix=""), done=True)
    return page(request, user, form)


def knows_it(request: HttpRequest, user: User, form: PasswordForm) -> bool:
    """Wrong ones count as failed sign-ins do, so that an open session is no way to try passwords."""
    try:
        attempt = attempts.count(address=client_address(request), name=user.username, at=timezone.now())
    except (RedisError, OSError):
        form.add_error("current", NO_COUNTER)
        return False
    if attempt.wait:
        form.add_error("current", TOO_MANY.format(wait=attempt.wait))
        return False
    if not user.check_password(form.cleaned_data["current"]):
        form.add_error("current", WRONG)
        return False
    attempt.give_back()
    return True


def page(request: HttpRequest, user: User, form: PasswordForm, *, done: bool = False) -> HttpResponse:
    context = {"form": form, "first": user.must_change_password, "done": done}
    return render(request, "password.html", context, status=422 if form.errors else 200)
