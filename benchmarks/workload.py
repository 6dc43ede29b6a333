"""A workload: the same computation, written as each library's users would write it.

A call computes gradients from nothing, forward and backward, and returns them, so that the
libraries' results can be compared before they are timed. Each file in `workloads/` has one kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Run: TypeAlias = Callable[[], Sequence[Any]]
"""One call of a prepared workload; the results are arrays, or what `np.asarray` takes."""


class Workload(ABC):
    """One row of the table.

    `loss` is written once for the libraries that follow NumPy (JAX, autograd, MyGrad); what they
    name differently is in `workloads/dialects.py`.
    """

    name: str
    """On the command line, in the baseline and in the bounds: `chain-4`."""
    title: str
    """In the table."""
    doc: str
    """In documents: what is computed, of which size and dtype."""
    params: list[Array]
    """Return the function that is differentiated."""
    learning_rate: float | None = None
    """Learning rate; if set, a call ends with a step of gradient descent."""
    tolerance: float = 1e-9
    """To which the libraries must agree, relative to the largest element of each result."""
    absent: ClassVar[Mapping[str, str]] = {}
    """Libraries that cannot run this, and why."""

    slow: bool = False
    """Does a call take seconds? Quick runs leave it out."""

    @abstractmethod
    def create_data(self) -> None:
        """Draw `params` and constants; before that a workload only has its names."""

    @abstractmethod
    def by_hand(self) -> Run:
        """NumPy, with the derivative written out by a person."""

    @abstractmethod
    def by_pytorch_api(self, lib: Any) -> Run:
        """The same code for PyTorch and gradspec."""

    def compiled(self, lib: Any) -> Run:
        """The same code, compiled as a whole, for gradspec."""
        run: Run = lib.compile(self.by_pytorch_api(lib))
        return run

    @abstractmethod
    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        """The function differentiated, in the NumPy dialect of the module `np`."""

    def pure(self, np: Any, grad: Callable[..., Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """The whole call as a function of the parameters (JAX compiles it as one)."""
        gradient = grad(lambda params: self.loss(np, params))

        def call(params: Sequence[Any]) -> list[Any]:
            grads = gradient(params)
            if self.learning_rate is None:
                return list(grads)
            stepped = [p - self.learning_rate * g for p, g in zip(params, grads, strict=True)]
            return [*grads, *stepped]

        return call


def check_agreement(
    name: str, results: Sequence[Array], expected: Sequence[Array], tolerance: float
) -> None:
    """Raise ValueError unless a library's results are the expected ones.

    Differences count relative to the largest element: a float32 sum that cancels has no better
    relative precision in any library.
    """
    if len(results) != len(expected):
        raise ValueError(f"{name} has {len(results)} results where {len(expected)} are expected")
    for index, (own, wanted) in enumerate(zip(results, expected, strict=True)):
        if own.shape != wanted.shape or own.dtype != wanted.dtype:
            raise ValueError(
                f"{name}: result {index} is {own.dtype}{list(own.shape)}, "
                f"not {wanted.dtype}{list(wanted.shape)}"
            )
        scale = float(np.abs(wanted).max(initial=0)) or 1.0
        error = float(np.abs(own - wanted).max(initial=0)) / scale
        if not error <= tolerance:
            raise ValueError(
                f"{name}: result {index} is wrong by {error:.1e} of its largest element"
            )
