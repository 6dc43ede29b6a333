"""Probability distributions: samples, densities, entropies and divergences."""

from ..core.missing import explaining as _explaining
from . import constraint_registry, constraints, kl, transforms, utils
from . import kl_across as _kl_across  # noqa: F401  it registers pairs
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Cauchy,
    Exponential,
    Laplace,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .continuous_bernoulli import ContinuousBernoulli
from .counts import (
    Binomial,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .discrete import Bernoulli, Categorical, Poisson
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .gammas import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from .generalized_pareto import GeneralizedPareto
from .halves import HalfCauchy, HalfNormal
from .images import (
    Gumbel,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    Pareto,
    Weibull,
)
from .kl import kl_divergence, register_kl
from .low_rank import LowRankMultivariateNormal
from .matrices import LKJCholesky, Wishart
from .mixture import MixtureSameFamily
from .modules import add_modules as _add_modules
from .relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from .transformed import Independent, LogNormal, TransformedDistribution
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from .von_mises import VonMises

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraint_registry",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]

_add_modules(globals())
__getattr__ = _explaining(__name__)
