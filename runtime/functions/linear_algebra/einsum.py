"""`einsum` and `tensordot`: sums of products of tensors over shared dimensions, by `bmm` and `mm`.

Each pair of tensors is brought to the form (batch, left, summed) and (batch, summed, right), where
one matrix product does all the work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ...core.tensor import Tensor, normalize_dim
from ...dispatch.registry import ops
from ...inplace.keywords import accepts_out

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""The letters in PyTorch's order; the module `string` would take long to import."""

Label = str
"""A letter, or `.0`, `.1`, ... for the dimensions of an ellipsis, counted from the last."""


class _Term(NamedTuple):
    """A tensor with a label for each dimension."""

    tensor: Tensor
    labels: list[Label]

    def size(self, label: Label) -> int:
        return self.tensor.shape[self.labels.index(label)]


def einsum(*args: Any) -> Tensor:
    """Einstein summation: `einsum("ij,jk->ik", a, b)`, or with lists of numbers for the letters.

    A letter that occurs twice in one tensor means its diagonal; `...` stands for dimensions that
    broadcast. Without `->` the result has the letters that occur once, in alphabetical order.
    Raises RuntimeError where the equation does not fit the tensors, ValueError without tensors.
    """
    equation, tensors = _equation_of(args)
    if not tensors:
        raise ValueError("einsum(): must specify the equation and at least one operand")
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    written = inputs.split(",")
    if len(written) != len(tensors):
        raise RuntimeError(
            f"einsum(): the equation has {len(written)} subscripts for {len(tensors)} operands"
        )
    terms = [
        _diagonals(_Term(tensor, _labels(text, tensor.ndim)))
        for text, tensor in zip(written, tensors, strict=True)
    ]
    _check_sizes(terms)
    kept = _output_labels(terms, inputs, output if arrow else None)
    if len(terms) == 1:
        return _alone(terms[0], kept)
    for positions in _path(terms, kept):
        chosen = [terms[position] for position in positions]
        rest = [term for position, term in enumerate(terms) if position not in positions]
        for second in chosen[1:]:
            needed = {*kept, *(label for term in rest for label in term.labels)}
            if len(chosen) > 2:
                needed |= {label for term in chosen for label in term.labels}
            chosen[0] = _contract(chosen[0], second, needed, kept)
        terms = [*rest, chosen[0]]
    (last,) = terms
    last = _summed_out(last, kept)
    return _permuted(last, kept)


def _alone(term: _Term, kept: list[Label]) -> Tensor:
    """A single tensor in the order of the result, then summed over what is left."""
    summed = [label for label in term.labels if label not in kept]
    order = [term.labels.index(label) for label in (*kept, *summed)]
    permuted: Tensor = ops.permute(term.tensor, order)
    return permuted.sum(list(range(len(kept), len(order)))) if summed else permuted


