"""Random numbers inside `vmap(randomness="different")`: other ones for each example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from ..core.levels import has_open_levels, open_levels
from ..core.tensor import Tensor
from ..dispatch.registry import ops
from .batched import Batched, Level, batch, physical
from .call import in_loop

_Drawing = TypeVar("_Drawing", bound=Callable[..., Any])


def for_each_example(draw: _Drawing) -> _Drawing:
    """Let a function of random numbers draw anew for each example: it is called once for each."""

    @wraps(draw)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        level = _level_of_differences()
        if level is None:
            return draw(*args, **kwargs)
        with _one_example(level):
            return in_loop(
                lambda positional, named: drawn(*positional, **named),
                {"positional": list(args), "named": kwargs},
                level,
            )

    return drawn  # type: ignore[return-value]


def for_each_element(draw: _Drawing) -> _Drawing:
    """Let a function draw anew for each element of its first argument, those of all examples."""

    @wraps(draw)
    def drawn(input: Any, *args: Any, **kwargs: Any) -> Any:
        level = _level_of_differences()
        if level is None or not isinstance(input, Tensor):
            return draw(input, *args, **kwargs)
        with _one_example(level):
            return batch(drawn(physical(input, level), *args, **kwargs), level)

    return drawn  # type: ignore[return-value]


def filling_each_example(fill: _Drawing) -> _Drawing:
    """Let a method that fills a tensor with random numbers fill the examples of a batched one."""

    @wraps(fill)
    def filled(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        level = _level_of_differences()
        if type(self) is not Batched:
            if level is not None:
                raise RuntimeError(
                    "vmap: a tensor that is the same for all examples cannot be filled with random "
                    "numbers that differ: write to a clone() of one that is not"
                )
            return fill(self, *args, **kwargs)
        if level is not None and self.level is level:
            with _one_example(level):
                filled(self.physical, *args, **kwargs)
            return self
        one: Tensor = ops.select(self.physical, 0, 0).detach().clone()
        self.physical.copy_(fill(one, *args, **kwargs))
        return self

    return filled  # type: ignore[return-value]


def _level_of_differences() -> Level | None:
    """Return the innermost open call of `vmap`, if its examples get different numbers."""
    if not has_open_levels():
        return None
    batches = [level for level in open_levels() if isinstance(level, Level)]
    found = [level for level in batches if level.randomness == "different"]
    return found[-1] if found else None


@contextmanager
def _one_example(level: Level) -> Iterator[None]:
    """Draw inside as for one example of a level."""
    level.randomness = "same"
    try:
        yield
    finally:
        level.randomness = "different"
