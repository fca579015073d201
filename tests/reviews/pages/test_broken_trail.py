"""A trail found broken is told on every page to those who may read trails, until it is found whole."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import watch
from audit.chain import Break, Kind
from audit.models import SYSTEM_TENANT_ID, ActorType, Tenant
from audit.verification import TrailResult
from tests import factories

PAGES = ("/", "/cases/", "/trail/")
TOLD = "The trail of {} was found broken when it was last verified."


def found(tenant: Tenant, *, broken: bool) -> None:
    wrong = Break(Kind.GAP, 2, "event 2 is missing; event 3 follows") if broken else None
    result = TrailResult(tenant=tenant.slug, events=3, head_hash=None, broken=wrong)
    watch.note(tenant, result, actor="clock", actor_type=ActorType.CLOCK, actor_role="", at=timezone.now())


def text(user: Any, address: str) -> str:
    client = Client()
    client.force_login(user)
    return client.get(address).content.decode()


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_admins_and_auditors_are_told_on_every_page_until_it_is_whole(tenant: Tenant, role: str) -> None:
    user = factories.user(tenant, role)
    found(tenant, broken=True)
    for address in PAGES:
        assert TOLD.format(tenant.slug) in text(user, address), address

    found(tenant, broken=False)
    for address in PAGES:
        assert "was found broken" not in text(user, address), address


def test_they_are_told_of_the_systems_trail_and_not_of_another_tenants(
    tenant: Tenant, make_tenant: Callable[..., Tenant]
) -> None:
    user = factories.user(tenant, "auditor")
    other = make_tenant()
    for broken in (other, Tenant.objects.get(id=SYSTEM_TENANT_ID)):
        found(broken, broken=True)
    page = text(user, "/cases/")
    assert TOLD.format("system") in page
    assert TOLD.format(other.slug) not in page


def test_an_officer_is_not_told_what_only_others_can_look_into(tenant: Tenant) -> None:
    user = factories.user(tenant, "officer")
    found(tenant, broken=True)
    assert "was found broken" not in text(user, "/cases/")


def test_each_banner_leads_to_its_result(tenant: Tenant) -> None:
    user = factories.user(tenant, "auditor")
    for broken in (tenant, Tenant.objects.get(id=SYSTEM_TENANT_ID)):
        found(broken, broken=True)
    page = text(user, "/cases/")
    for address in ("/trail/?type=trail_verified", "/trail/?chain=system&amp;type=trail_verified"):
        assert f'href="{address}"' in page
        assert "Trail verified" in text(user, address.replace("&amp;", "&"))
