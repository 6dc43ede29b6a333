"""Views that outlived a write which their history cannot follow."""

from __future__ import annotations

from .node import Node
from .tensor import Tensor


class StaleView(Tensor):
    """A view whose base was modified in a way that its history cannot follow.

    It still shows the values; ops, which ask for a `Tensor` exactly, send it to the slow path,
    where it is refused.
    """

    __slots__ = ()
    _is_internal = True  # no class of a user's that could override ops

    @property
    def grad_fn(self) -> Node | None:
        """Raises RuntimeError."""
        raise self.refusal()

    def refusal(self) -> RuntimeError:
        """The error of any op on this tensor."""
        return RuntimeError(
            f"Output {self.output_nr} of a function is a view and its base or another view of its "
            "base has been modified inplace. It was made under no_grad, or as one of several "
            "views: use out-of-place ops, or clone() the view."
        )
