"""Functions that read values, inside `vmap`: they are called once for each example."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..core.levels import has_open_levels
from .batched import Batched, innermost
from .call import in_loop

_Reading = TypeVar("_Reading", bound=Callable[..., Any])


def reading_each_example(read: _Reading) -> _Reading:
    """Let a function that reads the values of its arguments take tensors of many examples."""

    @wraps(read)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not has_open_levels() or not any(type(value) is Batched for value in given):
            return read(*args, **kwargs)
        return in_loop(
            lambda positional, **named: called(*positional, **named),
            {"positional": list(args), **kwargs},
            innermost(given),
        )

    return called  # type: ignore[return-value]
