"""Compiled functions and modules, and what a backward pass through their results can do."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import func, nn

from .comparing import assert_gradients_same, assert_same


@pytest.fixture(autouse=True)
def _seed() -> None:
    gs.manual_seed(0)


def compiled(function: Any) -> Any:
    return gs.compile(function, backend="numpy")


def test_a_function_with_a_closure() -> None:
    weight = gs.randn(5, 3, requires_grad=True)

    def function(x: gs.Tensor) -> Any:
        y = (x @ weight).sin() * 2
        return {"loss": y.sum(), "all": [y, 3]}

    run = compiled(function)
    for _ in range(3):
        x = gs.randn(4, 5, requires_grad=True)
        assert_same(run(x), function(x))
        assert_gradients_same(run, function, [x], [weight])


def test_it_decorates() -> None:
    @gs.compile(backend="numpy")
    def double(x: gs.Tensor) -> Any:
        """Return twice."""
        return x * 2

    assert double(gs.ones(2)).tolist() == [2.0, 2.0]
    assert (double.__name__, double.__doc__) == ("double", "Return twice.")


def test_the_name_of_the_node() -> None:
    x = gs.ones(3, requires_grad=True)
    assert compiled(lambda x: x * 2)(x).grad_fn.name() == "CompiledFunctionBackward"
    assert compiled(lambda x: x * 2)(x.detach()).grad_fn is None


@pytest.mark.parametrize(
    ("model", "shape", "rtol"),
    [
        (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)), (5, 4), 0),
        (
            nn.Sequential(
                nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
            ),
            (2, 1, 8, 8),
            1e-5,
        ),
        (nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True), (2, 5, 16), 1e-5),
        (nn.LSTM(4, 6), (5, 2, 4), 1e-5),
        (nn.Sequential(nn.LayerNorm(6), nn.GELU(), nn.Softmax(-1)), (3, 6), 0),
    ],
)
def test_modules(model: nn.Module, shape: tuple[int, ...], rtol: float) -> None:
    run = compiled(model)
    for _ in range(2):
        inputs = [gs.randn(*shape, requires_grad=True)]
        assert_gradients_same(run, model, inputs, list(model.parameters()), rtol)


def test_buffers_are_written_and_the_mode_is_guarded() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    other = copy.deepcopy(model)
    run = compiled(model)
    for mode in (True, True, False):
        model.train(mode)
        other.train(mode)
        x = gs.randn(6, 4)
        assert_same(run(x), other(x))
        assert_same(list(model.buffers()), list(other.buffers()))


def test_random_numbers_are_drawn_at_every_call() -> None:
    run = compiled(nn.Dropout(0.5))
    x = gs.ones(100)
    for seed in range(3):
        gs.manual_seed(seed)
        found = run(x)
        gs.manual_seed(seed)
        assert_same(found, nn.Dropout(0.5)(x))
    assert not np.array_equal(run(x).array, run(x).array)


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_random_numbers_are_written_at_every_call(name: str, dtype: str) -> None:
    def function(x: gs.Tensor) -> gs.Tensor:
        return getattr(x.clone(), name)(1, 2)  # type: ignore[no-any-return]

    run = compiled(function)
    x = gs.zeros(20, dtype=getattr(gs, dtype))
    for seed in range(3):
        gs.manual_seed(seed)
        found = run(x)
        gs.manual_seed(seed)
        assert_same(found, function(x))
    assert not np.array_equal(run(x).array, run(x).array)


@pytest.mark.parametrize("transform", [func.grad_and_value, func.hessian, func.jacrev, func.jacfwd])
def test_transforms(transform: Any) -> None:
    def function(x: gs.Tensor) -> Any:
        return (x**3).sum() + x[0] * x[1]

    run = compiled(transform(function))
    for _ in range(3):
        x = gs.randn(4)
        assert_same(run(x), transform(function)(x), 1e-6)


def test_gradients_of_each_example() -> None:
    def loss(weight: gs.Tensor, x: gs.Tensor) -> Any:
        return ((x @ weight).tanh() ** 2).sum()

    each = func.vmap(func.grad(loss), in_dims=(None, 0))
    run = compiled(each)
    for _ in range(2):
        weight, x = gs.randn(4, 2), gs.randn(3, 4)
        assert_same(run(weight, x), each(weight, x), 1e-6)


def test_a_compiled_function_inside_of_another_and_of_a_transform() -> None:
    inner = compiled(lambda x: x.sin())
    outer = compiled(lambda x: inner(x).sum())
    x = gs.randn(4, requires_grad=True)
    assert_gradients_same(outer, lambda x: x.sin().sum(), [x])
    assert_same(func.grad(lambda x: inner(x).sum())(x.detach()), x.detach().cos())


@pytest.mark.parametrize("transform", [func.grad, func.jacrev, func.jacfwd, func.hessian])
def test_a_transform_of_a_compiled_function_is_no_part_of_a_graph(transform: Any) -> None:
    def function(x: gs.Tensor) -> Any:
        return (x.sin() * x.sum()).sum()

    x = gs.randn(3)
    expected, found = transform(function)(x), transform(compiled(function))(x)
    assert_same(found, expected)
    assert not found.requires_grad


def test_gradients_of_gradients() -> None:
    def function(x: gs.Tensor) -> Any:
        return (x.sin() * x).sum()

    x = gs.randn(4, requires_grad=True)
    answers = []
    for call in (compiled(function), function):
        (first,) = gs.autograd.grad(call(x), [x], create_graph=True)
        answers.append([first, *gs.autograd.grad(first.sum(), [x])])
    assert_same(answers[0], answers[1], 1e-6)


def test_gradients_of_gradients_of_what_cannot_be_called_again() -> None:
    x = gs.randn(4, requires_grad=True)
    result = compiled(nn.Dropout(0.5))(x).sum()
    with pytest.raises(RuntimeError, match="draws random numbers"):
        gs.autograd.grad(result, [x], create_graph=True)


def test_one_of_several_results_has_a_gradient() -> None:
    def function(x: gs.Tensor) -> Any:
        return x.exp(), x.sin(), x.cos(), x.tanh(), x.sqrt(), x**3

    run = compiled(function)
    x = gs.rand(4, requires_grad=True)
    for chosen in [(0,), (1, 4), (0, 1, 2, 3, 4, 5)]:
        answers = [
            gs.autograd.grad([call(x)[nr].sum() for nr in chosen], [x]) for call in (run, function)
        ]
        assert_same(answers[0], answers[1], 1e-6)


def test_a_graph_is_kept_and_freed() -> None:
    x = gs.randn(4, requires_grad=True)
    result = compiled(lambda x: x.exp().sum())(x)
    result.backward(retain_graph=True)
    result.backward()
    assert_same(x.grad, 2 * x.detach().exp())
    with pytest.raises(RuntimeError, match="second time"):
        result.backward()


def test_hooks_run_in_order() -> None:
    seen = []
    x = gs.randn(4, requires_grad=True)
    x.register_hook(lambda grad: seen.append("leaf") or grad * 2)
    result = compiled(lambda x: (x * 3).sum())(x)
    result.register_hook(lambda grad: seen.append("result"))
    result.grad_fn.register_hook(lambda inputs, outputs: seen.append("node"))
    result.backward()
    assert seen == ["result", "node", "leaf"]
    assert x.grad.tolist() == [6.0] * 4


def test_backward_for_some_inputs() -> None:
    x, weight = gs.randn(4, requires_grad=True), gs.randn(4, requires_grad=True)
    compiled(lambda a, b: (a * b).sum())(x * 2, weight).backward(inputs=[weight])
    assert x.grad is None
    assert_same(weight.grad, x.detach() * 2)


def test_anomaly_mode_names_the_node(capsys: pytest.CaptureFixture[str]) -> None:
    run = compiled(lambda x: x.sqrt().sum())
    x = gs.tensor([-1.0], requires_grad=True)
    with (
        gs.autograd.set_detect_anomaly(True),
        pytest.raises(RuntimeError, match="CompiledFunctionBackward"),
    ):
        run(x).backward()
    assert "test_functions.py" in capsys.readouterr().err


def test_no_grad_is_a_signature_of_its_own() -> None:
    run = compiled(lambda x: x * 2)
    x = gs.ones(2, requires_grad=True)
    assert run(x).requires_grad
    with gs.no_grad():
        assert not run(x).requires_grad


def test_a_result_is_the_argument_itself() -> None:
    x = gs.ones(2)
    same, doubled = compiled(lambda x: (x, x * 2))(x)
    assert same is x
    assert doubled.tolist() == [2.0, 2.0]


def test_results_share_memory_with_nothing() -> None:
    x = gs.zeros(2, 3)
    first, second = compiled(lambda x: (x.t(), x.view(6)))(x)
    first += 1
    assert x.sum().item() == second.sum().item() == 0


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_detached_argument_shares_its_memory(backend: str) -> None:
    weight, buffer = gs.ones(3, requires_grad=True), gs.zeros(3)

    def step(x: gs.Tensor) -> Any:
        with gs.no_grad():
            weight.add_(x)
        return weight.detach(), buffer.detach(), (x.detach(), buffer.detach() + 0)

    run = gs.compile(step, backend=backend)
    for _ in range(3):  # the long way, and the short one
        seen, zeros, (same, copy) = run(gs.ones(3))
    assert seen.tolist() == [4, 4, 4]
    seen.mul_(2)
    zeros += 5
    assert weight.tolist() == [8, 8, 8]
    assert buffer.tolist() == [5, 5, 5]
    assert (same.tolist(), copy.tolist()) == ([1, 1, 1], [0, 0, 0])
    assert seen.requires_grad is False
    assert seen._version == weight._version


def test_a_kernel_that_takes_one_value_twice_is_expanded() -> None:
    def function(x: gs.Tensor, w: gs.Tensor) -> Any:
        return gs.nn.functional.layer_norm(x, (5,), w, w)

    x, w = gs.randn(4, 5), gs.rand(5)
    assert_same(gs.compile(function, backend="c")(x, w), function(x, w), rtol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_call_answers_views_and_arrays_of_its_own(backend: str) -> None:
    def function(a: gs.Tensor, b: gs.Tensor) -> Any:
        return gs.cat([a, b], 0)  # gradients: a view for `a`, real parts for `b`

    compiled = gs.compile(function, backend=backend)
    a = gs.tensor([[1 + 2j, 3 - 1j]])
    b = gs.tensor([[0.5, 2.0]], requires_grad=True)
    cotangent = gs.tensor([[1 + 1j, 2 - 1j], [3 + 4j, 5 - 2j]])
    (found,) = gs.autograd.grad(compiled(a, b), b, cotangent)
    assert found.tolist() == [[3.0, 5.0]]


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_parts_of_a_constant_are_told_apart(backend: str) -> None:
    weights = np.array([[0.5, -2.0, 3.0]])

    def function(x: gs.Tensor) -> Any:
        known = gs.from_numpy(weights).cos()
        wide = known[:, 1:].expand(40_000, 2)  # a view that is too large to be computed once
        return gs.linalg.cross(x, known), (x[:, :2] * wide).sum(0)

    x = gs.tensor([[1.0, 2.0, -1.5]], dtype=gs.float64)
    assert_same(gs.compile(function, backend=backend)(x), function(x), rtol=1e-12)


@dataclass
class Pair:
    first: Any
    second: Any = None


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_dataclasses_are_structures(backend: str) -> None:
    run = gs.compile(lambda p, k: Pair(p.first * k, [Pair(p.second.sin())]), backend=backend)
    for number in (1.0, 2.0):  # other tensors in other objects: the same program
        x, y = (gs.full((2,), number, requires_grad=True) for _ in range(2))
        found = run(Pair(x, y), 3)
        assert type(found) is type(found.second[0]) is Pair
        assert found.first.tolist() == [3 * number] * 2
        (found.first.sum() + found.second[0].first.sum()).backward()
        assert x.grad is not None
        assert y.grad is not None
        assert x.grad.tolist() == [3.0, 3.0]
        np.testing.assert_allclose(y.grad.numpy(), np.cos(number), 1e-6)
    assert run.count_captures() == 1


def test_other_containers_are_structures() -> None:
    run = compiled(lambda items: deque([items[1] * 2, items[0]], maxlen=5))
    x, y = gs.ones(2), gs.ones(3)
    found = run(deque([x, y]))
    assert type(found) is deque
    assert found.maxlen == 5
    assert found[0].tolist() == [2.0] * 3
    assert found[1] is x
    assert run(deque([y, x]))[1] is y


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("dtype", [gs.int32, gs.int64])
def test_a_number_in_a_tensor_is_an_index(dtype: Any, backend: str) -> None:
    run = gs.compile(lambda x, row: x[row] * 3, backend=backend)
    for number in (1, -1, 0):
        x = gs.arange(12.0).reshape(4, 3).requires_grad_()
        y = x.detach().clone().requires_grad_()
        found, expected = run(x, gs.tensor(number, dtype=dtype)), y[number] * 3
        assert_same(found, expected)
        found.sum().backward()
        expected.sum().backward()
        assert_same(x.grad, y.grad)
    assert run.count_captures() == 1
    with pytest.raises(IndexError, match=r"out of bounds for (axis|dimension) 0 with size 4"):
        run(x, gs.tensor(4, dtype=dtype))


class WrongSlope(gs.autograd.Function):
    """A sine whose gradient is off by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 1.01 * grad * x.cos()


def test_gradcheck_runs_the_program() -> None:
    x = gs.randn(2, 3, dtype=gs.float64, requires_grad=True)
    run = compiled(lambda x: x.sin() * x)
    assert gs.autograd.gradcheck(run, (x,))
    assert run.count_captures() in (1, 2)  # with the gradient, and without
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gs.autograd.gradcheck(compiled(lambda x: WrongSlope.apply(x) * x), (x,))
