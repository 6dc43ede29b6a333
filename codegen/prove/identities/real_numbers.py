"""Real numbers that ops make of complex ones: their gradients are real.

dtypes see to that of floats. Symbols have one dtype, so what is real is followed through the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..symbolic.complex_numbers import is_complex
from ..symbolic.symbols import expressions

_REAL_OF_COMPLEX = frozenset({"abs", "angle", "linalg_vector_norm", "view_as_real"})
"""Ops whose result is real whatever they are given."""


@contextmanager
def real_gradients(arguments: Iterable[Any]) -> Iterator[None]:
    """Inside the block, give real results of ops real gradients, if an argument is complex."""
    if not any(is_complex(expr) for array in arguments for expr in array.flat):
        yield
        return
    from gradspec.core.modes import observe

    with observe(_RealResults().note):
        yield


def real_part_of(grad: Any) -> Any:
    """The gradient of a real tensor."""
    from gradspec import real

    return None if grad is None else real(grad)


class _RealResults:
    """The nodes of real results so far."""

    def __init__(self) -> None:
        self._nodes: dict[int, Any] = {}

    def note(self, results: tuple[Any, ...]) -> None:
        """Look at the results of an op: they are real if its arguments are, and mention no `i`.

        An expression without `i` alone may be a complex number that happens to be real.
        """
        for tensor in results:
            node = tensor.grad_node
            if node is None or tensor.array.dtype != object or _mentions_i(tensor.array):
                continue
            given = [each for each in node.next_nodes if each is not None]
            if node.op in _REAL_OF_COMPLEX or (given and all(map(self._is_real, given))):
                self._nodes[id(node)] = node
                tensor.register_hook(real_part_of)

    def _is_real(self, node: Any) -> bool:
        if node.is_leaf:
            return not _mentions_i(node.array)
        return id(node) in self._nodes


def _mentions_i(array: Any) -> bool:
    return any(map(is_complex, expressions(array).flat))
