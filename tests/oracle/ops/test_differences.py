"""The differences that docs/differences.md states, seen in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch

    return torch


@pytest.fixture(scope="module")
def gs() -> Any:
    import gradspec

    return gradspec


def ones(library: Any, *shape: int) -> Any:
    return library.ones(*shape).requires_grad_()


def path(tensor: Any) -> list[str]:
    """Name the nodes from a tensor's on, always to the first input."""
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the type of what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error)


def written_over(library: Any, x: Any) -> Any:
    """Return the parts of complex numbers, after a write to them."""
    parts = library.view_as_real(x)
    with library.no_grad():
        x.mul_(2)
    return parts


GRAPHS: dict[str, tuple[Callable[[Any], Any], list[str], list[str]]] = {
    "vector @ matrix": (
        lambda m: ones(m, 3) @ ones(m, 3, 4),
        ["SqueezeBackward4", "MmBackward0", "UnsqueezeBackward0", "AccumulateGrad"],
        ["UnsafeViewBackward0", "MmBackward0", "UnsqueezeBackward0", "AccumulateGrad"],
    ),
    "broadcasting @": (
        lambda m: ones(m, 2, 1, 3, 4) @ ones(m, 5, 4, 5),
        [
            "UnsafeViewBackward0",
            "BmmBackward0",
            "UnsafeViewBackward0",
            "CloneBackward0",
            "ExpandBackward0",
            "AccumulateGrad",
        ],
        ["BroadcastMatmulBackward0", "AccumulateGrad"],
    ),
    "linear of what is not contiguous": (
        lambda m: m.nn.functional.linear(
            m.ones(4, 3, 2).transpose(0, 1).requires_grad_(), ones(m, 5, 2), ones(m, 5)
        ),
        [
            "AddBackward0",
            "UnsafeViewBackward0",
            "MmBackward0",
            "UnsafeViewBackward0",
            "CloneBackward0",
            "AccumulateGrad",
        ],
        ["ViewBackward0", "AddmmBackward0", "AccumulateGrad"],
    ),
    "parts of complex numbers after a write": (
        lambda m: written_over(m, m.ones(2, dtype=m.complex64).requires_grad_()),
        ["ViewAsRealBackward0", "AccumulateGrad"],
        ["AsStridedBackward0", "AccumulateGrad"],
    ),
    "reshape with a copy": (
        lambda m: ones(m, 3, 4).t().reshape(12),
        ["UnsafeViewBackward0", "CloneBackward0", "TBackward0", "AccumulateGrad"],
        ["ViewBackward0", "TBackward0", "AccumulateGrad"],
    ),
}


@pytest.mark.parametrize("label", GRAPHS)
def test_other_nodes(label: str, torch: Any, gs: Any) -> None:
    build, theirs, ours = GRAPHS[label]
    assert path(build(torch)) == theirs
    assert path(build(gs)) == ours


def test_bce_with_logits_has_other_next_functions(torch: Any, gs: Any) -> None:
    def count(library: Any) -> int:
        loss = library.nn.functional.binary_cross_entropy_with_logits(
            ones(library, 3), library.ones(3)
        )
        return len(loss.grad_fn.next_functions)

    assert (count(torch), count(gs)) == (2, 4)


@pytest.mark.parametrize("layer", ["layer_norm", "batch_norm"])
def test_prehooks_of_norms(layer: str, torch: Any, gs: Any) -> None:
    def seen(library: Any) -> list[bool]:
        found: list[bool] = []
        functional, x = library.nn.functional, ones(library, 2, 3)
        if layer == "layer_norm":
            y = functional.layer_norm(x, (3,))
        else:
            y = functional.batch_norm(x, library.zeros(3), library.ones(3), training=True)
        y.grad_fn.register_prehook(lambda grads: found.extend(g is not None for g in grads))
        y.sum().backward()
        return found

    assert seen(torch) == [True]
    assert seen(gs) == [True, False, False]


def test_norm_of_order_zero(torch: Any, gs: Any) -> None:
    def gradient(library: Any) -> Any:
        x = library.tensor([1.0, 2.0, 0.0], requires_grad=True)
        x.norm(0).backward()
        return x.grad

    assert gradient(torch) is None
    assert gradient(gs).tolist() == [0.0, 0.0, 0.0]


