"""The same ops in other libraries: values and gradients at the points of a sweep."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from gradspec_codegen.lint.computed import Quantity
from gradspec_codegen.lint.subjects import Subject

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Peer:
    """A library, where its functions are, and how it differentiates."""

    name: str
    module: str
    places: tuple[str, ...]
    evaluate: Callable[[Callable[..., Any], Subject, Sequence[Array]], Iterator[Any]]
    """Yield the values, then the gradient of each tensor argument."""
    has_numbers: bool = False
    """True if it spells arguments that are no tensors as gradspec does."""
    others: Mapping[str, str] | None = None
    """Names of ops that are spelled otherwise."""

    @property
    def is_installed(self) -> bool:
        """Return whether its module can be found; nothing is imported."""
        return importlib.util.find_spec(self.module) is not None

    def computed(self, subject: Subject, columns: Sequence[Array]) -> dict[Quantity, Array] | None:
        """Values and gradients of an op; None if the library has no such function."""
        if subject.settings and not self.has_numbers:
            return None
        function = self._function(subject.op.signature.name)
        if function is None:
            return None
        keys: list[Quantity] = [("forward", ()), *(("VJP", (n,)) for n in subject.tensors)]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = [np.asarray(r) for r in self.evaluate(function, subject, columns)]
        except (TypeError, NotImplementedError, RuntimeError, ValueError, AttributeError):
            return None  # another signature, or no derivative
        return dict(zip(keys, results, strict=False))

    def _function(self, name: str) -> Callable[..., Any] | None:
        name = (self.others or {}).get(name, name.removeprefix("special_"))
        for place in self.places:
            try:
                found = getattr(import_module(place), name, None)
            except ImportError:
                continue
            if callable(found):
                return found
        return None


def _torch(function: Callable[..., Any], subject: Subject, columns: Sequence[Array]) -> Any:
    import torch

    leaves = dict(
        zip(
            subject.tensors,
            (torch.from_numpy(c.copy()).requires_grad_() for c in columns),
            strict=True,
        )
    )
    values = subject.arguments() | leaves
    params = subject.op.signature.params
    positional = [values[p.name] for p in params if not p.keyword_only]
    out = function(*positional, **{p.name: values[p.name] for p in params if p.keyword_only})
    yield out.detach().numpy()
    gradients = torch.autograd.grad(out.sum(), list(leaves.values()), materialize_grads=True)
    yield from (gradient.numpy(force=True) for gradient in gradients)


def _jax(function: Callable[..., Any], subject: Subject, columns: Sequence[Array]) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = [jax.numpy.asarray(column) for column in columns]
    yield function(*arrays)
    for place in range(len(arrays)):
        yield jax.grad(lambda *xs: function(*xs).sum(), argnums=place)(*arrays)


def _autograd(function: Callable[..., Any], subject: Subject, columns: Sequence[Array]) -> Any:
    from autograd import elementwise_grad

    yield function(*columns)
    for place in range(len(columns)):
        yield elementwise_grad(function, place)(*columns)


def _mygrad(function: Callable[..., Any], subject: Subject, columns: Sequence[Array]) -> Any:
    import mygrad

    tensors = [mygrad.tensor(column.copy()) for column in columns]
    out = function(*tensors)
    yield out.data
    out.sum().backward()
    yield from (np.zeros(t.shape) if t.grad is None else t.grad for t in tensors)


_NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "lgamma": "gammaln",
    "sigmoid": "expit",
}
"""Ops that NumPy and SciPy call otherwise."""

PEERS = (
    Peer(
        "PyTorch",
        "torch",
        ("torch", "torch.nn.functional", "torch.special"),
        _torch,
        has_numbers=True,
        others={"log_sigmoid": "logsigmoid"},
    ),
    Peer("JAX", "jax", ("jax.numpy", "jax.nn", "jax.scipy.special"), _jax, others=_NUMPY_NAMES),
    Peer(
        "autograd",
        "autograd",
        ("autograd.numpy", "autograd.scipy.special"),
        _autograd,
        others=_NUMPY_NAMES,
    ),
    Peer(
        "MyGrad",
        "mygrad",
        ("mygrad", "mygrad.nnet.activations"),
        _mygrad,
        others={**_NUMPY_NAMES, "sigmoid": "sigmoid"},
    ),
)
