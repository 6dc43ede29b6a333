"""Generators of random numbers, and the in-place distributions that draw from them."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import gradspec as gs

DRAWS: dict[str, Any] = {
    "rand": lambda **kw: gs.rand(4, **kw),
    "randn": lambda **kw: gs.randn(4, **kw),
    "randint": lambda **kw: gs.randint(1000, (4,), **kw),
    "randperm": lambda **kw: gs.randperm(20, **kw),
    "normal": lambda **kw: gs.normal(0.0, 1.0, (4,), **kw),
    "bernoulli": lambda **kw: gs.bernoulli(gs.full((40,), 0.5), **kw),
    "multinomial": lambda **kw: gs.multinomial(gs.ones(20), 5, **kw),
    "poisson": lambda **kw: gs.poisson(gs.full((9,), 30.0), **kw),
    "uniform_": lambda **kw: gs.zeros(4).uniform_(**kw),
    "normal_": lambda **kw: gs.zeros(4).normal_(**kw),
    "random_": lambda **kw: gs.zeros(4).random_(**kw),
    "bernoulli_": lambda **kw: gs.zeros(40).bernoulli_(**kw),
    "exponential_": lambda **kw: gs.zeros(4).exponential_(**kw),
    "geometric_": lambda **kw: gs.zeros(9).geometric_(0.1, **kw),
    "cauchy_": lambda **kw: gs.zeros(4).cauchy_(**kw),
    "log_normal_": lambda **kw: gs.zeros(4).log_normal_(**kw),
    "init.normal_": lambda **kw: gs.nn.init.normal_(gs.zeros(4), **kw),
    "init.trunc_normal_": lambda **kw: gs.nn.init.trunc_normal_(gs.zeros(4), **kw),
    "init.orthogonal_": lambda **kw: gs.nn.init.orthogonal_(gs.zeros(4, 4), **kw),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_generator_is_the_only_source(name: str) -> None:
    draw = DRAWS[name]
    before = gs.get_rng_state()
    generator = gs.Generator().manual_seed(3)
    first, second = draw(generator=generator), draw(generator=generator)
    assert gs.equal(gs.get_rng_state(), before)
    assert not gs.equal(first, second)
    generator.manual_seed(3)
    assert gs.equal(draw(generator=generator), first)
    with pytest.raises(TypeError, match=r"must be gradspec\.Generator"):
        draw(generator=3)


@pytest.mark.parametrize("name", DRAWS)
def test_the_default_generator_resumes_its_state(name: str) -> None:
    state = gs.get_rng_state()
    first = DRAWS[name]()
    gs.set_rng_state(state)
    assert gs.equal(DRAWS[name](), first)


def test_states_and_seeds() -> None:
    generator = gs.Generator()
    assert generator.initial_seed() == gs.Generator().initial_seed()
    assert gs.equal(gs.rand(3, generator=generator), gs.rand(3, generator=gs.Generator()))
    copied = pickle.loads(pickle.dumps(generator))
    assert gs.equal(gs.rand(3, generator=generator), gs.rand(3, generator=copied))
    chosen = generator.seed()
    assert generator.initial_seed() == chosen
    assert gs.manual_seed(7) is gs.default_generator
    assert gs.initial_seed() == 7
    with pytest.raises(ValueError, match="Overflow"):
        gs.manual_seed(1 << 64)
    with pytest.raises(RuntimeError, match="45 bytes"):
        generator.set_state(gs.zeros(3, dtype=gs.uint8))
    with pytest.raises(TypeError, match="ByteTensor"):
        generator.set_state(gs.zeros(45))


QUANTILES: dict[str, tuple[Any, Any]] = {
    "exponential_": (lambda x: x.exponential_(2.0), lambda v: 1 - np.exp(-2 * v)),
    "cauchy_": (lambda x: x.cauchy_(1, 2), lambda v: np.arctan((v - 1) / 2) / math.pi + 0.5),
    "geometric_": (lambda x: x.geometric_(0.25), lambda v: 1 - 0.75 ** np.floor(v)),
    "random_": (lambda x: x.random_(2, 12), lambda v: (np.floor(v) - 1) / 10),
    "bernoulli_": (lambda x: x.bernoulli_(0.3), lambda v: np.where(v < 1, 0.7, 1.0)),
    "log_normal_": (
        lambda x: x.log_normal_(0.5, 2),
        lambda v: np.vectorize(lambda u: 0.5 + 0.5 * math.erf((math.log(u) - 0.5) / 8**0.5))(v),
    ),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_the_distribution_is_the_named_one(name: str) -> None:
    fill, distribution = QUANTILES[name]
    gs.manual_seed(0)
    drawn = np.sort(fill(gs.zeros(4000, dtype=gs.float64)).numpy())
    shares = np.searchsorted(drawn, drawn, side="right") / drawn.size
    # Kolmogorov's distance of this number of draws stays below 1.95 / sqrt(n) at one in a thousand.
    assert np.abs(shares - distribution(drawn)).max() < 1.95 / drawn.size**0.5


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize("bounds", [(-2.0, 2.0), (0.5, 0.7), (3.0, 9.0), (-40.0, -4.0)])
def test_truncated_normal_numbers(bounds: tuple[float, float]) -> None:
    low, high = bounds
    gs.manual_seed(1)
    x = gs.nn.init.trunc_normal_(gs.empty(4000, dtype=gs.float64), 0.0, 1.0, low, high)
    drawn = np.sort(x.numpy())
    assert low <= drawn[0] <= drawn[-1] <= high

    def below(v: Any) -> Any:
        sign = 1 if low >= 0 else -1
        tails = [math.erfc(sign * u / 2**0.5) / 2 for u in (low, v, high)]
        return (tails[1] - tails[0]) / (tails[2] - tails[0])

    shares = np.arange(1, drawn.size + 1) / drawn.size
    assert np.abs(shares - np.vectorize(below)(drawn)).max() < 1.95 / drawn.size**0.5


def test_orthogonal_and_sparse_matrices() -> None:
    q = gs.nn.init.orthogonal_(gs.empty(3, 5, dtype=gs.float64), gain=2.0)
    np.testing.assert_allclose((q @ q.t()).numpy(), 4 * np.eye(3), atol=1e-12)
    s = gs.nn.init.sparse_(gs.empty(10, 4), 0.35)
    assert (s == 0).sum(dim=0).tolist() == [4, 4, 4, 4]
    with pytest.raises(ValueError, match="2 dimensions"):
        gs.nn.init.sparse_(gs.empty(3), 0.5)
    with pytest.warns(FutureWarning, match="deprecated"):
        gs.nn.init.constant(gs.empty(3), 1)
