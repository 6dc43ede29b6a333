"""Errors of views that must not be modified in place, or not be used once their base was."""

from __future__ import annotations

from .node import Node, OutputNode
from .storage import INFERENCE, SEVERAL_VIEWS, UNDER_NO_GRAD

MODIFIED = "is being modified inplace"
BASE_MODIFIED = "its base or another view of its base has been modified inplace"


def view_refusal(kind: str | None, node: Node | None, what: str) -> RuntimeError:
    """The error for a view of this kind, at this node, of which `what` holds."""
    if kind in (UNDER_NO_GRAD, INFERENCE):
        mode, now, block = (
            ("no_grad mode", "with grad mode enabled", "the no_grad block")
            if kind == UNDER_NO_GRAD
            else ("inference mode", "in normal mode", "the inference_mode block")
        )
        made = "A view was" if node is None else f"{_output(node)} of a view which was"
        return RuntimeError(
            f"{made} created in {mode} and {what} {now}: whether gradients should flow is unclear. "
            f"Make the view and modify it both inside {block}, or both outside."
        )
    made = "A view" if node is None else _output(node)
    why = (
        "This view is the output of a function that returns multiple views, which forbids that"
        if kind == SEVERAL_VIEWS
        else "This view was created inside a custom Function, past whose backward the gradient "
        "would go"
    )
    return RuntimeError(
        f"{made} and {what}. {why}: use an op that is not in place, or clone() the view."
    )


def _output(node: Node) -> str:
    if isinstance(node, OutputNode):
        return f"Output {node.output_nr} of {node.node.name()} is a view"
    return f"Output 0 of {node.name()} is a view"