def test_view_of_an_inference_leaf(torch: Any, gs: Any) -> None:
    def view(library: Any) -> Any:
        with library.inference_mode():
            x = library.ones(3, 4).requires_grad_()
        return x.view(12)

    assert view(torch).grad_fn is None
    assert path(view(gs)) == ["ViewBackward0", "AccumulateGrad"]


def test_a_result_that_is_turned_without_gradients(torch: Any, gs: Any) -> None:
    def gradient(library: Any) -> Any:
        x = ones(library, 2, 3)
        y = x * library.arange(6.0).reshape(2, 3)
        with library.no_grad():
            y.t_()
        return outcome(lambda: library.autograd.grad(y.sum(), x)[0].tolist())

    assert gradient(torch) is RuntimeError
    assert gradient(gs) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.stack([x, x]),
        lambda m, x: x.repeat(2, 1),
        lambda m, x: m.tile(x, (2, 1)),
    ],
)
def test_joined_inference_tensors(call: Callable[..., Any], torch: Any, gs: Any) -> None:
    def is_view(library: Any) -> bool:
        with library.inference_mode():
            x = library.ones(1, 3)
        return bool(call(library, x)._is_view())

    assert is_view(torch)
    assert not is_view(gs)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.complex(x, x).real,
        lambda m, x: m.addcdiv(x, m.ones(3), m.ones(3)),
    ],
)
def test_second_pass(call: Callable[..., Any], torch: Any, gs: Any) -> None:
    def second_pass(library: Any) -> Any:
        y = call(library, ones(library, 3)).sum()
        y.backward()
        return outcome(lambda: y.backward())

    assert second_pass(torch) is RuntimeError
    assert second_pass(gs) is None


def test_addcdiv_of_integers(torch: Any, gs: Any) -> None:
    def divided(library: Any) -> Any:
        return outcome(
            lambda: library.addcdiv(
                library.ones(2), library.tensor([1, 2]), library.tensor([2, 4])
            ).tolist()
        )

    assert divided(torch) is RuntimeError
    assert divided(gs) == [1.5, 1.5]


@pytest.mark.parametrize("is_leaf", [True, False])
def test_hook_on_several_gradients_of_which_one_is_the_root(
    is_leaf: bool, torch: Any, gs: Any
) -> None:
    def seen(library: Any) -> list[list[bool]]:
        found: list[list[bool]] = []
        x, other = ones(library, 2), ones(library, 2)
        root = x if is_leaf else x * 2
        library.autograd.graph.register_multi_grad_hook(
            [root, other], lambda grads: found.append([g is not None for g in grads])
        )
        root.backward(library.ones(2))
        return found

    assert seen(torch) == []
    assert seen(gs) == [[True, False]]


def test_a_flag_as_factor_of_a_sum(torch: Any, gs: Any) -> None:
    def doubled(library: Any) -> Any:
        return outcome(lambda: library.add(library.ones(1), library.ones(1), alpha=True).tolist())

    assert doubled(torch) is RuntimeError
    assert doubled(gs) == [2.0]


def test_complex_order_of_a_norm(torch: Any, gs: Any) -> None:
    def norm(library: Any) -> Any:
        return outcome(lambda: library.linalg.vector_norm(library.ones(2), 1 + 2j))

    assert norm(torch) is RuntimeError
    assert norm(gs) is TypeError


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        *((name, [True, False]) for name in ("abs", "ceil", "floor", "trunc")),
        *(("relu", [1, 0]), ("hardshrink", [1.0, 0.0])),
    ],
)
def test_functions_of_bools(name: str, ours: list[Any], torch: Any, gs: Any) -> None:
    def computed(library: Any) -> Any:
        found = outcome(lambda: getattr(library, name)(library.tensor([True, False])))
        return found if isinstance(found, type) else found.tolist()

    assert issubclass(computed(torch), RuntimeError)
    assert computed(gs) == ours


def test_saved_on_the_cpu(torch: Any, gs: Any) -> None:
    def gradient(library: Any) -> Any:
        x = library.tensor([2.0], requires_grad=True)
        with library.autograd.graph.save_on_cpu():
            y = x * x
        with library.no_grad():
            x.zero_()
        y.sum().backward()
        return x.grad.tolist()

    assert gradient(torch) == [0.0]
    assert gradient(gs) == [4.0]
