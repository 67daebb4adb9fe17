import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.run.checks.graded import Desk

ANSWERS = {
    "/ok": (200, b'{"b": 1.0, "a": [true]}'),
    "/text": (200, "für alle\n".encode()),
    "/gone": (404, b"no"),
    "/moved": (302, b""),
    "/broken": (200, b"{"),
    "/binary": (200, b"\xff\xfe"),
}


class _Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/large":
            self.send_response(200)
            self.end_headers()
            self._pour()
            return
        status, body = ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Location", "/ok")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _pour(self) -> None:
        try:
            for _ in range(100):
                self.wfile.write(b"x" * (1 << 20))
        except OSError:
            return  # the reader has had enough

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_status_body_and_json_value_are_compared(desk: Desk, service: str) -> None:
    assert desk.outcome("http_equals", url=f"{service}/ok").outcome == "held"
    assert desk.outcome("http_equals", url=f"{service}/text", body="für alle\n").outcome == "held"
    value = {"a": [True], "b": 1}
    assert desk.outcome("http_equals", url=f"{service}/ok", value=value).outcome == "held"
    assert desk.outcome("http_equals", url=f"{service}/gone", status=404).outcome == "held"


def test_a_wrong_answer_is_a_failure(desk: Desk, service: str) -> None:
    found = desk.outcome("http_equals", url=f"{service}/gone")
    assert (found.outcome, found.actual) == ("failed", "status 404")
    found = desk.outcome("http_equals", url=f"{service}/text", body="for all")
    assert (found.outcome, found.actual) == ("failed", r'"für alle\n"')
    found = desk.outcome("http_equals", url=f"{service}/ok", value={"a": [True], "b": 2})
    assert (found.expected, found.actual) == ("2", "1.0")
    assert found.evidence.endswith("/ok /b")
    for path in ("/broken", "/binary", "/large"):
        assert desk.outcome("http_equals", url=f"{service}{path}", value=1).outcome == "failed"


def test_redirects_are_not_followed(desk: Desk, service: str) -> None:
    assert desk.outcome("http_equals", url=f"{service}/moved").actual == "status 302"
    assert desk.outcome("http_equals", url=f"{service}/moved", status=302).outcome == "held"


def test_proxies_of_the_environment_are_not_used(
    desk: Desk, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert desk.outcome("http_equals", url=f"{service}/ok").outcome == "held"


def test_a_service_that_can_not_be_reached_breaks_the_check(desk: Desk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused
        found = desk.outcome("http_equals", url=f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert found.outcome == "error"
    assert "can't be reached" in found.actual
    assert desk.outcome("http_equals", url="http://[/").outcome == "error"


@pytest.mark.parametrize("drip", [b"", b"HTTP/1.1 200 OK\r\n"], ids=["silent", "drips"])
def test_a_service_that_accepts_and_does_not_answer_in_time_is_a_failure(
    desk: Desk, drip: bytes
) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        stop = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(drip)
                while drip and not stop.wait(0.05):
                    try:
                        connection.sendall(b"X-More: 1\r\n")
                    except OSError:
                        return
                stop.wait()

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        found = desk.outcome("http_equals", url=url, time_limit_s=0.3)
        stop.set()
        thread.join()
    assert found.outcome == "failed"
    assert "within 0.3 s" in found.actual


def test_an_answer_that_is_no_http_is_a_failure(desk: Desk) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"garbled\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        found = desk.outcome("http_equals", url=f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()
    assert found.outcome == "failed"
    assert found.actual.startswith("no proper answer")
