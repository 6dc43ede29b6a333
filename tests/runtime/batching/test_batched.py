"""Batched tensors: what can be asked of them, and what happens where no rule fits."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.batching.arrangement import TREATMENTS, Arrangement
from gradspec.batching.call import loops
from gradspec.batching.rules import read, rules_of
from gradspec.dispatch.registry import BY_NAME, import_all

X = gs.tensor(np.random.default_rng(0).standard_normal((4, 2, 3)))


def test_a_rule_is_read_as_it_is_written() -> None:
    assert read("align") == Arrangement("align")
    assert read("lead input dim:shift") == Arrangement("lead", ("input",), (("dim", "shift"),))
    assert read("fold4 input") == Arrangement("fold", ("input",), (), 4)


def test_every_rule_of_the_table_can_be_read() -> None:
    import_all()
    arrangements = [
        rule
        for op in list(BY_NAME.values())
        for rule in rules_of(op)
        if isinstance(rule, Arrangement)
    ]
    assert len(arrangements) > 300
    assert {a.kind for a in arrangements} == {"align", "lead", "fold", "index", "same"}
    assert {word for a in arrangements for _, word in a.treatments} <= TREATMENTS.keys()


def test_an_op_without_a_rule_loops() -> None:
    loops.clear()
    found = gs.vmap(gs.median)(X)
    assert loops["median"] == 1
    assert found.tolist() == [gs.median(x).item() for x in X]


def test_an_op_with_a_rule_does_not() -> None:
    loops.clear()
    gs.vmap(lambda x: gs.softmax(x @ x.t(), -1).sum())(X)
    assert not loops


def test_one_example_is_seen() -> None:
    seen = []
    gs.vmap(lambda x: (seen.append((x.shape, x.ndim, x.dtype, x.numel(), len(x))), x)[1])(X)
    assert seen == [((2, 3), 2, np.float64, 6, 2)]


@pytest.mark.parametrize(
    "read_value",
    [
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: bool(x.sum()),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: np.asarray(x),
        lambda x: x.array + 1,
        lambda x: x.array[0],
        lambda x: np.sum(x.array),
        lambda x: x.backward(),
        lambda x: gs.autograd.grad(y := (x * 1).requires_grad_(), y),
        lambda x: gs.autograd.backward([(x * 1).requires_grad_().sum()]),
        lambda x: x.data + 1,
    ],
)
def test_values_cannot_be_read(read_value: Any) -> None:
    with pytest.raises(RuntimeError, match="vmap"):
        gs.vmap(lambda x: (read_value(x), x)[1])(X)


def test_a_batched_tensor_means_nothing_afterwards() -> None:
    kept = []
    gs.vmap(lambda x: (kept.append(x), x)[1])(X)
    with pytest.raises(RuntimeError, match="beyond the call of vmap"):
        kept[0] + 1


def test_an_error_inside_leaves_no_level_open() -> None:
    with pytest.raises(ZeroDivisionError):
        gs.vmap(lambda x: 1 // 0)(X)
    assert gs.rand(2).shape == (2,)  # which an open level would refuse


def test_threads_have_levels_of_their_own() -> None:
    inside, done = threading.Event(), threading.Event()
    found: list[Any] = []

    def other() -> None:
        inside.wait()
        found.append(gs.rand(2).shape)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    gs.vmap(lambda x: (inside.set(), done.wait(), x)[2])(X)
    thread.join()
    assert found == [(2,)]


def test_random_numbers_that_are_the_same() -> None:
    found = gs.vmap(lambda x: x * 0 + gs.rand(2, 3), randomness="same")(X)
    assert all((found[0] == other).all() for other in found)


def test_functions_that_cannot_draw_for_each_example_say_so() -> None:
    with pytest.raises(NotImplementedError, match="different"):
        gs.vmap(lambda x: gs.svd_lowrank(x)[1], randomness="different")(gs.ones(2, 9, 8))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(-2),
        lambda x: x.sum(1),
        lambda x: x.unsqueeze(-3),
        lambda x: x.softmax(-2),
        lambda x: x.tril(),
        lambda x: gs.linalg.inv(x),
        lambda x: gs.linalg.det(x),
        lambda x: x.mm(x),
        lambda x: x.permute(0, 1),
        lambda x: x.flip(-2),
        lambda x: gs.nn.functional.pixel_shuffle(x, 1),
        lambda x: gs.cat([x, x], -2),
        lambda x: gs.stack([x, x], -3),
        lambda x: x.view(4, 3),
        lambda x: x.diagonal(),
    ],
)
def test_what_one_example_may_not_do_all_may_not(call: Any) -> None:
    """A vector in each example, and a square matrix of all of them."""
    vectors = X[:3, 0]
    with pytest.raises(Exception) as one:  # noqa: PT011 - whatever it is
        call(vectors[0])
    with pytest.raises(one.type):
        gs.vmap(call)(vectors)


class Twice(gs.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2 * (ctx.saved_tensors[0] * 0 + 1)


class Sum(gs.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x.sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shape = inputs[0].shape

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.expand(ctx.shape)

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert info.batch_size == 4
        assert in_dims == (0,)
        return x.sum((1, 2)), 0


class Neither(gs.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x


def test_a_custom_function_once_for_each_example() -> None:
    found = gs.vmap(gs.func.grad(lambda x: (Twice.apply(x) ** 2).sum()))(X)
    np.testing.assert_allclose(found.numpy(), 8 * X.numpy())


def test_a_custom_function_by_its_own_rule() -> None:
    np.testing.assert_allclose(gs.vmap(Sum.apply)(X).numpy(), X.numpy().sum((1, 2)))


def test_a_custom_function_without_a_rule_is_refused() -> None:
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        gs.vmap(Neither.apply)(X)


def test_a_number_per_example_does_not_decide_a_dtype() -> None:
    single = X.float()
    assert gs.vmap(lambda x, n: x * n)(single, gs.ones(4, dtype=gs.float64)).dtype == gs.float32


def test_a_batch_of_one_and_of_none() -> None:
    assert gs.vmap(lambda x: x.squeeze() + x.sum())(X[:1]).shape == (1, 2, 3)
    assert gs.vmap(lambda x: x + x.sum(0))(X[:0]).shape == (0, 2, 3)


def test_writing_to_each_example() -> None:
    def write(x: Any) -> Any:
        y = x.clone()
        y[0] = 7
        y[1, 1:] += x[0, 1:]
        y.mul_(2).clamp_(max=5)
        return y

    expected = np.stack([write(x).numpy() for x in X])
    np.testing.assert_allclose(gs.vmap(write)(X).numpy(), expected)


def test_a_gradient_flows_through_what_was_written() -> None:
    def total(x: Any) -> Any:
        y = x * 1
        y[0] = y[1] * 3
        return (y**2).sum()

    expected = np.stack([gs.func.grad(total)(x).numpy() for x in X])
    np.testing.assert_allclose(gs.vmap(gs.func.grad(total))(X).numpy(), expected)
