"""A stand-in vendor over real HTTP: speaks recorded payloads, or misbehaves on the wire as told.

Answers are used in turn, the last one again and again. Where a real vendor would echo the live request, the recorded
answer is fitted to it: the query key of /match and Tavily's `query` (`echo=False` leaves them as recorded).
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.paths import SHARED

PAYLOADS = SHARED / "payloads"


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    delay_seconds: float = 0.0
    echo: bool = True
    manner: str = "whole"  # whole | drip_headers | drip_body | stall_body | cut_body | hang_up


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: Any


def recorded(file: str, *, echo: bool = True, manner: str = "whole") -> Answer:
    """A payload with the status and headers its manifest gives it."""
    path = PAYLOADS / file
    told = manifest(path.parent.name).get(path.name, {})
    return Answer(
        told.get("http_status") or 200, path.read_bytes(), told.get("headers") or {}, echo=echo, manner=manner
    )


def said(value: object, status: int = 200, **headers: str) -> Answer:
    """An answer of a test's own, sent as it stands; `retry_after="1"` is the header Retry-After."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer(status, body, {"content-type": "application/json", **named}, echo=False)


def manifest(vendor: str) -> dict[str, Any]:
    entries: dict[str, Any] = json.loads((PAYLOADS / vendor / "manifest.json").read_text())
    return entries


class Replay:
    """A server on a loopback port, with what it answers and what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[Received] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def next_answer(self, received: Received) -> Answer:
        with self.lock:
            self.requests.append(received)
            return self.answers[min(len(self.requests), len(self.answers)) - 1]


@contextmanager
def serving(*answers: Answer) -> Iterator[Replay]:
    replay = Replay(*answers)
    threading.Thread(target=replay.server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield replay
    finally:
        replay.ended.set()
        replay.server.shutdown()
        replay.server.server_close()


def handler(replay: Replay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            path, _, query = self.path.partition("?")
            body = decoded(self.rfile.read(int(self.headers.get("content-length") or 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = replay.next_answer(Received("POST", path, query, headers, body))
            self.close_connection = True
            replay.ended.wait(answer.delay_seconds)
            with suppress(OSError):  # the caller may have gone away
                WIRE[answer.manner](self.connection, head_and_body(answer, body), replay.ended)

    return Handler


def decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body


def head_and_body(answer: Answer, request: Any) -> tuple[bytes, bytes]:
    body = fitted(answer.body, request) if answer.echo else answer.body
    lines = [f"HTTP/1.1 {answer.status} Replayed", f"content-length: {len(body)}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items() if name.lower() != "content-length"]
    return "\r\n".join([*lines, "", ""]).encode(), body


def fitted(body: bytes, request: Any) -> bytes:
    try:
        answer = json.loads(body)
    except ValueError:
        return body
    if not isinstance(answer, dict) or not isinstance(request, dict):
        return body
    if isinstance(answer.get("responses"), dict) and "queries" in request:
        answer["responses"] = dict(zip(request["queries"], answer["responses"].values(), strict=False))
    elif "query" in answer and "query" in request:
        answer["query"] = request["query"]
    else:
        return body
    return json.dumps(answer).encode()


def whole(connection: socket.socket, parts: tuple[bytes, bytes], _: threading.Event) -> None:
    connection.sendall(b"".join(parts))


def drip_headers(connection: socket.socket, parts: tuple[bytes, bytes], ended: threading.Event) -> None:
    drip(connection, b"".join(parts), ended)


def drip_body(connection: socket.socket, parts: tuple[bytes, bytes], ended: threading.Event) -> None:
    connection.sendall(parts[0])
    drip(connection, parts[1], ended)


def drip(connection: socket.socket, data: bytes, ended: threading.Event) -> None:
    """A byte every 50 ms: no single read ever waits long."""
    for at in range(len(data)):
        connection.sendall(data[at : at + 1])
        if ended.wait(0.05):
            return


def stall_body(connection: socket.socket, parts: tuple[bytes, bytes], ended: threading.Event) -> None:
    connection.sendall(parts[0] + parts[1][: len(parts[1]) // 2])
    ended.wait(60)


def cut_body(connection: socket.socket, parts: tuple[bytes, bytes], _: threading.Event) -> None:
    connection.sendall(parts[0] + parts[1][: len(parts[1]) // 2])
    connection.shutdown(socket.SHUT_RDWR)


def hang_up(connection: socket.socket, parts: tuple[bytes, bytes], _: threading.Event) -> None:
    connection.shutdown(socket.SHUT_RDWR)


WIRE: dict[str, Callable[[socket.socket, tuple[bytes, bytes], threading.Event], None]] = {
    "whole": whole,
    "drip_headers": drip_headers,
    "drip_body": drip_body,
    "stall_body": stall_body,
    "cut_body": cut_body,
    "hang_up": hang_up,
}


def closed_port() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
