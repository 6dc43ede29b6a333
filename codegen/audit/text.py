"""Questions as the text of a function of `t` in a library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..spec.model import OpSpec
from .libraries import Library
from .questions import Array, Question, Sweep


class NotSpelled(Exception):
    """The library has no function for a call."""


def question_text(question: Question, op: OpSpec, library: Library) -> str:
    """The weighted sum of the outputs, where arguments move with `t`."""
    call = call_text(question, op, library)
    totals = []
    for place, name, weights in question.cotangents:
        is_one = len(op.signature.outputs) == 1 and "[" not in name
        out = call if is_one else f"{call}[{place}]"
        totals.append(_total(out, weights, library))
    return " + ".join(totals)


def call_text(question: Question, op: OpSpec, library: Library) -> str:
    """The call alone."""
    words: dict[str, str] = {}
    for param in op.signature.params:
        if not is_given(question.arguments, param.name, param.default):
            continue
        value = question.arguments[param.name]
        if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
            items = [_moving(question, param.name, n, v, library) for n, v in enumerate(value)]
            words[param.name] = f"[{', '.join(items)}]"
        else:
            words[param.name] = _moving(question, param.name, 0, value, library)
    return filled(op, library, words)


def sweep_text(sweep: Sweep, op: OpSpec, library: Library, at: Mapping[str, str] | None) -> str:
    """An elementwise op of arguments that move with `t`; these are names, or literals `at` a point.

    A single argument is `t` itself.
    """
    words: dict[str, str] = {}
    for param in op.signature.params:
        name = param.name
        if name not in sweep.columns:
            value = sweep.settings.get(name, param.default)
            if is_given(sweep.settings, name, param.default) or param.type.base == "int":
                words[name] = literal(value, library)
        elif len(sweep.columns) == 1:
            words[name] = "t"
        else:
            point = name_of(name) if at is None else library.array.format(data=at[name])
            factor = sweep.direction.get(name, 0)
            moved = {0: point, 1: f"({point} + t)"}
            words[name] = moved.get(factor, f"({point} + {factor} * t)")
    return filled(op, library, words)


def name_of(param: str) -> str:
    """The name of an argument's points."""
    return f"points_of_{param}"


def is_given(arguments: Mapping[str, Any], name: str, default: Any) -> bool:
    """Return whether a call has to state an argument."""
    if name not in arguments:
        return False
    value = arguments[name]
    if value is None:
        return False
    if isinstance(value, np.ndarray | list | tuple):
        return True
    return type(value) is not type(default) or value != default


def filled(op: OpSpec, library: Library, words: Mapping[str, str]) -> str:
    """The call of an op with words for its arguments. Raises NotSpelled."""
    pattern = library.spelling(op, frozenset(words))
    if pattern is None:
        raise NotSpelled(f"{library.title} has no function for this call")
    try:
        return pattern.format(**words)
    except KeyError as missing:
        raise NotSpelled(f"the call leaves {missing} out") from None


def _moving(question: Question, name: str, number: int, value: Any, library: Library) -> str:
    text = literal(value, library)
    tangent = question.tangents.get((name, number))
    if tangent is None or not isinstance(value, np.ndarray):
        return text
    return f"({text} + t * {literal(tangent, library)})"


def _total(out: str, weights: Array, library: Library) -> str:
    if weights.dtype.kind == "c":
        return library.complex_total.format(weights=literal(weights, library), out=out)
    if weights.size == 1 and weights.ndim == 0:
        return out
    return library.total.format(weights=literal(weights, library), out=out)


def literal(value: Any, library: Library) -> str:
    """A value as Python writes it, an array as the library makes it."""
    if isinstance(value, np.ndarray):
        return library.array.format(data=_number_text(value.tolist()))
    if isinstance(value, np.dtype):
        return library.dtype.format(name=value.name)
    if isinstance(value, list | tuple):
        return f"({', '.join(literal(v, library) for v in value)}{',' * (len(value) == 1)})"
    if isinstance(value, float) and not isinstance(value, bool):
        return _number_text(float(value))
    return repr(value)


def _number_text(value: Any) -> str:
    text = repr(value)
    return text.replace("inf", 'float("inf")').replace("nan", 'float("nan")')
