"""Live view of a backward pass: at each node the formula, and how large the gradient is."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..autograd.backward import grad
from ..core.accumulate_grad import AccumulateGrad
from ..core.node import Node
from ..core.tensor import Tensor
from ..functions.creation import ones_like

_SHORT: Final = 44
"""A formula that is longer is cut."""


def live_notes(outputs: Sequence[Tensor]) -> dict[Node, tuple[str, ...]]:
    """Run the backward pass from ones, and return what each node did, as lines of text."""
    nodes = _nodes(outputs)
    leaves = {node: node.variable for node in nodes if isinstance(node, AccumulateGrad)}
    if not leaves:
        return {}
    sizes: dict[Node, str] = {}
    handles = [node.register_prehook(_watcher(node, sizes)) for node in nodes if node not in leaves]
    try:
        found = grad(
            list(outputs),
            list(leaves.values()),
            [ones_like(output) for output in outputs],
            retain_graph=True,
            allow_unused=True,
        )
    finally:
        for handle in handles:
            handle.remove()
    sizes |= {node: _size((g,)) for node, g in zip(leaves, found, strict=True)}
    return {node: (*_formula(type(node)), *_line(sizes.get(node))) for node in nodes}


def _watcher(node: Node, sizes: dict[Node, str]) -> Callable[[Any], None]:
    def watch(gradients: Any) -> None:
        sizes[node] = _size(gradients)

    return watch


def _size(gradients: Sequence[Tensor | None]) -> str:
    """The largest element by magnitude; nan if there is one."""
    arrays = [g.array for g in gradients if g is not None and g.array.size]
    return f"{max((np.max(np.abs(a)) for a in arrays), default=0.0):.3g}"


def _line(size: str | None) -> tuple[str, ...]:
    return () if size is None else (f"max |grad| = {size}",)


def _nodes(outputs: Sequence[Tensor]) -> list[Node]:
    seen: dict[Node, None] = {}
    pending = [node for output in outputs if (node := output.grad_fn or output.grad_node)]
    while pending:
        node = pending.pop()
        if isinstance(node, Node) and node not in seen:
            seen[node] = None
            pending += [child for child, _ in node.next_functions if child is not None]
    return list(seen)


def _formula(kind: type[Node]) -> tuple[str, ...]:
    """Return the expressions that a node's generated code returns; none without such code."""
    try:
        source = textwrap.dedent(inspect.getsource(kind.apply))
    except (OSError, TypeError):
        return ()
    returned = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Return)]
    if not kind.__module__.startswith("gradspec.generated") or not returned:
        return ()
    value = returned[-1]
    items = value.elts if isinstance(value, ast.Tuple) else [value] if value else []
    if all(isinstance(item, ast.Name) for item in items):
        return ()  # names of locals say nothing
    text = ", ".join(ast.unparse(item) for item in items)
    return (text if len(text) <= _SHORT else text[: _SHORT - 1] + "…",)
