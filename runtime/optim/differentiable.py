"""Steps that are recorded (`differentiable=True`), for gradients through training itself.

The formulas of the optimizers are written for arrays. Here they get arrays that stand for tensors:
what is done to one is done to its tensor, by ops, and what is written to it replaces the tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor, wrap

State = dict[str, Any]
Update = Callable[[Any, Any, State, dict[str, Any]], None]

_NUMBERS: Final = frozenset(["step", "eta", "mu", "mu_product"])
"""Parts of the state that count, and are no tensors of values."""


class RecordedArray(np.ndarray[Any, Any]):
    """An array of which only shape and dtype are its own; the values are those of `tensor`."""

    tensor: Tensor

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        return _stored(getattr(ufunc, method)(*map(_tensor, inputs), **kwargs), out)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        given = {name: _tensor(value) for name, value in kwargs.items()}
        return _stored(func(*map(_tensor, args), **given), None if out is None else (out,))

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis:
            raise NotImplementedError("differentiable=True: only whole parameters are written to")
        given = _tensor(value)
        like = self.tensor.detach() * 0
        self.tensor = given + like if isinstance(given, Tensor) else like + float(given)

    def copy(self, order: Any = "C") -> RecordedArray:
        """The same values, without history, as PyTorch begins a velocity."""
        return recorded(self.tensor.detach().clone())

    def astype(self, dtype: Any, *_: Any, **__: Any) -> RecordedArray:
        """The values in another dtype."""
        return recorded(self.tensor.to(dtype))


def recorded(tensor: Tensor) -> RecordedArray:
    """The array that stands for a tensor."""
    array = tensor.detach().array.view(RecordedArray)
    array.tensor = tensor
    return array


def _tensor(value: Any) -> Any:
    return value.tensor if isinstance(value, RecordedArray) else value


def _stored(result: Tensor, out: Any) -> RecordedArray:
    if out is None:
        return recorded(result)
    (target,) = out
    target.tensor = result
    found: RecordedArray = target
    return found


def update_recorded(
    update: Update, param: Tensor, grad: Tensor, state: State, options: dict[str, Any]
) -> None:
    """Make a step of one parameter by ops, so that gradients flow through it.

    RuntimeError for a leaf that requires grad, which must not be written to; NotImplementedError
    for complex parameters, and for options that require grad.
    """
    for name, option in options.items():
        if name != "params" and isinstance(option, Tensor) and option.requires_grad:
            raise NotImplementedError(f"differentiable=True: {name} must not require grad")
    if param.is_complex():
        raise NotImplementedError("differentiable=True: complex parameters are not supported")
    given: State = {
        name: value if name in _NUMBERS or not isinstance(value, Tensor) else _standing(value)
        for name, value in state.items()
    }
    values = recorded(param)
    update(values, recorded(grad), given, options)
    for name, value in given.items():
        held = isinstance(value, Tensor) and isinstance(value.array, RecordedArray)
        state[name] = value.array.tensor if held else value
    param.copy_(values.tensor)


def _standing(tensor: Tensor) -> Tensor:
    """A tensor whose array stands for another tensor, as states hold them in a step."""
    return wrap(recorded(tensor))
