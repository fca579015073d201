"""The API as its callers see it: keys, scopes, the body byte by byte, and one JSON shape for each refusal."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import AuditEvent, Tenant
from tests.verifier.intake.reports import AT, content, finding, report
from verifier.models import ApiKey, Case, Finding, Report, Verification

REPORTS = "/api/v1/reports"
UNKNOWN = UUID(int=7)


@pytest.fixture(autouse=True)
def switched_on(settings: Any) -> None:
    settings.SWITCHES = {**settings.SWITCHES, "FINDING_CORRECTNESS_VERIFICATION_ENABLED": True}
    cache.clear()


@pytest.fixture
def client() -> Client:
    """As strict about CSRF as a browser's requests are treated, and never raising: a caller sees answers."""
    return Client(enforce_csrf_checks=True, raise_request_exception=False)


@pytest.fixture
def make_token(make_tenant: Callable[[], Tenant]) -> Callable[..., str]:
    def make(*scopes: str, tenant: Tenant | None = None) -> str:
        return ApiKey.create(tenant=tenant or make_tenant(), label="k", scopes=scopes, by="ada", at=AT)[1]

    return make


@pytest.fixture
def token(make_token: Callable[..., str]) -> str:
    return make_token("reports", "cases")


def send(client: Client, token: str, body: bytes, **extra: Any) -> Any:
    return client.post(REPORTS, body, "application/json", headers={"Authorization": f"Bearer {token}"}, **extra)


def call(client: Client, token: str, method: str, path: str) -> Any:
    return client.generic(method, path, headers={"Authorization": f"Bearer {token}"})


