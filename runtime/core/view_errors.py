"""Why a view must not be modified in place, nor be used once its base was: by how it was made."""

from __future__ import annotations

from .node import Node, OutputEdge
from .storage import INFERENCE, SEVERAL_VIEWS, UNDER_NO_GRAD

MODIFIED = "is being modified inplace"
BASE_MODIFIED = "its base or another view of its base has been modified inplace"


def view_refusal(kind: str | None, vertex: Node | None, what: str) -> RuntimeError:
    """The error for a view of this kind, at this vertex, of which `what` holds."""
    if kind in (UNDER_NO_GRAD, INFERENCE):
        mode, now, block = (
            ("no_grad mode", "with grad mode enabled", "the no_grad block")
            if kind == UNDER_NO_GRAD
            else ("inference mode", "in normal mode", "the inference_mode block")
        )
        made = "A view was" if vertex is None else f"{_output(vertex)} of a view which was"
        return RuntimeError(
            f"{made} created in {mode} and {what} {now}: whether gradients should flow is unclear. "
            f"Make the view and modify it both inside {block}, or both outside."
        )
    made = "A view" if vertex is None else _output(vertex)
    why = (
        "This view is the output of a function that returns multiple views, which forbids that"
        if kind == SEVERAL_VIEWS
        else "This view was created inside a custom Function, past whose backward the gradient "
        "would go"
    )
    return RuntimeError(
        f"{made} and {what}. {why}: use an op that is not in place, or clone() the view."
    )


def _output(vertex: Node) -> str:
    if isinstance(vertex, OutputEdge):
        return f"Output {vertex.output_nr} of {vertex.node.name()} is a view"
    return f"Output 0 of {vertex.name()} is a view"
