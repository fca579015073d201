"""People, keys and switches: admins only, own tenant only, each with its event."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import authenticate
from django.db import DatabaseError

from audit.models import SYSTEM_TENANT_ID, AuditEvent
from reviews import administration
from reviews.administration import InvalidChange, SentBefore
from reviews.models import User
from reviews.permissions import Refused
from tests import factories as make
from verifier.models import ApiKey, Switch

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


@pytest.fixture
def admin(tenant: Any) -> Any:
    return make.user(tenant, "admin")


@pytest.fixture
def officer(tenant: Any) -> Any:
    return make.user(tenant)


def events(event_type: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(event_type=event_type))


def create(by: User, **changes: Any) -> administration.NewUser:
    values = {"username": "m.tamm", "display_name": "Mari Tamm", "role": "officer", **changes}
    return administration.create_user(admin=by, at=make.AT, **values)


@pytest.fixture
def trail_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.administration.record", refuse)


def test_a_new_person_signs_in_with_the_password_shown_once(admin: Any) -> None:
    made = create(admin)
    assert authenticate(username="m.tamm", password=made.password) == made.user
    assert made.user.tenant == admin.tenant
    (event,) = [event for event in events("user_created") if event.subject == "m.tamm"]
    assert made.password not in event.body
    assert create(admin, username="other").password != made.password


def test_a_person_is_not_there_without_the_event(admin: Any, trail_fails: None) -> None:
    with pytest.raises(DatabaseError):
        create(admin)
    assert not User.objects.filter(username="m.tamm").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("username", " "),
        ("username", "x" * 151),
        ("username", "with\0nul"),
        ("display_name", "x" * 151),
        ("role", "owner"),
        ("password", "short"),
        ("password", "123456789012345"[:5]),
    ],
)
def test_a_person_is_refused_with_the_field_that_is_wrong(admin: Any, field: str, value: str) -> None:
    with pytest.raises(InvalidChange) as refused:
        create(admin, **{field: value})
    assert field in refused.value.problems


def test_a_name_is_given_once_in_the_installation(admin: Any) -> None:
    create(make.user(make.tenant(), "admin"))
    with pytest.raises(InvalidChange, match="taken"):
        create(admin)


ACTS: dict[str, Callable[..., Any]] = {
    "create": lambda by, user, key: create(by),
    "role": lambda by, user, key: administration.change_role(admin=by, user=user, role="auditor", at=make.AT),
    "deactivate": lambda by, user, key: administration.deactivate(admin=by, user=user, at=make.AT),
    "key": lambda by, user, key: administration.create_key(admin=by, label="k", scopes=["cases"], at=make.AT),
    "revoke": lambda by, user, key: administration.revoke_key(admin=by, key=key, at=make.AT),
    "switch": lambda by, user, key: administration.change_switch(
        admin=by, name="MAKER_CHECKER_ENABLED", enabled=False, reason="A reason.", at=make.AT
    ),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("role", ["officer", "auditor", "former admin"])
def test_only_admins_administer(tenant: Any, admin: Any, officer: Any, role: str, act: Any) -> None:
    key = administration.create_key(admin=admin, label="k", scopes=["cases"], at=make.AT)[0]
    by = make.user(tenant, "admin", is_active=False) if role == "former admin" else make.user(tenant, role)
    before = AuditEvent.objects.count()
    with pytest.raises(Refused):
        act(by, officer, key)
    assert AuditEvent.objects.count() == before


@pytest.mark.parametrize("act", ["role", "deactivate", "revoke"])
def test_another_tenants_people_and_keys_are_out_of_reach(admin: Any, officer: Any, act: str) -> None:
    key = administration.create_key(admin=admin, label="k", scopes=["cases"], at=make.AT)[0]
    with pytest.raises(Refused):
        ACTS[act](make.user(make.tenant(), "admin"), officer, key)


def test_a_role_changes_with_its_event(admin: Any, officer: Any) -> None:
    event = administration.change_role(admin=admin, user=officer, role="auditor", at=make.AT)
    officer.refresh_from_db()
    assert officer.role == "auditor"
    assert events("role_changed") == [event]


@pytest.mark.parametrize("act", ["role", "deactivate", "revoke", "switch"])
def test_what_is_so_already_leaves_no_further_event(admin: Any, officer: Any, act: str) -> None:
    key = administration.create_key(admin=admin, label="k", scopes=["cases"], at=make.AT)[0]
    first = ACTS[act](admin, officer, key)
    before = AuditEvent.objects.count()
    assert first is not None
    assert ACTS[act](admin, officer, key) is None
    assert AuditEvent.objects.count() == before


def test_a_form_sent_twice_makes_one_key(admin: Any) -> None:
    values: dict[str, Any] = {"label": "Core system", "scopes": ["cases"], "form_token": uuid4(), "at": make.AT}
    key, _ = administration.create_key(admin=admin, **values)
    with pytest.raises(SentBefore):
        administration.create_key(admin=admin, **values)
    assert list(ApiKey.objects.filter(tenant=admin.tenant)) == [key]
    assert len(events("api_key_created")) == 1


def test_a_name_taken_in_the_same_moment_is_refused_like_any_taken_name(
    admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(admin)
    monkeypatch.setattr(administration, "check_new_user", lambda *_: None)
    with pytest.raises(InvalidChange, match="taken"):
        create(admin)


def test_a_role_stays_without_the_event(admin: Any, officer: Any, trail_fails: None) -> None:
    with pytest.raises(DatabaseError):
        administration.change_role(admin=admin, user=officer, role="auditor", at=make.AT)
    officer.refresh_from_db()
    assert officer.role == "officer"


def test_someone_deactivated_signs_in_no_more(admin: Any, officer: Any) -> None:
    administration.deactivate(admin=admin, user=officer, at=make.AT)
    assert authenticate(username=officer.username, password=make.PASSWORD) is None
    assert len(events("user_deactivated")) == 1


def test_a_tenant_keeps_an_admin(tenant: Any, admin: Any) -> None:
    second = make.user(tenant, "admin")
    with pytest.raises(Refused, match="Another admin"):
        administration.deactivate(admin=admin, user=admin, at=make.AT)
    administration.deactivate(admin=admin, user=second, at=make.AT)
    with pytest.raises(Refused, match="Only admins"):
        administration.deactivate(admin=second, user=admin, at=make.AT)
    assert User.objects.filter(tenant=tenant, role="admin", is_active=True).count() == 1


def test_a_key_is_shown_once_and_opens_nothing_once_revoked(admin: Any) -> None:
    key, token = administration.create_key(admin=admin, label="Core system", scopes=["cases"], at=make.AT)
    assert ApiKey.find(token) == key
    assert token not in events("api_key_created")[0].body
    administration.revoke_key(admin=admin, key=key, at=make.AT)
    assert ApiKey.find(token) is None
    assert len(events("api_key_revoked")) == 1


@pytest.mark.parametrize(
    ("label", "scopes"), [("", ["cases"]), ("k" * 101, ["cases"]), ("k", []), ("k", ["everything"])]
)
def test_a_key_needs_a_name_and_scopes_there_are(admin: Any, label: str, scopes: list[str]) -> None:
    with pytest.raises(InvalidChange):
        administration.create_key(admin=admin, label=label, scopes=scopes, at=make.AT)


def test_a_switch_changes_for_a_reason_on_the_systems_chain(admin: Any) -> None:
    with pytest.raises(InvalidChange, match="why"):
        administration.change_switch(admin=admin, name="MAKER_CHECKER_ENABLED", enabled=False, reason=" ", at=make.AT)
    with pytest.raises(InvalidChange):
        administration.change_switch(admin=admin, name="EVERYTHING", enabled=False, reason="A reason.", at=make.AT)
    assert Switch.is_on("MAKER_CHECKER_ENABLED")
    ACTS["switch"](admin, None, None)
    assert not Switch.is_on("MAKER_CHECKER_ENABLED")
    (event,) = events("switch_changed")
    assert (event.tenant_id, event.actor) == (SYSTEM_TENANT_ID, admin.username)
