"""Anomaly mode: name the failing node, the forward call that made it, and the source of a NaN."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import mode
from ..core.node import Node, place_of
from ..core.user_warnings import warn
from .graph_task import current_task

if TYPE_CHECKING:
    from ..core.tensor import Tensor

_FORWARD: Final = "traceback_"
"""The entry of `Node.metadata` with the lines of the forward call, as in PyTorch."""
_PARENT: Final = "parent_"
"""The entry with the node in whose gradient this one was made, where there is one."""


class _Anomaly:
    """The state of the mode; it is, like PyTorch's, one for all threads."""

    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = False


_state: Final = _Anomaly()


def is_anomaly_enabled() -> bool:
    """Return whether backward passes are watched."""
    return _state.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether a NaN in a gradient is an error."""
    return _state.check_nan


def _switch(enabled: bool, check_nan: bool) -> None:
    if enabled:
        mode.observe_all_threads(_remember_forward)
    else:
        mode.stop_observing(_remember_forward)
    _state.enabled = enabled
    _state.check_nan = enabled and check_nan


class set_detect_anomaly:
    """Switch anomaly mode at once, and back at the end of the `with` block if there is one."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (_state.enabled, _state.check_nan)
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _switch(*self._before)


class detect_anomaly:
    """Inside the block a failing backward pass shows the forward call of the node that failed.

    With `check_nan` a gradient that is NaN is a failure, too. Slow: for debugging.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled: every op remembers where it was called. Use it "
            "for debugging only."
        )

    def __enter__(self) -> None:
        self._before = (_state.enabled, _state.check_nan)
        _switch(True, self._check_nan)

    def __exit__(self, *_: object) -> None:
        _switch(*self._before)


def _remember_forward(results: tuple[Tensor, ...]) -> None:
    grad_node = next((tensor.grad_node for tensor in results if tensor.grad_node is not None), None)
    if grad_node is not None and not isinstance(grad_node, AccumulateGrad):
        node = place_of(grad_node)[0]
        _remember_call(node)


def remember_call(node: Node) -> None:
    """Remember, in anomaly mode, the caller of the function that made a node and calls this."""
    if _state.enabled:
        _remember_call(node)


def _remember_call(node: Node) -> None:
    from traceback import format_stack  # slow to import

    # Without the frames of this module and of the function that made the node.
    node.metadata.setdefault(_FORWARD, format_stack()[:-3])
    task = current_task()
    if task is not None and task.node is not None:
        node.metadata.setdefault(_PARENT, place_of(task.node)[0])


def refuse_nan(node: Node, grads: Sequence[Any]) -> None:
    """Raise RuntimeError if one of the gradients that `node` computed is NaN somewhere."""
    for position, grad in enumerate(grads):
        array = getattr(grad, "array", grad)
        if array is not None and array.dtype.kind in "fc" and np.isnan(array).any():
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {position}th output."
            )


def explain(error: BaseException, node: Node) -> None:
    """Add to an error at which node it arose; in anomaly mode, show where the node was made."""
    if any("in the gradient of" in note for note in _notes(error)):
        return  # of a pass inside of this one
    op = f"the op {node.op!r}" if node.op else "an op without entry in the table"
    if type(error) is ValueError and "broadcast together" in str(error):  # NumPy's, of saved values
        misfit = RuntimeError(
            f"the gradient does not fit what {node.name()} has saved, whose shape was changed "
            f"meanwhile: {error}"
        )
        explain(misfit, node)
        raise misfit from error
    error.add_note(f"in the gradient of {op} ({node.name()})")
    if not _state.enabled:
        return
    lines = _lines_of(node)
    if lines:
        text = "Traceback of forward call that caused the error:\n" + "".join(lines)
    else:
        text = "No forward pass information available. Enable detect anomaly during forward pass."
    _tell(f"Error detected in {node.name()}, {op}. {text}")
    while (parent := _parent_of(node)) is not None:
        node = parent
        _tell(
            f"Previous calculation was induced by {node.name()}. Traceback of forward call "
            "that induced the previous calculation:\n" + "".join(_lines_of(node))
        )


def _lines_of(node: Node) -> list[str]:
    lines: list[str] = [] if node.hooks is None else node.hooks.metadata.get(_FORWARD, [])
    return lines


def _parent_of(node: Node) -> Node | None:
    """Return the node in whose gradient a node was made, where it is known."""
    parent: Node | None = None if node.hooks is None else node.hooks.metadata.get(_PARENT)
    return parent


def _tell(text: str) -> None:
    """Warn; where warnings are errors, print, so that the error itself is what is raised."""
    try:
        warn(text)
    except UserWarning:
        print(text, file=sys.stderr)


def _notes(error: BaseException) -> list[str]:
    notes: list[str] = getattr(error, "__notes__", [])
    return notes
