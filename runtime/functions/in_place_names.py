"""In-place methods as functions of the top level: `gs.sin_(x)` is `x.sin_()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..inplace.ops import in_place

METHODS: Final = (
    "abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ "
    "atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ "
    "detach detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ "
    "ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ "
    "resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ "
    "zero_"
)
"""The methods that PyTorch has as functions, too."""

FUNCTIONS: Final = "celu_ selu_ threshold_"
"""Functions that PyTorch has, and no methods."""

NAMES: Final = (*METHODS.split(), *FUNCTIONS.split())


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in NAMES:
        raise AttributeError(name)
    made: Callable[..., Any]
    if name in METHODS.split():
        made = getattr(Tensor, name)
    else:
        made = in_place(getattr(ops, name.removesuffix("_")), name)
    globals()[name] = made
    return made
