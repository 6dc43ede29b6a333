"""Functions that are composed in Python: a program of them works on the data of its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec import distributions, nn
from gradspec.compiler import CaptureError
from gradspec.func import functional_call
from gradspec.nn import functional as F

from .comparing import assert_same


def _clipped(grad: gs.Tensor) -> Any:
    param = nn.Parameter(gs.zeros(3))
    param.grad = grad * 1
    norm = nn.utils.clip_grad_norm_([param], 1.0)
    return norm, param.grad


def _written(x: gs.Tensor, value: Any) -> Any:
    written = x.clone()
    written[x > 0] = value
    return written


def _rows_written(x: gs.Tensor) -> Any:
    written = x.clone()
    written[x.sum(1) > 0] = -1.0
    return written


def _attention(x: gs.Tensor) -> Any:
    return F.scaled_dot_product_attention(x, x, x, attn_mask=(x @ x.mT) > 0)


def _ctc(targets: gs.Tensor) -> Any:
    rows = gs.arange(60.0).cos().reshape(6, 2, 5).log_softmax(-1)
    return F.ctc_loss(rows, targets, (6, 5), (2, 3))


LABELS = gs.tensor([[1, 2, 3], [4, 1, 2]]), gs.tensor([[3, 3, 1], [1, 2, 2]])

COMPOSED: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "clip_grad_norm_": (_clipped, gs.tensor([3.0, 4.0, 0.0]), gs.tensor([0.3, 0.4, 0.0])),
    "ctc_loss": (_ctc, *LABELS),
    "ctc_loss in one row": (_ctc, gs.tensor([1, 2, 4, 1, 2]), gs.tensor([3, 3, 1, 2, 2])),
    "isin": (lambda x: gs.isin(x, gs.tensor([1, 2])), *LABELS),
    "isreal": (gs.isreal, gs.tensor([1j, 2.0]), gs.tensor([3.0, 1j])),
    "unravel_index": (lambda x: gs.unravel_index(x, (3, 4)), *LABELS),
    "matrix_rank": (gs.linalg.matrix_rank, gs.ones(3, 3), gs.eye(3)),
    "segment_reduce": (
        lambda x: gs.segment_reduce(x, "max", lengths=gs.tensor([1, 2]), initial=0.0),
        gs.tensor([1.0, 2.0, -3.0]),
        gs.tensor([-1.0, -2.0, 3.0]),
    ),
    "a number where a mask says": (
        lambda x: _written(x, 7),
        gs.tensor([[1.0, -2.0], [-3.0, 4.0]]),
        gs.tensor([[-1.0, 2.0], [-3.0, -4.0]]),
    ),
    "an element where a mask says": (
        lambda x: _written(x, x[:1, 0]),
        gs.tensor([[1.0, -2.0], [-3.0, 4.0]]),
        gs.tensor([[-1.0, 2.0], [-3.0, -4.0]]),
    ),
    "a number in rows that a mask chooses": (
        _rows_written,
        gs.tensor([[1.0, -2.0], [-3.0, 4.0]]),
        gs.tensor([[1.0, 2.0], [-3.0, -4.0]]),
    ),
    "attention with a mask": (
        _attention,
        gs.tensor([[1.0, -2.0], [-3.0, 4.0]]),
        gs.tensor([[0.0, 0.0], [-3.0, -4.0]]),
    ),
    "fake quantisation": (
        lambda x: gs.fake_quantize_per_tensor_affine(
            x, x.abs().max() / 100, x[0].abs().to(gs.int32), 0, 255
        ),
        gs.tensor([1.0, 2.0]),
        gs.tensor([2.0, 30.0]),
    ),
    "fake quantisation of channels": (
        lambda x: gs.fake_quantize_per_channel_affine(
            x, x.abs() / 100, x.abs().to(gs.int32), 0, 0, 255
        ),
        gs.tensor([1.0, 2.0]),
        gs.tensor([2.0, 30.0]),
    ),
    "the density of a distribution": (
        lambda x: distributions.Normal(x, x.exp()).log_prob(x * 2),
        gs.tensor([1.0, 2.0]),
        gs.tensor([-1.0, 3.0]),
    ),
    "the density of vectors": (
        lambda x: distributions.MultivariateNormal(x, x.outer(x).abs() + 2 * gs.eye(2)).log_prob(
            x * 2
        ),
        gs.tensor([1.0, 2.0]),
        gs.tensor([-1.0, 3.0]),
    ),
}


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("name", COMPOSED)
def test_a_program_computes_with_the_data_of_its_call(name: str, backend: str) -> None:
    function, first, second = COMPOSED[name]
    run = gs.compile(function, backend=backend)
    for given in (first, second):
        assert_same(run(given), function(given), rtol=1e-6)
    assert run.count_captures() == 1


CHANCES = gs.tensor([0.3, 0.6, 0.5, 0.4, 0.7, 0.2, 0.5, 0.5])

DRAWN: dict[str, Callable[[Any], Any]] = {
    "bernoulli": gs.bernoulli,
    "bernoulli_": lambda p: gs.empty_like(p).bernoulli_(p),
    "binomial": lambda p: gs.binomial(gs.full_like(p, 9.0), p),
    "multinomial": lambda p: gs.multinomial(p, 4),
    "multinomial with replacement": lambda p: gs.multinomial(p, 9, replacement=True),
    "normal": lambda p: gs.normal(p, p),
    "poisson": lambda p: gs.poisson(10 * p),
    "fractional_max_pool2d": lambda p: F.fractional_max_pool2d(
        gs.arange(81.0).reshape(1, 1, 9, 9) + p[0], 2, output_size=6
    ),
    **{
        name: lambda p, name=name: getattr(distributions, name)(p).sample((5,))
        for name in ("Bernoulli", "Categorical", "Exponential", "Geometric", "OneHotCategorical")
    },
    "Binomial": lambda p: distributions.Binomial(9, p).sample(),
    "Cauchy": lambda p: distributions.Cauchy(p, p).sample(),
    "Multinomial": lambda p: distributions.Multinomial(9, p).sample((5,)),
    "NegativeBinomial": lambda p: distributions.NegativeBinomial(9, p).sample(),
    "Poisson": lambda p: distributions.Poisson(10 * p).sample(),
    "VonMises": lambda p: distributions.VonMises(p, p).sample(),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_numbers_of_parameters_are_drawn_at_every_call(name: str) -> None:
    run = gs.compile(DRAWN[name], backend="numpy")
    other = CHANCES.flip(0).contiguous()
    gs.manual_seed(0)
    found = [run(CHANCES), run(CHANCES), run(other)]
    gs.manual_seed(0)
    assert_same(found, [DRAWN[name](CHANCES), DRAWN[name](CHANCES), DRAWN[name](other)])
    assert not gs.equal(found[0], found[1])


def test_a_functional_call() -> None:
    module = nn.Linear(2, 1)

    def of(weight: gs.Tensor, x: gs.Tensor) -> Any:
        return functional_call(module, {"weight": weight}, (x,))

    run = gs.compile(of, backend="numpy")
    for _ in range(2):
        weight, x = gs.randn(1, 2), gs.randn(3, 2)
        assert_same(run(weight, x), of(weight, x))


STATE = gs.get_rng_state()

SEEDING: dict[str, Callable[[], Any]] = {
    "manual_seed": lambda: gs.manual_seed(0),
    "seed": gs.seed,
    "a generator of one's own": lambda: gs.Generator().manual_seed(0),
    "set_rng_state": lambda: gs.set_rng_state(STATE),
}


@pytest.mark.parametrize("name", SEEDING)
def test_seeding_in_a_program_is_refused_as_it_would_be_lost(name: str) -> None:
    def drawn(x: Any) -> Any:
        SEEDING[name]()
        return x + gs.rand(3)

    with pytest.raises(CaptureError, match="Seed outside of the function"):
        gs.compile(drawn, backend="numpy")(gs.zeros(3))
