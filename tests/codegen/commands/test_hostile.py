"""Hostile spec files before the whole command: refused in 500 MB, with nothing written."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from . import warm

ENTRY = """
- name: mine(Tensor self) -> Tensor
  doc: An op.
  forward: np.sin(self)
  self: {rule}
  result: auto_element_wise
"""


def with_rule(rule: str) -> bytes:
    return ENTRY.format(rule=rule).encode()


def billion_laughs() -> bytes:
    lines = [b"a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        b"%c: &%c [%s]" % (98 + i, 98 + i, b", ".join([b"*%c" % (97 + i)] * 10)) for i in range(9)
    ]
    return b"\n".join(lines)


FILES = {
    "deep nesting": b"[" * 1_000_000,
    "deep mappings": b"{a: " * 500_000,
    "deep indents": b"".join(b" " * i + b"a:\n" for i in range(2000)),
    "anchor": b"- name: &a mine(Tensor self) -> Tensor\n",
    "billion laughs": billion_laughs(),
    "python tag": b"- !!python/object/apply:os.system ['touch executed']\n",
    "binary tag": b"- name: !!binary aGVsbG8=\n",
    "10 MB scalar": b"- name: " + b"x" * 10 * 1024**2,
    "3 MB scalar": b"- name: " + b"x" * 3 * 1024**2,
    "3 MB formula": with_rule("grad + " * 400_000 + "grad"),
    "NUL": b"- name: mine(Tensor self) -> Tensor\x00\n",
    "not UTF-8": b"- name: caf\xe9(Tensor self) -> Tensor\n",
    "UTF-16": "- name: mine(Tensor self) -> Tensor\n".encode("utf-16"),
    "__class__": with_rule("grad.__class__.__bases__[0].__subclasses__()"),
    "import": with_rule("__import__('os').system('touch executed')"),
    "lambda": with_rule("(lambda: grad)()"),
    "walrus": with_rule("(x := grad)"),
    "f-string": with_rule("f'{grad}'"),
    "comprehension bomb": with_rule("[a for a in grad for b in grad for c in grad]"),
    "generator bomb": with_rule("sum(x for x in (9,) * 9**9)"),
    "parentheses": with_rule("(" * 10**6 + "grad" + ")" * 10**6),
    "power tower": with_rule("grad * 9**9**9"),
    "long sum": with_rule("+".join(["grad"] * 4_000)),
    "power tower as a default": b"- name: f(Tensor self, Scalar a=9**9**9) -> Tensor\n",
    "power tower as a kink": with_rule("grad * cos(self)") + b'  kinks: {"self == 9**9**9": 0}\n',
    "power tower as a domain": with_rule("grad * cos(self)")
    + b"  domain: {self: self < 9**9**9}\n",
    "number of a million digits": with_rule("grad * cos(self)")
    + b"  examples: [{self: ["
    + b"9" * 10**6
    + b"]}]\n",
    "huge example": with_rule("grad * cos(self)") + b"  examples: [{self: [100000, 100000]}]\n",
    "example of many dimensions": with_rule("grad * cos(self)")
    + b"  examples: [{self: ["
    + b"2, " * 60
    + b"2]}]\n",
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_a_hostile_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "ops.yaml").write_bytes(data)
    words = ["codegen", "ops.yaml", "--out", "made", "--jobs", "1"]
    ended = warm.run(words, tmp_path, dict(os.environ))
    errors = ended.printed
    assert re.search(r"error\[GS\d\d\d\]: .*\n\s*--> ops\.yaml:\d+:\d+\n", errors), errors[-500:]
    assert errors.endswith("nothing was written.\n")
    assert ended.status == 1
    assert ended.megabytes < 500
    assert [path.name for path in tmp_path.iterdir()] == ["ops.yaml"]
