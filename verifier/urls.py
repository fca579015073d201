"""All addresses. The API is one NinjaAPI; the routers and pages of the other apps are named by string."""

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.views import defaults

from verifier.api import KeyAuth, api, not_found, router, server_error, urls
from verifier.health import healthz, readyz

api.add_router("", router)
api.add_router("", "reviews.api.router", auth=KeyAuth("cases"))

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("api/v1/", urls()),
    path("trail/", include("audit.urls")),
    path("", include("reviews.urls")),
]


TOO_MUCH = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A form with more in it than any of ours is too large, not broken."""
    if isinstance(exception, TOO_MUCH):
        return render(request, "413.html", status=413)
    return defaults.bad_request(request, exception)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Whoever speaks JSON is answered in JSON."""
    return not_found(request) if is_api(request) else defaults.page_not_found(request, exception)


def handler500(request: HttpRequest) -> HttpResponse:
    return server_error(request) if is_api(request) else defaults.server_error(request)


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
