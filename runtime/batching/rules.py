"""The batching rules of ops, which generated packages have as text and as functions.

The module `batching` of a package says for each op which rules to try. An arrangement is text::

    "align"                       operands of all examples, broadcast against each other
    "lead dim:shift"              one more dimension in front; `dim` counts it
    "lead2"                       the same, of arguments that have at most two dimensions
    "lead self size:prepend"      only `self` is batched; `size` gets the number of examples
    "align several"               the same, of at least two examples
    "fold4 self"                  the examples join the first of four dimensions
    "index"                       the examples are the first dimension that is indexed
    "same"                        the result depends on nothing that differs between examples
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from ..dispatch.registry import Op
from .arrangement import SEVERAL, Arrangement

Rule: TypeAlias = Arrangement | Callable[..., Any]
"""An arrangement, or a function of the op's arguments that calls other ops."""


@cache
def read(text: str) -> Arrangement:
    """Read an arrangement as the generator writes it."""
    kind, *words = text.split()
    treatments = [tuple(word.split(":")) for word in words if ":" in word]
    tensors = tuple(word for word in words if ":" not in word and word != SEVERAL)
    letters = kind.rstrip("0123456789")
    ndim = int(kind[len(letters) :] or 0)
    return Arrangement(letters, tensors, tuple(treatments), ndim, SEVERAL in words)  # type: ignore[arg-type]


@cache
def rules_of(op: Op) -> tuple[Rule, ...]:
    """The rules of an op, in the order in which they are tried; none where it has no rule."""
    package = op.function.__module__.rpartition(".")[0]
    try:
        module = importlib.import_module(f"{package}.batching")
    except ModuleNotFoundError:
        return ()  # a package that an older version generated
    words = next((words for words, ops in module.RULES.items() if op.name in ops.split()), "")
    texts = words.split("; ") if words else []
    return tuple(module.FORMULAS[op.name] if text == "formula" else read(text) for text in texts)
