"""`gs.compile` as programs that were written for PyTorch call it; compiled modules are modules."""

from __future__ import annotations

import copy
import pickle

import pytest

import gradspec as gs
from gradspec import nn


def test_a_compiled_module_is_a_module() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    compiled = gs.compile(model, backend="numpy")
    assert isinstance(compiled, nn.Module)
    assert list(compiled.state_dict()) == [f"_orig_mod.{name}" for name in model.state_dict()]
    assert not compiled.eval().training
    assert not model[0].training
    model.train()
    assert compiled.training
    compiled.note = "kept by the module"
    assert model.note == "kept by the module"
    del compiled.note
    assert not hasattr(model, "note")
    with pytest.raises(AttributeError, match="nothing"):
        compiled.nothing  # noqa: B018


def test_a_compiled_module_is_trained() -> None:
    model = nn.Linear(2, 1)
    compiled = gs.compile(model, backend="numpy")
    optimizer = gs.optim.SGD(compiled.parameters(), lr=0.5)
    x = gs.tensor([[1.0, 2.0]])
    before = compiled(x)
    before.sum().backward()
    optimizer.step()
    assert gs.allclose(compiled(x), before - 0.5 * (1 + 4 + 1))
    assert gs.allclose(compiled(x), model(x))
    assert compiled.count_captures() == 1


def test_a_compiled_module_inside_of_another() -> None:
    inner = gs.compile(nn.Linear(2, 2), backend="numpy")
    outer = nn.Sequential(inner, nn.Tanh())
    x = gs.ones(1, 2)
    step = gs.compile(lambda x: outer(x).sum(), backend="numpy")
    assert [name for name, _ in outer.named_parameters()] == [
        "0._orig_mod.weight",
        "0._orig_mod.bias",
    ]
    assert gs.allclose(step(x), outer(x).sum())
    seen = []
    inner.register_forward_hook(lambda module, args, output: seen.append(type(module).__name__))
    outer(x)
    assert seen == ["OptimizedModule"]


def test_copies_have_programs_of_their_own() -> None:
    compiled = gs.compile(nn.Linear(2, 1), backend="numpy", fullgraph=False)
    x = gs.ones(1, 2)
    found = compiled(x).detach()
    for again in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert gs.equal(again(x), found)
        assert not again.fullgraph
        with gs.no_grad():
            again.bias += 1
        assert gs.allclose(again(x), found + 1)
    assert gs.equal(compiled(x), found)


def test_a_module_is_compiled_in_place() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    x = gs.ones(1, 2)
    expected = model(x)
    model.compile(backend="numpy")
    seen = []
    model.register_forward_hook(lambda module, args, output: seen.append(output))
    found = model(x)
    assert gs.allclose(found, expected)
    assert type(found.grad_fn).__name__ == "CompiledFunctionBackward"
    assert len(seen) == 1
    assert list(model.state_dict()) == ["0.weight", "0.bias"]
    again = copy.deepcopy(model)
    with gs.no_grad():
        again[0].bias += 1
    assert gs.allclose(model(x), expected)
    assert gs.allclose(again(x), gs.tanh(gs.atanh(expected) + 1), atol=1e-5)
    found.sum().backward()
    assert model[0].weight.grad is not None


def test_arguments_of_pytorch() -> None:
    def double(x):
        return x * 2

    for options in ({"mode": "reduce-overhead"}, {"options": {"trace.enabled": True}}):
        assert gs.compile(double, backend="eager", dynamic=None, **options)(gs.ones(1)) == 2
    assert gs.compile(double, backend="inductor").backend.name == "auto"
    assert gs.compile(double, disable=True) is double
    with pytest.raises(RuntimeError, match="unrecognized mode"):
        gs.compile(double, mode="fast")
    with pytest.raises(RuntimeError, match="both can't be"):
        gs.compile(double, mode="default", options={})


def test_functions_that_no_program_contains() -> None:
    @gs.compiler.disable(reason="it prints")
    def shown(x):
        return x + gs.compiler.is_compiling()

    def function(x):
        return shown(x) * 2

    assert shown(gs.ones(1)) == 1
    with pytest.raises(gs.compiler.CaptureError, match=r"disabled .* \(it prints\)"):
        gs.compile(function)(gs.ones(1))
    with pytest.warns(UserWarning, match="runs as it is"):
        assert gs.compile(function, fullgraph=False)(gs.ones(1)) == 2
    assert gs.compiler.disable(function, recursive=False) is function
    assert not gs.compiler.is_compiling()
    assert not gs.compiler.is_exporting()
    assert gs.compiler.list_backends() == ["auto", "c", "numpy"]
