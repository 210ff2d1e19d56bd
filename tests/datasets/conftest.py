"""A folder of real sets if there is one, an empty cache, and a server on loopback with good and bad manners."""

import os
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

REAL_DATA = os.environ.get("MASKED_SUBSPACE_DATA")


@pytest.fixture
def real_data():
    """The folder of real sets; the only fixture that lets a test see it."""
    if not REAL_DATA:
        pytest.skip("needs the real sets: let MASKED_SUBSPACE_DATA name a folder of <name>.npz")
    return Path(REAL_DATA)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Every test starts without a data folder and with an empty cache of its own."""
    folder = tmp_path / "cache"
    monkeypatch.delenv("MASKED_SUBSPACE_DATA", raising=False)
    monkeypatch.setenv("MASKED_SUBSPACE_CACHE", str(folder))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


@dataclass
class Server:
    """``routes[path] = (manner, content)``; ``requests[path]`` lists the Range header of every request."""

    address: str = ""
    routes: dict = field(default_factory=dict)
    requests: dict = field(default_factory=lambda: defaultdict(list))
    closing: threading.Event = field(default_factory=threading.Event)

    def offer(self, path, content=b"", manner="good"):
        self.routes[path] = (manner, content)
        return self.address + path


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        state = self.server.state
        state.requests[self.path].append(self.headers.get("Range"))
        manner, content = state.routes.get(self.path, ("missing", b""))
        with suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, f"answer_{manner}")(content)

    def begin(self, length=None, status=200, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def answer_good(self, content):
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start and start >= len(content):
            self.send_error(416)
            return
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        self.begin(len(content) - start, 206 if start else 200, **span)
        self.wfile.write(content[start:])

    def answer_without_ranges(self, content):
        self.begin(len(content))
        self.wfile.write(content)

    def answer_truncated(self, content):
        self.begin(len(content))
        self.wfile.write(content[: len(content) // 2])

    def answer_silently_truncated(self, content):
        self.begin()
        self.wfile.write(content[: len(content) // 2])

    def answer_corrupted(self, content):
        self.begin(len(content))
        middle = len(content) // 2
        self.wfile.write(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])

    def answer_dripping(self, content):
        self.begin(len(content))
        step = max(1, len(content) // 40)
        for start in range(0, len(content), step):
            self.wfile.write(content[start : start + step])
            if self.server.state.closing.wait(0.05):
                return

    def answer_silent(self, content):
        self.server.state.closing.wait(30)

    def answer_endless(self, content):
        self.begin()
        while not self.server.state.closing.is_set():
            self.wfile.write(b"x" * 65536)

    def answer_boastful(self, content):
        self.begin(10**15)
        self.wfile.write(content)

    def answer_moved(self, content):
        self.begin(0, 302, Location=content.decode())

    def answer_missing(self, content):
        self.send_error(404)


@pytest.fixture
def server():
    state = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.state = state
        http.daemon_threads = True
        http.block_on_close = False
        state.address = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield state
        finally:
            state.closing.set()
            http.shutdown()
            thread.join()
