"""Anomaly mode: where in the forward the failing node was made, and where NaN appeared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .modes import mode
from .node import AccumulateGrad, Node, OutputEdge

if TYPE_CHECKING:
    from .tensor import Tensor

_FORWARD: Final = "traceback_"
"""The entry of `Node.metadata` with the lines of the forward call, as in PyTorch."""


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
        warnings.warn(
            "Anomaly Detection has been enabled: every op remembers where it was called. Use it "
            "for debugging only.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = (_state.enabled, _state.check_nan)
        _switch(True, self._check_nan)

    def __exit__(self, *_: object) -> None:
        _switch(*self._before)


def _remember_forward(results: tuple[Tensor, ...]) -> None:
    vertex = next((tensor.edge for tensor in results if tensor.edge is not None), None)
    if vertex is not None and not isinstance(vertex, AccumulateGrad):
        node = vertex.node if isinstance(vertex, OutputEdge) else vertex
        from traceback import format_stack  # slow to import

        # Without the frames of this function and of `finish`.
        node.metadata.setdefault(_FORWARD, format_stack()[:-2])


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
    lines = [] if node.hooks is None else node.hooks.metadata.get(_FORWARD, [])
    if lines:
        text = "Traceback of forward call that caused the error:\n" + "".join(lines)
    else:
        text = "No forward pass information available. Enable detect anomaly during forward pass."
    warnings.warn(f"Error detected in {node.name()}, {op}. {text}", stacklevel=4)


def _notes(error: BaseException) -> list[str]:
    notes: list[str] = getattr(error, "__notes__", [])
    return notes


def _failing_node(error: BaseException, loops: Sequence[Callable[..., Any]]) -> Node | None:
    """The vertex that the innermost call of one of `loops` was visiting."""
    found = None
    codes = {loop.__code__ for loop in loops}
    from traceback import walk_tb

    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code in codes:
            found = frame.f_locals.get("vertex")
    return found if isinstance(found, Node) else None
