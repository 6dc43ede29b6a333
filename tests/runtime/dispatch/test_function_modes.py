"""Modes that are asked what every public function shall do."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

import gradspec as gs
from gradspec.nn import functional as F
from gradspec.overrides import BaseTorchFunctionMode, TorchFunctionMode


class Log(TorchFunctionMode):
    """Notes the names of the functions, and lets them run."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Swapped(TorchFunctionMode):
    """Computes cosines for sines."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return gs.cos(*args) if func is gs.sin else func(*args, **(kwargs or {}))


def test_a_mode_sees_each_call_once():
    x, weight = gs.ones(2, 3), gs.ones(4, 3, requires_grad=True)
    with Log() as log:
        y = F.linear(x, weight).relu()
        loss = F.cross_entropy(y, gs.tensor([0, 1]))
        loss.backward()
    assert log.calls == ["linear", "relu", "tensor", "cross_entropy", "backward"]
    F.linear(x, weight)
    assert len(log.calls) == 5


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x + 1, "add"),
        (lambda x: 2 * x, "mul"),
        (lambda x: x.__iadd__(1), "add_"),
        (lambda x: x**2, "pow"),
        (lambda x: x[0], "getitem"),
        (lambda x: x.__setitem__(0, 1.0), "setitem"),
        (lambda x: x.reshape(-1), "reshape"),
        (lambda x: x.to(gs.float64), "to"),
        (lambda x: x.detach(), "detach"),
        (lambda x: gs.stack([x]), "stack"),
        (lambda x: gs.randn(2), "randn"),
        (lambda x: gs.zeros(2), "zeros"),
        (lambda x: gs.einsum("ij->i", x), "einsum"),
        (lambda x: gs.nn.init.zeros_(x), "zeros_"),
        (lambda x: gs.autograd.grad((x.requires_grad_() * 2).sum(), x), "grad"),
    ],
)
def test_what_a_mode_sees(call: Any, name: str):
    x = gs.ones(2, 2)
    with Log() as log:
        call(x)
    assert log.calls[-1] == name


def test_a_mode_changes_what_functions_do():
    x = gs.zeros(2)
    sine = gs.sin
    with Swapped():
        assert sine(x).tolist() == x.sin().tolist() == [1.0, 1.0]
        assert gs.nn.Sequential(gs.nn.Identity())(x).tolist() == [0.0, 0.0]
    assert sine(x).tolist() == [0.0, 0.0]


def test_modes_pass_calls_on_to_those_outside():
    with Log() as outer, Log() as inner, Swapped():
        assert gs.sin(gs.zeros(1)).item() == 1.0
    assert inner.calls == outer.calls == ["zeros", "cos", "item"]


def test_the_arguments_are_those_of_the_call():
    seen: list[Any] = []

    class Seen(BaseTorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((len(args), kwargs, [kind.__name__ for kind in types]))
            return super().__torch_function__(func, types, args, kwargs)

    class Derived(gs.Tensor):
        pass

    x = gs.ones(2, 2)
    derived = x.as_subclass(Derived)
    with Seen():
        gs.add(x, 2, alpha=3)
        gs.sum(x, dim=1, keepdim=True)
        F.softmax(x, 1)
        assert type(derived * 2) is Derived
    assert seen == [
        (2, {"alpha": 3}, []),
        (1, {"dim": 1, "keepdim": True}, []),
        (2, {}, []),
        (2, {}, ["Derived"]),
    ]


def test_a_mode_that_declines_and_one_that_fails():
    class Declining(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    class Failing(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ValueError("no")

    x = gs.ones(1)
    with Declining(), pytest.raises(TypeError, match="no implementation found for 'add'"):
        gs.add(x, x)
    with pytest.raises(ValueError, match="no"), Failing():
        gs.add(x, x)
    assert (x + x).item() == 2


def test_other_objects_still_answer_operators():
    class Other:
        def __radd__(self, left):
            return "other"

    with Log() as log:
        assert gs.ones(1) + Other() == "other"
    assert log.calls == ["ones"]


def test_functions_of_users_that_ask_for_overrides():
    def double(x):
        if gs.overrides.has_torch_function_unary(x):
            return gs.overrides.handle_torch_function(double, (x,), x)
        return x * 2

    x = gs.ones(1)
    with Log() as log:
        assert double(x).item() == 2
    assert log.calls == ["double", "item"]  # the mode is left while it answers


def test_another_thread_has_no_mode():
    found: list[float] = []
    with Swapped():
        thread = threading.Thread(target=lambda: found.append(gs.sin(gs.zeros(1)).item()))
        thread.start()
        thread.join()
    assert found == [0.0]


def test_a_compiled_function_runs_as_it_is():
    compiled = gs.compile(lambda x: gs.sin(x) * 2)
    x = gs.zeros(1)
    for _ in range(2):
        with Swapped():
            assert compiled(x).item() == 2.0
        assert compiled(x).item() == 0.0


def test_the_profiler_counts_ops_once():
    x = gs.ones(2)
    with BaseTorchFunctionMode(), gs.profiler.profile() as found:
        x.sin()
    assert [(event.key, event.count) for event in found.key_averages()] == [("aten::sin", 1)]


def test_without_modes_the_functions_are_what_they_were():
    code = gs.add.__code__
    with BaseTorchFunctionMode():
        assert gs.add.__code__ is not code
        assert gs.add.__code__.co_varnames[:3] == code.co_varnames[:3]
    assert gs.add.__code__ is code


def test_a_program_without_modes_does_not_load_them():
    program = "import gradspec, sys; print('gradspec.function_modes' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


def test_a_mode_that_could_not_be_entered_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> None:
        raise ImportError("a package of someone's")

    with monkeypatch.context() as patched:
        patched.setattr("gradspec.function_modes.import_all", fails)
        with pytest.raises(ImportError), Log():
            pass
    with Log() as log:
        gs.sin(gs.ones(1))
    assert log.calls == ["ones", "sin"]
