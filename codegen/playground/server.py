"""The server of the playground: one page, one question at a time, for this machine alone."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
SECONDS = 60.0
"""A proof that takes longer is given up."""

MOST_BYTES = 64 * 1024

_POLICY = (
    "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Playground(ThreadingHTTPServer):
    """The server, with the token that every request has to carry."""

    daemon_threads = True

    def __init__(self, port: int, seconds: float = SECONDS) -> None:
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.seconds = seconds
        self.busy = threading.Lock()

    @property
    def hosts(self) -> tuple[str, str]:
        """Return the names by which it may be asked."""
        port = self.server_address[1]
        return f"{HOST}:{port}", f"localhost:{port}"

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://{self.hosts[0]}/?token={self.token}"


class _Handler(BaseHTTPRequestHandler):
    server: Playground
    server_version = "gradspec"
    sys_version = ""
    timeout = 20

    def do_GET(self) -> None:
        """Show the page to who knows the token."""
        address = urlsplit(self.path)
        given = parse_qs(address.query).get("token", [""])[0]
        if address.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "there is one page, at /")
        elif self._may_ask(given):
            nonce = secrets.token_urlsafe(16)
            page = (files(__package__) / "page.html").read_text(encoding="utf-8")
            page = page.replace("{{nonce}}", nonce).replace("{{token}}", self.server.token)
            policy = _POLICY.format(nonce=nonce)
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", page, policy)

    def do_POST(self) -> None:
        """Prove what is sent."""
        if not self._may_ask(self.headers.get("X-Token", "")):
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/prove":
            self._refuse(HTTPStatus.NOT_FOUND, "questions go to /prove")
        elif not length.isdecimal() or int(length) > MOST_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MOST_BYTES} bytes")
        elif not self.server.busy.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "another proof is running")
        else:
            try:
                text = self.rfile.read(int(length)).decode("utf-8", "replace")
                found = ask(text, self.server.seconds)
            finally:
                self.server.busy.release()
            self._send(HTTPStatus.OK, "application/json", json.dumps(found))

    def _may_ask(self, token: str) -> bool:
        """Return whether a request is from our page; refuse it if not."""
        origin = self.headers.get("Origin")
        ours = [f"http://{host}" for host in self.server.hosts]
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "ask for 127.0.0.1")
        elif origin is not None and origin not in ours:
            self._refuse(HTTPStatus.FORBIDDEN, "the page of another site may not ask")
        elif not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "open the address that `gradspec serve` prints")
        else:
            return True
        return False

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True
        self._send(status, "application/json", json.dumps({"error": why}))

    def _send(self, status: HTTPStatus, kind: str, text: str, policy: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", policy or "default-src 'none'")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the address has the token in it."""


def ask(text: str, seconds: float) -> dict[str, Any]:
    """Answer one question in a process that is ended, with all it has started, when time is up."""
    command = [sys.executable, "-m", f"{__package__}.work"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        answer, errors = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"verdict": "given up", "text": f"No verdict within {seconds:.0f} s."}
    if process.returncode:
        last = errors.strip().rpartition("\n")[2]
        return {"verdict": "failed", "text": f"The prover stopped: {last}"}
    found: dict[str, Any] = json.loads(answer)
    return found
