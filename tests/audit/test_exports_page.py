"""The page on which an export is asked for, the worker that writes it, and the file that is fetched."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4
from zipfile import ZipFile

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone
from kombu.exceptions import OperationalError

from audit import exporting, tasks
from audit.models import SYSTEM_TENANT_ID, AuditEvent, Tenant, TrailExport
from audit.sealed import Opened, open_event
from audit.signing import encode
from tests import factories
from tests.audit.trails import append, seal

pytestmark = pytest.mark.django_db
PAGE = "/trail/exports/"


@pytest.fixture(autouse=True)
def places(settings: Any, tmp_path: Path) -> None:
    settings.CHECKPOINT_KEY = encode(b"\1" * 32)
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    settings.EXPORT_DIR = tmp_path / "exports"


@pytest.fixture
def make_client(tenant: Tenant) -> Callable[..., Client]:
    def make(role: str, of: Tenant = tenant) -> Client:
        client = Client()
        client.force_login(factories.user(of, role))
        return client

    return make


@pytest.fixture
def case(tenant: Tenant) -> UUID:
    ids = [uuid4(), uuid4()]
    for place in range(6):
        append(tenant, case_id=ids[place % 2], subject=f"case {place % 2}", details={"reason": f"reason {place}"})
    seal()
    return ids[0]


def ask(client: Client, **form: str) -> TrailExport:
    """Asks, and does what the worker was told."""
    with patch.object(tasks.write_export, "delay") as delay:
        answer = client.post(PAGE, form)
    assert (answer.status_code, answer.headers["Location"]) == (302, PAGE), answer.content.decode()
    seal()
    tasks.write_export(**delay.call_args.kwargs)
    return TrailExport.objects.get(id=delay.call_args.kwargs["export_id"])


def fetch(client: Client, export: TrailExport) -> bytes:
    answer = client.get(f"{PAGE}{export.id}/")
    assert answer.status_code == 200
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    close_file(answer)
    return content


def close_file(answer: Any) -> None:
    """As the server does; `close()` would end the test's connection to the database as well."""
    for close in answer._resource_closers:
        close()


@pytest.mark.parametrize(("role", "status"), [("auditor", 200), ("admin", 200), ("officer", 403)])
def test_who_may_read_the_trail_may_export_it(
    make_client: Callable[..., Client], case: UUID, role: str, status: int
) -> None:
    made = ask(make_client("auditor"))
    client = make_client(role)
    assert client.get(PAGE).status_code == status
    answer = client.get(f"{PAGE}{made.id}/")
    assert answer.status_code == status
    close_file(answer)
    with patch.object(tasks.write_export, "delay") as delay:
        assert client.post(PAGE).status_code == (302 if status == 200 else 403)
    assert delay.called is (status == 200)


@pytest.mark.parametrize("of_case", [True, False])
def test_what_is_fetched_proves_itself_and_both_are_events(
    tenant: Tenant, make_client: Callable[..., Client], case: UUID, tmp_path: Path, of_case: bool
) -> None:
    client = make_client("auditor")
    export = ask(client, case=str(case) if of_case else "")
    content = fetch(client, export)
    assert sha256(content).hexdigest() == export.sha256
    assert len(content) == export.bytes
    ZipFile(BytesIO(content)).extractall(tmp_path / "received")
    [folder] = (tmp_path / "received").iterdir()
    program = [sys.executable, "-I", str(folder / "verify.py")]
    assert subprocess.run(program, check=False, capture_output=True).returncode == 0
    told = (folder / "events.jsonl").read_text()
    assert ("reason 1" in told) is not of_case, "another case's"
    [made, fetched] = AuditEvent.objects.filter(tenant=tenant, event_type__contains="export").order_by("recorded_at")
    assert (made.event_type, made.actor) == ("trail_exported", export.asked_by)
    assert (fetched.event_type, fetched.actor) == ("export_downloaded", export.asked_by)
    said = open_event(fetched)
    assert isinstance(said, Opened)
    assert said.details == {"export_id": str(export.id), "sha256": export.sha256}
    assert fetched.case_id == (case if of_case else None)


def test_the_systems_trail_is_exported_by_those_who_may_see_it(make_client: Callable[..., Client]) -> None:
    append(Tenant.objects.get(id=SYSTEM_TENANT_ID), subject="a switch")
    export = ask(make_client("admin"), chain="system")
    assert (export.tenant_id, export.problem) == (SYSTEM_TENANT_ID, "")
    assert export.events


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("0b5a3c1e-7f6d-4f0e-9a4c-1d2e3f405162", "This trail has no event of a case"),
        ("no such report", "This trail knows of no case “no such report”."),
        ("<script>\0", "knows of no case “&lt;script&gt;”."),
    ],
)
def test_a_case_that_is_not_known_is_said_and_kept_as_typed(
    make_client: Callable[..., Client], typed: str, sentence: str
) -> None:
    answer = make_client("auditor").post(PAGE, {"case": typed})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not TrailExport.objects.exists()


