"""Samples that NumPy draws with parameters, as distributions draw them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..batching.randomness import for_each_example, reading_parameters
from ..core.random_draws import cast_numbers
from ..core.tensor import Tensor, wrap


@for_each_example
@reading_parameters
def drawn(draw: Callable[..., Any], dtype: Any, *parameters: Tensor) -> Any:
    """Return what a function draws with the arrays of parameters, without a gradient.

    Under `vmap(randomness="different")` it is called for each example.
    """
    return wrap(cast_numbers(draw(*(each.detach().numpy() for each in parameters)), dtype))
