"""Generators of random numbers that are not gradspec's, of which a program would not draw.

What a function draws of Python's `random` or of NumPy's at its capture would be the same number at
every call. So the states of those that it can reach are compared before and after.
"""

from __future__ import annotations

import functools
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Generator:
    """A generator, by what reads its state, and the state that it was in."""

    name: str
    read: Callable[[], bytes]
    before: bytes

    def has_drawn(self) -> bool:
        """Return whether numbers were drawn, or a seed was set."""
        return self.read() != self.before


def generator_of(value: Any, name: str) -> Generator | None:
    """Return the generator that a module, object or method draws of, None if it is no such."""
    owner = getattr(value, "__self__", value)
    state: Callable[[], Any]
    if owner is random:
        state = random.getstate
    elif owner is np.random:
        state = np.random.get_state
    elif isinstance(owner, random.Random):
        state = owner.getstate
    elif isinstance(owner, np.random.Generator):
        state = functools.partial(getattr, owner.bit_generator, "state")
    elif isinstance(owner, np.random.RandomState):
        state = owner.get_state
    else:
        return None

    def read() -> bytes:
        return pickle.dumps(state())

    return Generator(name, read, read())
