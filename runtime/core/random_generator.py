"""Generators of random numbers: the one that all threads share, and those of one's own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import index
from typing import Any, Final

import numpy as np

from .devices import CPU, check_device
from .levels import Level, has_open_levels, open_levels
from .tensor import Tensor, wrap

DEFAULT_SEED: Final = 67280421310721
"""The seed of a new `Generator`, as in PyTorch."""


class Generator:
    """A source of random numbers with a state of its own: `gs.rand(3, generator=Generator())`.

    The numbers of a seed are not PyTorch's; the distributions are. NumPy's own lock makes it safe
    to draw from several threads.
    """

    __slots__ = ("_numpy", "_seed")

    device = CPU

    def __init__(self, device: Any = None) -> None:
        check_device("Generator", device)
        self._seed = DEFAULT_SEED
        self._numpy: np.random.Generator | None = None

    def manual_seed(self, seed: int) -> Generator:
        """Start the sequence of numbers anew.

        ValueError for a seed of more than 64 bits, RuntimeError for what is no integer.
        """
        try:
            number = index(seed)
        except TypeError:
            raise RuntimeError(
                f"manual_seed expected a long, but got {type(seed).__name__}"
            ) from None
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"Overflow when unpacking long: the seed {number} has over 64 bits")
        refuse_in_capture(self)
        self._seed = number % (1 << 64)
        self._numpy = np.random.default_rng(self._seed)
        return self

    def seed(self) -> int:
        """Start anew from a seed that cannot be foreseen, and return it."""
        self.manual_seed(_unforeseen())
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the sequence was started from."""
        return self._seed

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator, made at first use: its import takes as long as much of gradspec."""
        if self._numpy is None:
            self._numpy = np.random.default_rng(self._seed)
        return self._numpy

    def get_state(self) -> Tensor:
        """Return the state as a tensor of bytes."""
        state: Any = self.numpy.bit_generator.state
        parts = [
            state["state"]["state"].to_bytes(16, "little"),
            state["state"]["inc"].to_bytes(16, "little"),
            self._seed.to_bytes(8, "little"),
            int(state["uinteger"]).to_bytes(4, "little"),
            int(state["has_uint32"]).to_bytes(1, "little"),
        ]
        return wrap(np.frombuffer(b"".join(parts), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state of `get_state`; TypeError or RuntimeError for anything else."""
        refuse_in_capture(self)
        return self._go_on_from(new_state)

    def _go_on_from(self, new_state: Tensor) -> Generator:
        if not isinstance(new_state, Tensor) or new_state.array.dtype != np.uint8:
            raise TypeError("expected a gradspec.ByteTensor, as get_state() returns it")
        data = new_state.array.tobytes()
        if len(data) != _STATE_BYTES:
            raise RuntimeError(
                f"the state of a generator has {_STATE_BYTES} bytes, not {len(data)}"
            )
        numbers = [int.from_bytes(data[a:b], "little") for a, b in _STATE_PARTS]
        self._seed = numbers[2]
        self.numpy.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": numbers[0], "inc": numbers[1]},
            "uinteger": numbers[3],
            "has_uint32": numbers[4],
        }
        return self

    def clone_state(self) -> Generator:
        """Return another generator in the same state."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.get_state(),)


def _unforeseen() -> int:
    return int.from_bytes(os.urandom(8), "little") >> 1


_STATE_PARTS: Final = ((0, 16), (16, 32), (32, 40), (40, 44), (44, 45))
_STATE_BYTES: Final = 45


def _restored(state: Tensor) -> Generator:
    return Generator().set_state(state)


class _Default(Generator):
    """The generator that all threads share, of a seed that cannot be foreseen."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self._seed = _unforeseen()


default_generator: Final[Generator] = _Default()
_chosen: Final = threading.local()
"""`generator`, where a function draws from another one than the default."""


def manual_seed(seed: int) -> Generator:
    """Start the sequence of random numbers anew."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the sequence of random numbers anew from a seed that cannot be foreseen."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed that the sequence of random numbers was started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state of `get_rng_state`."""
    default_generator.set_state(new_state)


@contextmanager
def drawing_from(name: str, generator: Generator | None) -> Iterator[None]:
    """Let the random functions called inside draw from a generator; TypeError for anything else."""
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be gradspec.Generator, not "
            f"{type(generator).__name__}"
        )
    if generator is None:
        yield
        return
    before = getattr(_chosen, "generator", None)
    _chosen.generator = generator
    try:
        yield
    finally:
        _chosen.generator = before


def generator() -> np.random.Generator:
    """The generator that random tensors are drawn from.

    RuntimeError inside `vmap`, unless all examples are to have the same numbers.
    """
    for level in open_levels() if has_open_levels() else ():
        refuse_chance(level)
        if level.randomness == "different":
            raise NotImplementedError(
                "vmap(randomness='different') is not supported by this function: draw the random "
                "numbers outside, and pass them as an argument"
            )
    return current_generator()


def current_generator() -> np.random.Generator:
    """The generator that random tensors are drawn from, to keep its state: also inside `vmap`."""
    chosen: Generator | None = getattr(_chosen, "generator", None)
    source = default_generator if chosen is None else chosen
    record: Callable[[Generator], Any] | None = getattr(_chosen, "record", None)
    drawn_from: np.random.Generator = source.numpy if record is None else record(source)
    return drawn_from


def refuse_chance(level: Level) -> None:
    """Raise RuntimeError for a call of `vmap` that does not say how its examples draw."""
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use "
            "the 'same' or 'different' randomness flags on vmap or perform the randomness "
            "operation out of vmap"
        )


def refuse_in_capture(generator: Generator) -> None:
    """Raise CaptureError where a program is captured, which would not seed at its calls."""
    record = getattr(_chosen, "record", None)
    if record is not None:
        record(generator).bit_generator  # noqa: B018 - there is none


def draws_are_recorded() -> bool:
    """Return whether random functions of this thread draw in a program that is being captured."""
    return hasattr(_chosen, "record")


@contextmanager
def recording_draws(record: Callable[[Generator], Any]) -> Iterator[None]:
    """Let random functions of this thread draw from what `record` answers for a generator."""
    _chosen.record = record
    try:
        yield
    finally:
        del _chosen.record
