"""The shell: show_case and submit_report, with the exit codes and lines that were promised."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from reviews.cases import case_json
from tests import factories as make
from tests.paths import PROJECT
from verifier.models import Case

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches(verification=False)


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(*arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    except CommandError as problem:
        return problem.returncode, out.getvalue(), str(problem)
    return 0, out.getvalue(), err.getvalue()


def write(folder: Path, told: Any) -> str:
    file = folder / "report.json"
    file.write_bytes(told if isinstance(told, bytes) else json.dumps(told).encode())
    return str(file)


def test_a_case_is_shown_as_the_api_gives_it(tenant: Any) -> None:
    make.switches()
    case = make.verified(tenant, f1="contradicted", f2="confirmed")
    assert run("show_case", str(case.id), "--json") == (0, case_json(case) + "\n", "")
    assert "history" in json.loads(run("show_case", str(case.id), "--json", "--history")[1])
    words = run("show_case", str(case.id))[1]
    assert "f1: contradicted (screening_clear)" in words
    assert "waits: f1:" in words
    assert "waits: f2:" not in words


def test_a_case_there_is_not_is_told(tenant: Any) -> None:
    code, _, err = run("show_case", str(uuid4()), "--json")
    assert code == 1
    assert "no case" in err


def test_a_report_is_accepted(tenant: Any, tmp_path: Path) -> None:
    file = write(tmp_path, make.report(report_id="r1"))
    code, out, err = run("submit_report", file, "--tenant", tenant.slug, "--json")
    case = Case.objects.get(tenant=tenant, report_id="r1")
    told = json.loads(out)
    assert (code, err, told["case_id"], told["created"]) == (0, "", str(case.id), True)
    again = json.loads(run("submit_report", file, "--tenant", tenant.slug, "--json")[1])
    assert again == {**told, "created": False}
    assert "Here already" in run("submit_report", file, "--tenant", tenant.slug)[1]


def test_waiting_prints_the_case_once_its_verification_has_ended(tenant: Any, tmp_path: Path) -> None:
    code, out, _ = run("submit_report", write(tmp_path, make.report()), "--tenant", tenant.slug, "--wait", "1")
    assert code == 0
    assert json.loads(out)["verification"]["status"] == "finished"


def test_a_verification_that_takes_too_long_is_exit_1(tenant: Any, tmp_path: Path) -> None:
    make.switches()
    code, out, err = run("submit_report", write(tmp_path, make.report()), "--tenant", tenant.slug, "--wait", "0.3")
    assert (code, out) == (1, "")
    assert "has not ended within 0.3 s" in err


@pytest.mark.parametrize(
    ("told", "paths"),
    [
        (b"", ["$"]),
        (b"{", ["$"]),
        (b"[1]", ["$"]),
        ({"subject": {}, "findings": [{"id": "a"}]}, ["$.report_id", "$.subject.name", "$.findings[0].severity"]),
        (b'{"report_id": NaN}', ["$.report_id"]),
    ],
)
def test_an_invalid_report_is_exit_2_with_a_line_for_each_problem(
    tenant: Any, tmp_path: Path, told: Any, paths: list[str]
) -> None:
    code, out, err = run("submit_report", write(tmp_path, told), "--tenant", tenant.slug)
    assert (code, out) == (2, "")
    told_paths = [line.split(": ")[0] for line in err.splitlines()]
    assert set(paths) <= set(told_paths)
    assert all(": " in line for line in err.splitlines())
    assert not Case.objects.exists()


def test_another_report_of_the_same_id_is_exit_2(tenant: Any, tmp_path: Path) -> None:
    run("submit_report", write(tmp_path, make.report(report_id="r1")), "--tenant", tenant.slug)
    changed = make.report(make.finding("other"), report_id="r1")
    code, _, err = run("submit_report", write(tmp_path, changed), "--tenant", tenant.slug)
    assert code == 2
    assert err.startswith("$.iteration: ")


def test_a_report_that_is_too_large_is_exit_2(tenant: Any, tmp_path: Path, settings: Any) -> None:
    settings.MAX_REPORT_BYTES = 1024
    code, _, err = run("submit_report", write(tmp_path, b" " * 1025), "--tenant", tenant.slug)
    assert code == 2
    assert err.startswith("$: ")


def test_the_tenant_is_the_only_one_or_named_or_default(tenant: Any, tmp_path: Path) -> None:
    file = write(tmp_path, make.report())
    assert run("submit_report", file)[0] == 0, "there is only one"
    make.tenant()
    assert run("submit_report", file)[0] == 2, "which of two?"
    make.tenant("default")
    assert run("submit_report", file)[0] == 0
    assert Case.objects.filter(tenant__slug="default").exists()
    assert run("submit_report", file, "--tenant", "nobody")[0] == 2
    assert run("submit_report", file, "--tenant", "system")[0] == 2


def test_a_file_there_is_not_is_told(tenant: Any, tmp_path: Path) -> None:
    code, _, err = run("submit_report", str(tmp_path / "none.json"))
    assert code == 2
    assert "can't be read" in err


@pytest.mark.django_db(transaction=True)
def test_it_reads_standard_input_and_works_with_the_applications_rights(application_url: str, tmp_path: Path) -> None:
    make.switches(verification=False)
    tenant = make.tenant()
    environment = {**os.environ, "DATABASE_URL": application_url, "DATA_DIR": str(tmp_path)}
    environment.pop("DATABASE_OWNER_URL", None)

    def manage(*arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, input=content, cwd=PROJECT, env=environment, capture_output=True, check=False)

    report = json.dumps(make.report(make.finding(n=1))).replace('"n": 1', '"n": 1.50').encode()
    sent = manage("submit_report", "-", "--tenant", tenant.slug, "--wait", "5", "--json", content=report)
    assert (sent.returncode, sent.stderr) == (0, b"")
    assert b'"n": 1.50' in sent.stdout
    shown = manage("show_case", json.loads(sent.stdout)["case_id"], "--json")
    assert shown.stdout == sent.stdout
    broken = manage("submit_report", "-", "--tenant", tenant.slug, content=b'{"report_id": "x"}')
    assert broken.returncode == 2
    assert b"$.subject: is required" in broken.stderr
