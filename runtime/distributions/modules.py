"""PyTorch's modules of distributions, by which programs import them, as `distributions.normal`.

The distributions themselves lie in other files here, several in one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from ..core.missing import explaining
from .relaxed import ExpRelaxedCategorical, LogitRelaxedBernoulli

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "bernoulli": ("Bernoulli",),
    "beta": ("Beta",),
    "binomial": ("Binomial",),
    "categorical": ("Categorical",),
    "cauchy": ("Cauchy",),
    "chi2": ("Chi2",),
    "dirichlet": ("Dirichlet",),
    "exp_family": ("ExponentialFamily",),
    "exponential": ("Exponential",),
    "fishersnedecor": ("FisherSnedecor",),
    "gamma": ("Gamma",),
    "geometric": ("Geometric",),
    "gumbel": ("Gumbel",),
    "half_cauchy": ("HalfCauchy",),
    "half_normal": ("HalfNormal",),
    "independent": ("Independent",),
    "inverse_gamma": ("InverseGamma",),
    "kumaraswamy": ("Kumaraswamy",),
    "laplace": ("Laplace",),
    "lkj_cholesky": ("LKJCholesky",),
    "log_normal": ("LogNormal",),
    "logistic_normal": ("LogisticNormal",),
    "lowrank_multivariate_normal": ("LowRankMultivariateNormal",),
    "mixture_same_family": ("MixtureSameFamily",),
    "multinomial": ("Multinomial",),
    "multivariate_normal": ("MultivariateNormal",),
    "negative_binomial": ("NegativeBinomial",),
    "normal": ("Normal",),
    "one_hot_categorical": ("OneHotCategorical", "OneHotCategoricalStraightThrough"),
    "pareto": ("Pareto",),
    "poisson": ("Poisson",),
    "relaxed_bernoulli": ("LogitRelaxedBernoulli", "RelaxedBernoulli"),
    "relaxed_categorical": ("ExpRelaxedCategorical", "RelaxedOneHotCategorical"),
    "studentT": ("StudentT",),
    "transformed_distribution": ("TransformedDistribution",),
    "uniform": ("Uniform",),
    "weibull": ("Weibull",),
    "wishart": ("Wishart",),
}
"""The distributions of each module."""

_HERE_ALONE: Final = {
    "ExpRelaxedCategorical": ExpRelaxedCategorical,
    "LogitRelaxedBernoulli": LogitRelaxedBernoulli,
}
"""Distributions that the package does not name."""


def add_modules(namespace: dict[str, Any]) -> None:
    """Make a module for each, in the namespace of the package that has the distributions."""
    known = namespace | _HERE_ALONE
    for name, distributions in NAMES.items():
        module = ModuleType(f"{namespace['__name__']}.{name}", f"See {', '.join(distributions)}.")
        module.__package__ = namespace["__name__"]
        vars(module).update({each: known[each] for each in distributions})
        vars(module).update(__all__=list(distributions), __getattr__=explaining(module.__name__))
        namespace[name] = sys.modules[module.__name__] = module
