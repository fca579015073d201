"""The page that says when each trail was last verified, and asks a worker to do it again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.test import Client
from kombu.exceptions import OperationalError

from audit import tasks
from audit.models import SYSTEM_TENANT_ID, AuditEvent, Tenant
from audit.notary import write_checkpoint
from audit.signing import encode
from tests import factories
from tests.audit.trails import AT, append_many, run, seal

pytestmark = pytest.mark.django_db
PAGE = "/trail/verification/"


@pytest.fixture
def make_client(tenant: Tenant) -> Callable[..., Client]:
    def make(role: str) -> Client:
        client = Client()
        client.force_login(factories.user(tenant, role))
        return client

    return make


def read(client: Client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def ask(client: Client) -> dict[str, Any]:
    """What a worker was asked to do."""
    with patch.object(tasks.verify_now, "delay") as delay:
        answer = client.post(PAGE)
    assert (answer.status_code, answer.url.partition("?")[0]) == (302, PAGE)  # type: ignore[attr-defined]
    return dict(delay.call_args.kwargs)


@pytest.mark.parametrize(("role", "status"), [("auditor", 200), ("admin", 200), ("officer", 403)])
def test_who_may_read_the_trail_may_verify_it(make_client: Callable[..., Client], role: str, status: int) -> None:
    client = make_client(role)
    assert client.get(PAGE).status_code == status
    with patch.object(tasks.verify_now, "delay") as delay:
        assert client.post(PAGE).status_code == (302 if status == 200 else 403)
    assert delay.called is (status == 200)


def test_a_trail_that_was_never_verified_is_no_result(make_client: Callable[..., Client]) -> None:
    assert read(make_client("auditor")).count("This trail has never been verified. That is no result.") == 2


def test_it_tells_the_result_a_worker_found(
    tenant: Tenant, make_client: Callable[..., Client], settings: Any, tmp_path: Path
) -> None:
    settings.CHECKPOINT_DIR, settings.CHECKPOINT_KEY = tmp_path, encode(b"\x01" * 32)
    append_many(tenant, 3)
    write_checkpoint(tenant=tenant, at=AT)
    client = make_client("auditor")
    asked = ask(client)
    assert {UUID(each) for each in asked["tenant_ids"]} == {tenant.id, SYSTEM_TENANT_ID}
    seal()
    tasks.verify_now(**asked)
    page = read(client)
    assert "nothing is wrong." in page, page[page.index("trail-verdict") : page.index("trail-verdict") + 600]
    assert "Checkpoints cover it up to event 3;" in page
    assert "#3" in page
    event = AuditEvent.objects.get(tenant=tenant, event_type="trail_verified")
    assert (event.actor, event.outcome) == (asked["actor"], "ok")


def test_a_broken_trail_is_told_with_its_place(tenant: Tenant, make_client: Callable[..., Client]) -> None:
    append_many(tenant, 3)
    run("UPDATE audit_chainhead SET sequence = 7 WHERE tenant_id = %s", tenant.id)
    client = make_client("admin")
    tasks.verify_now(**ask(client))
    page = read(client)
    assert "BROKEN at event 4 (tail_cut)" in page
    assert "was found broken when it was last verified" in page, "the banner too"


def test_a_page_that_asked_looks_for_the_answer_by_itself(make_client: Callable[..., Client]) -> None:
    client = make_client("auditor")
    with patch.object(tasks.verify_now, "delay"):
        address = client.post(PAGE).url  # type: ignore[attr-defined]
    assert 'hx-trigger="every 2s"' in read(client, address)
    assert "hx-trigger" not in read(client, f"{PAGE}?asked=1").partition('id="verification"')[2][:300]


def test_it_says_when_nobody_could_be_asked(make_client: Callable[..., Client]) -> None:
    client = make_client("auditor")
    with patch.object(tasks.verify_now, "delay", side_effect=OperationalError):
        answer = client.post(PAGE, follow=True)
    assert "Nothing was verified." in answer.content.decode()
