"""One bounded question: deadlines, sizes, retries, statuses, and what never gets into a log line or a detail text."""

import asyncio
import datetime
import logging
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.paths import PROJECT
from tests.replay import Answer, closed_port, recorded, said, serving
from tests.verifier.providers.vendors import CASE, MEDIA_QUERY, PERSON, SECRET, ask_any, point_at, screen, search
from verifier.domain.answers import Cause, MediaAnswer, NotAnswered, ScreeningAnswer
from verifier.providers import http
from verifier.providers.http import BODY_BYTES
from verifier.providers.tavily import Tavily

VENDORS = ("opensanctions", "tavily", "exa", "brightdata")
GOOD = {
    "opensanctions": recorded("opensanctions/match_empty.json"),
    "tavily": recorded("tavily/search_ok_supports.json"),
    "exa": recorded("exa/search_ok_supports.json"),
    "brightdata": recorded("brightdata/json_wrapped_ok.json"),
}
ONCE = [302, 308, 400, 401, 402, 403, 404, 414, 422, 429, 432, 433, 204, 206, 501]
PASSING = [500, 502, 503, 504]
QUOTA = {402, 429, 432, 433}


def status(code: int, **headers: str) -> Answer:
    return said({"detail": "x"}, code, **headers)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("code", ONCE)