def _equation_of(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation as a text and the tensors, from either form of the arguments."""
    if not args or len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], str):
        tensors = args[1] if len(args) == 2 and isinstance(args[1], list | tuple) else args[1:]
        return args[0], list(tensors)
    pairs = len(args) // 2
    texts = [_letters(args[2 * n + 1]) for n in range(pairs)]
    equation = ",".join(texts)
    if len(args) % 2:
        equation += "->" + _letters(args[-1])
    return equation, [args[2 * n] for n in range(pairs)]


def _letters(subscripts: Sequence[Any]) -> str:
    """Letters for a list of numbers; an Ellipsis stays one."""
    if any(each is not Ellipsis and not 0 <= each < 52 for each in subscripts):
        raise ValueError("einsum(): expected subscripts to be within [0, 52)")
    return "".join("..." if each is Ellipsis else _LETTERS[each] for each in subscripts)


def _labels(text: str, ndim: int) -> list[Label]:
    if not re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", text):
        raise RuntimeError(f"einsum(): the subscripts {text!r} are not letters and one ellipsis")
    before, dots, after = text.partition("...")
    more = ndim - len(before) - len(after)
    if more < 0 or (more and not dots):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({text!r}) does not match the "
            f"number of dimensions ({ndim}) for an operand"
        )
    return [*before, *(f".{n}" for n in reversed(range(more))), *after]


def _diagonals(term: _Term) -> _Term:
    """A tensor in which no label occurs twice."""
    tensor, labels = term.tensor, list(term.labels)
    for label in dict.fromkeys(term.labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for an operand but the sizes don't "
                    f"match, {tensor.shape[second]} != {tensor.shape[first]}"
                )
            tensor = ops.diagonal(tensor, 0, first, second)
            labels = [x for n, x in enumerate(labels) if n not in (first, second)] + [label]
    return _Term(tensor, labels)


def _check_sizes(terms: list[_Term]) -> None:
    sizes: dict[Label, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.tensor.shape, strict=True):
            known = sizes.setdefault(label, size)
            if 1 not in (known, size) and known != size:
                raise RuntimeError(
                    f"einsum(): the sizes of subscript {label} do not broadcast: {known} and {size}"
                )
            sizes[label] = size if known == 1 else known


def _output_labels(terms: list[_Term], inputs: str, output: str | None) -> list[Label]:
    found = {label for term in terms for label in term.labels}
    dots = sorted((label for label in found if label.startswith(".")), key=_dot, reverse=True)
    if output is None:
        return [*dots, *sorted(x for x in set(inputs) - {",", "."} if inputs.count(x) == 1)]
    before, ellipsis, after = output.partition("...")
    kept = [*before, *(dots if ellipsis else ()), *after]
    if len(set(kept)) < len(kept) or not found.issuperset(kept):
        raise RuntimeError(f"einsum(): the output subscripts {output!r} repeat or are not inputs")
    return kept


def _dot(label: Label) -> int:
    return int(label[1:])


def _path(terms: list[_Term], kept: list[Label]) -> list[tuple[int, ...]]:
    """Choose the terms to contract in each step; the product is appended to those left."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    names = dict.fromkeys(label for term in terms for label in term.labels)
    letters = dict(zip(names, _LETTERS, strict=False))
    texts = ["".join(letters[label] for label in term.labels) for term in terms]
    equation = f"{','.join(texts)}->{''.join(letters[label] for label in kept)}"
    shapes = [np.broadcast_to(np.float64(0), term.tensor.shape) for term in terms]
    path = np.einsum_path(equation, *shapes, optimize="greedy")[0]
    return [tuple(step) for step in path[1:]]


def _contract(a: _Term, b: _Term, needed: set[Label], kept: list[Label]) -> _Term:
    """The product of two terms, summed over the labels that nothing else needs.

    Where nothing is summed the elements are multiplied, in the order of the result.
    """
    a = _summed_out(a, needed | set(b.labels))
    b = _summed_out(b, needed | set(a.labels))
    shared = [label for label in a.labels if label in b.labels]
    if needed.issuperset(shared):
        names = dict.fromkeys((*kept, *a.labels, *b.labels))
        labels = [label for label in names if label in a.labels or label in b.labels]
        return _Term(_spread(a, labels) * _spread(b, labels), labels)
    a, b = _expanded(a, b, shared), _expanded(b, a, shared)
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    left = [label for label in a.labels if label not in shared]
    right = [label for label in b.labels if label not in shared]
    sizes = [[a.size(x) for x in group] for group in (batch, left, summed)]
    right_sizes = [b.size(x) for x in right]
    lengths = [prod(group) for group in sizes]
    first = _permuted(a, [*batch, *left, *summed]).reshape(lengths)
    second = _permuted(b, [*batch, *summed, *right])
    second = second.reshape([lengths[0], lengths[2], prod(right_sizes)])
    product = ops.bmm(first, second)
    shape = [*sizes[0], *sizes[1], *right_sizes]
    return _Term(product.reshape(shape), [*batch, *left, *right])


def _summed_out(term: _Term, needed: Any) -> _Term:
    """Drop the dimensions that nothing needs."""
    dims = [n for n, label in enumerate(term.labels) if label not in needed]
    if not dims:
        return term
    labels = [label for label in term.labels if label in needed]
    return _Term(term.tensor.sum(dims), labels)


def _expanded(term: _Term, other: _Term, shared: list[Label]) -> _Term:
    """Take the other's length where this one's is one."""
    wanted = [
        other.size(label) if label in shared and term.size(label) == 1 else -1
        for label in term.labels
    ]
    if all(length in (-1, 1) for length in wanted):
        return term
    return _Term(ops.expand(term.tensor, wanted), term.labels)


def _spread(term: _Term, labels: list[Label]) -> Tensor:
    """Give the term a dimension for each of `labels`, of length one where it has none."""
    tensor = _permuted(term, [label for label in labels if label in term.labels])
    for axis, label in enumerate(labels):
        if label not in term.labels:
            tensor = tensor.unsqueeze(axis)
    return tensor


def _permuted(term: _Term, labels: list[Label]) -> Tensor:
    order = [term.labels.index(label) for label in labels]
    if order == list(range(len(order))):
        return term.tensor
    return ops.permute(term.tensor, order)


@accepts_out
def tensordot(
    a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] | Sequence[int] | Tensor = 2
) -> Tensor:
    """Sum of products over the last `dims` dimensions of `a` and the first of `b`, or over lists.

    Raises RuntimeError where the dimensions do not fit.
    """
    given: Any = dims.tolist() if isinstance(dims, Tensor) else dims
    if isinstance(given, int):
        if not 0 <= given <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims >= 0 within both tensors, but got {given}")
        given = [range(a.ndim - given, a.ndim), range(given)]
    dims_a, dims_b = ([x] if isinstance(x, int) else list(x) for x in given)
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have the same length")
    dims_a = [normalize_dim(dim, a.ndim) for dim in dims_a]
    dims_b = [normalize_dim(dim, b.ndim) for dim in dims_b]
    labels_a = [f"a{dim}" for dim in range(a.ndim)]
    labels_b = [f"b{dim}" for dim in range(b.ndim)]
    for dim_a, dim_b in zip(dims_a, dims_b, strict=True):
        labels_b[dim_b] = labels_a[dim_a]
    terms = [_Term(a, labels_a), _Term(b, labels_b)]
    if len(set(dims_a)) < len(dims_a) or len(set(dims_b)) < len(dims_b):
        raise RuntimeError("tensordot: a dimension appears multiple times in the list of dims")
    _check_sizes(terms)
    summed = {labels_a[dim] for dim in dims_a}
    kept = [label for label in (*labels_a, *labels_b) if label not in summed]
    return _product(terms, kept, summed)


def _product(terms: list[_Term], kept: list[Label], summed: set[Label]) -> Tensor:
    a, b = terms
    common = [label for label in a.labels if label in summed]
    a, b = _expanded(a, b, common), _expanded(b, a, common)
    left = [label for label in a.labels if label not in summed]
    right = [label for label in b.labels if label not in summed]
    shape = [*(a.size(x) for x in left), *(b.size(x) for x in right)]
    length = prod(a.size(x) for x in common)
    first = _permuted(a, [*left, *common]).reshape([prod(shape[: len(left)]), length])
    second = _permuted(b, [*common, *right]).reshape([length, prod(shape[len(left) :])])
    return ops.mm(first, second).reshape(shape)
