"""`python -m verifier.simulated --port N`: the demo's stand-in for providers and judge, on loopback, over real HTTP.

Every answer carries a header by which the product knows, and says, that it is simulated.
"""

import argparse
import json
import signal
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

from verifier.simulated.vendors import answer

HEADER = ("x-second-look-simulated", "true")
LARGEST_BODY = 1024 * 1024
LATENCY_SECONDS = (0.2, 0.8)  # so that a run can be watched


class StandIn(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = min(int(self.headers.get("content-length") or 0), LARGEST_BODY)
        content = self.rfile.read(length)
        time.sleep(latency(content))
        self.say(*answer(self.path, {name.lower(): value for name, value in self.headers.items()}, content))

    def do_GET(self) -> None:
        self.say(200 if self.path == "/healthz" else 404, {})

    def say(self, status: int, body: object) -> None:
        plain = isinstance(body, str)  # as Bright Data refuses
        content = str(body).encode() if plain else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain" if plain else "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header(*HEADER)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a request line can hold what was asked."""


def latency(content: bytes) -> float:
    """Of its own for every request, and the same whenever that request comes again."""
    least, most = LATENCY_SECONDS
    return least + (most - least) * zlib.crc32(content) / 0xFFFFFFFF


def stop(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    signal.signal(signal.SIGTERM, stop)
    server = ThreadingHTTPServer(("127.0.0.1", port), StandIn)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
