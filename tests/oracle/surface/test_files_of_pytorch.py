"""Calls that PyTorch's files of tests of views, shapes and indices make, on both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle


def _grid(t: Any) -> Any:
    return t.tensor([[1.0, 2.0], [3.0, 4.0]])


CALLS: dict[str, Callable[[Any], Any]] = {
    "narrow of a scalar tensor": lambda t: _grid(t).narrow(0, t.tensor(-1), 1),
    "narrow of int32": lambda t: _grid(t).narrow(0, t.tensor(0, dtype=t.int32), 1),
    "narrow of a vector": lambda t: _grid(t).narrow(0, t.tensor([0]), 1),
    "narrow of two": lambda t: _grid(t).narrow(0, t.tensor([0, 1]), 1),
    "narrow of a float": lambda t: _grid(t).narrow(0, t.tensor(0.0), 1),
    "narrow of a truth value": lambda t: _grid(t).narrow(0, t.tensor(True), 1),
    "narrow_copy of a vector": lambda t: t.narrow_copy(_grid(t), 0, 0, 1),
    "unfold_backward": lambda t: t.ops.aten.unfold_backward(_grid(t), [3], 0, 2, 1),
    "unfold_backward, no step": lambda t: t.ops.aten.unfold_backward(_grid(t), [3], 0, 2, 0),
    "unfold_backward, negative": lambda t: t.ops.aten.unfold_backward(_grid(t), [3], 0, -1, 1),
    "aten.index_put_": lambda t: t.ops.aten.index_put_(
        _grid(t), [None, t.tensor([True, False])], t.tensor(9.0)
    ),
    "aten.add_.Tensor": lambda t: t.ops.aten.add_.Tensor(_grid(t), _grid(t)),
    "aten.zero_": lambda t: t.ops.aten.zero_.default(_grid(t)),
    "aten.fill_.Scalar": lambda t: t.ops.aten.fill_.Scalar(_grid(t), 3),
    "aten.copy_ of a view": lambda t: t.ops.aten.copy_(_grid(t)[0], t.zeros(2)),
    "name of aten.add_": lambda t: [str(t.ops.aten.add_.Tensor), t.ops.aten.add_.Tensor.name()],
    "aten.nothing_": lambda t: t.ops.aten.nothing_,
    "chunk(True)": lambda t: _grid(t).chunk(True),
    "chunk of a float": lambda t: _grid(t).chunk(2.0),
    "diff(n=True)": lambda t: _grid(t).diff(n=True),
    "vander(N=True)": lambda t: t.vander(t.arange(3), True),
    "combinations(r=True)": lambda t: t.combinations(t.arange(3), True),
    "linspace(steps=True)": lambda t: t.linspace(0, 1, True),
    "logspace(steps=True)": lambda t: t.logspace(0, 1, True),
    "addcdiv of a complex number": lambda t: t.addcdiv(*[_grid(t)] * 3, value=1j),
    "addcdiv of a real complex number": lambda t: t.addcdiv(*[_grid(t)] * 3, value=2 + 0j),
    "trapezoid of integers": lambda t: t.trapezoid(t.tensor([[1, 2], [3, 4]])),
    "nanmean in integers": lambda t: t.nanmean(_grid(t), dtype=t.int64),
    "nanmean in int": lambda t: t.nanmean(_grid(t), dtype=int),
    "nanmean in float64": lambda t: t.nanmean(_grid(t), dtype=t.float64),
    "aminmax of two dimensions": lambda t: t.aminmax(_grid(t), dim=(0, 1)),
    "aminmax of a list": lambda t: t.aminmax(_grid(t), dim=[0]),
    "aminmax": lambda t: t.aminmax(_grid(t), dim=-1, keepdim=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_does_what_pytorch_does(name: str) -> None:
    assert_same(CALLS[name], torch)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "bools": lambda t: t.trapezoid(_grid(t) > 1),
    "bools at points": lambda t: t.trapezoid(_grid(t) > 1, _grid(t)),
    "values at bools": lambda t: t.trapezoid(_grid(t), _grid(t) > 1),
    "running integral of bools": lambda t: t.cumulative_trapezoid(_grid(t) > 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_integral_of_bools_is_refused_as_in_pytorch(name: str) -> None:
    for library in (torch, gs):
        with pytest.raises(RuntimeError, match="but bool is not supported"):
            REFUSED[name](library)


STORAGES: dict[str, Callable[[Any], Any]] = {
    "of elements": lambda t: t.Storage([1.0, 2.0]).tolist(),
    "the default": lambda t: [t.Storage is t.FloatStorage, type(t.Storage([1.0])).__name__],
    "of a length": lambda t: [t.LongStorage(3).size(), t.LongStorage(3).nbytes()],
    "empty": lambda t: len(t.DoubleStorage()),
    "of bytes": lambda t: [t.UntypedStorage(4).nbytes(), t.UntypedStorage([1, 2]).tolist()],
    "typed": lambda t: t.TypedStorage([1, 2], dtype=t.int16).element_size(),
    "set_": lambda t: t.tensor(1).set_(t.LongStorage([3, 4])),
    "tensor": lambda t: t.FloatTensor(t.FloatStorage([1.0, 2.0])),
    "tensor of another dtype": lambda t: t.FloatTensor(t.LongStorage([1, 2])),
    "kinds": lambda t: [
        isinstance(t.zeros(2).storage(), t.FloatStorage),
        isinstance(t.zeros(2).storage(), t.LongStorage),
        isinstance(t.zeros(2).untyped_storage(), t.FloatStorage),
    ],
    "all dtypes": lambda t: [
        getattr(t, f"{kind}Storage")([1, 0]).tolist()
        for kind in (
            *("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"),
            *("ComplexFloat", "ComplexDouble"),
        )
    ],
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("name", STORAGES)
def test_storage_is_made_as_in_pytorch(name: str) -> None:
    assert_same(STORAGES[name], torch)
