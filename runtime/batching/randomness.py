"""Random numbers inside `vmap(randomness="different")`: other ones for each example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from ..core.levels import has_open_levels, open_levels
from ..core.random_generator import refuse_chance
from ..core.tensor import Tensor
from ..dispatch.registry import ops
from .batched import Batched, Level, aligned, batch, is_of, physical
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


def reading_parameters(draw: _Drawing) -> _Drawing:
    """Let a function of distributions refuse parameters that it cannot read inside `vmap`.

    RuntimeError where examples must not draw, and where they have other parameters but are to have
    the same numbers.
    """

    @wraps(draw)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        if has_open_levels():
            _refuse_unreadable(args, kwargs)
        return draw(*args, **kwargs)

    return drawn  # type: ignore[return-value]


def _refuse_unreadable(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for level in open_levels():
        refuse_chance(level)
    if any(type(value) is Batched for value in (*args, *kwargs.values())):
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input: a "
            "distribution that is another one for each example needs randomness='different'"
        )


def filling_each_example(fill: _Drawing) -> _Drawing:
    """Let a method that fills a tensor with random numbers fill the examples of a batched one."""

    @wraps(fill)
    def filled(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        level = _level_of_differences()
        if type(self) is not Batched:
            if level is not None:
                raise RuntimeError(
                    "vmap: different inplace randomness on an unbatched tensor, which is the same "
                    "for all examples, is not possible: write to a clone() of one that is not"
                )
            return fill(self, *args, **kwargs)
        if level is not None and self.level is level:
            with _one_example(level):
                filled(
                    self.physical,
                    *(_beside(value, self) for value in args),
                    **{name: _beside(value, self) for name, value in kwargs.items()},
                )
            return self
        one: Tensor = ops.select(self.physical, 0, 0).detach().clone()
        self.physical.copy_(fill(one, *args, **kwargs))
        return self

    return filled  # type: ignore[return-value]


def _beside(value: Any, written: Batched) -> Any:
    """The examples of a parameter, to be broadcast against those of the tensor that is filled."""
    if is_of(value, written.level):
        return aligned(value, written.ndim, written.level)
    return value


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
