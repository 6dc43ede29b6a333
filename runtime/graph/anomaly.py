"""Anomaly mode: where in the forward the failing node was made, and where NaN appeared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import mode
from ..core.node import Node, place_of
from ..core.user_warnings import warn

if TYPE_CHECKING:
    from ..core.tensor import Tensor

_FORWARD: Final = "traceback_"
"""The entry of `Node.metadata` with the lines of the forward call, as in PyTorch."""
_PARENT: Final = "parent_"
"""The entry with the node in whose gradient this one was made, where there is one."""


class _Anomaly:
    """Whether the mode is on; it is, like PyTorch's, one for all threads."""

    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = False


_state: Final = _Anomaly()


def is_anomaly_enabled() -> bool:
    """Whether backward passes are to be watched."""
    return _state.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a NaN in a gradient is an error."""
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
    """In anomaly mode, remember who called the function that made a node, and calls this."""
    if _state.enabled:
        _remember_call(node)


def _remember_call(node: Node) -> None:
    from traceback import format_stack  # slow to import

    # Without the frames of this module and of the function that made the node.
    node.metadata.setdefault(_FORWARD, format_stack()[:-3])
    parent = _running_node()
    if parent is not None:
        node.metadata.setdefault(_PARENT, parent)


def _running_node() -> Node | None:
    """The node whose gradient is being computed in this thread; None in a forward."""
    from .engine import run_counted, run_eager  # which imports this module

    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in (run_counted.__code__, run_eager.__code__):
        frame = frame.f_back
    node = None if frame is None else frame.f_locals.get("node")
    return None if node is None else place_of(node)[0]


def refuse_nan(node: Node, grads: Sequence[Any]) -> None:
    """Raise RuntimeError if one of the gradients that `node` computed is NaN somewhere."""
    for position, grad in enumerate(grads):
        array = getattr(grad, "array", grad)
        if array is not None and array.dtype.kind in "fc" and np.isnan(array).any():
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {position}th output."
            )


def explain(error: BaseException, *loops: Callable[..., Any]) -> None:
    """Say at which node one of `loops` failed; in anomaly mode, where the node was made."""
    node = _failing_node(error, loops)
    if node is None or any("in the gradient of" in note for note in _notes(error)):
        return
    op = f"the op {node.op!r}" if node.op else "an op without entry in the table"
    error.add_note(f"in the gradient of {op} ({node.name()})")
    if not _state.enabled:
        return
    lines = _lines_of(node)
    if lines:
        text = "Traceback of forward call that caused the error:\n" + "".join(lines)
    else:
        text = "No forward pass information available. Enable detect anomaly during forward pass."
    _tell(f"Error detected in {node.name()}, {op}. {text}")
    while node is not None and node.hooks is not None:
        node = node.hooks.metadata.get(_PARENT)
        if node is not None:
            _tell(
                f"Previous calculation was induced by {node.name()}. Traceback of forward call "
                "that induced the previous calculation:\n" + "".join(_lines_of(node))
            )


def _lines_of(node: Node) -> list[str]:
    lines: list[str] = [] if node.hooks is None else node.hooks.metadata.get(_FORWARD, [])
    return lines


def _tell(text: str) -> None:
    """Warn; where warnings are errors, print, so that the error itself is what is raised."""
    try:
        warn(text)
    except UserWarning:
        print(text, file=sys.stderr)


def _notes(error: BaseException) -> list[str]:
    notes: list[str] = getattr(error, "__notes__", [])
    return notes


def _failing_node(error: BaseException, loops: Sequence[Callable[..., Any]]) -> Node | None:
    """The node that the innermost call of one of `loops` was visiting."""
    found = None
    codes = {loop.__code__ for loop in loops}
    from traceback import walk_tb

    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code in codes:
            found = frame.f_locals.get("node")
    return found if isinstance(found, Node) else None
