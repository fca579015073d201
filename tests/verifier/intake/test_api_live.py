"""What only a real server can show: bodies whose length isn't announced, or is announced wrongly."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from audit.models import Tenant
from tests.product import Product
from tests.verifier.intake.reports import AT, content
from verifier.models import ApiKey, Case, Report

LIMIT = 10 * 1024 * 1024
PADDING = b" " * (LIMIT - len(content()))


@pytest.fixture
def token(transactional_db: None) -> str:
    return ApiKey.create(tenant=Tenant.objects.create(slug="live"), label="k", scopes=["reports"], by="ada", at=AT)[1]


def post(product: Product, token: str, body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return httpx.post(f"{product.url}/api/v1/reports", content=body, headers=headers, trust_env=False, timeout=60)


def send_raw(product: Product, token: str, length: int, body: bytes) -> bytes:
    """Announces a length, sends a body, closes its side, and returns all that comes back."""
    address = urlsplit(product.url)
    head = f"POST /api/v1/reports HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(head.encode() + f"Content-Length: {length}\r\nConnection: close\r\n\r\n".encode() + body)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def in_chunks(body: bytes) -> Any:
    for start in range(0, len(body), 50_000):
        yield body[start : start + 50_000]


def test_a_body_in_chunks_is_taken_up_to_the_last_allowed_byte(live_product: Product, token: str) -> None:
    answer = post(live_product, token, in_chunks(content() + PADDING))
    assert answer.status_code == 202
    assert bytes(Report.objects.get().content) == content() + PADDING


@pytest.mark.parametrize("more", [1, LIMIT])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_that_is_too_large_gets_its_answer(live_product: Product, token: str, chunked: bool, more: int) -> None:
    body = content() + PADDING + b" " * more
    answer = post(live_product, token, in_chunks(body) if chunked else body)
    assert (answer.status_code, list(answer.json())) == (413, ["detail"])
    assert not Case.objects.exists()


def test_an_announced_length_that_is_too_short_cuts_the_report(live_product: Product, token: str) -> None:
    received = send_raw(live_product, token, len(content()) - 5, content())
    assert received.startswith(b"HTTP/1.1 422") and b'"path": "$"' in received
    assert not Case.objects.exists()


def test_an_announced_length_that_is_too_long_is_no_report(live_product: Product, token: str) -> None:
    received = send_raw(live_product, token, len(content()) + 5, content())
    assert received.startswith(b"HTTP/1.1 400") and b"broke off" in received
    assert not Case.objects.exists()


def test_the_report_of_the_documentation_goes_through_the_application_role(live_product: Product, token: str) -> None:
    document = httpx.get(f"{live_product.url}/api/v1/openapi.json", trust_env=False).json()
    submit = document["paths"]["/api/v1/reports"]["post"]
    example = submit["requestBody"]["content"]["application/json"]["schema"]["example"]
    answers = [post(live_product, token, json.dumps(example).encode()) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 200]
    assert httpx.get(f"{live_product.url}/readyz", trust_env=False, timeout=30).json() == {"status": "ready"}
