"""A sum of products in Einstein's notation, as the calls of ops that a person would write.

`einsum('ij,jk->ik', a, b)` is `a @ b`; two tensors at a time, from left to right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace

from .nodes import Attribute, Binary, Call, Const, Expr, Sequence, Subscript, number


@dataclass(frozen=True)
class _Term:
    """A tensor with a letter for each dimension, and where each extent can be read."""

    value: Expr
    letters: str
    sizes: dict[str, Expr]


def einsum(equation: str, operands: Items[Expr]) -> Expr:
    """The value of an equation. ValueError if it has an ellipsis, or does not fit the operands."""
    inputs, output = _read(equation, len(operands))
    terms = [_term(value, letters) for value, letters in zip(operands, inputs, strict=True)]
    total, *others = terms
    for place, other in enumerate(others, 1):
        later = "".join(term.letters for term in terms[place + 1 :])
        total = _product(total, other, {*later, *output})
    return _ordered(_summed(total, {*output}), output).value


def _read(equation: str, count: int) -> tuple[list[str], str]:
    """The letters of each operand and those of the result."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if "." in equation:
        raise ValueError("write a letter for each dimension, not `...`")
    if not all(letters.isalpha() and letters.isascii() for letters in [*inputs, output] if letters):
        raise ValueError("letters name dimensions, as in `'ij,jk->ik'`")
    if len(inputs) != count:
        raise ValueError(f"it has {len(inputs)} operands, but is given {count}")
    counted = Counter("".join(inputs))
    if not arrow:
        output = "".join(sorted(letter for letter, times in counted.items() if times == 1))
    for letter, times in Counter(output).items():
        if times > 1 or letter not in counted:
            why = "is there twice" if times > 1 else "is of no operand"
            raise ValueError(f"`{letter}` of the result {why}")
    return inputs, output


def _term(value: Expr, letters: str) -> _Term:
    """An operand, of which a letter that it has twice is a diagonal.

    An order that changes nothing is said, too: it refuses other numbers of dimensions.
    """
    extents = {
        letter: Subscript(Attribute(value, "shape"), Const(k)) for k, letter in enumerate(letters)
    }
    sizes: dict[str, Expr] = dict(extents)
    value = _permuted(value, range(len(letters)))
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            one, other = letters.index(letter), letters.rindex(letter)
            value = Call("diagonal", (value, Const(0), Const(one), Const(other)))
            letters = letters[:one] + letters[one + 1 : other] + letters[other + 1 :] + letter
    return _Term(value, letters, sizes)


def _product(one: _Term, other: _Term, kept: set[str]) -> _Term:
    """The product of two terms, summed over the letters that are not kept."""
    one = _summed(one, kept | {*other.letters})
    other = _summed(other, kept | {*one.letters})
    both = [letter for letter in one.letters if letter in other.letters]
    batch = "".join(letter for letter in both if letter in kept)
    inner = "".join(letter for letter in both if letter not in kept)
    left = "".join(letter for letter in one.letters if letter not in both)
    right = "".join(letter for letter in other.letters if letter not in both)
    sizes = {**other.sizes, **one.sizes}
    if inner and (left or right):
        return _Term(_matmul(one, other, batch, left, inner, right), batch + left + right, sizes)
    first = _ordered(one, batch + left + inner).value
    for _ in right:
        first = Call("unsqueeze", (first, number(-1)))
    second = _ordered(other, batch + right + inner).value
    for _ in left:
        second = Call("unsqueeze", (second, Const(len(batch))))
    product = _Term(Binary("*", first, second), batch + left + right + inner, sizes)
    return _summed(product, {*batch, *left, *right})


def _matmul(one: _Term, other: _Term, batch: str, left: str, inner: str, right: str) -> Expr:
    """The matrix product of two terms, of which letters in groups are one dimension."""
    first = _grouped(one, batch, left, inner)
    second = _grouped(other, batch, inner, right)
    value: Expr = Binary("@", first, second)
    if batch and not (left and right):
        value = Call("squeeze", (value, number(-1 if left else -2)))
    for group, place, term in ((right, -1, other), (left, len(batch), one)):
        if len(group) > 1:
            extents = Sequence(tuple(term.sizes[letter] for letter in group))
            value = Call("unflatten", (value, number(place), extents))
    return value


def _grouped(term: _Term, batch: str, rows: str, columns: str) -> Expr:
    """A term as matrices behind the dimensions of a batch; as a vector where there is no batch."""
    value = _ordered(term, batch + rows + columns).value
    if len(columns) > 1:
        start = len(batch + rows)
        value = Call("flatten", (value, Const(start), number(-1)))
    if len(rows) > 1:
        end = len(batch + rows) - 1
        value = Call("flatten", (value, Const(len(batch)), Const(end)))
    if batch and not (rows and columns):
        value = Call("unsqueeze", (value, number(-1 if rows else -2)))
    return value


def _summed(term: _Term, kept: set[str]) -> _Term:
    """A term without the dimensions that nothing needs any more."""
    gone = [k for k, letter in enumerate(term.letters) if letter not in kept]
    if not gone:
        return term
    letters = "".join(letter for letter in term.letters if letter in kept)
    if not letters:
        return replace(term, value=Call("sum", (term.value,)), letters="")
    dims = Const(gone[0]) if len(gone) == 1 else Sequence(tuple(map(Const, gone)))
    return replace(term, value=Call("sum", (term.value, dims)), letters=letters)


def _ordered(term: _Term, letters: str) -> _Term:
    """A term with its dimensions in an order."""
    if term.letters == letters:
        return term
    order = [term.letters.index(letter) for letter in letters]
    return replace(term, value=_permuted(term.value, order), letters=letters)


def _permuted(value: Expr, order: Iterable[int]) -> Expr:
    match value:
        case Call("permute", (inner, Sequence(places))):
            return Call("permute", (inner, Sequence(tuple(places[k] for k in order))))
    return Call("permute", (value, Sequence(tuple(map(Const, order)))))
