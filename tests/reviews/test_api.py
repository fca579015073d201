"""What the API reads of cases, over HTTP as its callers see it."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client

from tests import factories as make
from verifier.models import ApiKey, Report

pytestmark = pytest.mark.django_db
CASES = "/api/v1/cases"


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches()
    cache.clear()


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


def key(tenant: Any, *scopes: str) -> str:
    return ApiKey.create(tenant=tenant, label="k", scopes=scopes or ("cases",), by="ada", at=make.AT)[1]


def get(path: str, token: str) -> Any:
    client = Client(raise_request_exception=False)
    return client.get(f"{CASES}{path}", headers={"Authorization": f"Bearer {token}"})


def test_a_case_is_read_as_json(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    answer = get(f"/{case.id}", key(tenant))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json; charset=utf-8")
    told = answer.json()
    assert (told["case_id"], told["tenant"], told["needs_review"]) == (str(case.id), tenant.slug, True)
    assert "history" not in told
    assert get(f"/{case.id}?history=1", key(tenant)).json()["history"]["verdicts"]


@pytest.mark.parametrize("path", ["", "/report", "/events"])
def test_another_tenants_case_is_not_there(tenant: Any, path: str) -> None:
    case = make.verified(make.tenant(), f1="contradicted")
    for case_id in (case.id, UUID(int=7)):
        answer = get(f"/{case_id}{path}", key(tenant))
        assert answer.status_code == 404
        assert list(answer.json()) == ["detail"]


@pytest.mark.parametrize("path", ["", "/{}", "/{}/report", "/{}/events"])
def test_cases_are_read_with_their_own_scope_only(tenant: Any, path: str) -> None:
    case = make.verified(tenant, f1="contradicted")
    path = path.format(case.id)
    assert get(path, key(tenant, "reports", "monitoring")).status_code == 403
    assert get(path, "sl_unknown").status_code == 401
    assert get(path, key(tenant)).status_code == 200


def test_the_report_is_given_back_byte_for_byte(tenant: Any) -> None:
    content = b'{ "report_id":"r",\r\n "subject":{"name":"\\u0000"}, "findings":[], "n": 1.00,"\xc3\xa9":1e400 }\n'
    case = make.accept(tenant, content).case
    answer = get(f"/{case.id}/report", key(tenant))
    assert answer.content == content == bytes(Report.objects.get().content)
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"] == f'attachment; filename="report-{case.id}-1.json"'


def test_cases_come_in_pages(tenant: Any) -> None:
    for word in ("contradicted", "confirmed", "unsupported"):
        make.verified(tenant, f1=word)
    make.verified(make.tenant(), f1="contradicted")
    token = key(tenant)
    first = get("?limit=2", token).json()
    second = get(f"?limit=2&after={first['next']}", token).json()
    assert [len(page["cases"]) for page in (first, second)] == [2, 1]
    assert second["next"] is None
    assert len({one["case_id"] for one in first["cases"] + second["cases"]}) == 3
    assert len(get("?needs_review=true", token).json()["cases"]) == 2
    assert len(get("?needs_review=false", token).json()["cases"]) == 1


@pytest.mark.parametrize("query", ["?limit=0", "?limit=201", "?limit=x", "?after=x", "?needs_review=maybe"])
def test_a_wrong_parameter_is_told_by_name(tenant: Any, query: str) -> None:
    answer = get(query, key(tenant))
    assert answer.status_code == 422
    assert query[1:].split("=")[0] in answer.json()["errors"][0]["path"]


def test_a_cases_trail_is_read_in_the_order_of_the_chain(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    make.verified(tenant, f1="contradicted")
    make.decide(make.user(tenant), make.finding_of(case))
    connection.check_constraints()  # seals what a commit would seal
    token = key(tenant)
    told = get(f"/{case.id}/events", token).json()
    types = [event["event_type"] for event in told["events"]]
    assert types == ["report_received", "verification_queued", "finding_correctness_verified", "decision_recorded"]
    sequences = [event["sequence"] for event in told["events"]]
    assert sequences == sorted(set(sequences))
    last = told["events"][-1]
    assert last["details"]["reason"] == make.REASON
    assert len(bytes.fromhex(last["hash"])) == 32
    page = get(f"/{case.id}/events?limit=3", token).json()
    rest = get(f"/{case.id}/events?limit=3&after={page['next']}", token).json()
    assert page["events"] + rest["events"] == told["events"]


def test_reading_leaves_no_trace_of_another_tenant(tenant: Any) -> None:
    """The connection works for nobody once the answer is there."""
    get("", key(tenant))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('app.current_tenant', true)")
        assert cursor.fetchone()[0] in ("", None)


def test_what_is_read_is_json_whatever_the_report_held(tenant: Any) -> None:
    case = make.case(tenant, make.finding("f1", title="\u202e</script>\u0000", extra="\u2028"))
    answer = get(f"/{case.id}", key(tenant))
    assert json.loads(answer.content)["findings"][0]["title"] == "\u202e</script>\u0000"
