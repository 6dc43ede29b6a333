"""Distributions inside of `vmap`: densities, and the checks of what is given."""

from __future__ import annotations

import importlib
from typing import Any, get_args

import pytest

import gradspec as gs
from gradspec import distributions as d


def tensor(values: Any) -> gs.Tensor:
    """Return a tensor of float64."""
    return gs.tensor(values, dtype=gs.float64)


PARAMETERS = {
    "positive": tensor([0.5, 1.5, 2.5]),
    "chances": tensor([0.3, 0.6, 0.2]),
    "vectors": tensor([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
}

CASES: dict[str, tuple[Any, str, str]] = {
    "Normal": (lambda a: d.Normal(a, a), "positive", "positive"),
    "Gamma": (lambda a: d.Gamma(a, a), "positive", "positive"),
    "Weibull": (lambda a: d.Weibull(a, a), "positive", "positive"),
    "InverseGamma": (lambda a: d.InverseGamma(a, a), "positive", "positive"),
    "Kumaraswamy": (lambda a: d.Kumaraswamy(a, a), "positive", "chances"),
    "ContinuousBernoulli": (d.ContinuousBernoulli, "chances", "chances"),
    "Pareto": (lambda a: d.Pareto(0.1, a), "positive", "positive"),
    "Dirichlet": (d.Dirichlet, "vectors", "vectors"),
    "Categorical": (lambda a: d.Categorical(a), "vectors", "zeros"),
    "Multinomial": (lambda a: d.Multinomial(1, a), "vectors", "one"),
    "MultivariateNormal": (
        lambda a: d.MultivariateNormal(a, a.outer(a) + gs.eye(2).double()),
        "vectors",
        "vectors",
    ),
    "Independent": (lambda a: d.Independent(d.Normal(a, 1.0), 1), "vectors", "vectors"),
    "TransformedDistribution": (
        lambda a: d.TransformedDistribution(
            d.Normal(a, 1.0), [d.ExpTransform(), d.AffineTransform(0.0, a)]
        ),
        "positive",
        "positive",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_density(name: str) -> None:
    make, parameters, values = CASES[name]
    given = PARAMETERS[parameters]
    value = {
        "zeros": gs.zeros(3, dtype=gs.int64),
        "one": tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
        **PARAMETERS,
    }[values]

    def density(a: Any, x: Any) -> Any:
        return make(a).log_prob(x)

    found = gs.vmap(density)(given, value)
    expected = gs.stack([density(a, x) for a, x in zip(given, value, strict=True)])
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-12)


DRAWN: dict[str, Any] = {
    "Bernoulli": lambda a: d.Bernoulli(a / 3),
    "Binomial": lambda a: d.Binomial(99, a / 3),
    "Categorical": lambda a: d.Categorical(gs.stack([a, 1 + a, 2 + a])),
    "Cauchy": lambda a: d.Cauchy(a, a),
    "Exponential": lambda a: d.Exponential(a),
    "Geometric": lambda a: d.Geometric(a / 30),
    "Multinomial": lambda a: d.Multinomial(9, gs.stack([a, 1 + a, 2 + a])),
    "NegativeBinomial": lambda a: d.NegativeBinomial(9, a / 3),
    "OneHotCategorical": lambda a: d.OneHotCategorical(gs.stack([a, 1 + a, 2 + a])),
    "Poisson": lambda a: d.Poisson(99 * a),
    "VonMises": lambda a: d.VonMises(a, a),
}


@pytest.mark.parametrize("name", DRAWN)
def test_each_example_draws_from_a_distribution_of_its_own(name: str) -> None:
    given = gs.tensor([0.5, 1.5, 1.5])

    def sample(a: Any) -> Any:
        return DRAWN[name](a).sample((40,))

    gs.manual_seed(0)
    found = gs.vmap(sample, randomness="different")(given)
    gs.manual_seed(0)
    assert gs.equal(found, gs.stack([sample(a) for a in given]))
    assert not gs.equal(found[1], found[2])
    with pytest.raises(RuntimeError, match="randomness"):
        gs.vmap(sample)(given)
    with pytest.raises(RuntimeError, match="randomness"):
        gs.vmap(lambda a: sample(gs.tensor(1.0)) + a)(given)


def test_a_hessian() -> None:
    found = gs.func.hessian(lambda x: d.Normal(0.0, 2.0).log_prob(x).sum())(gs.ones(2))
    assert found.tolist() == [[-0.25, 0.0], [0.0, -0.25]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: d.Normal(0.0, a).mean, "Expected parameter scale"),
        (lambda a: d.Exponential(1.0).log_prob(a), "within the support"),
        (lambda a: d.Geometric(a).mean, "Expected parameter probs"),
        (lambda a: d.Wishart(a, gs.eye(2)).mean, "greater than ndim"),
    ],
)
def test_an_example_out_of_its_constraint_is_refused(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gs.vmap(function)(gs.tensor([0.5, 0.5, -0.5]))


def test_a_tensor_is_shown() -> None:
    shown = []
    gs.vmap(lambda x: (shown.append(f"{x}"), x)[1])(gs.tensor([1.0, 2.0]))
    assert "tensor([1., 2.])" in shown[0]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("distributions.normal", "Normal"),
        ("distributions.studentT", "StudentT"),
        ("distributions.one_hot_categorical", "OneHotCategoricalStraightThrough"),
        ("distributions.relaxed_bernoulli", "RelaxedBernoulli"),
        ("distributions.kl", "register_kl"),
        ("optim.adamw", "AdamW"),
        ("nn.modules.adaptive", "AdaptiveLogSoftmaxWithLoss"),
        ("nn.modules.channelshuffle", "ChannelShuffle"),
        ("nn.modules.batchnorm", "LazyBatchNorm2d"),
        ("utils.data._utils.collate", "default_collate"),
    ],
)
def test_a_class_is_imported_from_pytorchs_module(module: str, name: str) -> None:
    package, _, _ = module.rpartition(".")
    found = getattr(importlib.import_module(f"gradspec.{module}"), name)
    assert found is getattr(importlib.import_module(f"gradspec.{package}"), name, found)
    assert found.__name__ == name


def test_types_of_annotations_are_imported() -> None:
    from gradspec.nn.common_types import _size_2_t
    from gradspec.optim.optimizer import ParamsT

    assert get_args(_size_2_t) == (int, tuple[int, int])
    assert get_args(ParamsT)


def test_a_name_that_a_module_does_not_have_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"gradspec\.distributions\.normal.*'Cauchy'"):
        _ = gs.distributions.normal.Cauchy
