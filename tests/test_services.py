import httpx
import pytest
from django.db import connection

from audit.models import SYSTEM_TENANT_ID, Tenant


def test_the_database_is_postgresql_18_and_ours(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000, current_user, session_user")
        assert cursor.fetchone() == (18, "second_look_owner", "second_look_owner")


@pytest.mark.parametrize("turn", [1, 2])
def test_a_test_that_commits_leaves_only_the_system_tenant(transactional_db, turn):
    assert [tenant.id for tenant in Tenant.objects.all()] == [SYSTEM_TENANT_ID]
    Tenant.objects.create(slug="committed")


def test_the_application_role_may_not_change_the_trail(as_application, tenant):
    with as_application(), connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("second_look_app",)
        assert Tenant.objects.filter(id=tenant.id).exists()


def test_the_application_connects_with_its_own_password(app_connection):
    assert app_connection.execute("SELECT current_user, session_user").fetchone() == (
        "second_look_app",
        "second_look_app",
    )


@pytest.mark.parametrize("address", ["http://192.0.2.1/", "http://example.com/"])
def test_the_network_beyond_this_machine_is_refused(address):
    with pytest.raises(AssertionError, match="tests stay on this machine"):
        httpx.get(address, timeout=2, trust_env=False)
