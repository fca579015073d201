"""The upload page: what is taken in, and how every other file is answered."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests import factories, scenes
from verifier.models import Case, Report


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


def test_a_file_that_is_too_large_is_not_kept_while_it_arrives(
    scene: scenes.Scene, client_of: Callable[..., Client], settings: Any
) -> None:
    settings.MAX_REPORT_BYTES = 100_000
    answer = send(client_of(scene.officer), b" " * 300_000)
    assert answer.status_code == 413
    assert "at most 100000 bytes" in answer.content.decode()


def test_sending_no_file_says_so(scene: scenes.Scene, client_of: Callable[..., Client]) -> None:
    answer = client_of(scene.officer).post(reverse("upload"))
    assert answer.status_code == 422
    assert "Choose the file of the report." in answer.content.decode()
