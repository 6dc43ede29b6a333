"""Reverse mode as transforms: `grad`, `grad_and_value`, `vjp`.

Each call makes leaves of its own, views of the arguments, and differentiates with respect to these.
What an enclosing transform differentiates stays connected, so that they nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final
from weakref import WeakSet

from ..autograd.backward import fitted_cotangents
from ..autograd.edges import nodes_below
from ..autograd.run_backward import run_backward
from ..batching.exposed import expose, hide, open_batches
from ..core.modes import enable_grad, is_grad_enabled
from ..core.node import Node, place_of
from ..core.tensor import Tensor
from ..dtypes.kinds import DIFFERENTIABLE_KINDS
from ..forward_ad.dual import tangents_of, with_tangents, without_tangents
from ..functions.creation import ones_like, zeros_like
from ..inplace.in_transforms import forget_leaves, inside
from .arrays import takes_arrays
from .trees import leaves_of, map_leaves, tree_structure, with_leaves


class Leaves:
    """Copies of tensors, on the same memory, with respect to which a function is differentiated."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.batches = open_batches()
        """The calls of `vmap` around: the graph is below them."""
        self.physical = [self._leaf(tensor) for tensor in leaves_of(tree)]
        self.given = with_leaves(tree, [hide(leaf, self.batches) for leaf in self.physical])
        """Arguments of the function."""

    def _leaf(self, tensor: Any) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise ValueError(f"expected tensors to differentiate by, got {type(tensor).__name__}")
        if tensor.dtype.kind not in DIFFERENTIABLE_KINDS:
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients, got "
                f"{tensor.dtype}"
            )
        exposed = expose(tensor, self.batches)
        if exposed.requires_grad:
            with enable_grad():
                return exposed.view_as(exposed)
        plain = without_tangents(exposed).detach()
        plain.requires_grad = True
        return with_tangents(plain, tangents_of(exposed))

    def outer(self, roots: Sequence[Tensor], made: set[Node]) -> bool:
        """Return whether results depend on what is differentiated elsewhere.

        What was made inside of the transform is not elsewhere.
        """
        own = self.nodes()
        return any(not node.is_leaf for node in own) or depend_outside(roots, own | made)

    def finish(self) -> None:
        """No gradient is asked of these leaves any more, though graphs may lead to them."""
        leaves = [node for node in self.nodes() if node.is_leaf]
        _finished.update(leaves)
        forget_leaves(leaves)

    def nodes(self) -> set[Node]:
        """The nodes at which the gradients arrive."""
        return {place_of(leaf.grad_node)[0] for leaf in self.physical if leaf.grad_node is not None}

    def gradients(
        self, roots: Sequence[Tensor], cotangents: Sequence[Tensor], *, keeps: bool, records: bool
    ) -> Any:
        """The gradients of physical roots, for what was given; zeros where there is no path."""
        pairs = [(r, c) for r, c in zip(roots, cotangents, strict=True) if r.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(self.physical)
        if pairs:
            given = tuple(root for root, _ in pairs)
            found = run_backward(
                given,
                fitted_cotangents(given, [cotangent for _, cotangent in pairs]),
                keep_graph=keeps or records,
                create_graph=records,
                inputs=self.physical,
                allow_unreachable=True,
            )
        grads = [
            zeros_like(leaf.detach()) if g is None else g
            for leaf, g in zip(self.physical, found, strict=True)
        ]
        return with_leaves(self.tree, [hide(each, self.batches) for each in grads])


_finished: Final[WeakSet[Node]] = WeakSet()
"""The leaves of transforms that have returned."""


def depend_outside(roots: Sequence[Tensor], inner: set[Node]) -> bool:
    """Return whether results depend on leaves other than some, and those of finished transforms."""
    leaves = (node for node in nodes_below(roots) if node.is_leaf and node not in inner)
    return any(node not in _finished for node in leaves)


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that computes the gradient of `func`, which returns one number.

    By the arguments at `argnums`, which may be nested tuples, lists and dicts of tensors. With
    `has_aux` `func` returns a pair, and the second is returned beside the gradient.

    RuntimeError where `func` returns no tensor of one number.
    """
    with_value = grad_and_value(func, argnums, has_aux)

    @takes_arrays
    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        gradient, value = with_value(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that computes the gradient of `func` and its value, in this order: see `grad`."""

    @takes_arrays
    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = checked(argnums, args)
        records = is_grad_enabled()
        leaves = Leaves(tuple(args[number] for number in numbers))
        given = list(args)
        for number, tree in zip(numbers, leaves.given, strict=True):
            given[number] = tree
        with enable_grad(), inside(leaves_of((given, kwargs)), leaves.nodes()) as transform:
            result = func(*given, **kwargs)
        value, aux = pair(result, "grad_and_value(f)(*args)") if has_aux else (result, None)
        _check_number(value)
        root = expose(value, leaves.batches)
        is_outer = leaves.outer([root], transform.made)
        found = leaves.gradients(
            [root], [ones_like(root.detach())], keeps=is_outer, records=records and is_outer
        )
        leaves.finish()
        gradient = found[0] if isinstance(argnums, int) else found
        cut = _kept if records and is_outer else _cut
        return (gradient, (cut(value), map_leaves(cut, aux)) if has_aux else cut(value))

    return call


@takes_arrays
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The results of `func`, and a function from their cotangents to those of `primals`.

    That function takes a tree like the results, also inside `vmap`, and returns a tuple, one
    cotangent for each of `primals`. With `has_aux` `func` returns a pair, and the
    second is returned as a third.

    RuntimeError where a result is not of floating point or complex dtype.
    """
    result, *rest = pull_back_of(func, primals, has_aux=has_aux)
    for output in leaves_of(result):
        if output.dtype.kind not in DIFFERENTIABLE_KINDS:
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {output.dtype}: return it beside the others, by has_aux"
            )
    return (result, *rest)


def pull_back_of(
    func: Callable[..., Any], primals: tuple[Any, ...], *, has_aux: bool = False
) -> tuple[Any, ...]:
    """Do what `vjp` does, for results of any dtype: the gradients of whole numbers are zero."""
    records = is_grad_enabled()
    leaves = Leaves(primals)
    with enable_grad(), inside(leaves_of(leaves.given), leaves.nodes()) as transform:
        result = func(*leaves.given)
    result, aux = pair(result, "vjp(f, *primals)") if has_aux else (result, None)
    outputs = tensors_of(result, "vjp(f, *primals)")
    batches = leaves.batches
    roots = [expose(output, batches) for output in outputs]
    is_outer = leaves.outer(roots, transform.made)
    cut = _kept if records and is_outer else _cut

    def pull_back(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        _check_cotangents(cotangents, result)
        given = leaves_of(cotangents)
        tracked = any(cotangent.requires_grad for cotangent in given)
        recorded = is_grad_enabled() and (is_outer or tracked)
        return leaves.gradients(
            roots,
            [expose(cotangent, batches) for cotangent in given],
            keeps=True,
            records=recorded if create_graph is None else create_graph,
        )

    leaves.finish()
    results = map_leaves(cut, result)
    return (results, pull_back, map_leaves(cut, aux)) if has_aux else (results, pull_back)


def checked(argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> list[int]:
    """The positions of the arguments to differentiate by, counted from the front."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnum must be int, got: {type(number)}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    numbers = [number % len(args) for number in numbers]
    if len(set(numbers)) < len(numbers):
        raise RuntimeError(f"All elements in argnums must be unique, got {argnums}")
    return numbers


def pair(result: Any, call: str) -> tuple[Any, Any]:
    """The output and what is returned beside it, which must be tensors, or nested with tensors."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    for leaf in leaves_of(result[1]):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{call}: aux: Expected tensors, got unsupported type {type(leaf)}")
    return result


def tensors_of(result: Any, call: str) -> list[Tensor]:
    """The tensors that a function has returned; RuntimeError if there are none, or other values."""
    outputs = leaves_of(result)
    if not outputs:
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {result})"
        )
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(output)}"
            )
    return outputs


def _check_number(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}"
        )
    if value.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
            f"with {value.ndim} dims. Maybe you forgot to aggregate the output into a scalar?"
        )
    if value.dtype.kind == "c":
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{value.dtype}: take the real part of f(*args), or its abs()"
        )


def _check_cotangents(cotangents: Any, result: Any) -> None:
    given, wanted = tree_structure(cotangents), tree_structure(result)
    if given != wanted:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of "
            f"outputs to the function. cotangents: {given}, outputs: {wanted}"
        )
    for cotangent, output in zip(leaves_of(cotangents), leaves_of(result), strict=True):
        if not isinstance(cotangent, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(cotangent).__name__}"
            )
        if cotangent.shape != output.shape:
            raise RuntimeError(
                f"vjp: a cotangent of shape {list(cotangent.shape)} for a result of shape "
                f"{list(output.shape)}"
            )


def _cut(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) and value.requires_grad else value


def _kept(value: Any) -> Any:
    return value
