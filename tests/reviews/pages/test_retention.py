"""How long a case is kept: admins record it on its page, auditors read it, officers see nothing of it."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from reviews.models import RetentionRecord
from reviews.retention import retention_of
from tests import factories, scenes
from verifier.models import Case


@pytest.fixture
def case(scene: scenes.Scene) -> Case:
    return factories.case(scene.tenant)


def address(case: Case, name: str = "retention") -> str:
    return reverse(name, args=[case.id])


def follow(client: Client, answer: object) -> str:
    assert answer.status_code == 302, answer.content.decode()  # type: ignore[attr-defined]
    connection.check_constraints()  # seals, as a commit would
    return client.get(answer.headers["Location"]).content.decode()  # type: ignore[attr-defined, no-any-return]


def test_an_admin_records_the_end_and_the_page_says_from_when_it_may_be_erased(
    case: Case, scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.admin)
    assert "has not begun" in client.get(address(case)).content.decode()
    sent = {"ended_on": "2026-01-31", "reason": "The account was closed."}

    page = follow(client, client.post(address(case, "retention_end"), sent))

    assert "refusal: recorded" in page
    assert "may be erased from 2031-02-01 on" in page
    assert "The account was closed." in page
    event = AuditEvent.objects.get(case_id=case.id, event_type="relationship_ended")
    assert (event.actor, event.actor_type) == (scene.admin.username, "person")


def test_a_hold_is_set_and_lifted_with_a_reason(
    case: Case, scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.admin)
    page = follow(client, client.post(address(case, "retention_hold"), {"on": "yes", "reason": "A court asked."}))
    assert "Lift the hold" in page
    assert retention_of(case).held
    page = follow(client, client.post(address(case, "retention_hold"), {"on": "no", "reason": "The court is done."}))
    assert "Set the hold" in page
    assert not retention_of(case).held


@pytest.mark.parametrize(
    ("name", "sent", "sentence"),
    [
        ("retention_end", {"ended_on": "", "reason": "x"}, "Give the day."),
        ("retention_end", {"ended_on": "31.01.2026", "reason": "x"}, "Write the day as 2026-11-30."),
        ("retention_end", {"ended_on": "2999-01-01", "reason": "x"}, "The end can’t lie in the future."),
        ("retention_end", {"ended_on": "0026-01-01", "reason": "x"}, "Check the year."),
        ("retention_end", {"ended_on": "2026-01-31", "reason": " "}, "Say why."),
        ("retention_hold", {"on": "yes", "reason": ""}, "Say why."),
        ("retention_hold", {"on": "no", "reason": "x"}, "A legal hold is not set."),
    ],
)
def test_what_cannot_be_meant_is_said_and_kept_in_the_form(
    case: Case, scene: scenes.Scene, client_of: Callable[..., Client], name: str, sent: dict[str, str], sentence: str
) -> None:
    answer = client_of(scene.admin).post(address(case, name), sent)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "There is a problem" in page
    assert sentence in page
    assert sent.get("ended_on", "") in page
    assert not RetentionRecord.objects.exists()


def test_an_auditor_reads_it_and_changes_nothing(
    case: Case, scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.auditor)
    assert "<form" not in client.get(address(case)).content.decode().split("<main")[1].split("</main>")[0]
    assert client.post(address(case, "retention_end"), {"ended_on": "2026-01-31", "reason": "x"}).status_code == 403
    assert client.post(address(case, "retention_hold"), {"on": "yes", "reason": "x"}).status_code == 403
    assert not RetentionRecord.objects.exists()


def test_an_officer_is_refused(case: Case, scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    assert client_of(scene.officer).get(address(case)).status_code == 403


def test_another_organisations_case_is_not_there(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    elsewhere = factories.case(factories.tenant())
    for name in ("retention", "retention_end", "retention_hold"):
        client = client_of(scene.admin)
        answer = client.get(address(elsewhere)) if name == "retention" else client.post(address(elsewhere, name))
        assert answer.status_code == 404
