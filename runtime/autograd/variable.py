"""`Variable` and its engine, under the names they have in PyTorch's sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..core.tensor import Tensor
from ..graph.graph_task import current_task
from .run_backward import run_backward


class ImperativeEngine:
    """Backward engine as an object; there is one, `Variable._execution_engine`."""

    run_backward = staticmethod(run_backward)

    @staticmethod
    def queue_callback(callback: Callable[[], object]) -> None:
        """Call `callback` when the running pass has computed all gradients.

        RuntimeError outside of a pass.
        """
        task = current_task()
        if task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        task.callbacks.append(callback)


class VariableMeta(type):
    """Metaclass that makes `isinstance(x, Variable)` true for every tensor."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _LegacyVariableBase:
    """Class whose call returns a tensor on the same memory, as before variables were tensors."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        made = data.detach()
        made.requires_grad = requires_grad
        return made


class Variable(_LegacyVariableBase, metaclass=VariableMeta):
    """Old name of a tensor that takes part in autograd."""

    _execution_engine: ClassVar[ImperativeEngine] = ImperativeEngine()
