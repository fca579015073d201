"""The trail's pages, through the whole stack: who may read what, filters, paging, and the proof of one event."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from unittest.mock import patch
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.log import tenant_scope
from audit.models import SYSTEM_TENANT_ID, ActorType, AuditEvent, AuditSeal, Tenant
from reviews.models import User
from tests import factories
from tests.audit.trails import append, append_many, bypass_guards, run, seal

pytestmark = pytest.mark.django_db
TRAIL = "/trail/"
MOST_QUERIES = 12
MOST_OF_EVENT = 16  # its neighbours, its key, its case, its checkpoint


@pytest.fixture
def make_client(tenant: Tenant) -> Callable[..., Client]:
    def make(role: str, of: Tenant | None = None) -> Client:
        user = User.objects.create(
            tenant=of or tenant, username=f"{role}-{uuid4().hex[:8]}", display_name="Somebody", role=role
        )
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def auditor(make_client: Callable[..., Client]) -> Client:
    return make_client("auditor")


def numbers(page: str) -> list[int]:
    return [int(number) for number in re.findall(r">#(\d+)</a></td>", page)]


def read(client: Client, address: str = TRAIL, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


# Who may read what


@pytest.mark.parametrize(("role", "status"), [("auditor", 200), ("admin", 200), ("officer", 403)])
def test_auditors_and_admins_read_the_trail_and_officers_do_not(
    tenant: Tenant, make_client: Callable[..., Client], role: str, status: int
) -> None:
    (event,) = append_many(tenant, 1)
    client = make_client(role)

    for address in (TRAIL, f"{TRAIL}?chain=system", f"{TRAIL}{event.id}/"):
        assert client.get(address).status_code == status


def test_a_refusal_is_in_the_trail(tenant: Tenant, make_client: Callable[..., Client]) -> None:
    read(make_client("officer"), status=403)

    assert AuditEvent.objects.filter(tenant=tenant, event_type="access_refused").count() == 1


def test_nobody_reads_it_without_signing_in(tenant: Tenant) -> None:
    answer = Client().get(TRAIL)

    assert answer.status_code == 302
    assert "next=/trail/" in answer.headers["Location"]


def test_another_tenants_events_are_neither_listed_nor_found(
    tenant: Tenant, make_tenant: Callable[..., Tenant], auditor: Client
) -> None:
    other = make_tenant()
    (foreign,) = append_many(other, 1)

    assert str(foreign.id) not in read(auditor)
    assert str(foreign.id) not in read(auditor, f"{TRAIL}?about={foreign.case_id}")
    read(auditor, f"{TRAIL}{foreign.id}/", status=404)


def test_the_systems_trail_is_read_apart(tenant: Tenant, auditor: Client) -> None:
    own, system = append(tenant, subject="ours"), append(Tenant.objects.get(id=SYSTEM_TENANT_ID), subject="a switch")
    seal()

    assert str(own.id) in read(auditor)
    assert str(system.id) not in read(auditor)
    assert str(system.id) in read(auditor, f"{TRAIL}?chain=system")
    read(auditor, f"{TRAIL}{system.id}/")


def test_the_systems_trail_needs_its_own_permission(tenant: Tenant, auditor: Client) -> None:
    system = append(Tenant.objects.get(id=SYSTEM_TENANT_ID), subject="a switch")

    with patch.object(User, "has_perm", lambda user, permission, obj=None: permission == "audit.view_trail"):
        assert "chain=system" not in read(auditor)
        read(auditor, f"{TRAIL}?chain=system", status=403)
        read(auditor, f"{TRAIL}{system.id}/", status=404)


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_nothing_can_be_changed_here(tenant: Tenant, auditor: Client, method: str) -> None:
    (event,) = append_many(tenant, 1)

    for address in (TRAIL, f"{TRAIL}{event.id}/"):
        assert getattr(auditor, method)(address).status_code == 405


# The list


def test_it_shows_the_newest_first_with_number_time_words_code_actor_and_hash(tenant: Tenant, auditor: Client) -> None:
    events = append_many(tenant, 3)
    page = read(auditor)

    assert numbers(page) == [3, 2, 1]
    stored = AuditSeal.objects.get(event=events[2])
    for shown in ("Case read", "case_viewed", "m.tamm", bytes(stored.event_hash).hex()[:8]):
        assert shown in page
    assert events[2].recorded_at.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] in page
    assert "3 shown, newest first." in page
    assert "Nothing is older." in page


@pytest.mark.parametrize(
    ("actor_type", "icon"), [("person", "person"), ("system", "machine"), ("key", "key"), ("clock", "clock")]
)
def test_people_machines_callers_and_timers_are_told_apart(
    tenant: Tenant, auditor: Client, actor_type: str, icon: str
) -> None:
    append(tenant, actor_type=ActorType(actor_type))
    seal()
    table = read(auditor).split("<tbody>")[1].split("</tbody>")[0]

    assert re.findall(r"icons[^#]*\.svg#(\w+)", table) == [icon]


def test_text_of_reports_is_shown_as_text(tenant: Tenant, auditor: Client) -> None:
    event = append(tenant, subject="<script>alert(1)</script>", details={"<b>": "<i>x</i>\0"})

    for page in (read(auditor), read(auditor, f"{TRAIL}{event.id}/")):
        assert "<script>alert" not in page
        assert "<i>x" not in page


@pytest.fixture
def mixed(tenant: Tenant) -> dict[str, str]:
    """Four events that each filter tells apart; returns how each is found."""
    case_id = uuid4()
    append(tenant, subject="first")
    append(tenant, actor="k.saar", subject="second")
    append(tenant, event_type="decision_recorded", subject="third · f1")
    append(tenant, case_id=case_id, subject="fourth")
    seal()
    return {"case": str(case_id)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("actor=k.saar", [2]),
        ("actor=K.SAAR", []),
        ("type=decision_recorded", [3]),
        ("about=THIRD", [3]),
        ("about=f1", [3]),
        ("about={case}", [4]),
        ("about=%232", [2]),
        ("about=%25", []),
        ("about=%239223372036854775808", []),
        ("since={today}", [4, 3, 2, 1]),
        ("since={tomorrow}", []),
        ("until={yesterday}", []),
        ("until={today}", [4, 3, 2, 1]),
        ("since={yesterday}T00:00&until={tomorrow}T00:00%2B02:00", [4, 3, 2, 1]),
        ("actor=m.tamm&type=decision_recorded&about=third", [3]),
        ("actor=+k.saar+", [2]),
    ],
)
def test_filters_stand_in_the_address(auditor: Client, mixed: dict[str, str], query: str, expected: list[int]) -> None:
    today = run("SELECT (now() AT TIME ZONE 'UTC')::date")[0][0]
    days = {"today": today, "tomorrow": today + timedelta(days=1), "yesterday": today - timedelta(days=1)}

    assert numbers(read(auditor, f"{TRAIL}?{query.format(**mixed, **days)}")) == expected


def test_each_filter_in_force_is_a_chip_that_removes_only_itself(auditor: Client, mixed: dict[str, str]) -> None:
    page = read(auditor, f"{TRAIL}?actor=m.tamm&type=decision_recorded")

    assert re.search(r'href="\?type=decision_recorded"[^>]*>.*?Who: m\.tamm', page)
    assert re.search(r'href="\?actor=m\.tamm"[^>]*>.*?What: Decision recorded', page)
    assert "1 shown, newest first." in page
    assert "hidden by the filters" in page


def test_empty_because_new_is_not_empty_because_filtered(tenant: Tenant, auditor: Client) -> None:
    assert "Nothing is recorded yet" in read(auditor)

    filtered = read(auditor, f"{TRAIL}?actor=nobody")
    assert "No event matches these filters" in filtered
    assert "Nothing is recorded yet" not in filtered


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("since=yesterday", "“From” is not a date"),
        ("until=2026-02-30", "“To” is not a date"),
        ("until=9999-12-31", "“To” is not a date"),
        ("since=0001-01-01T00:00%2B14:00", "“From” is not a date"),
        ("since=2026-11-30&until=2026-11-29", "nothing can lie between"),
        ("before=x", "can&#x27;t be found"),
        ("before=" + "9" * 19, "can&#x27;t be found"),
        ("before=1&actor=m.tamm", "can&#x27;t be found"),
        ("before=1-" + "0" * 32, "can&#x27;t be found"),
        ("actor=m.tamm&before=" + "9" * 18 + "-" + "0" * 32, "can&#x27;t be found"),
        ("case=INV-7", "There is no case with this id"),
        ("before=" + "9" * 150, "can&#x27;t be found"),
        ("before=%00", "unreadable"),
        ("actor=a%00b", "unreadable"),
        ("about=" + "x" * 201, "longer than 200"),
        ("chain=elsewhere", "There is no such trail"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_said(auditor: Client, query: str, sentence: str) -> None:
    page = read(auditor, f"{TRAIL}?{query}", status=400)

    assert "There is a problem" in page
    assert sentence in page
    assert "<title>Error: Trail" in page


@pytest.mark.parametrize(
    "query", ["about=%ff%fe", "actor=" + quote("ẞ'\";--"), "type=<b>", "about=%E2%80%AE", "unheard=of", "actor="]
)
def test_odd_filters_are_only_filters(tenant: Tenant, auditor: Client, query: str) -> None:
    append_many(tenant, 1)

    read(auditor, f"{TRAIL}?{query}")


def test_what_was_typed_is_kept_beside_the_problem(auditor: Client) -> None:
    page = read(auditor, f"{TRAIL}?actor=m.tamm&since=soon", status=400)

    assert 'value="m.tamm"' in page
    assert 'value="soon"' in page


# Pages of the list


def older(page: str) -> str | None:
    link = re.search(r'href="(\?[^"]+)" rel="next"', page)
    return link[1].replace("&amp;", "&") if link else None


@pytest.mark.parametrize("query", ["", "?actor=m.tamm", "?until={tomorrow}", "?until={tomorrow}&since={yesterday}"])
def test_pages_go_on_without_a_gap_or_a_repetition(tenant: Tenant, auditor: Client, query: str) -> None:
    append_many(tenant, 120)
    days = {"tomorrow": date.today() + timedelta(days=2), "yesterday": date.today() - timedelta(days=2)}
    seen: list[int] = []
    address: str | None = query.format(**days)
    while address is not None:
        page = read(auditor, TRAIL + address)
        seen += numbers(page)
        if len(seen) == 50:
            append(tenant)  # an event arriving meanwhile moves nothing
            seal()
        address = older(page)

    assert seen == list(range(120, 0, -1))


def test_events_of_one_moment_are_told_apart_by_their_id(tenant: Tenant, auditor: Client) -> None:
    append_many(tenant, 55)
    bypass_guards()
    run("UPDATE audit_auditevent SET recorded_at = '2026-11-30T14:00:00Z' WHERE tenant_id = %s", tenant.id)

    first = read(auditor)
    second = read(auditor, TRAIL + str(older(first)))

    assert len(numbers(first)) == 50
    assert sorted(numbers(first) + numbers(second)) == list(range(1, 56))


@pytest.mark.parametrize("count", [1, 50])
def test_the_number_of_queries_does_not_grow_with_the_list(tenant: Tenant, auditor: Client, count: int) -> None:
    events = append_many(tenant, count)

    lists = [TRAIL, *(f"{TRAIL}?{query}" for query in ("actor=m.tamm", "about=INV", f"case={events[0].case_id}"))]
    for address, most in [*((each, MOST_QUERIES) for each in lists), (f"{TRAIL}{events[0].id}/", MOST_OF_EVENT)]:
        with CaptureQueriesContext(connection) as queries:
            read(auditor, address)
        assert len(queries) <= most, "\n".join(query["sql"][:150] for query in queries)


# One event


def test_an_event_shows_its_whole_content_and_its_proof(tenant: Tenant, auditor: Client) -> None:
    events = append_many(tenant, 3)
    stored = AuditSeal.objects.get(event=events[1])
    page = read(auditor, f"{TRAIL}{events[1].id}/")

    assert "Event #2" in page
    assert "Recomputed just now" in page
    for shown in ("details.place", "actor_role", "officer", "app_at", bytes(stored.previous_hash).hex()):
        assert shown in page
    assert page.count(bytes(stored.event_hash).hex()) == 2  # stored, and recomputed now
    for neighbour in (events[0], events[2]):
        assert f"{TRAIL}{neighbour.id}/" in page


def test_the_stored_bytes_are_shown_as_they_are(tenant: Tenant, auditor: Client) -> None:
    event = append(tenant, details={"a": "\0", "b": "é"})
    page = read(auditor, f"{TRAIL}{event.id}/")

    assert "{&quot;a&quot;:&quot;\\u0000&quot;,&quot;b&quot;:&quot;é&quot;}" in page


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "UPDATE audit_auditevent SET body = replace(body, 'officer', 'admin') WHERE id = %s",
            "was changed after it was recorded",
        ),
        ("UPDATE audit_auditevent SET actor = 'somebody.else' WHERE id = %s", "the column actor disagrees"),
        (
            "UPDATE audit_auditseal SET previous_hash = sha256('') WHERE event_id = %s",
            "does not follow the one before it",
        ),
        ("DELETE FROM audit_auditseal WHERE event_id = %s", "has no place in the chain"),
    ],
)
def test_a_tampered_event_is_shown_as_broken(tenant: Tenant, auditor: Client, statement: str, sentence: str) -> None:
    events = append_many(tenant, 3)
    bypass_guards()
    run(statement, events[1].id)

    page = read(auditor, f"{TRAIL}{events[1].id}/")

    assert sentence in page
    assert "Recomputed just now" not in page


def test_a_removed_predecessor_is_seen_at_the_next_event(tenant: Tenant, auditor: Client) -> None:
    events = append_many(tenant, 3)
    bypass_guards()
    run("DELETE FROM audit_auditseal WHERE event_id = %s", events[1].id)

    assert "does not follow the one before it" in read(auditor, f"{TRAIL}{events[2].id}/")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE audit_casekey SET key = NULL, destroyed_at = now()", "The case was erased and its key destroyed"),
        ("DELETE FROM audit_casekey", "can’t be opened, and no erasure explains that"),
    ],
)
def test_a_content_that_cannot_be_read_is_said_and_why(
    tenant: Tenant, auditor: Client, statement: str, sentence: str
) -> None:
    event = append(tenant, case_id=uuid4(), details={"reason": "Maarja Tamm"})
    seal()
    assert "Maarja Tamm" in read(auditor, f"{TRAIL}{event.id}/")
    run("ALTER TABLE audit_casekey DISABLE TRIGGER USER")
    run(statement)

    page = read(auditor, f"{TRAIL}{event.id}/")
    assert sentence in page
    assert "Maarja Tamm" not in page


def test_a_cases_events_are_found_and_called_by_its_reference(tenant: Tenant, auditor: Client) -> None:
    case = factories.case(tenant, report_id="inv-2026-7")
    append(tenant, case_id=uuid4())
    seal()

    page = read(auditor, f"{TRAIL}?about=2026-7")
    assert numbers(page) == [2, 1]
    assert page.count("inv-2026-7") >= 2
    assert numbers(read(auditor, f"{TRAIL}?about={case.id}")) == [2, 1]


def test_an_event_that_does_not_exist_is_not_found(auditor: Client) -> None:
    read(auditor, f"{TRAIL}{uuid4()}/", status=404)


def test_the_application_role_sees_the_same_pages(tenant: Tenant, auditor: Client, as_application: Any) -> None:
    (event,) = append_many(tenant, 1)

    with as_application(), tenant_scope(""):
        assert numbers(read(auditor)) == [1]
        assert "Recomputed just now" in read(auditor, f"{TRAIL}{event.id}/")
