"""The example's package for PyTorch, under everything that PyTorch does with a function."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.func import grad, hessian, jvp, vmap

from tests.meta.source_tree import ROOT

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

FOLDER = ROOT / "examples" / "framework_ops"


def _package() -> ModuleType:
    place = FOLDER / "torch_ops"
    spec = importlib.util.spec_from_file_location(
        "torch_ops", place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["torch_ops"] = module
    spec.loader.exec_module(module)
    return module


OPS = _package()


def _numbers(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.rand(shape, generator=generator, dtype=torch.float64) + 0.25


def _rms(x: Any, weight: Any) -> Any:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, 1e-6)


def _turned(x: Any, cos: Any, sin: Any) -> Any:
    turned = torch.complex(*x.chunk(2, -1)) * torch.complex(cos, sin)
    return torch.cat((turned.real, turned.imag), -1)


Case = tuple[Callable[..., Any], Callable[..., Any], tuple[torch.Tensor, ...]]

CASES: dict[str, Case] = {
    "logit_softcap": (OPS.logit_softcap, lambda x: 30 * (x / 30).tanh(), (_numbers(2, 3),)),
    "squared_relu": (OPS.squared_relu, lambda x: x.relu() ** 2, (_numbers(2, 3) - 0.7,)),
    "swiglu": (
        OPS.swiglu,
        lambda x, gate: x * torch.nn.functional.silu(gate),
        (_numbers(2, 3), _numbers(2, 3) - 0.7),
    ),
    "scaled_rms_norm": (OPS.scaled_rms_norm, _rms, (_numbers(2, 3), _numbers(3))),
    "rotary_embedding": (
        OPS.rotary_embedding,
        _turned,
        (_numbers(2, 4), _numbers(2, 2), _numbers(2, 2) - 0.5),
    ),
}

each = pytest.mark.parametrize(("op", "plain", "inputs"), CASES.values(), ids=CASES)


def _leaves(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(x.clone().requires_grad_() for x in inputs)


@each
def test_gradcheck(op: Any, plain: Any, inputs: Any) -> None:
    modes = {"check_forward_ad": True, "check_batched_grad": True}
    assert gradcheck(op, _leaves(inputs), check_batched_forward_grad=True, **modes)
    assert gradgradcheck(op, _leaves(inputs), check_fwd_over_rev=True, check_rev_over_rev=True)


@each
def test_is_the_composite(op: Any, plain: Any, inputs: Any) -> None:
    """Values, gradients and second derivatives are those of PyTorch's own functions."""
    for function in (torch.float64, torch.float32):
        leaves = _leaves(tuple(x.to(function) for x in inputs))
        assert op(*leaves).dtype == function
        torch.testing.assert_close(op(*leaves), plain(*leaves))
        ours = torch.autograd.grad(op(*leaves).sin().sum(), leaves)
        theirs = torch.autograd.grad(plain(*leaves).sin().sum(), leaves)
        torch.testing.assert_close(ours, theirs)
    ours = hessian(lambda *xs: op(*xs).sin().sum(), tuple(range(len(inputs))))(*inputs)
    theirs = hessian(lambda *xs: plain(*xs).sin().sum(), tuple(range(len(inputs))))(*inputs)
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@each
def test_compile(op: Any, plain: Any, inputs: Any) -> None:
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    leaves = _leaves(inputs)
    torch.testing.assert_close(compiled(*leaves), plain(*leaves))
    ours = torch.autograd.grad(compiled(*leaves).sum(), leaves)
    torch.testing.assert_close(ours, torch.autograd.grad(plain(*leaves).sum(), leaves))
    with torch.no_grad():
        torch.testing.assert_close(compiled(*leaves), plain(*leaves))


@each
def test_transforms(op: Any, plain: Any, inputs: Any) -> None:
    """`vmap`, `vmap(grad)`, and a JVP of a JVP."""
    batch = tuple(torch.stack((x, x + 0.5, x * 2)) for x in inputs)
    torch.testing.assert_close(vmap(op)(*batch), vmap(plain)(*batch))
    everything = tuple(range(len(inputs)))

    def slopes(function: Any) -> Any:
        return vmap(grad(lambda *xs: function(*xs).sin().sum(), everything))(*batch)

    torch.testing.assert_close(slopes(op), slopes(plain))
    ones = tuple(torch.ones_like(x) for x in inputs)

    def twice(function: Any) -> Any:
        return jvp(lambda *xs: jvp(function, xs, ones)[1], inputs, ones)[1]

    torch.testing.assert_close(twice(op), twice(plain), rtol=1e-9, atol=1e-9)


@each
def test_dual_numbers(op: Any, plain: Any, inputs: Any) -> None:
    """Forward mode by dual tensors, and through a backward pass."""
    for function, answers in ((op, []), (plain, [])):
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(x.clone().requires_grad_(), torch.ones_like(x)) for x in inputs
            ]
            out = function(*duals)
            answers.append(forward_ad.unpack_dual(out).tangent)
            slopes = torch.autograd.grad(out.sin().sum(), duals, create_graph=True)
            answers += [forward_ad.unpack_dual(slope).tangent for slope in slopes]
        if function is op:
            ours = answers
    torch.testing.assert_close(ours, answers)


def test_nothing_is_kept_without_a_gradient() -> None:
    x, gate = _leaves((_numbers(2), _numbers(2)))
    assert OPS.swiglu(x, gate).grad_fn is not None
    with torch.no_grad():
        assert OPS.swiglu(x, gate).grad_fn is None
    assert OPS.swiglu(x.detach(), gate.detach()).grad_fn is None


def test_promotion_and_broadcasting() -> None:
    x, gate = _numbers(3).requires_grad_(), _numbers(2, 3).float().requires_grad_()
    out = OPS.swiglu(x, gate)
    assert (out.dtype, out.shape) == (torch.float64, (2, 3))
    out.sum().backward()
    assert x.grad is not None
    assert gate.grad is not None
    assert (x.grad.shape, gate.grad.dtype) == ((3,), torch.float32)


def test_refused_calls() -> None:
    with pytest.raises(NotImplementedError, match="logit_softcap is not implemented for complex"):
        OPS.logit_softcap(torch.ones(2, dtype=torch.complex64))
    with pytest.raises(RuntimeError, match="a vector as long as the last dimension, but got input"):
        OPS.scaled_rms_norm(torch.ones(2, 3), torch.ones(2))


def test_needs_pytorch_alone(tmp_path: Path) -> None:
    code = (
        "import sys, torch_ops; sys.exit(any(name.startswith('gradspec') for name in sys.modules))"
    )
    paths = [str(FOLDER), str(Path(torch.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"],
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0
