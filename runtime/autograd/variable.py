"""`Variable` and its engine, under the names by which PyTorch's sources know them."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.tensor import Tensor
from .run_backward import run_backward


class ImperativeEngine:
    """The backward engine as an object; there is one, `Variable._execution_engine`."""

    run_backward = staticmethod(run_backward)


class VariableMeta(type):
    """Metaclass that makes `isinstance(x, Variable)` true for every tensor."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _LegacyVariableBase:
    """Calling it answers a tensor on the same memory, as when variables were not tensors yet."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


class Variable(_LegacyVariableBase, metaclass=VariableMeta):
    """The old name of a tensor that takes part in autograd."""

    _execution_engine: ClassVar[ImperativeEngine] = ImperativeEngine()
