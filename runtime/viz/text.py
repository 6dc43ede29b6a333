"""The backward graph as a tree of text."""

from __future__ import annotations

from ..core.accumulate_grad import AccumulateGrad
from ..core.node import Node
from ..core.tensor import Tensor
from .trace import Named, leaf_names, shape_text


def print_graph(y: Tensor, params: Named | None = None) -> None:
    """Print the backward graph of `y`; see `graph_text`."""
    print(graph_text(y, params))


def graph_text(y: Tensor, params: Named | None = None) -> str:
    """Return the backward graph of `y` as a tree of text.

    A node that several others lead to is drawn once; elsewhere its number stands for it. An
    only child stays in the column of its parent, so a long chain does not drift to the right.
    """
    start = y.grad_fn or y.grad_node
    if start is None:
        return "(no graph: the tensor does not require a gradient)"
    names = leaf_names(params)
    shared = _shared(start)
    numbers: dict[Node, int] = {}
    lines: list[str] = []
    # Left to draw: a node, the text before it, and the text before its children.
    pending: list[tuple[Node | None, str, str]] = [(start, "", "")]
    while pending:
        node, before, margin = pending.pop()
        if node is None:
            lines.append(f"{before}(no gradient)")
            continue
        if node in numbers:
            lines.append(f"{before}{_label(node, names)} #{numbers[node]}, see above")
            continue
        mark = ""
        if node in shared:
            numbers[node] = len(numbers) + 1
            mark = f" #{numbers[node]}"
        lines.append(f"{before}{_label(node, names)}{mark}")
        pending += reversed(_children(node, margin))
    return "\n".join(lines)


def _children(node: Node, margin: str) -> list[tuple[Node | None, str, str]]:
    found = [child for child, _ in node.next_functions]
    if len(found) == 1 and found[0] is not None:
        return [(found[0], margin, margin)]
    return [
        (child, f"{margin}└─ ", f"{margin}   ")
        if position == len(found) - 1
        else (child, f"{margin}├─ ", f"{margin}│  ")
        for position, child in enumerate(found)
    ]


def _label(node: Node, names: dict[Node | None, str]) -> str:
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        return f"{names.get(node, 'leaf')} [{shape_text(leaf)}] AccumulateGrad"
    return node.name()


def _shared(start: Node) -> set[Node]:
    """Find the nodes that more than one edge leads to."""
    seen = {start}
    shared = set()
    pending = [start]
    while pending:
        for child, _ in pending.pop().next_functions:
            if child is None:
                continue
            if child in seen:
                shared.add(child)
            else:
                seen.add(child)
                pending.append(child)
    return shared
