"""Apply the modes of a thread to the results of ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .accumulate_grad import nowhere
from .modes import Modes, is_inference_mode_enabled, mode, this_thread
from .storage import INFERENCE, INFERENCE_ALIAS, UNDER_NO_GRAD, base_of, view_kind

if TYPE_CHECKING:
    from .tensor import Tensor

_Result = TypeVar("_Result")


def apply_modes(result: _Result) -> _Result:
    """Apply this thread's modes to the result of an op (a tensor or a tuple of them).

    With gradients disabled nothing has been recorded; views and inference tensors remember why.
    """
    blocks = this_thread.blocks
    modes = blocks.modes()
    if modes.inference or not modes.records:
        if isinstance(result, tuple):
            for tensor in result:
                _mark(tensor, modes)
        else:
            _mark(result, modes)
    elif not blocks.observers:
        mode.settle()
    if mode.observers or blocks.observers:
        tensors: Any = result if isinstance(result, tuple) else (result,)
        for observer in (*mode.observers, *blocks.observers):
            observer(tensors)
    return result


def _mark(tensor: Any, modes: Modes) -> None:
    if tensor.alias is not None:
        _restrict_view(tensor)
    elif modes.inference:
        tensor.alias = INFERENCE_ALIAS


def apply_modes_to_leaf(tensor: Tensor) -> Tensor:
    """Apply this thread's modes to a tensor that no op made."""
    if is_inference_mode_enabled():
        tensor.alias = INFERENCE_ALIAS
    return tensor


def refuse_inference(tensor: Tensor, what: str) -> None:
    """Raise RuntimeError for an inference tensor, outside of inference mode."""
    if tensor.alias is INFERENCE_ALIAS and not is_inference_mode_enabled():
        raise RuntimeError(
            f"{what} on an inference tensor outside InferenceMode is not allowed: clone() it "
            "outside of the mode to get a normal tensor."
        )


def _restrict_view(view: Tensor) -> None:
    """A view made without gradients has no history, but asks for a gradient if its base does.

    As in PyTorch, that gradient arrives nowhere.
    """
    base = base_of(view)
    if base is None or view.alias is INFERENCE_ALIAS:
        return
    if view_kind(view) != INFERENCE:
        view._view_kind = INFERENCE if is_inference_mode_enabled() else UNDER_NO_GRAD
    if base.grad_node is not None:
        view.grad_node = nowhere(view)
