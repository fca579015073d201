"""The upload page: what is taken in, and how every other file is answered."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client
from django.urls import reverse

from tests import factories, scenes
from verifier.models import Case, Report


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes that uploads write to disk, piece by piece; a file's beginning counts as one that is empty."""
    pieces: list[int] = []
    make, keep = TemporaryFileUploadHandler.new_file, TemporaryFileUploadHandler.receive_data_chunk

    def begin(handler: Any, *args: Any, **more: Any) -> None:
        pieces.append(0)
        make(handler, *args, **more)

    def note(handler: Any, data: bytes, start: int) -> None:
        pieces.append(len(data))
        keep(handler, data, start)

    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", begin)
    monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", note)
    return pieces


def send(client: Client, content: bytes) -> Any:
    return client.post(reverse("upload"), {"report": SimpleUploadedFile("report.json", content)})


def test_a_report_becomes_a_case_and_its_bytes_come_back(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    content = json.dumps(factories.report(report_id="inv-7"), indent=3).encode()
    client = client_of(scene.officer)
    answer = send(client, content)
    case = Case.objects.get(report_id="inv-7")
    assert answer.headers["Location"] == reverse("case", args=[case.id])
    assert client.get(reverse("report", args=[case.id])).content == content
    assert Report.objects.get(case=case).received_by == scene.officer.username


def test_the_same_file_again_leads_to_the_same_case(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    content = json.dumps(factories.report()).encode()
    client = client_of(scene.officer)
    assert send(client, content).headers["Location"] == send(client, content).headers["Location"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "$"),
        (b"not json", "$"),
        (b"[]", "$"),
        (
            b'{"report_id": "x", "subject": {"name": "A"}, "findings": [{"id": "f1", "title": "t"}]}',
            "$.findings[0].severity",
        ),
        (b'{"report_id": "\xff"}', "$"),
    ],
)
def test_a_file_that_is_no_report_is_answered_with_every_problem_by_its_path(
    scene: scenes.Scene, client_of: Callable[..., Client], content: bytes, said: str
) -> None:
    answer = send(client_of(scene.officer), content)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "There is a problem" in page
    assert said in page
    assert page.count("<title>Error: Upload") == 1


def test_another_report_of_the_same_case_needs_a_higher_iteration(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client, told = client_of(scene.officer), factories.report()
    send(client, json.dumps(told).encode())
    answer = send(client, json.dumps(told, indent=1).encode())
    assert answer.status_code == 409
    assert "higher iteration" in answer.content.decode()


def test_a_file_that_is_too_large_is_read_through_but_not_kept_and_told_its_size(
    scene: scenes.Scene, client_of: Callable[..., Client], settings: Any, written: list[int]
) -> None:
    settings.MAX_REPORT_BYTES = 1024 * 1024
    answer = send(client_of(scene.officer), b" " * (3 * 1024 * 1024 + 512 * 1024))
    page = answer.content.decode()
    assert answer.status_code == 413
    assert "from “report.json”" in page
    assert "The file is 3.5 MiB large (3,670,016 bytes). A report may have at most 1 MiB (1,048,576 bytes)." in page
    assert sum(written) <= 1024 * 1024


def test_the_size_a_report_may_have_is_said_in_plain_words(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    assert "JSON, at most 10 MiB." in client_of(scene.officer).get(reverse("upload")).content.decode()


def test_what_the_paths_mean_is_said_once_and_only_where_there_are_any(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    client = client_of(scene.officer)
    meaning = "<code>$</code> is the whole report"
    assert send(client, b'{"report_id": 1, "findings": 2}').content.decode().count(meaning) == 1
    assert meaning not in client.post(reverse("upload")).content.decode()


def test_sending_no_file_says_so(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.officer).post(reverse("upload"))
    assert answer.status_code == 422
    assert "Choose the file of the report." in answer.content.decode()


FORM = 256 * 1024


def files(number: int, size: int) -> dict[str, Any]:
    return {f"file{one}": SimpleUploadedFile(f"{one}.json", b" " * size) for one in range(number)}


BODIES: dict[str, Callable[[], dict[str, Any]]] = {
    "many files": lambda: files(20, 1000),
    "many fields": lambda: {f"field{one}": "x" for one in range(300)},
    "a large field": lambda: {"field": "x" * (FORM + 1)},
    "a large file": lambda: files(1, FORM + 1),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", ["sign_in", "healthz"])
def test_before_signing_in_nothing_is_written_and_too_much_is_refused(
    db: None, written: list[int], name: str, body: str
) -> None:
    client = Client(enforce_csrf_checks=True)
    token = client.get(reverse("sign_in")).cookies["csrftoken"].value
    answer = client.post(reverse(name), {"csrfmiddlewaretoken": token, **BODIES[body]()})
    assert (answer.status_code, written) == (413, [])


def test_a_small_file_before_signing_in_is_not_written_either(db: None, written: list[int]) -> None:
    assert Client().post(reverse("sign_in"), files(1, 1000)).status_code == 422
    assert written == []


def test_a_stranger_is_led_to_sign_in_before_anything_is_read(db: None, written: list[int]) -> None:
    answer = Client(enforce_csrf_checks=True).post(reverse("upload"), files(1, 1000))
    assert (answer.status_code, written) == (302, [])


@pytest.mark.parametrize("body", [name for name in BODIES if name != "a large file"])
def test_someone_signed_in_uploads_one_file_and_a_small_form(
    scene: scenes.Scene, client_of: Callable[..., Client], written: list[int], body: str
) -> None:
    client = client_of(scene.officer, enforce_csrf_checks=True)
    client.get(reverse("upload"))
    answer = client.post(
        reverse("upload"), {"csrfmiddlewaretoken": client.cookies["csrftoken"].value, **BODIES[body]()}
    )
    assert answer.status_code == 413
    assert "too large to take in" in answer.content.decode()
    assert sum(written) <= 1000


def test_other_forms_take_no_large_body(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.officer).post(reverse("claim", args=[scene.case.id]), files(1, FORM))
    assert answer.status_code == 413


def test_an_upload_announced_beyond_all_reason_is_not_even_read(
    scene: scenes.Scene, client_of: Callable[..., Client], written: list[int]
) -> None:
    answer = client_of(scene.officer).post(reverse("upload"), files(1, 10), CONTENT_LENGTH=str(2**40))
    assert (answer.status_code, written) == (413, [])
