"""Forward mode as transforms: `jvp`, `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ..autograd.forward_ad import dual_level, make_dual, unpack_dual
from ..batching.exposed import batches_of, expose
from ..core.node import Node
from ..core.tensor import Tensor
from ..functions.creation import zeros_like
from ..inplace.in_transforms import inside
from .arrays import takes_arrays
from .gradients import depend_outside, pair, pull_back_of, tensors_of, vjp
from .trees import leaves_of, map_leaves, tree_structure, with_leaves

_JVP: Final = "jvp(f, primals, tangents)"


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
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple, of the arguments of f, got {type(primals)}"
        )
    given, directions = leaves_of(primals), leaves_of(tangents)
    if not given:
        raise RuntimeError(f"{_JVP}: Expected primals to contain at least one Tensor.")
    _check_structure(_JVP, primals, tangents)
    with dual_level():
        duals = [_dual(*pair) for pair in zip(given, directions, strict=True)]
        with inside([*duals, *directions]) as transform:
            result = func(*with_leaves(primals, duals))
        aux = None
        if has_aux:
            result, aux = pair(result, _JVP)
        finish = partial(_finished, made=transform.made)
        outputs = [
            tuple(map(finish, _unpacked(output, strict))) for output in tensors_of(result, _JVP)
        ]
        values = with_leaves(result, [primal for primal, _ in outputs])
        slopes = with_leaves(result, [tangent for _, tangent in outputs])
        if has_aux:
            beside = map_leaves(lambda t: finish(_unpacked(t, strict=False)[0]), aux)
            return values, slopes, beside
    return values, slopes


@takes_arrays
def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The results of `func`, and a function from tangents of `primals` to those of the results.

    That function does not call `func` again: it differentiates the pull-back, which is linear in
    the cotangents, so that its own pull-back maps tangents forward.
    """
    result, pull_back = pull_back_of(func, primals)
    zeros = map_leaves(lambda output: zeros_like(output.detach()), result)

    def push_forward(*tangents: Any) -> Any:
        _check_structure("linearize", primals, tangents)
        for primal, tangent in zip(leaves_of(primals), leaves_of(tangents), strict=True):
            if primal.shape != tangent.shape:
                raise RuntimeError(
                    f"linearize: a tangent of shape {list(tangent.shape)} for a primal of shape "
                    f"{list(primal.shape)}"
                )
        return vjp(pull_back, zeros)[1](tangents)[0]

    return result, push_forward


def _check_structure(call: str, primals: Any, tangents: Any) -> None:
    given, wanted = tree_structure(tangents), tree_structure(primals)
    if given != wanted:
        raise RuntimeError(
            f"{call}: Expected primals and tangents to have the same python structure, but got "
            f"primals {wanted} and tangents {given}"
        )


def _dual(primal: Any, tangent: Any) -> Tensor:
    for role, value in (("primals", primal), ("tangents", tangent)):
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"{_JVP}: Expected {role} to only contain Tensors, got {type(value)}"
            )
    if primal.shape != tangent.shape:
        raise RuntimeError(
            f"{_JVP}: a tangent of shape {list(tangent.shape)} for a primal of "
            f"shape {list(primal.shape)}"
        )
    return make_dual(primal, tangent)


def _unpacked(output: Tensor, strict: bool) -> tuple[Any, Any]:
    """The primal and the tangent of a result."""
    primal, tangent = unpack_dual(output)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
        tangent = zeros_like(primal.detach())
    return primal, tangent


def _finished(result: Tensor, made: set[Node]) -> Tensor:
    """A result, without its graph if that leads only to leaves that were made inside."""
    if not (made and result.requires_grad):
        return result
    physical = expose(result, batches_of(result))
    return result if depend_outside([physical], made) else result.detach()
