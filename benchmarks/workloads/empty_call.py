"""A call of a program that does nothing: what compiled functions cost besides their work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Run, Workload


class EmptyCall(Workload):
    """A function that returns its argument, as the libraries that compile functions call it."""

    doc = "call of a compiled function that returns its argument"
    absent: ClassVar = dict.fromkeys(
        ("gradspec", "torch-2", "torch-1", "autograd", "mygrad"), "compiles nothing here"
    )

    def __init__(self, elements: int) -> None:
        self.name = "empty-call" if elements > 1 else "empty-call-1"
        self.title = "empty call"
        self.elements = elements

    def create_data(self) -> None:
        self.params = [np.ones(self.elements)]

    def by_hand(self) -> Run:
        (x,) = self.params
        return lambda: [identity(x)]

    def by_pytorch_api(self, lib: Any) -> Run:
        x = lib.tensor(self.params[0])
        return lambda: [identity(x)]

    def compiled(self, lib: Any) -> Run:
        x, call = lib.tensor(self.params[0]), lib.compile(identity)
        return lambda: [call(x)]

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        raise NotImplementedError("nothing is differentiated")

    def pure(self, np: Any, grad: Callable[..., Any]) -> Callable[[Sequence[Any]], list[Any]]:
        return lambda params: [identity(params[0])]


def identity(x: Any) -> Any:
    """Return the argument."""
    return x


WORKLOADS: tuple[Workload, ...] = (EmptyCall(4),)
SMALL: tuple[Workload, ...] = (EmptyCall(1),)
