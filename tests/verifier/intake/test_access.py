"""Keys and switches: each change leaves its event, or doesn't happen."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError

from audit.log import tenant_scope
from audit.models import SYSTEM_TENANT_ID, AuditEvent, Tenant
from tests.verifier.intake.reports import AT
from tests.verifier.intake.trail import trail_refuses
from verifier.models import ApiKey, Switch

SWITCH = "FINDING_CORRECTNESS_VERIFICATION_ENABLED"
LATER = AT + timedelta(days=1)


@pytest.fixture(autouse=True)
def environment(settings: Any) -> dict[str, bool]:
    """Two switches as the environment has them: one off, one on."""
    settings.SWITCHES = {SWITCH: False, "MAKER_CHECKER_ENABLED": True}
    return settings.SWITCHES  # type: ignore[no-any-return]


def last_event() -> dict[str, Any]:
    body: dict[str, Any] = json.loads(AuditEvent.objects.latest("recorded_at").body)
    return body


def create(tenant: Tenant, *scopes: str) -> tuple[ApiKey, str]:
    return ApiKey.create(tenant=tenant, label="Pipeline", scopes=scopes, by="ada", actor_role="admin", at=AT)


def change(enabled: bool, reason: str = "The pilot starts.", name: str = SWITCH) -> None:
    Switch.change(name=name, enabled=enabled, by="ada", actor_role="admin", reason=reason, at=LATER)


# Keys


def test_a_new_key_is_found_by_its_token_only_and_keeps_none_of_it(tenant: Tenant) -> None:
    key, token = create(tenant, "cases", "reports")
    assert ApiKey.find(token) == key
    assert ApiKey.find(token[:-1]) is None and ApiKey.find("") is None and ApiKey.find("\udcff\0ß") is None
    assert key.scopes == ["reports", "cases"] and key.created_by == "ada" and key.created_at == AT
    stored = str(ApiKey.objects.values_list().get())
    assert token not in stored and token[9:] not in stored
    event = last_event()
    assert (event["event_type"], event["tenant_id"], event["actor"]) == ("api_key_created", str(tenant.id), "ada")
    assert event["details"]["scopes"] == ["reports", "cases"] and token[9:] not in json.dumps(event)


@pytest.mark.parametrize("scopes", [[], ["everything"], ["reports", "admin"]])
def test_a_key_with_a_scope_there_is_not_is_refused(tenant: Tenant, scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="the scopes of a key are some of reports, cases, monitoring"):
        create(tenant, *scopes)
    assert not ApiKey.objects.exists() and not AuditEvent.objects.exists()


def test_a_failed_audit_write_undoes_a_new_key(tenant: Tenant) -> None:
    with trail_refuses(), pytest.raises(DatabaseError):
        create(tenant, "reports")
    assert not ApiKey.objects.exists()


def test_a_revoked_key_opens_nothing_and_is_revoked_once(tenant: Tenant) -> None:
    key, token = create(tenant, "reports")
    key.revoke(by="ada", at=LATER)
    assert ApiKey.find(token) is None and key.revoked_at == LATER
    assert last_event()["event_type"] == "api_key_revoked"
    key.revoke(by="ada", at=LATER + timedelta(days=1))
    assert key.revoked_at == LATER and AuditEvent.objects.count() == 2


def test_a_failed_audit_write_undoes_a_revocation(tenant: Tenant) -> None:
    key, token = create(tenant, "reports")
    with trail_refuses(), pytest.raises(DatabaseError):
        key.revoke(by="ada", at=LATER)
    assert ApiKey.find(token) == key


def test_the_application_role_makes_and_revokes_keys(tenant: Tenant, as_application: Callable[[], Any]) -> None:
    with as_application():
        key, _ = create(tenant, "reports")
        key.revoke(by="ada", at=LATER)
        with tenant_scope(tenant.id):
            assert AuditEvent.objects.count() == 2


# Switches


def test_the_environment_gives_a_switch_its_first_value(db: None) -> None:
    assert (Switch.is_on(SWITCH), Switch.is_on("MAKER_CHECKER_ENABLED")) == (False, True)


def test_there_is_no_switch_that_nobody_declared(db: None) -> None:
    with pytest.raises(KeyError):
        Switch.is_on("NO_SUCH_SWITCH")
    with pytest.raises(KeyError):
        change(True, name="NO_SUCH_SWITCH")


def test_administration_has_the_word_afterwards(db: None) -> None:
    change(True)
    assert Switch.is_on(SWITCH)
    event = last_event()
    assert (event["event_type"], event["tenant_id"]) == ("switch_changed", str(SYSTEM_TENANT_ID))
    assert (event["actor"], event["actor_role"], event["subject"]) == ("ada", "admin", SWITCH)
    assert event["details"] == {
        "switch": SWITCH,
        "enabled": True,
        "environment_value": False,
        "changed_by": "ada",
        "changed_at": LATER.isoformat(timespec="microseconds"),
        "reason": "The pilot starts.",
    }
    change(False, "The pilot ends.")
    assert not Switch.is_on(SWITCH) and AuditEvent.objects.count() == 2


def test_setting_a_switch_to_what_it_is_changes_nothing(db: None) -> None:
    change(False)
    assert not Switch.objects.exists() and not AuditEvent.objects.exists()


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_switch_is_not_changed_without_a_reason(db: None, reason: str) -> None:
    with pytest.raises(ValueError, match="for a reason"):
        change(True, reason)
    assert not Switch.is_on(SWITCH)


def test_a_failed_audit_write_undoes_a_changed_switch(db: None) -> None:
    with trail_refuses(), pytest.raises(DatabaseError):
        change(True)
    assert not Switch.is_on(SWITCH) and not Switch.objects.exists()


def test_at_start_first_values_are_kept_with_an_event_each_and_only_once(db: None) -> None:
    assert Switch.apply_environment(at=AT) == [SWITCH, "MAKER_CHECKER_ENABLED"]
    assert Switch.apply_environment(at=LATER) == []
    assert AuditEvent.objects.filter(event_type="switch_changed", actor="environment").count() == 2
    assert {switch.changed_at for switch in Switch.objects.all()} == {AT}


def test_at_start_an_unchanged_environment_leaves_administrations_word(db: None) -> None:
    Switch.apply_environment(at=AT)
    change(True)
    assert Switch.apply_environment(at=LATER) == []
    assert Switch.is_on(SWITCH)


def test_a_switch_changed_before_the_first_start_keeps_its_value(db: None) -> None:
    change(True)
    assert Switch.apply_environment(at=LATER) == ["MAKER_CHECKER_ENABLED"]
    assert Switch.is_on(SWITCH)


def test_at_start_a_changed_environment_is_applied_as_an_event(db: None, environment: dict[str, bool]) -> None:
    Switch.apply_environment(at=AT)
    environment["MAKER_CHECKER_ENABLED"] = False
    printed = StringIO()
    call_command("apply_switches", stdout=printed)
    assert printed.getvalue() == "MAKER_CHECKER_ENABLED: off\n"
    assert not Switch.is_on("MAKER_CHECKER_ENABLED")
    event = last_event()
    assert (event["actor"], event["actor_type"]) == ("environment", "system")
    assert event["details"]["reason"] == "The environment's value changed."


def test_a_failed_audit_write_undoes_the_environments_values(db: None) -> None:
    with trail_refuses(), pytest.raises(DatabaseError):
        Switch.apply_environment(at=AT)
    assert not Switch.objects.exists()


def test_the_application_role_changes_switches(db: None, as_application: Callable[[], Any]) -> None:
    with as_application():
        Switch.apply_environment(at=AT)
        change(True)
        assert Switch.is_on(SWITCH)
