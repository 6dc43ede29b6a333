"""One call of an emitted function: its arguments, with a framework's arrays in their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..prove.identities.run import Leaf
from ..spec.model import OpSpec
from .questions import Question


def caller(
    spec: OpSpec,
    function: Callable[..., Any],
    question: Question,
    array: Callable[[Any], Any],
    dtype: Callable[[str], Any],
) -> Callable[..., tuple[Any, ...]]:
    """The call as a function of its leaves alone, answering a tuple of outputs.

    `array` makes one of the framework's arrays of one of NumPy's, and `dtype` a dtype of a name.
    """

    def converted(value: Any) -> Any:
        if isinstance(value, np.dtype):
            return dtype(value.name)
        if isinstance(value, np.generic):
            return value.item()
        return array(value) if isinstance(value, np.ndarray) else value

    def call(*leaves: Any) -> tuple[Any, ...]:
        values = {
            name: [converted(item) for item in value]
            if isinstance(value, list)
            else converted(value)
            for name, value in question.arguments.items()
        }
        for leaf, given in zip(question.leaves, leaves, strict=True):
            _place(values, leaf, given)
        params = spec.signature.params
        words = [values[p.name] for p in params if not p.keyword_only]
        named = {p.public: values[p.name] for p in params if p.keyword_only}
        result = function(*words, **named)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    return call


def leaves_of(question: Question) -> list[Any]:
    """The arrays that are differentiated by."""
    found = []
    for name, number in question.leaves:
        value = question.arguments[name]
        found.append(np.asarray(value[number] if isinstance(value, list) else value))
    return found


def _place(values: dict[str, Any], leaf: Leaf, given: Any) -> None:
    name, number = leaf
    if isinstance(values[name], list):
        values[name][number] = given
    else:
        values[name] = given
