"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.tensor import Tensor
from ...dispatch.registry import ops
from ..parameter import set_array


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return the elements of all parameters in one vector; gradients flow to them."""
    vector: Tensor = ops.cat([parameter.reshape(-1) for parameter in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the elements of a vector for values: views of its memory.

    RuntimeError where it has too few.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    offset = 0
    for parameter in parameters:
        part = vec.array[offset : offset + parameter.numel()]
        if part.size != parameter.numel():
            raise RuntimeError(
                f"shape '{list(parameter.shape)}' is invalid for input of size {part.size}"
            )
        set_array(parameter, part.reshape(parameter.array.shape))
        offset += parameter.numel()
