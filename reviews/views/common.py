"""What several views need."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.http import url_has_allowed_host_and_scheme

from audit.models import CaseKey
from audit.sealed import CaseErased
from reviews.models import User
from reviews.permissions import check_can_view_cases
from reviews.queues import Filters
from verifier.models import Case

FILTERS = ("verdict", "cause", "severity", "material_type", "holder", "corroboration", "provider", "stage", "text")


def person(request: HttpRequest) -> User:
    """Who asks. Nobody else gets as far as a view that is not open to all."""
    return cast(User, request.user)


def get_case(request: HttpRequest, case_id: UUID) -> Case:
    """A case of the person's own tenant; anyone else's does not exist for them. Raises CaseErased."""
    user = person(request)
    check_can_view_cases(user)
    related = ("current_report", "current_verification__report", "current_verification__working_on", "tenant")
    blobs = ("current_report__content", "current_verification__report__content")
    erased = Exists(CaseKey.objects.filter(case_id=OuterRef("pk"), key=None))
    cases = Case.objects.select_related(*related).defer(*blobs).annotate(erased=erased)
    case = get_object_or_404(cases, id=case_id, tenant_id=user.tenant_id)
    if cast(Any, case).erased:  # from the annotation
        raise CaseErased
    return case


def kept_filters(values: Mapping[str, str]) -> dict[str, str]:
    """The queue's filters as they travel through case and decision, so that next means next in that list."""
    return {name: values[name].replace("\0", "")[:100] for name in FILTERS if values.get(name)}


def filters_of(values: Mapping[str, str]) -> Filters:
    page = values.get("page", "")
    kept = {name: values.get(name, "").replace("\0", "")[:100] for name in FILTERS}
    return Filters(**kept, page=int(page) if page.isascii() and page.isdigit() and len(page) < 7 else 1)


def next_or(request: HttpRequest, otherwise: str) -> str:
    """Where a form wants to go back to, if that is a page of ours."""
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return otherwise
