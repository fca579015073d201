"""`missing_guards()` names each guard that was taken away, whoever asks."""

from typing import Any

import pytest
from django.core.checks import Error
from django.test import override_settings

from audit.checks import guards_stand, missing_guards
from audit.operations import Grant
from tests.audit.trails import run

pytestmark = pytest.mark.django_db
ROLE = "second_look_app"

REMOVALS = {
    "ALTER TABLE audit_auditevent DISABLE TRIGGER audit_auditevent_append_only": "audit_auditevent_append_only",
    "ALTER TABLE audit_auditevent ENABLE TRIGGER audit_auditevent_append_only": "audit_auditevent_append_only",
    "DROP TRIGGER audit_auditevent_no_truncate ON audit_auditevent": "audit_auditevent_no_truncate",
    "DROP TRIGGER audit_event_seal ON audit_auditevent": "audit_event_seal",
    "ALTER TABLE audit_auditevent DISABLE TRIGGER audit_event_stamp": "audit_event_stamp",
    "DROP TRIGGER verifier_findingverdict_append_only ON verifier_findingverdict": "findingverdict_append_only",
    "DROP TRIGGER reviews_decision_no_truncate ON reviews_decision": "reviews_decision_no_truncate",
    "ALTER TABLE reviews_approval DISABLE TRIGGER USER": "reviews_approval_append_only",
    "CREATE OR REPLACE FUNCTION second_look_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": (
        "does something else"
    ),
    "CREATE OR REPLACE TRIGGER audit_auditevent_append_only BEFORE UPDATE OR DELETE ON audit_auditevent"
    " FOR EACH ROW WHEN (false) EXECUTE FUNCTION second_look_refuse();"
    " ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_auditevent_append_only": "disabled or conditional",
    "ALTER FUNCTION second_look_seal() SECURITY INVOKER": "second_look_seal",
    "GRANT EXECUTE ON FUNCTION second_look_seal() TO PUBLIC": "second_look_seal",
    "ALTER TABLE audit_auditseal DROP CONSTRAINT audit_seal_no_fork": "audit_seal_no_fork",
    "ALTER TABLE audit_auditseal DROP CONSTRAINT audit_seal_sequence": "audit_seal_sequence",
    "ALTER TABLE audit_auditevent DISABLE ROW LEVEL SECURITY": "row security of audit_auditevent",
    "DROP POLICY reviews_decision_tenant ON reviews_decision": "row security of reviews_decision",
    "CREATE POLICY open_door ON verifier_finding USING (true)": "row security of verifier_finding",
    "ALTER POLICY audit_auditseal_tenant ON audit_auditseal USING (true)": "row security of audit_auditseal",
    f"GRANT UPDATE ON audit_auditevent TO {ROLE}": "UPDATE on audit_auditevent",
    f"GRANT UPDATE (actor) ON audit_auditevent TO {ROLE}": "UPDATE on audit_auditevent",
    f"GRANT DELETE ON verifier_findingverdict TO {ROLE}": "DELETE on verifier_findingverdict",
    f"GRANT TRUNCATE ON reviews_decision TO {ROLE}": "TRUNCATE on reviews_decision",
    f"GRANT INSERT ON audit_auditseal TO {ROLE}": "INSERT on audit_auditseal",
    f"GRANT UPDATE ON audit_chainhead TO {ROLE}": "UPDATE on audit_chainhead",
    f"GRANT TRIGGER ON audit_auditevent TO {ROLE}": "TRIGGER on audit_auditevent",
    "GRANT DELETE ON audit_auditevent TO PUBLIC": "DELETE on audit_auditevent",
    "DROP TABLE reviews_approval CASCADE": "reviews_approval_append_only",
    "DROP TRIGGER decision_by_officer ON reviews_decision": "decision_by_officer",
    "ALTER TABLE reviews_approval ENABLE TRIGGER approval_by_officer": "approval_by_officer",
}


def test_none_is_missing_after_the_migrations() -> None:
    assert missing_guards() == []


def test_the_application_role_can_ask(as_application: Any) -> None:
    with as_application():
        assert missing_guards() == []


@pytest.mark.parametrize("removal", REMOVALS)
def test_it_names_what_was_taken_away(removal: str, as_application: Any) -> None:
    run(removal)

    with as_application():
        missing = missing_guards()

    assert any(REMOVALS[removal] in sentence for sentence in missing), missing


def test_a_grant_takes_away_what_was_held_before() -> None:
    run(f"GRANT ALL ON audit_auditevent TO {ROLE}, PUBLIC")
    assert missing_guards()

    run(str(Grant("audit_auditevent", "SELECT, INSERT").sql))

    assert missing_guards() == []


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        ("nobody_of_that_name", "role nobody_of_that_name doesn't exist"),
        ("second_look_owner", "role second_look_owner owns audit_auditevent"),
        ("second_look", "is a superuser"),
    ],
)
def test_it_names_a_role_that_could_go_around_the_guards(role: str, sentence: str) -> None:
    owner, superuser = run("SELECT current_user, (SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY oid LIMIT 1)")[0]
    role = {"second_look_owner": owner, "second_look": superuser}.get(role, role)

    with override_settings(APPLICATION_ROLE=role):
        missing = missing_guards()

    assert any(sentence.replace("second_look_owner", owner) in each for each in missing), missing


def test_the_system_check_fails_where_an_installed_guard_is_gone() -> None:
    assert guards_stand(None, databases=["default"]) == []

    run("DROP TRIGGER audit_event_seal ON audit_auditevent")

    (error,) = guards_stand(None, databases=["default"])
    assert isinstance(error, Error)
    assert error.id == "audit.E001"
    assert "audit_event_seal" in error.msg


def test_the_system_check_asks_no_database_unless_told_to() -> None:
    run("DROP TRIGGER audit_event_seal ON audit_auditevent")

    assert guards_stand(None, databases=None) == []


def test_the_system_check_lets_a_database_migrate_that_has_no_guards_yet() -> None:
    run("DELETE FROM django_migrations WHERE name = '0002_guards' OR app = 'reviews'")
    run("DROP TRIGGER audit_event_seal ON audit_auditevent")

    assert guards_stand(None, databases=["default"]) == []
