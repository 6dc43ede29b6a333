"""The computed side of a sweep: values and derivatives of an op at many points at once.

It runs in the worker processes of a proof, which have imported the package to be looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .exact import By
from .subjects import Subject

Array: TypeAlias = np.ndarray[Any, Any]

Quantity: TypeAlias = tuple[str, By]
"""Kind of a value (`forward`, `VJP`, `JVP`, `second`), and the derivative that it belongs to."""


def computed(
    subject: Subject, columns: Sequence[Array], known: Sequence[By]
) -> dict[Quantity, Array]:
    """Every quantity of an op at all points; `known` are the derivatives to ask for."""
    leaves = dict(zip(subject.tensors, columns, strict=True))
    firsts = [by[0] for by in known if len(by) == 1]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _backward(subject, leaves, firsts)
        for name in firsts:
            found["JVP", (name,)] = _forward_mode(subject, leaves, name)
    return found


def _backward(
    subject: Subject, columns: Mapping[str, Array], firsts: Sequence[str]
) -> dict[Quantity, Array]:
    """The value, the gradients, and the gradients of these."""
    from gradspec import autograd
    from gradspec.core.tensor import wrap

    leaves = {n: wrap(c.copy()).requires_grad_(n in firsts) for n, c in columns.items()}
    out = _called(subject, leaves)
    shape = next(iter(columns.values())).shape
    found: dict[Quantity, Array] = {("forward", ()): out.detach().numpy()}
    if not out.requires_grad:
        return found | {("VJP", (name,)): np.zeros(shape) for name in firsts}
    slopes = autograd.grad(
        out.sum(), [leaves[n] for n in firsts], create_graph=True, materialize_grads=True
    )
    for name, slope in zip(firsts, slopes, strict=True):
        assert slope is not None
        found["VJP", (name,)] = slope.detach().numpy()
        for place, other in enumerate(firsts):
            by = (name, other) if firsts.index(name) <= place else (other, name)
            bend = np.zeros(shape)
            if slope.requires_grad:
                (again,) = autograd.grad(
                    slope.sum(), [leaves[other]], retain_graph=True, materialize_grads=True
                )
                assert again is not None
                bend = again.detach().numpy()
            key = ("second", by)
            found[key] = bend if key not in found else _worse(found[key], bend)
    return found


def _worse(first: Array, second: Array) -> Array:
    """Return the first of two results that ought to be equal which is not finite, if one is not."""
    return np.where(np.isfinite(first), second, first)


def _forward_mode(subject: Subject, columns: Mapping[str, Array], name: str) -> Array:
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    with dual_level():
        tensors = {n: wrap(c.copy()) for n, c in columns.items()}
        tensors[name] = make_dual(tensors[name], wrap(np.ones_like(columns[name])))
        tangent = unpack_dual(_called(subject, tensors)).tangent
        return np.zeros(columns[name].shape) if tangent is None else tangent.numpy()


def _called(subject: Subject, tensors: Mapping[str, Any]) -> Any:
    from gradspec.dispatch.registry import BY_NAME

    values = subject.arguments() | dict(tensors)
    params = subject.op.signature.params
    positional = [values[p.name] for p in params if not p.keyword_only]
    function = BY_NAME[subject.op.name].function
    return function(*positional, **{p.name: values[p.name] for p in params if p.keyword_only})
