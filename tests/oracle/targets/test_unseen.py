"""Entries that stand in no table, emitted for PyTorch: equal to autodiff of their own forward.

What PyTorch differentiates by itself is the plain `forward` of the emitted class: no rule of ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.func import grad, hessian, jvp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

from gradspec_codegen.spec.model import OpSpec
from tests.codegen.targets.agreement import cases_of, numbers_like
from tests.codegen.targets.unseen import Called, calls_of, function_of, module_of, table

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

OPS = {op.name: op for op in table().ops}

Function = Callable[..., Any]


def class_of(op: OpSpec) -> Any:
    """The class of an op for reverse mode."""
    told = f"{op.signature.name} and its VJP."
    return next(each for each in vars(module_of(op, "torch")).values() if each.__doc__ == told)


def _plain(op: OpSpec) -> Function:
    """The definition alone, with the arguments of the public function."""
    forward = class_of(op).forward

    def call(*given: Any, **named: Any) -> Any:
        everything = [*given, *named.values()]
        values = dict(zip(op.signature.params, everything, strict=True))
        words: list[Any] = []
        for param in sorted(op.signature.params, key=lambda p: p.type.is_tensor_list):
            words += list(values[param]) if param.type.is_tensor_list else [values[param]]
        # What is no view any more has no gradient outside of a class; a copy has one.
        with patch.object(torch.Tensor, "detach", torch.Tensor.clone):
            return forward(*(tuple(w) if isinstance(w, list) else w for w in words))

    return call


class Pair:
    """One call by the emitted function and by its definition, and the numbers to try it at."""

    def __init__(self, called: Called) -> None:
        self.ours = called.of(function_of(called.op, "torch"), torch.from_numpy)
        self.theirs = called.of(_plain(called.op), torch.from_numpy)
        self.inputs = tuple(torch.from_numpy(leaf) for leaf in called.leaves)
        self.tangents = tuple(torch.from_numpy(tangent) for tangent in called.tangents)
        self.places = tuple(range(len(self.inputs)))
        self._weights = [torch.from_numpy(numbers_like(out, "w")) for out in self.plain_outputs()]

    def plain_outputs(self) -> list[Any]:
        return [out.detach().numpy(force=True) for out in self.theirs(*self.inputs)]

    def leaves(self) -> tuple[Any, ...]:
        return tuple(x.clone().requires_grad_() for x in self.inputs)

    def total(self, function: Function) -> Function:
        """One real number of all outputs, curved in each."""

        def run(*xs: Any) -> Any:
            outputs = zip(function(*xs), self._weights, strict=True)
            return sum((out.sin() * weight.to(out.dtype)).real.sum() for out, weight in outputs)

        return run

    def both(self, make: Callable[[Function], Any]) -> None:
        """Compare what is made of the two."""
        torch.testing.assert_close(make(self.ours), make(self.theirs), rtol=1e-9, atol=1e-9)

    def gradients(self, function: Function, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
        return torch.autograd.grad(self.total(function)(*leaves), leaves)


@functools.cache
def _pairs(name: str) -> list[Pair]:
    return [Pair(called) for called in calls_of(OPS[name], "torch", torch.from_numpy)]


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Pair:
    """One call of one op, by its name and the number of the example."""
    name, number = request.param
    return _pairs(name)[number]


_CALLS = [(name, number) for name, op in OPS.items() for number, _ in enumerate(cases_of(op))]

each = pytest.mark.parametrize("pair", _CALLS, indirect=True, ids=str)
each_op = pytest.mark.parametrize("pair", [(name, -1) for name in OPS], indirect=True, ids=str)
"""The last example of each op, for what takes long."""


@each
def test_first_and_second_order(pair: Pair) -> None:
    pair.both(lambda f: f(*pair.inputs))
    pair.both(lambda f: pair.gradients(f, pair.leaves()))
    pair.both(lambda f: jvp(f, pair.inputs, pair.tangents))
    pair.both(lambda f: hessian(pair.total(f), pair.places)(*pair.inputs))

    def twice(function: Function) -> Any:
        leaves = pair.leaves()
        first = torch.autograd.grad(pair.total(function)(*leaves), leaves, create_graph=True)
        weighted = sum(g.sin().real.sum() for g in first)
        return torch.autograd.grad(weighted, leaves, materialize_grads=True)

    pair.both(twice)


@each
def test_forward_mode(pair: Pair) -> None:
    """A JVP of a JVP, of a gradient, and dual tensors one argument at a time."""

    def moved(function: Function) -> Function:
        return lambda *xs: jvp(function, xs, pair.tangents)[1]

    pair.both(lambda f: jvp(moved(f), pair.inputs, pair.tangents))
    pair.both(lambda f: jvp(grad(pair.total(f), pair.places), pair.inputs, pair.tangents))

    def of_one(function: Function) -> list[Any]:
        found = []
        for place in pair.places:
            with forward_ad.dual_level():
                xs = list(pair.inputs)
                xs[place] = forward_ad.make_dual(xs[place], pair.tangents[place])
                for out in function(*xs):
                    primal, tangent = forward_ad.unpack_dual(out)
                    zeros = torch.zeros_like(primal)
                    found.append(zeros if tangent is None else tangent.clone())
        return found

    pair.both(of_one)


@each
def test_vmap(pair: Pair) -> None:
    """Derivatives of function, gradient and tangent; by all arguments and by each alone."""
    batch = tuple(torch.stack([x, x * 1.01, x * 0.99]) for x in pair.inputs)
    pair.both(lambda f: vmap(f)(*batch))
    pair.both(lambda f: vmap(grad(pair.total(f), pair.places))(*batch))
    pair.both(lambda f: vmap(lambda *xs: jvp(f, xs, pair.tangents)[1])(*batch))

    def of_one(function: Function) -> list[Any]:
        found = []
        for place in pair.places:
            dims = tuple(0 if place == other else None for other in pair.places)
            mixed = [batch[i] if place == i else x for i, x in enumerate(pair.inputs)]
            found.append(vmap(grad(pair.total(function), pair.places), dims)(*mixed))
        return found

    pair.both(of_one)


@each_op
def test_gradcheck(pair: Pair) -> None:
    modes = {"check_forward_ad": True, "check_batched_grad": True}
    assert gradcheck(pair.ours, pair.leaves(), check_batched_forward_grad=True, **modes)
    assert gradgradcheck(pair.ours, pair.leaves(), check_fwd_over_rev=True, check_rev_over_rev=True)


@each_op
def test_compile(pair: Pair) -> None:
    """Forward, backward and `torch.func.grad` in one graph each, without a break."""
    torch._dynamo.reset()
    compiled = torch.compile(pair.ours, fullgraph=True, backend="aot_eager")
    expected = pair.gradients(pair.theirs, pair.leaves())
    torch.testing.assert_close(compiled(*pair.inputs), pair.theirs(*pair.inputs))
    torch.testing.assert_close(pair.gradients(compiled, pair.leaves()), expected)
    inner = grad(pair.total(pair.ours), pair.places)
    whole = torch.compile(inner, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(whole(*pair.inputs), expected)


@each
def test_single_precision(pair: Pair) -> None:
    """Results, gradients and tangents keep the precision of the arguments."""
    single = {torch.float64: torch.float32, torch.complex128: torch.complex64}
    xs = tuple(x.to(single[x.dtype]) for x in pair.inputs)
    leaves = tuple(x.clone().requires_grad_() for x in xs)
    out = pair.ours(*leaves)
    assert [o.dtype for o in out] == [single[o.dtype] for o in pair.theirs(*pair.inputs)]
    gradients = torch.autograd.grad(sum(o.abs().sum() for o in out), leaves)
    assert [g.dtype for g in gradients] == [x.dtype for x in xs]
    tangents = tuple(t.to(x.dtype) for t, x in zip(pair.tangents, xs, strict=True))
    moved = jvp(pair.ours, xs, tangents)[1]
    assert [t.dtype for t in moved] == [o.dtype for o in out]


@each
def test_layouts_hooks_and_checkpoints(pair: Pair) -> None:
    """Strided arguments; saved tensors that go through NumPy; a forward that is run again."""
    expected = pair.gradients(pair.theirs, pair.leaves())

    def check(found: Any, expected: Any = expected) -> None:
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)

    strided = (torch.stack([x, x], -1)[..., 0] for x in pair.inputs)
    check(pair.gradients(pair.ours, tuple(x.detach().requires_grad_() for x in strided)))
    turned = (x.mT.contiguous().mT if x.ndim > 1 else x.clone() for x in pair.inputs)
    check(pair.gradients(pair.ours, tuple(x.detach().requires_grad_() for x in turned)))
    leaves = pair.leaves()
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: x.numpy(force=True).copy(), torch.from_numpy
    ):
        total = pair.total(pair.ours)(*leaves)
    check(torch.autograd.grad(total, leaves))
    leaves = pair.leaves()
    again = checkpoint(pair.total(pair.ours), *leaves, use_reentrant=False)
    check(torch.autograd.grad(again, leaves))


@each_op
def test_double_backward_is_traced(pair: Pair) -> None:

    def product(*xs: Any) -> tuple[Any, ...]:
        leaves = tuple(x.detach().requires_grad_() for x in xs)
        first = torch.autograd.grad(pair.total(pair.ours)(*leaves), leaves, create_graph=True)
        weighted = sum(g.sin().real.sum() for g in first)
        return torch.autograd.grad(weighted, leaves, materialize_grads=True)

    traced = make_fx(product)(*pair.inputs)
    torch.testing.assert_close(tuple(traced(*pair.inputs)), product(*pair.inputs))
