"""The whole product while something dies under it: no finding is lost, no verdict stands twice, no event is missing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
import redis

from tests import factories
from tests.embedded.demo import Demo, running
from tests.paths import PROJECT
from tests.product import wait_for
from tests.replay import Replay, recorded, serving

pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("mishaps")]
ANSWER_SECONDS = 0.7
END_SECONDS = 90.0


@pytest.fixture(scope="module")
def vendor() -> Iterator[Replay]:
    answer = replace(recorded("opensanctions/match_empty.json"), delay_seconds=ANSWER_SECONDS)
    with serving(answer) as replay:
        yield replay


@pytest.fixture(scope="module")
def demo(vendor: Replay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("mishaps")
    settings = {
        "FINDING_CORRECTNESS_VERIFICATION_ENABLED": "true",
        "OPENSANCTIONS_URL": vendor.url,
        "OPENSANCTIONS_API_KEY": "test",
    }
    with running(folder / "data", folder / "output", settings=settings) as product:
        yield product


def submit(demo: Demo, findings: int = 5) -> str:
    told = factories.report(
        *[factories.finding(f"f{number}") for number in range(findings)],
        subject={"name": "Nordwind Bakery Oy", "entity_type": "company", "country": "FI"},
    )
    answer = call(demo, "POST", "reports", json=told)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["case_id"])


def call(demo: Demo, method: str, path: str, **more: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {demo.credentials['api_key']}"}
    url = f"http://127.0.0.1:{demo.port}/api/v1/{path}"
    return httpx.request(method, url, headers=headers, timeout=20, trust_env=False, **more)


def case_of(demo: Demo, case_id: str) -> dict[str, Any]:
    """The case, or {} while the product can't answer."""
    try:
        answer = call(demo, "GET", f"cases/{case_id}")
    except httpx.TransportError:
        return {}
    return answer.json() if answer.status_code == 200 else {}


def verdicts_given(case: dict[str, Any]) -> int:
    return sum(1 for finding in case.get("findings", []) if finding.get("verdict"))


def wait_for_first_verdict(demo: Demo, case_id: str) -> None:
    wait_for(lambda: verdicts_given(case_of(demo, case_id)) > 0, "no verdict came", END_SECONDS)


def ended(demo: Demo, *case_ids: str) -> list[dict[str, Any]]:
    def all_ended() -> bool:
        return all(case_of(demo, one).get("verification", {}).get("status") == "finished" for one in case_ids)

    wait_for(all_ended, "a verification did not end", END_SECONDS)
    return [case_of(demo, one) for one in case_ids]


def assert_whole(demo: Demo, case: dict[str, Any], findings: int = 5) -> None:
    """Every finding has a verdict, each once and with its one event, and the chain holds."""
    assert case["needs_review"] is True
    assert len(case["findings"]) == findings
    assert {finding["verdict"]["verdict"] for finding in case["findings"]} <= {"contradicted", "indeterminate"}
    assert all(finding["verdict"]["cause"] != "unrecorded" for finding in case["findings"])
    with psycopg.connect(demo.credentials["owner_database_url"]) as connection:
        counted = connection.execute(
            "SELECT count(*), count(DISTINCT finding_id), count(DISTINCT event_id) FROM verifier_findingverdict"
            " WHERE case_id = %s",
            [case["case_id"]],
        ).fetchone()
        events = connection.execute(
            "SELECT count(*) FROM audit_auditevent JOIN audit_auditseal ON event_id = audit_auditevent.id"
            " WHERE case_id = %s AND event_type = 'finding_correctness_verified'",
            [case["case_id"]],
        ).fetchone()
    assert counted == (findings, findings, findings)
    assert events == (findings,)
    assert_trail_holds(demo)


def assert_trail_holds(demo: Demo) -> None:
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(demo.data_dir)}
    command = [sys.executable, "manage.py", "verify_trail", "--json"]
    checked = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def kill(demo: Demo, program: str, by: signal.Signals) -> None:
    os.kill(demo.programs()[program], by)


def test_a_killed_worker_leaves_no_finding_behind(demo: Demo) -> None:
    case_id = submit(demo)
    wait_for_first_verdict(demo, case_id)

    kill(demo, "worker", signal.SIGKILL)

    [case] = ended(demo, case_id)
    assert_whole(demo, case)


def test_a_restarted_database_leaves_no_finding_behind(demo: Demo) -> None:
    case_id = submit(demo)
    wait_for_first_verdict(demo, case_id)

    kill(demo, "postgres", signal.SIGINT)

    [case] = ended(demo, case_id)
    assert_whole(demo, case)


def test_an_emptied_broker_leaves_no_case_behind(demo: Demo) -> None:
    case_ids = [submit(demo, findings=2) for _ in range(7)]
    wait_for_first_verdict(demo, case_ids[0])

    redis.Redis.from_url(demo.credentials["redis_url"]).flushall()

    for case in ended(demo, *case_ids):
        assert_whole(demo, case, findings=2)


def test_a_case_accepted_while_the_worker_is_away_is_verified_when_it_is_back(demo: Demo) -> None:
    kill(demo, "worker", signal.SIGKILL)

    case_id = submit(demo, findings=1)

    [case] = ended(demo, case_id)
    assert_whole(demo, case, findings=1)


def test_the_report_comes_back_byte_for_byte(demo: Demo) -> None:
    sent = json.dumps(factories.report(), indent=3).replace("\n", "\r\n").encode()
    name = uuid4().hex.encode()
    sent = sent.replace(b'"iteration": 1', b'"iteration": 1, "' + name + b'": 1.0e+02')

    case_id = call(demo, "POST", "reports", content=sent).json()["case_id"]

    assert call(demo, "GET", f"cases/{case_id}/report").content == sent
