"""`functionalize`: what PyTorch offers to programs that cannot be traced with in-place writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

_REMOVED: Final = ("mutations", "mutations_and_views")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that computes what `func` does.

    In PyTorch its ops are replaced, so that a tracer meets none that writes to a tensor, or, with
    `remove="mutations_and_views"`, makes a view; results, and writes to arguments, are the same.
    Here no tracer sees ops one by one (`gs.compile` takes writes and views as they are), so there
    is nothing to replace. RuntimeError for another word.
    """
    if remove not in _REMOVED:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. "
            f"Valid options are: {', '.join(map(repr, _REMOVED))}"
        )

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return call
