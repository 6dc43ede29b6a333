"""Memory that emitted Functions keep, work that is not done twice, and second derivatives."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from benchmarks.emitted import by_hand
from benchmarks.emitted.package import NAME, imported

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

Tensors = tuple[torch.Tensor, ...]


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("kept")
    yield imported(folder)
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
        del sys.modules[name]


def _leaves(*shapes: tuple[int, ...]) -> Tensors:
    generator = torch.Generator().manual_seed(7)
    return tuple(
        torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in shapes
    )


class Counted(TorchDispatchMode):
    """Counts the functions that PyTorch calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def _norm(ops: ModuleType, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return ops.scaled_rms_norm(x, weight, 0.5)


def _plain_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, 0.5)


def test_plain_training_reads_what_was_kept(ops: ModuleType) -> None:
    x, weight = _leaves((3, 4), (4,))
    result = _norm(ops, x, weight)
    with Counted() as counted:
        torch.autograd.grad(result.sum(), (x, weight), retain_graph=True)
    assert counted.calls["rsqrt"] == 0
    with Counted() as counted:
        torch.autograd.grad(result.sum(), (x, weight), create_graph=True)
    assert counted.calls["rsqrt"] == 1


@pytest.mark.parametrize("of_first", [True, False], ids=["graph first", "plain first"])
def test_both_kinds_of_backward_of_one_graph(ops: ModuleType, *, of_first: bool) -> None:
    """First and second derivatives are PyTorch's, whichever pass goes first."""
    leaves = _leaves((3, 4), (4,))
    found = []
    for function in (lambda *xs: _norm(ops, *xs), _plain_norm):
        result = function(*leaves).sin().sum()
        passes = []
        for with_graph in (of_first, not of_first):
            first = torch.autograd.grad(result, leaves, retain_graph=True, create_graph=with_graph)
            passes.append(first)
            if with_graph:
                total = sum(each.sin().sum() for each in first)
                passes.append(torch.autograd.grad(total, leaves, retain_graph=True))
        found.append(passes)
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-9)


def _kept(function: Any, leaves: Tensors) -> int:
    kept: dict[int, int] = {}
    held = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        function(*leaves)
    return sum(kept.values())


def test_memory_is_that_of_functions_by_hand(ops: ModuleType) -> None:
    """The argument, the weight and a number or two for each row, 8 bytes each."""
    leaves = _leaves((32, 16), (16,), (16,))
    assert _kept(lambda *xs: _norm(ops, *xs), leaves[:2]) == 8 * (32 * 16 + 16 + 32)
    assert _kept(by_hand.RMSNorm.apply, (*leaves[:2], 0.5)) == 8 * (32 * 16 + 16 + 32)
    layer_norm = 8 * (32 * 16 + 16 + 2 * 32)
    assert _kept(lambda *xs: ops.affine_layer_norm(*xs, 0.5), leaves) == layer_norm
    assert _kept(by_hand.LayerNorm.apply, (*leaves, 0.5)) == layer_norm


def test_kept_values_pass_hooks_and_checkpoints(ops: ModuleType) -> None:
    leaves = _leaves((3, 4), (4,), (4,))

    def total(*xs: torch.Tensor) -> torch.Tensor:
        return ops.affine_layer_norm(*xs, 0.5).sin().sum()

    plain = torch.nn.functional.layer_norm(leaves[0], (4,), *leaves[1:], 0.5).sin().sum()
    expected = torch.autograd.grad(plain, leaves)
    again = checkpoint(total, *leaves, use_reentrant=False)
    torch.testing.assert_close(torch.autograd.grad(again, leaves), expected)
    with torch.autograd.graph.save_on_cpu():
        packed = total(*leaves)
    torch.testing.assert_close(torch.autograd.grad(packed, leaves), expected)


def test_compiled_backward_does_not_recompute(ops: ModuleType) -> None:
    """The partition of a compiled graph keeps the same: there is no root in its backward pass."""
    from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    graphs: dict[str, list[str]] = {}

    def compiler(name: str) -> Any:
        def compiled(module: Any, inputs: Any) -> Any:
            calls = (node for node in module.graph.nodes if node.op == "call_function")
            graphs[name] = [str(node.target) for node in calls]
            return make_boxed_func(module.forward)

        return compiled

    torch._dynamo.reset()
    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        partition_fn=min_cut_rematerialization_partition,
    )
    leaves = _leaves((8, 16), (16,))  # for four numbers PyTorch sums again
    compiled = torch.compile(lambda *xs: _norm(ops, *xs), fullgraph=True, backend=backend)
    found = torch.autograd.grad(compiled(*leaves).sum(), leaves)
    torch.testing.assert_close(found, torch.autograd.grad(_plain_norm(*leaves).sum(), leaves))
    assert "aten.rsqrt.default" in graphs["forward"]
    assert "aten.rsqrt.default" not in graphs["backward"]


GATES = {
    "swiglu": lambda x, gate: x * gate / (1 + torch.exp(-gate)),
    "quick_gelu": lambda x: x / (1 + torch.exp(-1.702 * x)),
}


@pytest.mark.parametrize("name", GATES)
def test_kernels_without_a_derivative(ops: ModuleType, name: str) -> None:
    """Gradients, second ones, batches of gradients and dual tensors are those of the formula."""
    emitted, formula = getattr(ops, name), GATES[name]
    leaves = _leaves(*[(3, 4)] * (2 if name == "swiglu" else 1))
    (weight, *_) = _leaves((3, 4))

    def answers(function: Any) -> Any:
        out = function(*leaves)
        first = torch.autograd.grad(out, leaves, weight, retain_graph=True)
        several = torch.stack([weight, 2 * weight]).detach()
        batch = torch.autograd.grad(out, leaves, several, retain_graph=True, is_grads_batched=True)
        again = torch.autograd.grad(out, leaves, weight, create_graph=True)
        second = torch.autograd.grad(sum(g.sin().sum() for g in again), [*leaves, weight])
        with torch.autograd.forward_ad.dual_level():
            duals = [torch.autograd.forward_ad.make_dual(x.detach(), x.cos()) for x in leaves]
            tangent = torch.autograd.forward_ad.unpack_dual(function(*duals)).tangent
        return first, batch, second, tangent

    torch.testing.assert_close(answers(emitted), answers(formula), rtol=1e-12, atol=1e-12)
    with Counted() as counted:
        out = emitted(*leaves)
        torch.autograd.grad(out, leaves, weight)
    assert counted.calls["silu_backward"] == 1
    assert counted.calls["sigmoid"] == 1
