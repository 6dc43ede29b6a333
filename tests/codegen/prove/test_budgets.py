"""Nothing takes for ever: proofs and derivations are given up, and say what they were at."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradspec.dispatch.registry import import_all
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.prove.calls.judge import Judge
from gradspec_codegen.prove.deadline import TimeUp, time_limit
from gradspec_codegen.prove.identities.op import prove_op
from gradspec_codegen.prove.report import derive
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.spec.model import Table
from tests.codegen.proving import own_table

Load = Callable[..., Table]


def swallow_once_and_go_on() -> None:
    """Swallow one TimeUp and go on, as code that a finalizer interrupts."""
    try:
        while True:
            pass
    except TimeUp:
        pass
    while True:
        pass


def test_a_limit_is_kept_although_something_swallows_it() -> None:
    with pytest.raises(TimeUp), time_limit(0.1):
        swallow_once_and_go_on()


def test_only_computing_counts() -> None:
    with time_limit(0.2):
        time.sleep(0.5)


def test_a_proof_says_what_it_was_given_up_at() -> None:
    table = own_table()
    sine = table.by_name("sin")
    verdict = prove_op(sine, 0.01)
    assert not verdict.holds
    assert "given up after 0 s" in verdict.notes[-1]
    assert "`sin" in verdict.notes[-1]


def test_a_call_that_cannot_be_judged_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the prover must not leave out a call that the op accepts."""

    def fails(judge: Judge) -> None:
        raise TypeError("no order of complex numbers")

    import_all()
    monkeypatch.setattr(Judge, "_subsets", fails)
    verdict = prove_op(own_table().by_name("sin"))
    assert verdict.status is Status.ERROR
    assert "TypeError: no order of complex numbers" in verdict.notes[-1]


DEEP = """
- name: deep(Tensor self) -> Tensor
  doc: A tower.
  forward: exp(exp(exp(exp(exp(exp(self))))))
  self: auto
  result: auto_element_wise
  promotes: self
"""


def test_a_derivation_is_given_up(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "SECONDS", 1.0)
    table = load(DEEP, base=own_table())
    everything = Table((*own_table().ops, *table.ops))
    with pytest.raises(SpecError) as caught:
        derive.derive_vjp(table.ops[0], everything, "self")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("GS072", 5)
    assert "given up after 1 s" in found.message


def chain(count: int, first: str, of: str) -> str:
    """Ops each of which calls the one before, in a formula made of `{}`."""
    lines = []
    for number in range(count):
        before = first if number == 0 else f"g{number - 1}"
        lines += [
            f"- name: g{number}(Tensor self) -> Tensor",
            "  doc: An op.",
            f"  forward: {of.format(before)}",
            "  self: grad",
            "  result: auto_element_wise",
            "  promotes: self",
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        chain(12, "sin", " + ".join(["{0}(self)"] * 30)),
        chain(60, "sin", "{0}(" + "(" * 45 + "self" + " + 1)" * 45 + ")"),
    ],
    ids=["wide", "deep"],
)
@pytest.mark.usefixtures("has_an_end")
def test_definitions_are_not_written_out_without_end(load: Load, text: str) -> None:
    table = load(text, base=own_table())
    files = PackageBuilder(table, "chain", own_table()).build().files
    assert max(map(len, files.values())) < 1_000_000


@pytest.mark.usefixtures("has_an_end")
def test_thousands_of_mistakes_are_not_all_looked_for(load: Load) -> None:
    entry = chain(1, "sin", "sine(self) + cosine(self)")
    text = "".join(entry.replace("g0", f"h{n}") for n in range(3000))
    with pytest.raises(SpecError) as caught:
        load(text, base=own_table())
    assert len(caught.value.diagnostics) == 200


@pytest.mark.usefixtures("has_an_end")
def test_five_thousand_ops_in_a_chain_load(load: Load) -> None:
    assert len(load(chain(5000, "np.sin", "{0}(self)")).ops) == 5000


def test_the_worker_ends_where_nothing_can_be_interrupted(tmp_path: Path) -> None:
    source = "import sys\nfrom gradspec_codegen.prove.deadline import hard_limit\n"
    source += "with hard_limit(0.2):\n    print('in'); sys.stdout.flush()\n    10 ** 10 ** 8\n"
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGXCPU
    assert list(tmp_path.iterdir()) == []  # no core either


def test_a_hard_limit_is_taken_back() -> None:
    source = "from gradspec_codegen.prove.deadline import hard_limit\n"
    source += "with hard_limit(0.2): pass\nn = 0\nwhile n < 3 * 10 ** 7: n += 1\n"
    assert subprocess.run([sys.executable, "-c", source]).returncode == 0
