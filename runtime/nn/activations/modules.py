"""Modules of activations. Those with `inplace` overwrite their input if it is true."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...core.user_warnings import warn
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import empty_parameter


class _MayOverwrite(Module):
    """Base of elementwise functions that may overwrite their input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Show `inplace` if it is true."""
        return "inplace=True" if self.inplace else ""

    def _after(self, settings: str) -> str:
        """Append `inplace=True`, if it is true, to settings of the function."""
        return f"{settings}, inplace=True" if self.inplace else settings


class ReLU(_MayOverwrite):
    """Positive elements, zero for the others."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.relu(input, self.inplace)


class LeakyReLU(_MayOverwrite):
    """Positive elements, and a fraction of the negative ones."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Show the fraction."""
        return self._after(f"negative_slope={self.negative_slope}")


class RReLU(_MayOverwrite):
    """Positive elements, and a share of the others, drawn between two numbers in training."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Show the two numbers."""
        return self._after(f"lower={self.lower}, upper={self.upper}")


class PReLU(Module):
    """Positive elements, and a learnt fraction of the negative ones: one, or one a channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = empty_parameter((num_parameters,), dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all fractions to `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element; channels are dimension one."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Show the number of fractions."""
        return f"num_parameters={self.num_parameters}"


class ELU(_MayOverwrite):
    """Positive elements, `alpha * (exp(x) - 1)` for the others."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Show `alpha`."""
        return self._after(f"alpha={self.alpha}")


class CELU(_MayOverwrite):
    """Positive elements, `alpha * (exp(x / alpha) - 1)` for the others."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Show `alpha`."""
        return self._after(f"alpha={self.alpha}")


class SELU(_MayOverwrite):
    """The `ELU` that keeps mean zero and variance one from layer to layer."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.selu(input, self.inplace)


class Threshold(_MayOverwrite):
    """Elements above a threshold, and one value instead of the others."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Show the two numbers."""
        return self._after(f"threshold={self.threshold}, value={self.value}")


# ---- straight lines


class Hardtanh(_MayOverwrite):
    """Elements clamped between two numbers; `min_value` and `max_value` are their old names."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        self.min_val = _renamed("min", min_val, min_value)
        self.max_val = _renamed("max", max_val, max_value)
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Show the two numbers."""
        return self._after(f"min_val={self.min_val}, max_val={self.max_val}")


def _renamed(name: str, value: float, deprecated: float | None) -> float:
    if deprecated is None:
        return value
    warn(
        f"keyword argument `{name}_value` is deprecated and renamed to `{name}_val`",
        FutureWarning,
    )
    return deprecated


class ReLU6(Hardtanh):
    """Elements clamped between zero and six."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Show `inplace` only."""
        return _MayOverwrite.extra_repr(self)


class Hardsigmoid(_MayOverwrite):
    """Piecewise linear approximation of the logistic function."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Show nothing, as PyTorch does."""
        return ""


class Hardswish(_MayOverwrite):
    """Each element times its `Hardsigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Show nothing, as PyTorch does."""
        return ""


class Hardshrink(Module):
    """Elements of a magnitude above a number, zero for the others."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Show the number."""
        return f"{self.lambd}"


class Softshrink(Module):
    """Elements moved towards zero by a number, and not past it."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Show the number."""
        return f"{self.lambd}"


# ---- smooth


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.tanh(input)


class Tanhshrink(Module):
    """Each element minus its hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.tanhshrink(input)


class Softsign(Module):
    """Each element divided by one more than its absolute value."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.softsign(input)


class Sigmoid(Module):
    """Logistic function."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.sigmoid(input)


class LogSigmoid(Module):
    """Logarithm of the logistic function."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.logsigmoid(input)


class SiLU(_MayOverwrite):
    """Each element times its logistic function."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.silu(input, self.inplace)


class Mish(_MayOverwrite):
    """Each element times the hyperbolic tangent of its softplus."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.mish(input, self.inplace)


class GELU(Module):
    """Each element times the normal distribution function."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Show the variant."""
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """A smooth relu, linear above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to each element."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Show the parameters of the curve."""
        return f"beta={self.beta}, threshold={self.threshold}"


# ---- along a dimension


class _OverDim(Module):
    """Base of functions along one dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"


class Softmax(_OverDim):
    """Exponentials along a dimension, scaled to sum to one."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute the function along `dim`; the shape is that of `input`."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """The softmax over the channels of images, with or without batch."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute the function along the third dimension from the end."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_OverDim):
    """The logarithm of the softmax."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute the function along `dim`; the shape is that of `input`."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_OverDim):
    """The softmax of the negative elements."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute the function along `dim`; the shape is that of `input`."""
        return F.softmin(input, self.dim, _stacklevel=5)


class GLU(Module):
    """The first half along a dimension times the logistic function of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Compute the function, which halves the length of `dim`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Show the dimension."""
        return f"dim={self.dim}"