def test_a_case_is_named_by_its_report(tenant: Tenant, make_client: Callable[..., Client]) -> None:
    known = factories.case(tenant, report_id="INV-7")
    seal()
    assert ask(make_client("auditor"), case="INV-7").case_id == known.id


def test_another_tenants_export_is_not_there(make_client: Callable[..., Client], case: UUID) -> None:
    export = ask(make_client("auditor"))
    other = make_client("auditor", factories.tenant())
    assert other.get(f"{PAGE}{export.id}/").status_code == 404
    assert str(export.id) not in other.get(PAGE).content.decode()
    assert other.post(PAGE, {"case": str(case)}).status_code == 422


def test_what_can_not_be_signed_is_told_and_leaves_no_file(
    make_client: Callable[..., Client], case: UUID, settings: Any
) -> None:
    settings.CHECKPOINT_KEY = ""
    client = make_client("auditor")
    export = ask(client)
    assert export.problem == "No CHECKPOINT_KEY is set, so nothing can be signed."
    assert export.problem in client.get(PAGE).content.decode()
    assert not list(Path(settings.EXPORT_DIR).iterdir())
    assert client.get(f"{PAGE}{export.id}/").status_code == 404


def test_one_that_breaks_off_is_told(make_client: Callable[..., Client], case: UUID) -> None:
    with patch.object(exporting, "export_trail", side_effect=ValueError):
        export = ask(make_client("auditor"))
    assert export.problem == "It broke off. The log of the worker says why."


def test_nobody_there_to_write_it_is_told(make_client: Callable[..., Client], case: UUID) -> None:
    client = make_client("auditor")
    with patch.object(tasks.write_export, "delay", side_effect=OperationalError):
        page = client.post(PAGE, follow=True).content.decode()
    assert "the broker does not answer" in page
    assert "hx-trigger" not in page


def test_progress_is_shown_while_a_worker_is_at_it(
    tenant: Tenant, make_client: Callable[..., Client], case: UUID
) -> None:
    client = make_client("auditor")
    export = TrailExport.objects.create(
        tenant=tenant, asked_by="o.auditor", asked_role="auditor", asked_at=timezone.now()
    )
    page = client.get(PAGE).content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert "waits for a worker" in page
    exporting.Teller(export.id)(512, 2048)
    assert '<progress max="2048" value="512"' in client.get(PAGE).content.decode()


def test_only_so_many_are_made_at_once(tenant: Tenant, make_client: Callable[..., Client], case: UUID) -> None:
    client = make_client("auditor")
    with patch.object(tasks.write_export, "delay") as delay:
        answers = [client.post(PAGE).status_code for _ in range(4)]
    assert answers == [302, 302, 302, 422]
    assert delay.call_count == 3


def test_one_that_was_left_half_done_is_begun_anew(
    tenant: Tenant, make_client: Callable[..., Client], case: UUID, settings: Any
) -> None:
    export = TrailExport.objects.create(
        tenant=tenant, asked_by="o.auditor", asked_role="auditor", asked_at=timezone.now()
    )
    left = [f".{export.id}.x7/events.jsonl", f"{export.id}/events.jsonl"]
    for name in left:
        (Path(settings.EXPORT_DIR) / name).parent.mkdir(parents=True)
        (Path(settings.EXPORT_DIR) / name).touch()
    exporting.place_of(export.id).with_suffix(".part").touch()
    tasks.write_export(export_id=str(export.id))
    assert [file.name for file in Path(settings.EXPORT_DIR).iterdir()] == [f"{export.id}.zip"]
    assert TrailExport.objects.get(id=export.id).sha256
    with patch.object(exporting, "write", side_effect=AssertionError):
        tasks.write_export(export_id=str(export.id))  # delivered again


def test_its_file_is_kept_for_a_day(make_client: Callable[..., Client], case: UUID, settings: Any) -> None:
    client = make_client("auditor")
    export = ask(client)
    place = exporting.place_of(export.id)
    assert oct(place.stat().st_mode & 0o777) == "0o600"
    tasks.forget_exports()
    assert place.exists()
    os.utime(place, (time.time() - 25 * 3600,) * 2)
    tasks.forget_exports()
    assert not place.exists()
    assert "not kept any more" in client.get(PAGE).content.decode()
    assert client.get(f"{PAGE}{export.id}/").status_code == 404


def test_nobody_rewrites_what_became_of_an_export(make_client: Callable[..., Client], case: UUID) -> None:
    export = ask(make_client("auditor"))
    for statement in ("UPDATE audit_trailexport SET sha256 = ''", "DELETE FROM audit_trailexport"):
        with pytest.raises(DatabaseError, match="refused"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert TrailExport.objects.get().sha256 == export.sha256
