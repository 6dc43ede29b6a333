"""`vmap`: its arguments, chunks, random numbers, and views of batched tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as F
from gradspec.func import vmap

X = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_the_same_numbers_in_every_chunk() -> None:
    found = vmap(lambda x: x * 0 + gs.randn(2), randomness="same", chunk_size=1)(gs.tensor(X))
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()


def test_a_constant_beside_a_batched_result() -> None:
    first, second = vmap(lambda x: (x, "constant"), out_dims=(0, None))(gs.tensor(X))
    assert first.tolist() == X
    assert second == "constant"


def test_a_tuple_of_one_out_dim_for_one_result() -> None:
    assert vmap(lambda x: x, out_dims=(1,))(gs.tensor(X)).tolist() == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"out_dims": "no"}, ValueError, "`out_dims` must be an int, None or a python collection"),
        ({"out_dims": ("no",)}, ValueError, "`out_dims` must be an int, None"),
        ({"out_dims": (0, 1)}, ValueError, "not compatible with the structure of `outputs`"),
        ({"out_dims": None}, ValueError, "can not return a BatchedTensor when out_dim is None"),
        ({"out_dims": 3}, IndexError, "Dimension out of range"),
        ({"in_dims": [0]}, ValueError, "expected `in_dims` to be int or a"),
        ({"in_dims": (0, 0)}, ValueError, "not compatible with the structure of `inputs`"),
        ({"in_dims": (None,)}, ValueError, "at least one Tensor"),
        ({"in_dims": (2,)}, ValueError, "Got in_dim=2 for some input"),
        ({"in_dims": ("no",)}, ValueError, "Got in_dim=no for an input"),
    ],
)
def test_dims_that_do_not_fit(given: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        vmap(lambda x: x, **given)(gs.tensor(X))


def test_errors_name_the_function() -> None:
    with pytest.raises(ValueError, match=r"vmap\(sin, in_dims=\(2,\), \.\.\.\)"):
        vmap(gs.sin, in_dims=(2,))(gs.tensor(X))


@pytest.mark.parametrize(
    "draw",
    [
        gs.bernoulli,
        gs.poisson,
        lambda p: gs.normal(p, 1.0),
        lambda p: gs.normal(0.0, p),
        lambda p: gs.multinomial(p + 1, 1),
        lambda p: gs.binomial(p, p),
        lambda p: gs.zeros_like(p).bernoulli_(p),
    ],
)
def test_parameters_that_differ_between_examples(draw: Any) -> None:
    chances = gs.tensor(X) / 10
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        vmap(draw)(chances)
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        vmap(draw, randomness="same")(chances)
    assert vmap(draw, randomness="different")(chances).shape[0] == 3


def test_a_chance_for_each_example_fills_in_place() -> None:
    certain = gs.tensor([[0.0, 1.0], [1.0, 0.0]])
    filled = gs.full((2, 2), 7.0)
    vmap(lambda x, p: x.bernoulli_(p), randomness="different")(filled, certain)
    assert filled.tolist() == certain.tolist()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.as_strided((2,), (1,)),
        lambda x: x.contiguous(),
        lambda x: x.ravel(),
    ],
)
def test_writes_through_a_view_reach_all_examples(view: Any) -> None:
    x = gs.tensor(X)
    vmap(lambda row: view(row).mul_(2))(x)
    assert x.tolist() == [[0, 2], [4, 6], [8, 10]]


def test_as_strided_of_nested_examples() -> None:
    x = gs.arange(24).reshape(2, 3, 4)
    vmap(vmap(lambda row: row.as_strided((2,), (2,), 1).fill_(-1)))(x)
    # Element 1 of the storage, and the one two behind it, of each row as of the first.
    assert (x[..., 1] == -1).all()
    assert (x[..., 3] == -1).all()
    assert x[..., 0].tolist() == [[0, 4, 8], [12, 16, 20]]


def test_strides_and_contiguity_are_those_of_one_example() -> None:
    seen = []

    def look(x: gs.Tensor) -> gs.Tensor:
        seen.append((x.stride(), x.stride(-1), x.is_contiguous(), x.storage_offset()))
        return x

    vmap(look)(gs.zeros(3, 2, 4))
    vmap(look, in_dims=2)(gs.zeros(3, 2, 4))
    vmap(look, in_dims=1)(gs.zeros(3, 2, 4))
    assert seen == [((4, 1), 1, True, 0), ((8, 4), 4, False, 0), ((8, 1), 1, False, 0)]


def test_contiguous_copies_each_example() -> None:
    made = vmap(lambda x: x.t().contiguous())(gs.arange(12.0).reshape(2, 2, 3))
    assert made.stride() == (6, 2, 1)
    assert made[0].tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("turn", "shape"),
    [
        (lambda x: (x * 1).unsqueeze_(0), (3, 1, 2)),
        (lambda x: (x * 1).unsqueeze(0).squeeze_(0), (3, 2)),
        (lambda x: (x * 1).unsqueeze(0).t_(), (3, 2, 1)),
        (lambda x: (x * 1).unsqueeze(0).transpose_(0, 1), (3, 2, 1)),
    ],
)
def test_views_in_place(turn: Any, shape: tuple[int, ...]) -> None:
    x = gs.tensor(X, requires_grad=True)
    made = vmap(turn)(x)
    assert made.shape == shape
    (made * gs.arange(6.0).reshape(shape)).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.new_zeros(2),
        lambda x: x.new_ones((2,)),
        lambda x: x.new_empty(2),
        lambda x: x.new_full((2,), 3.0),
        lambda x: x.new_empty_strided((2,), (2,)),
    ],
)
def test_a_new_tensor_has_room_for_all_examples(make: Any) -> None:
    assert vmap(lambda x: make(x).copy_(x))(gs.tensor(X)).tolist() == X


def test_new_empty_strided() -> None:
    made = gs.zeros(2, dtype=gs.float64).new_empty_strided((2, 3), (1, 2))
    assert (made.shape, made.stride(), made.dtype) == ((2, 3), (1, 2), gs.float64)
    assert vmap(lambda x: x.new_empty_strided((2, 3), (1, 2)))(gs.zeros(4)).stride() == (6, 1, 2)


class Halves(gs.autograd.Function):
    """Halves of a tensor and of a list of them, with a rule for batches."""

    @staticmethod
    def forward(x: Any, others: Any) -> Any:  # type: ignore[override]
        return x / 2, [other / 2 for other in others]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, others: Any) -> Any:  # type: ignore[override]
        assert in_dims == (0, [0, None])
        return (x / 2, [other / 2 for other in others]), in_dims


def test_a_rule_of_a_custom_function_gets_lists() -> None:
    x, shared = gs.tensor(X), gs.tensor([8.0])
    half, (other, same) = vmap(lambda x: Halves.apply(x, [x * 4, shared]))(x)
    assert half.tolist() == [[0, 0.5], [1, 1.5], [2, 2.5]]
    assert other.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert same.tolist() == [[4]] * 3


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda x: x, "to have two returns"),
        (lambda x: (x, x, 0, 0), "to have two returns"),
        (lambda x: (x, (0,)), "returned an incompatible"),
        (lambda x: ((x, x), (0,)), "returned an incompatible"),
        (lambda x: ([x], (0,)), "returned an incompatible"),
    ],
)
def test_a_rule_of_a_custom_function_that_answers_wrongly(answer: Any, match: str) -> None:
    class Wrong(gs.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:  # type: ignore[override]
            return x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:  # type: ignore[override]
            return answer(x)

    with pytest.raises(RuntimeError, match=match):
        vmap(Wrong.apply)(gs.tensor(X))


def test_a_view_of_a_single_example_is_written_to() -> None:
    def function(example: gs.Tensor) -> gs.Tensor:
        example.squeeze().add_(1)  # by a loop: the op has no rule for what it drops
        return example

    for size in (1, 2):
        x = gs.zeros(size, 1, 3)
        assert gs.vmap(function)(x).tolist() == [[[1.0] * 3]] * size
        assert x.tolist() == [[[1.0] * 3]] * size


EXAMPLES = np.arange(6.0).reshape(2, 3)
SHARED = 10 * np.arange(6.0).reshape(2, 3)
MASK = np.array([[True, False, True], [True, True, True]])

# Each takes an example of three elements; the other argument has as many rows as there are
# examples.
WITH_ROWS = {
    "lerp": (
        lambda x: gs.lerp(x, gs.tensor(SHARED), gs.tensor(SHARED)),
        lambda x: x + SHARED * (SHARED - x),
    ),
    "soft_margin_loss": (
        lambda x: F.soft_margin_loss(x, gs.tensor(SHARED), reduction="none"),
        lambda x: np.log1p(np.exp(-SHARED * x)),
    ),
    "huber_loss": (
        lambda x: F.huber_loss(x, gs.tensor(SHARED), reduction="none"),
        lambda x: np.where(abs(x - SHARED) < 1, (x - SHARED) ** 2 / 2, abs(x - SHARED) - 0.5),
    ),
    "masked_select": (
        lambda x: gs.masked_select(x, gs.tensor(MASK)),
        lambda x: np.broadcast_to(x, MASK.shape)[MASK],
    ),
    "masked_fill": (
        lambda x: gs.masked_fill(x, gs.tensor(MASK), 7.0),
        lambda x: np.where(MASK, 7.0, x),
    ),
    "where": (
        lambda x: gs.where(gs.tensor(MASK), x, gs.tensor(SHARED)),
        lambda x: np.where(MASK, x, SHARED),
    ),
}


@pytest.mark.filterwarnings("ignore:.*different to the input size")
@pytest.mark.parametrize("name", WITH_ROWS)
def test_rows_of_a_shared_argument_are_no_examples(name: str) -> None:
    op, wanted = WITH_ROWS[name]
    found = gs.func.vmap(op)(gs.tensor(EXAMPLES))
    np.testing.assert_allclose(found.numpy(), np.stack([wanted(x) for x in EXAMPLES]))


def test_examples_are_no_dimension_to_scatter_along() -> None:
    into, pages = np.zeros((2, 2, 3, 3)), np.arange(18.0).reshape(2, 3, 3)
    found = gs.func.vmap(lambda x, page: gs.select_scatter(x, page, 0, 1))(
        gs.tensor(into), gs.tensor(pages)
    )
    into[:, 1] = pages
    np.testing.assert_array_equal(found.numpy(), into)


def test_a_result_that_is_none_is_refused_unless_its_out_dim_is() -> None:
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'NoneType'>"):
        vmap(lambda x: (x, None))(gs.tensor(X))
    assert vmap(lambda x: (x, None), out_dims=(0, None))(gs.tensor(X))[1] is None