def test_it_asks_once_and_reads_no_answer_into_any_other_status(settings: Any, vendor: str, code: int) -> None:
    with serving(status(code, location="/elsewhere"), GOOD[vendor]) as replay:
        point_at(settings, replay.url)
        answer = ask_any(vendor)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is (Cause.QUOTA if code in QUOTA else Cause.PROVIDER_ERROR)
    assert (answer.provider, answer.http_status) == (vendor, code)
    assert len(replay.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("code", PASSING)
def test_it_asks_a_second_time_after_a_passing_failure(settings: Any, vendor: str, code: int) -> None:
    with serving(status(code), GOOD[vendor]) as replay:
        point_at(settings, replay.url)
        answer = ask_any(vendor)
    assert isinstance(answer, ScreeningAnswer | MediaAnswer)
    assert len(replay.requests) == 2
    assert replay.requests[0] == replay.requests[1]


@pytest.mark.parametrize("code", PASSING)
def test_it_gives_up_after_the_second_failure(settings: Any, code: int) -> None:
    with serving(status(code)) as replay:
        point_at(settings, replay.url)
        answer = ask_any("tavily")
    assert answer == NotAnswered("tavily", Cause.PROVIDER_ERROR, f"HTTP {code}: provider failure", code)
    assert len(replay.requests) == 2


@pytest.mark.parametrize(
    ("first", "timeout", "requests"),
    [
        (recorded("exa/error_429_rate_limit.json"), 10, 2),  # Retry-After: 1
        (recorded("exa/error_429_rate_limit.json"), 1.5, 1),  # the wait does not fit
        (status(429, retry_after="60"), 10, 1),
        (status(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), 10, 1),
        (status(429, retry_after="-1"), 10, 1),
        (status(402, retry_after="1"), 10, 1),
        (status(503, retry_after="1"), 10, 2),
        (status(503, retry_after="120"), 10, 1),
        (status(500), 1.1, 1),
    ],
)
def test_it_waits_only_as_long_as_the_vendor_says_and_its_time_allows(
    settings: Any, first: Answer, timeout: float, requests: int
) -> None:
    with serving(first, GOOD["exa"]) as replay:
        point_at(settings, replay.url)
        answer = search("exa", timeout=timeout)
    assert len(replay.requests) == requests
    assert isinstance(answer, MediaAnswer) is (requests == 2)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("manner", ["drip_headers", "drip_body", "stall_body"])
def test_its_deadline_ends_a_server_that_never_stops_answering(settings: Any, vendor: str, manner: str) -> None:
    slow = Answer(200, GOOD[vendor].body, {"content-type": "application/json"}, manner=manner)
    with serving(slow) as replay:
        point_at(settings, replay.url)
        answer = ask_any(vendor, timeout=0.4)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.PROVIDER_TIMEOUT
    assert len(replay.requests) == 1


def test_its_deadline_ends_a_server_that_is_silent(settings: Any) -> None:
    with serving(Answer(delay_seconds=30)) as replay:
        point_at(settings, replay.url)
        answer = screen(PERSON, timeout=0.3)
    assert answer == NotAnswered("opensanctions", Cause.PROVIDER_TIMEOUT, "no whole answer within 0.3 s")
    assert len(replay.requests) == 1


def test_its_deadline_covers_the_second_attempt_too(settings: Any) -> None:
    with serving(status(500), Answer(delay_seconds=30)) as replay:
        point_at(settings, replay.url)
        answer = screen(PERSON, timeout=1.6)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.PROVIDER_TIMEOUT
    assert len(replay.requests) == 2


@pytest.mark.parametrize("timeout", [0, -5])
def test_it_asks_nothing_when_no_time_is_left(settings: Any, timeout: float) -> None:
    with serving(GOOD["opensanctions"]) as replay:
        point_at(settings, replay.url)
        answer = screen(PERSON, timeout=timeout)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.PROVIDER_TIMEOUT
    assert replay.requests == []


def test_it_asks_again_when_the_connection_broke_before_an_answer(settings: Any) -> None:
    with serving(Answer(manner="hang_up"), GOOD["tavily"]) as replay:
        point_at(settings, replay.url)
        answer = search("tavily")
    assert isinstance(answer, MediaAnswer)
    assert len(replay.requests) == 2


def test_it_does_not_ask_again_when_the_answer_was_cut_off(settings: Any) -> None:
    cut = Answer(200, GOOD["tavily"].body, {"content-type": "application/json"}, manner="cut_body")
    with serving(cut, GOOD["tavily"]) as replay:
        point_at(settings, replay.url)
        answer = search("tavily")
    assert answer == NotAnswered("tavily", Cause.PROVIDER_ERROR, "the answer was cut off", 200)
    assert len(replay.requests) == 1


def test_nobody_listening_is_no_answer(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "verifier")
    point_at(settings, closed_port())
    assert ask_any("brightdata") == NotAnswered("brightdata", Cause.PROVIDER_ERROR, "no connection")
    assert "attempts=2" in caplog.text


def test_an_unknown_host_is_no_answer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    point_at(settings, "http://no-such-host.invalid")
    assert screen(PERSON) == NotAnswered("opensanctions", Cause.PROVIDER_ERROR, "no connection")


def test_a_connection_that_nobody_accepts_ends_by_the_deadline(settings: Any, full_port: str) -> None:
    point_at(settings, full_port)
    answer = screen(PERSON, timeout=0.4)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.PROVIDER_TIMEOUT


@pytest.fixture
def full_port() -> Iterator[str]:
    """A port whose queue of unaccepted connections is full: the kernel drops further ones unanswered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "not an address", "http://[::1", "http://127.0.0.1:99999"])
def test_an_address_that_cannot_be_asked_is_no_answer(settings: Any, url: str) -> None:
    point_at(settings, url)
    for vendor in VENDORS:
        answer = ask_any(vendor, timeout=5)
        assert isinstance(answer, NotAnswered)
        assert answer.cause is Cause.PROVIDER_ERROR


def test_it_trusts_no_certificate_it_cannot_verify(
    settings: Any, tls_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "verifier")
    point_at(settings, tls_url)
    assert screen(PERSON) == NotAnswered("opensanctions", Cause.PROVIDER_ERROR, "no trusted TLS connection")
    assert "attempts=1" in caplog.text


@pytest.fixture
def tls_url(tmp_path: Path) -> Iterator[str]:
    """A TLS server with a certificate that nobody signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=36500))
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with serving(GOOD["opensanctions"]) as replay:
        replay.server.socket = context.wrap_socket(replay.server.socket, server_side=True)
        yield replay.url.replace("http://", "https://")


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_over_the_size_limit_is_never_read_as_empty(settings: Any, vendor: str) -> None:
    padded = Answer(200, GOOD[vendor].body + b" " * BODY_BYTES, echo=False)
    with serving(padded) as replay:
        point_at(settings, replay.url)
        answer = ask_any(vendor)
    assert isinstance(answer, NotAnswered)
    assert (answer.cause, answer.detail) == (Cause.PROVIDER_ERROR, "the answer is larger than 4 MiB")
    assert len(replay.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"results"',
        b"<!doctype html><html></html>",
        b'{"results": null, "organic": null, "responses": null}',
        b'{"results": {}, "organic": {}, "responses": []}',
        b'{"results": [], "organic": [], "responses": {}',
        b'{"results": NaN}',
        b'{"results": [], "query": "\xff"}',
        b"[" * 100_000,
        b'{"results": ' + b"[" * 100_000,
    ],
)
def test_a_body_that_answers_nothing_is_never_read_as_empty(settings: Any, vendor: str, body: bytes) -> None:
    with serving(Answer(200, body, echo=False)) as replay:
        point_at(settings, replay.url)
        answer = ask_any(vendor)
    assert isinstance(answer, NotAnswered)
    assert answer.cause is Cause.PROVIDER_ERROR
    assert len(replay.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_simulated_is_said_by_the_header_alone(settings: Any, vendor: str) -> None:
    body = GOOD[vendor].body
    for headers, simulated in (({"x-second-look-simulated": "true"}, True), ({"x-other": "true"}, False)):
        with serving(Answer(200, body, headers), Answer(418, body, headers)) as replay:
            point_at(settings, replay.url)
            assert ask_any(vendor).simulated is simulated
            refused = ask_any(vendor)
        assert isinstance(refused, NotAnswered)
        assert refused.simulated is simulated


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_never_asked_for_a_loopback_address(
    settings: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, closed_port())
    with serving(GOOD["tavily"]) as replay:
        point_at(settings, replay.url)
        assert isinstance(search("tavily"), MediaAnswer)


def test_a_proxy_of_the_environment_is_used_for_a_vendor(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(GOOD["tavily"]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        point_at(settings, "http://vendor.example")
        assert isinstance(search("tavily"), MediaAnswer)
    assert proxy.requests[0].path == "http://vendor.example/search"


@pytest.mark.parametrize("vendor", VENDORS)
def test_it_logs_one_line_of_vendor_case_kind_outcome_status_and_time(
    settings: Any, vendor: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "verifier")
    with serving(GOOD[vendor]) as replay:
        point_at(settings, replay.url)
        ask_any(vendor)
    (record,) = caplog.records
    about = "Company" if vendor == "opensanctions" else "criminal"
    outcome = "answered_empty" if vendor == "opensanctions" else "answered"
    line, _, milliseconds = record.getMessage().partition(" ms=")
    assert line == f"provider={vendor} case={CASE} about={about} outcome={outcome} http=200 attempts=1"
    assert milliseconds.isdigit()
    assert record.levelno == logging.INFO


LEAKY = [
    said({"detail": f"{SECRET} Malinovskij 1961-04-07 Acme", "results": [{"url": 5}]}),
    said({"responses": {"subject": {"status": 200, "results": [{"id": "Malinovskij", "score": "Acme"}]}}}),
    said({"status_code": 502, "headers": {"x-brd-error": f"Acme {SECRET}"}, "body": ""}),
    said({"organic": [{"link": "Acme", "title": 5}], "news": "Malinovskij"}),
    said({"query": "Malinovskij Acme", "results": ["Acme"]}),
    said(f"{SECRET} Malinovskij 1961-04-07 Acme".encode()),
    said({"error": f"Acme {SECRET}"}, 400),
    said({"error": "Acme"}, 302, location=f"/?q=Acme+Malinovskij&key={SECRET}"),
    Answer(delay_seconds=30),
    Answer(200, b"{}", {"bad header \x00": "Acme"}),
    Answer(manner="hang_up"),
]


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("leaky", LEAKY)
def test_no_secret_name_date_or_query_gets_into_a_log_line_or_a_detail(
    settings: Any, vendor: str, leaky: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(leaky) as replay:
        point_at(settings, replay.url)
        if vendor == "opensanctions":
            answer: object = screen(PERSON, timeout=0.3)
        else:
            answer = search(vendor, timeout=0.3)
    assert isinstance(answer, NotAnswered)
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("verifier"))
    assert ours.count("outcome=") == 1
    for told in (answer.detail, ours):
        assert not [word for word in (SECRET, "Malinovskij", "1961", "Acme", "laundering") if word in told]


def test_a_key_that_cannot_stand_in_a_header_is_no_answer_and_not_told(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(GOOD["tavily"]) as replay:
        point_at(settings, replay.url)
        settings.TAVILY_API_KEY = f"{SECRET}\nÜ"
        answer = search("tavily")
    assert isinstance(answer, NotAnswered)
    assert SECRET not in answer.detail + caplog.text
    assert replay.requests == []


def test_a_cancelled_question_stays_cancelled_and_is_logged(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def cancel_soon() -> None:
        task = asyncio.create_task(
            Tavily().search(MEDIA_QUERY, limit=20, case_id=CASE, material_type="criminal", timeout=30)
        )
        await asyncio.sleep(0.1)
        task.cancel()
        await task

    caplog.set_level(logging.INFO, "verifier")
    with serving(Answer(delay_seconds=30)) as replay:
        point_at(settings, replay.url)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel_soon())
    assert "outcome=cancelled" in caplog.text


def test_many_questions_at_once_do_not_disturb_each_other(settings: Any) -> None:
    answers: list[object] = []
    with serving(GOOD["exa"]) as replay:
        point_at(settings, replay.url)
        threads = [threading.Thread(target=lambda: answers.append(search("exa"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == len(replay.requests) == 8
    assert all(isinstance(answer, MediaAnswer) for answer in answers)


def test_what_a_process_loads_once_is_loaded_before_its_first_question() -> None:
    code = "import sys; import verifier.providers as p; p.warm_up(); print('anyio._backends._asyncio' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"
    http.warm_up()
    assert http.certificates.cache_info().currsize == 1