def refused(answer: Any, status: int) -> bool:
    """Whether the answer is this refusal: JSON with one sentence."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json; charset=utf-8"), answer.content
    return list(answer.json()) == ["detail"] and bool(answer.json()["detail"])


# Reports


def test_a_report_is_accepted(client: Client, token: str) -> None:
    answer = send(client, token, content())
    case = Case.objects.get()
    assert answer.status_code == 202
    assert answer.json() == {
        "case_id": str(case.id),
        "verification_id": str(case.current_verification_id),
        "status_url": f"/api/v1/cases/{case.id}",
    }
    assert answer["Cache-Control"] == "no-store"
    assert bytes(Report.objects.get().content) == content()
    [received, _] = AuditEvent.objects.filter(case_id=case.id).order_by("recorded_at")
    assert received.actor_type == "key" and received.actor == str(ApiKey.objects.get())


def test_the_same_report_again_is_200_with_the_same_ids(client: Client, token: str) -> None:
    first, second = send(client, token, content()), send(client, token, content())
    assert (second.status_code, second.json()) == (200, first.json())


def test_another_report_without_a_higher_iteration_is_409(client: Client, token: str) -> None:
    send(client, token, content())
    assert refused(send(client, token, content(findings=[])), 409)
    assert send(client, token, content(findings=[], iteration=2)).status_code == 202


def test_an_invalid_report_is_422_with_each_problem(client: Client, token: str) -> None:
    answer = send(client, token, b'{"report_id": 7, "subject": {"name": "A"}, "findings": [], "findings": [{}]}')
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/json; charset=utf-8")
    assert answer.json() == {
        "errors": [
            {"path": "$.findings", "message": "stands more than once in its object"},
            {"path": "$.report_id", "message": "must be a string, not a number"},
            {"path": "$.findings[0].id", "message": "is required"},
            {"path": "$.findings[0].severity", "message": "is required"},
            {"path": "$.findings[0].title", "message": "is required"},
        ]
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        content(details={"x": "\x00"}).replace(b"\\u0000", b"\x00"),
        content(iteration=1).replace(b'"iteration": 1', b'"iteration": ' + b"9" * 5000),
        content(iteration=1).replace(b'"iteration": 1', b'"iteration": 1e999999'),
        content(more="MORE").replace(b'"MORE"', b"NaN"),
        content(more="MORE").replace(b"MORE", b"\\ud800"),
        content(findings=[finding(), finding()]),
    ],
)
def test_bad_bodies_are_422_and_nothing_is_kept(client: Client, token: str, body: bytes) -> None:
    answer = send(client, token, body)
    assert answer.status_code == 422
    assert answer.json()["errors"] and not Case.objects.exists()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream", ""]
)
def test_the_bytes_count_and_not_the_content_type(client: Client, token: str, content_type: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    assert client.post(REPORTS, content(), content_type, headers=headers).status_code == 202


def test_a_multipart_form_is_no_report(client: Client, token: str) -> None:
    file = BytesIO(content())
    answer = client.post(REPORTS, {"file": file}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 422


def test_a_report_that_is_too_large_is_413(client: Client, token: str, settings: Any) -> None:
    settings.MAX_REPORT_BYTES = len(content())
    assert refused(send(client, token, content() + b" "), 413)
    assert send(client, token, content()).status_code == 202


@pytest.mark.parametrize(("more", "status"), [(b"", 202), (b" ", 413)])
def test_a_body_without_announced_length_is_counted_too(
    client: Client, token: str, settings: Any, more: bytes, status: int
) -> None:
    settings.MAX_REPORT_BYTES = len(content())
    chunked = {"wsgi.input": BytesIO(content() + more), "wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    assert send(client, token, b"", **chunked).status_code == status


# Runs again


def test_a_recheck_is_a_new_verification(client: Client, token: str) -> None:
    first = send(client, token, content()).json()
    Verification.objects.update(status="finished")
    answer = call(client, token, "POST", f"{first['status_url']}/verifications")
    assert answer.status_code == 202
    assert answer.json()["case_id"] == first["case_id"]
    assert answer.json()["verification_id"] != first["verification_id"]
    assert Verification.objects.count() == 2


def test_a_recheck_of_a_case_under_way_gives_the_run_under_way(client: Client, token: str) -> None:
    first = send(client, token, content()).json()
    answer = call(client, token, "POST", f"{first['status_url']}/verifications")
    assert (answer.status_code, answer.json()) == (202, first)


def test_unknown_cases_and_those_of_others_are_the_same_404(
    client: Client, token: str, make_token: Callable[..., str]
) -> None:
    theirs = send(client, make_token("reports"), content()).json()["case_id"]
    answers = [
        call(client, token, "POST", f"/api/v1/cases/{case}/verifications") for case in (theirs, UNKNOWN, "x", "1")
    ]
    assert all(refused(answer, 404) for answer in answers)
    assert len({answer.content for answer in answers}) == 1
    assert Verification.objects.count() == 1


# Who may call


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer nonsense", "Bearer \xff\xfe", "Basic YTpi", "sl_abc", "Bearer a b"]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", REPORTS), ("POST", f"/api/v1/cases/{UNKNOWN}/verifications"), ("GET", "/api/v1/cases")],
)
def test_without_a_good_key_every_call_is_401(client: Client, token: str, header: str, method: str, path: str) -> None:
    answer = client.generic(method, path, content(), headers={"Authorization": header} if header else None)
    assert refused(answer, 401)
    assert answer["WWW-Authenticate"] == "Bearer"
    assert not Case.objects.exists()


def test_the_scheme_may_be_spelled_in_lower_case(client: Client, token: str) -> None:
    assert (
        client.post(REPORTS, content(), "application/json", headers={"Authorization": f"bearer {token}"}).status_code
        == 202
    )


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", REPORTS, "reports"),
        ("POST", f"/api/v1/cases/{UNKNOWN}/verifications", "cases"),
        ("GET", "/api/v1/cases", "cases"),
        ("GET", f"/api/v1/cases/{UNKNOWN}", "cases"),
    ],
)
def test_a_key_without_the_scope_is_403_and_in_the_trail(
    client: Client, make_token: Callable[..., str], tenant: Tenant, method: str, path: str, scope: str
) -> None:
    others = [name for name in ("reports", "cases", "monitoring") if name != scope]
    token = make_token(*others, tenant=tenant)
    for _ in range(3):
        assert refused(call(client, token, method, path), 403)
    event = AuditEvent.objects.get(event_type="access_refused")  # one a minute is enough
    assert event.tenant == tenant and f"lacks the scope {scope}" in event.body and token not in event.body


def test_a_revoked_key_is_401_and_in_its_tenants_trail(
    client: Client, make_token: Callable[..., str], tenant: Tenant
) -> None:
    token = make_token("reports", tenant=tenant)
    ApiKey.objects.get().revoke(by="ada", at=AT)
    assert refused(send(client, token, content()), 401)
    event = AuditEvent.objects.get(event_type="access_refused")
    assert event.tenant == tenant and "revoked" in event.body


def test_a_refusal_stands_in_the_trail_when_the_cache_is_down(
    client: Client, make_token: Callable[..., str], settings: Any
) -> None:
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    }
    assert refused(send(client, make_token("cases"), content()), 403)
    assert AuditEvent.objects.filter(event_type="access_refused").count() == 1


def test_a_session_opens_nothing_in_the_api(client: Client, make_tenant: Callable[[], Tenant]) -> None:
    from reviews.models import User

    client.force_login(User.objects.create(tenant=make_tenant(), username="ines", display_name="Ines", role="officer"))
    assert refused(client.post(REPORTS, content(), "application/json"), 401)


def test_tenants_keep_apart_as_the_application_role(
    client: Client, make_token: Callable[..., str], make_tenant: Callable[[], Tenant], as_application: Callable[[], Any]
) -> None:
    one, other = make_tenant(), make_tenant()
    keys = {tenant.id: make_token("reports", "cases", tenant=tenant) for tenant in (one, other)}
    with as_application():
        answers = {tenant: send(client, key, content()) for tenant, key in keys.items()}
        assert [answer.status_code for answer in answers.values()] == [202, 202]
        assert not Case.objects.exists()  # no request leaves its tenant on the connection
        case = answers[one.id].json()["case_id"]
        assert refused(call(client, keys[other.id], "POST", f"/api/v1/cases/{case}/verifications"), 404)
    assert Case.objects.get(id=UUID(case)).tenant == one


# Every refusal is JSON


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1/", "/api/", "/api/v2/reports", "/api/v1/reports/", "/api/v1/cases/x"]
)
def test_an_unknown_address_is_404_in_json(client: Client, token: str, path: str) -> None:
    assert refused(call(client, token, "GET", path), 404)


@pytest.mark.parametrize(("method", "path"), [("GET", REPORTS), ("PUT", REPORTS), ("DELETE", "/api/v1/cases")])
def test_a_wrong_method_is_405_in_json(client: Client, token: str, method: str, path: str) -> None:
    answer = call(client, token, method, path)
    assert refused(answer, 405)
    assert method not in answer["Allow"]


def test_a_failure_of_ours_is_500_in_json_without_its_reason(client: Client, token: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE verifier_case ADD CONSTRAINT no_more CHECK (false) NOT VALID")
    answer = send(client, token, content())
    assert refused(answer, 500)
    assert b"no_more" not in answer.content and not Case.objects.exists()


# Documentation


def test_the_openapi_document_needs_no_key_and_holds_every_call(client: Client, db: None) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert {REPORTS, "/api/v1/cases/{case_id}/verifications", "/api/v1/cases"} <= document["paths"].keys()
    submit = document["paths"][REPORTS]["post"]
    assert {"200", "202", "401", "403", "409", "413", "422"} <= submit["responses"].keys()
    schema = submit["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["report_id", "subject", "findings"]
    assert submit["security"] == [{"KeyAuth": []}]


def test_the_documented_example_is_accepted_as_it_stands(client: Client, token: str) -> None:
    document = client.get("/api/v1/openapi.json").json()
    example = document["paths"][REPORTS]["post"]["requestBody"]["content"]["application/json"]["schema"]["example"]
    assert send(client, token, json.dumps(example).encode()).status_code == 202


# Whatever comes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
KEYS = ["report_id", "iteration", "created_at", "subject", "findings", "quality_gate", "documents"]
almost_reports = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, json_values)).map(lambda odd: report() | odd)
without_limits = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@without_limits
@given(value=json_values | almost_reports)
def test_any_json_value_is_accepted_or_refused_but_never_breaks(client: Client, token: str, value: Any) -> None:
    answer = send(client, token, json.dumps(value).encode())
    assert answer.status_code in (200, 202, 409, 422)
    assert answer.status_code != 422 or all(error["path"].startswith("$") for error in answer.json()["errors"])


@without_limits
@given(body=st.binary())
def test_any_bytes_are_answered(client: Client, token: str, body: bytes) -> None:
    assert send(client, token, body).status_code == 422


texts = st.text(st.characters(exclude_categories=["Cs"]))
filled = texts.filter(lambda text: text.strip())
identifiers = filled.filter(lambda text: "\0" not in text).map(lambda text: text[:200]).filter(str.strip)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
unknown = st.dictionaries(
    texts.map("x{}".format), st.none() | st.booleans() | numbers | texts | st.lists(texts, max_size=2), max_size=3
)
findings = st.builds(
    lambda more, required, known: more | required | known,
    unknown,
    st.fixed_dictionaries(
        {"id": identifiers, "title": filled, "severity": filled.map(lambda text: text[:100]).filter(str.strip)}
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "hit": st.none() | st.booleans(),
            "category": texts,
            "status": texts,
            "confidence": numbers,
            "target": texts,
        },
    ),
)
reports = st.builds(
    lambda more, known: more | known,
    unknown,
    st.fixed_dictionaries(
        {
            "report_id": identifiers,
            "subject": st.fixed_dictionaries({"name": filled.map(lambda text: text[:500]).filter(str.strip)}),
            "findings": st.lists(findings, max_size=5, unique_by=lambda found: found["id"]),
        },
        optional={"iteration": st.integers(1, 1_000_000)},
    ),
)


@without_limits
@given(value=reports, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_any_valid_report_comes_back_as_it_was(
    client: Client, token: str, value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    answer = send(client, token, body)
    assert answer.status_code in (202, 200, 409), answer.content
    if answer.status_code == 202:
        kept = Report.objects.get(case_id=answer.json()["case_id"], iteration=value.get("iteration", 1))
        assert bytes(kept.content) == body
        texts_kept = Finding.objects.filter(report=kept).order_by("position").values_list("content", flat=True)
        assert [json.loads(text) for text in texts_kept] == value["findings"]
