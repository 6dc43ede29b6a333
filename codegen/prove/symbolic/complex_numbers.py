"""Complex numbers in proofs: each is `a + i*b`, and `a` and `b` are real symbols.

Every symbol is real, so the conjugate of an expression is the expression with `-i` for `i`: the
functions of the models take conjugates to conjugates (off their branch cuts, where no witness is).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy
from sympy import Expr, I

from ...spec.model import Example, OpSpec, Type
from ...spec.structure import shape_only, unmet

_KEPT = 4096
"""Expressions of which is kept whether they are complex, and their conjugates."""


@lru_cache(_KEPT)
def is_complex(expr: Expr) -> bool:
    """Return whether an expression is written with `i`."""
    left, seen = [expr], {id(expr)}
    while left:
        part = left.pop()
        if part is I:
            return True
        # What a sum of products has in common is one object, and looked at once.
        new = [arg for arg in part.args if id(arg) not in seen]
        seen.update(map(id, new))
        left += new
    return False


@lru_cache(_KEPT)
def conjugate(expr: Expr) -> Expr:
    """`a - i*b` for `a + i*b`."""
    return expr.xreplace({I: -I}) if is_complex(expr) else expr


def real_part(expr: Expr) -> Expr:
    """`a`, written without `i` where that is easily done."""
    return _expanded((expr + conjugate(expr)) / 2) if is_complex(expr) else expr


def real_part_to_compare(expr: Expr) -> Expr:
    """`a` as half a sum: to write it without `i` takes long, and a comparison does without."""
    return (expr + conjugate(expr)) / 2 if is_complex(expr) else expr


def imaginary_part(expr: Expr) -> Expr:
    """`b`, written without `i` where that is easily done."""
    return _expanded((expr - conjugate(expr)) / (2 * I)) if is_complex(expr) else sympy.S.Zero


def _expanded(expr: Expr) -> Expr:
    return sympy.expand(expr)


def absolute(expr: Expr) -> Expr:
    """The square root of `a*a + b*b`."""
    return sympy.sqrt(_expanded(expr * conjugate(expr)))


def parameters(element: Expr) -> tuple[tuple[sympy.Symbol, Expr], ...]:
    """The real symbols of an input and what each stands before: 1, or `i`.

    Empty for an element that is no variable.
    """
    if element.is_Symbol:
        return ((element, sympy.S.One),)
    if element.is_Add and len(element.args) == 2:
        real, imaginary = real_part(element), imaginary_part(element)
        if real.is_Symbol and imaginary.is_Symbol:
            return ((real, sympy.S.One), (imaginary, I))
    return ()


def complex_examples(spec: OpSpec, examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """The examples again with complex tensors; where dtypes mix, also with a single complex one.

    All that the spec gives, because each may take another branch of a formula; of those that every
    elementwise op gets, and of those of a composite, whose ops are proved themselves, the smallest.
    """
    if not spec.complex:
        return ()
    params = {param.name: param.type for param in spec.signature.tensor_params}
    examples = tuple(example for example in examples if not _names_dtype(spec, example))
    ordered = sorted(examples, key=_size)
    chosen = examples if spec.examples and spec.composite is None else ordered[:_OF_COMPOSITES]
    found = [_with_complex(example, params) for example in chosen]
    if len(spec.promotes) > 1 and not spec.same_dtype:
        found += [_with_complex(ordered[0], {name: params[name]}) for name in spec.promotes]
    return tuple(
        example
        for example in found
        if example is not None and unmet(spec, shape_only(spec, example)) is None
    )


def complex_numbers_given(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Example]:
    """Complex tensors, and for each number that the op takes a complex one as well.

    A rule may forget to conjugate a factor. Not every op can be given such a number.
    """
    if not spec.complex or not examples or spec.composite is not None:
        return
    types = {param.name: param.type for param in spec.signature.tensor_params}
    first = _with_complex(min(examples, key=_size), types)
    if first is None:
        return
    for param in spec.signature.params:
        if param.type.base == "Scalar" and not param.type.is_list:
            args = dict(first.args) | {param.name: COMPLEX_NUMBER}
            yield Example(tuple(args.items()), first.span)


COMPLEX_NUMBER = 0.5 - 2j

_OF_COMPOSITES = 2


def _names_dtype(spec: OpSpec, example: Example) -> bool:
    """Return whether it asks for a real dtype, in which nothing is left of imaginary parts."""
    dtypes = {p.name for p in spec.signature.params if p.type.base == "ScalarType"}
    return any(name in dtypes and value is not None for name, value in example.args)


def _size(example: Example) -> int:
    """Estimate how many elements the tensors of an example have."""
    return sum(math.prod(value) for _, value in example.args if _is_shape(value))


def _is_shape(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(length, int) for length in value)


def _with_complex(example: Example, params: dict[str, Type]) -> Example | None:
    """The example with complex numbers for some arguments; None if that changes nothing."""
    args = tuple(
        (name, _made_complex(value, params[name]) if name in params else value)
        for name, value in example.args
    )
    return None if args == example.args else Example(args, example.span)


def _made_complex(value: Any, type_: Type) -> Any:
    if type_.is_list:
        return [{"complex": item} if isinstance(item, list) else item for item in value]
    return {"complex": value} if isinstance(value, list | tuple) else value
