"""Whole numbers and masks of a call in other dtypes: what an op takes, its rules have to take.

Indices may have 32 bits, in which a product wraps around early, or be bytes, which a difference
takes below zero, and masks may be counts, of which `mask == 1` and `~mask` say something else than
of flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ir.nodes import Call, Const, Slice, Subscript, Unary
from ...ir.walk import walk
from ...spec.model import OpSpec
from ..identities.identity import Mismatch
from ..symbolic.special_values import formulas
from .call import NoCall
from .judge import Judge

Array = np.ndarray[Any, Any]

MOST_DATA = 8
"""Elements of an array that is given in another dtype, too."""


def check_other_data(judge: Judge) -> None:
    """Compare a call along a line with such arrays in other dtypes, where the op takes these.

    Raises Mismatch.
    """
    if judge.has_factors or judge.spec.is_private:
        return
    takes_bytes = not _takes_by_tensors(judge.spec)
    for how, values in _with_other_data(judge.values, takes_bytes):
        again = Judge(judge.spec, values, judge.rng, True, step=judge.step)
        try:
            if _is_call(again):
                again.compare_along_lines()
        except NoCall:
            continue
        except Mismatch as mismatch:
            label = f"{mismatch.label} {how}"
            raise Mismatch(label, mismatch.key, str(mismatch)) from None


def _is_call(judge: Judge) -> bool:
    """Return whether the op takes a call. Raises Mismatch for a kernel that computes another."""
    try:
        judge.start()
    except Mismatch:
        raise
    except Exception:
        return False
    return True


def _takes_by_tensors(spec: OpSpec) -> bool:
    """Return whether a formula takes elements by a tensor: bytes are a mask then."""
    nodes = [node for block in formulas(spec) for node in walk(block)]
    places = [node.index for node in nodes if isinstance(node, Subscript)]
    is_put = any(isinstance(n, Call) and n.function.startswith("index_put") for n in nodes)
    return is_put or not all(isinstance(place, Const | Unary | Slice) for place in places)


def _with_other_data(
    values: dict[str, Any], takes_bytes: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments with one array of whole numbers or flags in another dtype, and how that is.

    Then with all of them that can be of that dtype: what is left of two kinds wraps around later.
    """
    together: dict[str, dict[str, Array]] = {}
    for name, value in values.items():
        if isinstance(value, np.ndarray) and 0 < value.size <= MOST_DATA:
            for word, other in _others(value, takes_bytes):
                together.setdefault(word, {})[name] = other
                yield f"with {word} for {name}", values | {name: other}
    for word, others in together.items():
        if len(others) > 1:
            yield f"with {word} for {' and '.join(others)}", values | others


def _others(data: Array, takes_bytes: bool) -> Iterator[tuple[str, Array]]:
    if data.dtype == np.int64:
        yield "whole numbers of 32 bits", data.astype(np.int32)
        for word, dtype in (("bytes", np.uint8), ("signed bytes", np.int8)):
            if takes_bytes and (data == data.astype(dtype)).all():
                yield word, data.astype(dtype)
    elif data.dtype == np.bool_:
        yield "whole numbers", data.astype(np.int64)
        places = np.arange(2, data.size + 2).reshape(data.shape)  # a count of one is a flag
        yield "counts", data * places
