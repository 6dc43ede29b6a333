"""Forward mode as transforms: `jvp`, `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.forward_ad import dual_level, make_dual, unpack_dual
from ..core.tensor import Tensor
from ..functions.creation import zeros_like
from .arrays import takes_arrays
from .gradients import vjp
from .trees import leaves_of, map_leaves, with_leaves


@takes_arrays
def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The results of `func(*primals)` and their tangents, the derivative along `tangents`.

    `tangents` is a tree like `primals`. A result that does not depend on these has a tangent of
    zeros, or is an error if `strict`. With `has_aux` `func` returns a pair, and the second is
    returned as a third.

    RuntimeError where primals and tangents do not fit each other.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to be tuples")
    given, directions = leaves_of(primals), leaves_of(tangents)
    if len(given) != len(directions) or not given:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            f"structure: {len(given)} and {len(directions)} tensors"
        )
    with dual_level():
        duals = [_dual(*pair) for pair in zip(given, directions, strict=True)]
        result = func(*with_leaves(primals, duals))
        aux = None
        if has_aux:
            if not (isinstance(result, tuple) and len(result) == 2):
                raise RuntimeError(
                    "jvp(f, primals, tangents): output of function f should be a tuple: "
                    "(output, aux) if has_aux is True"
                )
            result, aux = result
        outputs = [_unpacked(output, strict) for output in leaves_of(result)]
        values = with_leaves(result, [primal for primal, _ in outputs])
        slopes = with_leaves(result, [tangent for _, tangent in outputs])
        if has_aux:
            return values, slopes, map_leaves(lambda t: _unpacked(t, strict=False)[0], aux)
    return values, slopes


@takes_arrays
def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The results of `func`, and a function from tangents of `primals` to those of the results.

    That function does not call `func` again: it differentiates the pull-back, which is linear in
    the cotangents, so that its own pull-back maps tangents forward.
    """
    result, pull_back = vjp(func, *primals)
    zeros = map_leaves(lambda output: zeros_like(output.detach()), result)

    def push_forward(*tangents: Any) -> Any:
        for primal, tangent in zip(leaves_of(primals), leaves_of(tangents), strict=True):
            if primal.shape != tangent.shape:
                raise RuntimeError(
                    f"linearize: a tangent of shape {list(tangent.shape)} for a primal of shape "
                    f"{list(primal.shape)}"
                )
        return vjp(pull_back, zeros)[1](tangents)[0]

    return result, push_forward


def _dual(primal: Any, tangent: Any) -> Tensor:
    for role, value in (("primal", primal), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected each {role} to be a tensor, got unsupported "
                f"type {type(value)}"
            )
    if primal.shape != tangent.shape:
        raise RuntimeError(
            f"jvp(f, primals, tangents): a tangent of shape {list(tangent.shape)} for a primal of "
            f"shape {list(primal.shape)}"
        )
    return make_dual(primal, tangent)


def _unpacked(output: Any, strict: bool) -> tuple[Any, Any]:
    """The primal and the tangent of a result."""
    if not isinstance(output, Tensor):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected f(*primals) to return only tensors, got "
            f"unsupported type {type(output)}"
        )
    primal, tangent = unpack_dual(output)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
        tangent = zeros_like(primal.detach())
    return primal, tangent
