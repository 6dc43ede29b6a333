"""The playground: who may ask, and what is answered."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gradspec_codegen.playground.drawing import drawing
from gradspec_codegen.playground.server import HOST, MOST_BYTES, Playground, ask
from gradspec_codegen.playground.work import answer
from gradspec_codegen.prove.report.verdict import Counterexample
from gradspec_codegen.spec.model import Table
from tests.meta.source_tree import ROOT

WRONG = """\
- family: activations

- name: softsign(Tensor self) -> Tensor
  doc: A smooth step between -1 and 1.
  forward: self / (1 + abs(self))
  self: grad / (1 + abs(self))
  result: auto_element_wise
  examples:
    - {self: [1]}
"""


@pytest.fixture
def server() -> Iterator[Playground]:
    with Playground(0, seconds=60.0) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def request(
    server: Playground, method: str, path: str, body: str = "", **headers: str
) -> tuple[int, Any, str]:
    """Send a request; `_` in the name of a header stands for `-`."""
    connection = http.client.HTTPConnection(HOST, server.server_address[1], timeout=90)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body.encode(), given)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, reply.headers, text


def test_it_listens_to_this_machine_alone(server: Playground) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_is_for_who_knows_the_token(server: Playground) -> None:
    status, headers, text = request(server, "GET", f"/?token={server.token}")
    assert status == 200
    assert server.token in text
    assert "{{" not in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    for path in ("/", "/?token=", "/?token=wrong"):
        status, _, text = request(server, "GET", path)
        assert (status, server.token in text) == (403, False)
    assert request(server, "GET", "/etc/passwd")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X_Token": "wrong"},
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Host": "example.com"},
    ],
)
def test_others_may_not_ask(server: Playground, headers: dict[str, str]) -> None:
    token = {} if not headers or "X_Token" in headers else {"X_Token": server.token}
    status, _, text = request(server, "POST", "/prove", WRONG, **token, **headers)
    assert status == 403
    assert set(json.loads(text)) == {"error"}


def test_what_is_too_long_is_refused(server: Playground) -> None:
    body = "#" * (MOST_BYTES + 1)
    assert request(server, "POST", "/prove", body, X_Token=server.token)[0] == 413


def test_one_question_at_a_time(server: Playground) -> None:
    with server.busy:
        assert request(server, "POST", "/prove", WRONG, X_Token=server.token)[0] == 503


def test_a_wrong_formula_is_refuted_and_drawn(server: Playground) -> None:
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    status, _, text = request(server, "POST", "/prove", WRONG, X_Token=server.token, Origin=origin)
    found = json.loads(text)
    assert (status, found["verdict"]) == (200, "refuted")
    assert found["mistakes"][0]["span"] == {
        "path": "entry.yaml",
        "line": 6,
        "column": 9,
        "width": 22,
    }
    assert " --> entry.yaml:6:9" in found["text"]
    assert "/tmp" not in found["text"]
    assert "the formula gives 0.5, the derivative is 0.25" in found["drawings"][0]
    # The same entry is on the start page of the site, with this picture.
    shown = (ROOT / "docs" / "images" / "refutation.svg").read_text(encoding="utf-8")
    assert shown.partition("</style>")[2].strip() == found["drawings"][0].partition(">")[2]


def test_time_is_limited() -> None:
    assert ask(WRONG, seconds=0.2) == {"verdict": "given up", "text": "No verdict within 0 s."}


def test_other_files_are_not_read() -> None:
    for text in ("- include: /etc/passwd\n", "- family: a\n- 'include': ../x.yaml\n"):
        found = answer(text)
        assert found["verdict"] == "mistakes"
        assert found["mistakes"][0]["code"] == "GS013"


def test_what_has_no_entry_is_not_proved() -> None:
    for text in ("", "# nothing yet\n", "- family: mine\n"):
        found = answer(text)
        assert (found["verdict"], found["mistakes"][0]["code"]) == ("mistakes", "GS011")


def test_kernels_are_refused() -> None:
    text = WRONG.replace("self / (1 + abs(self))", "kernels.mine(self)")
    assert answer(text)["verdict"] == "mistakes"


def test_a_picture_needs_one_number() -> None:
    found = Counterexample(
        "VJP of self", "self", "f(self=[1])", (("grad_0", "1"), ("self_0", "2")),
        "grad_0*self_0", "2", "grad_0*self_0**2", "4",
    )  # fmt: skip
    svg = drawing(found, Table(()))
    assert "the formula gives 2, the derivative is 4" in svg
    assert svg.count("<path") == 2
    for unknown in ("Unknown(self_0)", "__import__('os').system('true')", ""):
        other = Counterexample("", "", "", found.point, unknown, "", "grad_0", "1")
        assert drawing(other, Table(())) == ""
