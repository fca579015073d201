"""`manage.py demo --empty`, started for real: once for what it promises while it runs, once more for what it keeps."""

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import psycopg
import pytest
import redis

from tests.embedded.demo import Demo, launch, processes_naming, running, status
from tests.product import wait_for

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("demo")]


@pytest.fixture(scope="module")
def demo(module_home: Path) -> Iterator[Demo]:
    with running(module_home / "data", module_home / "output.log") as started:
        yield started


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_serves_pages_and_says_where(demo):
    assert f"http://127.0.0.1:{demo.port}/" in demo.said
    assert status(f"http://127.0.0.1:{demo.port}/healthz") == 200
    assert status(f"http://127.0.0.1:{demo.port}/readyz") == 200


def test_it_runs_web_worker_beat_relay_and_their_stores(demo):
    assert set(demo.programs()) == {"web", "worker", "beat", "relay", "postgres", "valkey"}


def test_its_credentials_have_the_promised_shape(demo):
    kept = demo.credentials
    assert set(kept) == {"api_key", "users", "base_url", "database_url", "owner_database_url", "redis_url"}
    assert set(kept["users"]) == {"officer", "officer2", "admin", "admin2", "auditor"}
    assert all(set(user) == {"username", "password"} and all(user.values()) for user in kept["users"].values())
    assert kept["base_url"] == f"http://127.0.0.1:{demo.port}"


@pytest.mark.parametrize("name", ["credentials.json", "runtime.json", "secrets.json", "accounts.json"])
def test_only_its_owner_may_read_its_secrets(demo, name):
    assert mode(demo.data_dir / name) == 0o600


@pytest.mark.parametrize(
    ("name", "role"), [("database_url", "second_look_app"), ("owner_database_url", "second_look_owner")]
)
def test_its_database_addresses_open_with_libpq(demo, name, role):
    with psycopg.connect(demo.credentials[name]) as connection:
        assert connection.execute("SELECT current_user, current_database()").fetchone() == (role, "second_look")


def test_the_application_role_owns_nothing_and_is_bound_by_the_guards(demo):
    with psycopg.connect(demo.credentials["database_url"], autocommit=True) as connection:
        owned = "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
        assert connection.execute(owned).fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM audit_auditevent")


def test_its_broker_address_opens_with_redis_py(demo):
    assert redis.Redis.from_url(demo.credentials["redis_url"]).ping()


def test_no_one_enters_the_database_without_a_password(demo):
    parts = urlsplit(demo.credentials["database_url"])
    socket = unquote(parts.netloc.rpartition("@")[2])
    for user in ("postgres", "second_look_owner", "second_look_app"):
        for password in ("", "wrong"):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(host=socket, user=user, password=password, dbname="second_look")


def test_the_database_listens_on_no_network(demo):
    with psycopg.connect(demo.credentials["owner_database_url"]) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_its_api_key_has_every_scope(demo):
    head = {"Authorization": f"Bearer {demo.credentials['api_key']}"}
    answer = httpx.get(f"{demo.credentials['base_url']}/api/v1/cases", headers=head, trust_env=False, timeout=20)
    assert answer.status_code == 200
    with psycopg.connect(demo.credentials["database_url"]) as connection:
        assert connection.execute("SELECT scopes FROM verifier_apikey").fetchall() == [
            (["reports", "cases", "monitoring"],)
        ]


def test_without_demo_data_there_is_one_tenant_and_no_case(demo):
    with psycopg.connect(demo.credentials["owner_database_url"]) as connection:
        tenants = connection.execute("SELECT slug FROM audit_tenant ORDER BY slug").fetchall()
        assert tenants == [("default",), ("system",)]
        assert connection.execute("SELECT count(*) FROM verifier_case").fetchone() == (0,)


def test_its_switches_are_at_their_defaults(demo):
    with psycopg.connect(demo.credentials["database_url"]) as connection:
        switches = dict(connection.execute("SELECT name, enabled FROM verifier_switch").fetchall())
    assert switches["FINDING_CORRECTNESS_VERIFICATION_ENABLED"] is False
    assert switches["FINDING_CORROBORATION_ENABLED"] is False
    assert switches["MAKER_CHECKER_ENABLED"] is True


def test_no_secret_stands_in_its_output_or_logs(demo):
    kept = demo.credentials
    secrets = [*json.loads((demo.data_dir / "secrets.json").read_text()).values(), kept["api_key"]]
    secrets += [user["password"] for user in kept["users"].values()]
    for path in [demo.output, *sorted((demo.data_dir / "logs").iterdir())]:
        text = path.read_text(errors="replace")
        assert [secret for secret in secrets if secret in text] == [], path


def test_no_secret_stands_in_a_command_line_which_others_may_read(demo):
    secrets = json.loads((demo.data_dir / "secrets.json").read_text()).values()
    for pid in demo.programs().values():
        said = Path(f"/proc/{pid}/cmdline").read_text()
        assert not any(secret in said for secret in secrets)


def test_a_second_demo_on_the_same_data_is_refused(demo, tmp_path):
    second = launch(demo.data_dir, tmp_path / "second.log")
    assert second.process.wait(60) == 1
    assert f"in use by process {demo.process.pid}" in second.said


def test_a_taken_port_is_refused(demo, tmp_path):
    second = launch(tmp_path / "data", tmp_path / "second.log", port=demo.port)
    assert second.process.wait(60) == 1
    assert f"port {demo.port} is taken" in second.said


@pytest.mark.parametrize("name", ["web", "worker", "relay", "valkey", "postgres"])
def test_a_killed_child_is_started_again(demo, name):
    killed = demo.programs()[name]
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: demo.programs().get(name, killed) != killed, f"{name} was not started again")
    wait_for(lambda: status(f"http://127.0.0.1:{demo.port}/readyz") == 200, f"not ready again after {name} was killed")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_starts_again_on_its_data(module_home, tmp_path, demo, by):
    before = demo.credentials
    if demo.process.poll() is None:
        assert demo.end(by) == 0
    assert processes_naming(module_home / "data") == []
    with running(module_home / "data", tmp_path / "again.log") as again:
        after = again.credentials
        assert (after["api_key"], after["users"]) == (before["api_key"], before["users"])
        with psycopg.connect(after["database_url"]) as connection:
            assert connection.execute("SELECT count(*) FROM verifier_apikey").fetchone() == (1,)
        assert again.end(by) == 0
    assert processes_naming(module_home / "data") == []


def test_a_supervisor_that_is_killed_takes_its_children_along_and_the_next_start_works(home):
    with running(home / "data", home / "first.log") as first:
        first.process.kill()
        first.process.wait()
        wait_for(lambda: processes_naming(home / "data") == [], "children outlived their supervisor", seconds=30)
    with running(home / "data", home / "second.log") as second:
        assert status(f"http://127.0.0.1:{second.port}/readyz") == 200


def test_with_demo_data_it_shows_simulated_cases_of_two_tenants(home):
    with running(home / "data", home / "output.log", empty=False) as demo:
        assert set(demo.programs()) == {"web", "worker", "beat", "relay", "postgres", "valkey", "stand-in"}
        for user in demo.credentials["users"].values():
            assert f"{user['username']} " in demo.said
            assert user["password"] in demo.said
        with psycopg.connect(demo.credentials["owner_database_url"]) as connection:
            count = "SELECT count(DISTINCT tenant_id), count(*) >= 5 FROM verifier_case"
            assert connection.execute(count).fetchone() == (2, True)
            simulated = "SELECT bool_and(simulated) FROM verifier_findingverdict WHERE provider <> ''"
            assert connection.execute(simulated).fetchone() == (True,)
