"""Names around the table, called as PyTorch's: values, dtypes, texts and types of errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch

import gradspec as gs

pytestmark = pytest.mark.oracle

DTYPES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex64", "complex128", "bool"),
)


ROUNDED = ("sin_", "atan2_", "celu_", "batch_norm", "kl_div", "float16 products", "density")
"""Calls whose numbers are rounded."""


def plain(value: Any) -> Any:
    """Return an answer without the library that gave it."""
    if isinstance(value, gs.Tensor | torch.Tensor):
        array = value.detach().numpy()
        return array.dtype, array.shape, array.tolist()
    if isinstance(value, torch.dtype | np.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def answer(call: Any, library: Any) -> Any:
    try:
        return plain(call(library))
    except Exception as error:
        return type(error)


CALLS: dict[str, Any] = {
    "isin": lambda t: t.isin(t.tensor([[1, 2], [3, 4]]), t.tensor([2, 3])),
    "isin of numbers": lambda t: t.isin(t.tensor([1.0, 2.0]), 2, invert=True),
    "isreal": lambda t: t.isreal(t.tensor([1 + 1j, 2 + 0j])),
    "scalar_tensor": lambda t: t.scalar_tensor(3),
    "vander": lambda t: t.vander(t.tensor([1, 2, 3, 5])),
    "vander increasing": lambda t: t.vander(t.tensor([1.0, 2.0]), 4, increasing=True),
    "vander of a matrix": lambda t: t.vander(t.ones(2, 2)),
    "unravel_index": lambda t: t.unravel_index(t.tensor([0, 5, 7]), (2, 2, 2)),
    "unravel_index of bytes": lambda t: t.unravel_index(t.tensor([1, 250]).byte(), (3, 300)),
    "unravel_index of floats": lambda t: t.unravel_index(t.tensor([0.0]), (2,)),
    "nonzero_static": lambda t: t.nonzero_static(t.tensor([0, 1, 2]), size=3),
    "histogram": lambda t: t.histogram(t.tensor([1.0, 2.0, 1.0, 4.0]), 4, range=(0.0, 4.0)),
    "histogram of edges": lambda t: t.histogram(t.tensor([1.0, 2.0]), t.tensor([0.0, 1.5, 2.0])),
    "density": lambda t: t.histogram(t.tensor([1.0, 2.0, 1.0]), 2, density=True).hist,
    "histogram of integers": lambda t: t.histogram(t.tensor([1, 2]), 2),
    "heaviside": lambda t: t.heaviside(
        t.tensor([-1.5, 0, 2.0, float("nan")]), t.tensor([0.5, 0.25, 1, 1])
    ),
    "heaviside of two dtypes": lambda t: t.heaviside(t.tensor([1]), t.tensor([1.0])),
    "left shift": lambda t: t.tensor([1, -3, 100], dtype=t.int8) << 2,
    "left shift by all": lambda t: t.tensor([1, -3], dtype=t.int32) << t.tensor([32, -1]),
    "right shift": lambda t: t.tensor([12, -3, 100]) >> t.tensor([1, 70, 3]),
    "shift of a number": lambda t: 2 << t.tensor([1, 2]),
    "shift of floats": lambda t: t.tensor([1.0]) << 1,
    "bitwise_right_shift": lambda t: t.bitwise_right_shift(t.tensor([-8]), t.tensor([1])),
    "where": lambda t: t.tensor([1.0, 2.0]).where(t.tensor([True, False]), t.tensor(5.0)),
    "fill_diagonal_": lambda t: t.zeros(3, 2).fill_diagonal_(2),
    "fill_diagonal_ wrapped": lambda t: t.zeros(7, 3).fill_diagonal_(2, wrap=True),
    "fill_diagonal_ of a vector": lambda t: t.zeros(3).fill_diagonal_(2),
    "apply_": lambda t: t.tensor([1.0, 2.0]).apply_(lambda value: value + 1),
    "map_": lambda t: t.tensor([1.0, 2.0]).map_(t.tensor([3.0, 4.0]), lambda a, b: a * b),
    "asarray": lambda t: t.asarray([1.0, 2.0], dtype=t.float64),
    "asarray without a copy": lambda t: t.asarray([1.0], copy=False),
    "frombuffer": lambda t: t.frombuffer(bytearray(range(8)), dtype=t.int16, offset=2, count=2),
    "frombuffer too short": lambda t: t.frombuffer(bytearray(3), dtype=t.int32),
    "resize_": lambda t: t.arange(6).resize_(2, 2),
    "resize_ of a variable": lambda t: t.ones(2, requires_grad=True).resize_(1),
    "resize_ of a variable to its shape": lambda t: t.ones(2, requires_grad=True).resize_(2),
    "resize_as_": lambda t: t.arange(6).resize_as_(t.zeros(2, 3)),
    "set_": lambda t: t.zeros(2).set_(t.ones(3)),
    "storage_offset": lambda t: [x.storage_offset() for x in (t.arange(6)[2:], t.zeros(3, 2)[1])],
    "dim_order": lambda t: [t.zeros(2, 3).dim_order(), t.zeros(2, 3).t().dim_order()],
    "is_set_to": lambda t: (lambda x: [x.is_set_to(x.detach()), x.is_set_to(x.clone())])(t.ones(2)),
    "itemsize": lambda t: [t.zeros(2).itemsize, t.zeros(2).nbytes, t.zeros(2).element_size()],
    "type": lambda t: [t.zeros(1).type(), t.zeros(1).long().type(), t.zeros(1).type(t.int8)],
    "type by name": lambda t: t.zeros(1).type("torch.DoubleTensor"),
    "type of no name": lambda t: t.zeros(1).type("torch.NoTensor"),
    "new": lambda t: t.tensor([1]).new([1, 2]),
    "FloatTensor": lambda t: [t.FloatTensor([1, 2]), isinstance(t.zeros(1), t.FloatTensor)],
    "LongTensor": lambda t: t.LongTensor([[1, 2]]),
    "is_signed": lambda t: [t.is_signed(t.zeros(1)), t.zeros(1).byte().is_signed()],
    "is_nonzero": lambda t: [t.is_nonzero(t.ones(1)), t.zeros(1).is_nonzero()],
    "is_nonzero of two": lambda t: t.is_nonzero(t.ones(2)),
    "is_same_size": lambda t: t.ones(2).is_same_size(t.ones(3)),
    "device": lambda t: [str(t.device("cpu")), repr(t.device("cpu", 0)), repr(t.device("cuda:1"))],
    "device of no type": lambda t: t.device("nothing"),
    "device of an index twice": lambda t: t.device("cuda:1", 2),
    "device of a float": lambda t: t.device(1.5),
    "equal devices": lambda t: [
        t.device("cpu") == t.device("cpu"), t.device("cpu") == t.device("cpu:0"),
        t.device("cpu") == "cpu", t.device(t.device("cuda", 1)).index, t.zeros(1).device.type,
    ],
    "is_cpu": lambda t: [t.zeros(1).is_cpu, t.zeros(1).is_cuda, t.zeros(1).get_device()],
    "cuda": lambda t: [t.cuda.is_available(), t.cuda.device_count()],
    "accelerator": lambda t: [
        t.accelerator.is_available(), t.accelerator.current_accelerator(),
        t.accelerator.device_count(),
    ],
    "backends": lambda t: [
        t.backends.cudnn.is_available(), t.backends.cudnn.version(), t.backends.cudnn.benchmark,
        t.backends.cudnn.deterministic, t.backends.cuda.matmul.allow_tf32,
        t.backends.cuda.is_built(), t.backends.mps.is_available(), t.backends.mps.is_built(),
    ],
    "sin_": lambda t: t.sin_(t.tensor([1.0])),
    "celu_": lambda t: t.celu_(t.tensor([-1.0, 1.0])),
    "threshold_": lambda t: t.threshold_(t.tensor([-1.0, 1.0]), 0.5, 2.0),
    "eq_": lambda t: t.tensor([1.0, 2.0]).eq_(2),
    "logical_and_": lambda t: t.tensor([1.0, 0.0]).logical_and_(t.tensor([1, 1])),
    "atan2_": lambda t: t.tensor([1.0]).atan2_(t.tensor([2.0])),
    "addmm_": lambda t: t.ones(2, 2).addmm_(t.ones(2, 3), t.ones(3, 2)),
    "batch_norm": lambda t: t.batch_norm(
        t.tensor([[1.0], [3.0]]), None, None, t.zeros(1), t.ones(1), True, 0.1, 1e-5, False
    ),
    "kl_div": lambda t: t.kl_div(t.tensor([0.5, 0.25]), t.tensor([0.5, 0.5]), 2),
    "dropout": lambda t: t.dropout(t.ones(3), 0.5, False),
    "half": lambda t: t.tensor([1.0, 1e-4]).half() * 3,
    "float16 products": lambda t: t.full((2, 2), 0.1).half() @ t.full((2, 2), 0.1).half(),
    "dirac_": lambda t: t.nn.init.dirac_(t.empty(4, 2, 3), groups=2),
    "deterministic": lambda t: [
        t.use_deterministic_algorithms(True, warn_only=True),
        t.are_deterministic_algorithms_enabled(), t.get_deterministic_debug_mode(),
        t.use_deterministic_algorithms(False),
    ],
    "bernoulli_ of 2": lambda t: t.zeros(2).bernoulli_(2.0),
    "geometric_ of 0": lambda t: t.zeros(2).geometric_(0),
    "exponential_ of integers": lambda t: t.zeros(2).long().exponential_(),
    "random_ of nothing": lambda t: t.zeros(2).random_(3, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_as_in_pytorch(name: str) -> None:
    ours, theirs = answer(CALLS[name], gs), answer(CALLS[name], torch)
    if name in ROUNDED:
        assert ours[:2] == theirs[:2]
        np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-3 if "16" in name else 1e-6)
    elif isinstance(theirs, type):
        assert isinstance(ours, type)
        assert issubclass(ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
def test_dtypes_are_promoted_and_cast(first: str, second: str) -> None:
    for name in ("promote_types", "can_cast"):
        ours, theirs = (
            answer(
                lambda t, name=name: getattr(t, name)(getattr(t, first), getattr(t, second)), lib
            )
            for lib in (gs, torch)
        )
        if {first, second} == {"float16", "complex64"} or ours == theirs:
            continue
        assert theirs in ("complex32",), (name, ours, theirs)
    ours, theirs = (
        answer(
            lambda t: t.result_type(
                t.ones(2, dtype=getattr(t, first)), t.ones((), dtype=getattr(t, second))
            ),
            library,
        )
        for library in (gs, torch)
    )
    assert ours == theirs or theirs == "complex32"


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("kind", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_windows(kind: str, length: int, periodic: bool) -> None:
    ours, theirs = (
        getattr(library, f"{kind}_window")(length, periodic, dtype=library.float64)
        for library in (gs, torch)
    )
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-7)


def test_devices_are_hashed_and_pickled() -> None:
    device = gs.device("cuda", 1)
    assert pickle.loads(pickle.dumps(device)) == device
    assert len({gs.device("cpu"), gs.device("cpu"), device}) == 2
    with gs.device("cpu") as entered:
        assert gs.get_default_device() == entered


@pytest.mark.parametrize(
    "call",
    [
        lambda device: gs.zeros(2, device=device),
        lambda device: gs.tensor([1.0], device=device),
        lambda device: gs.ones(1).to(device),
        lambda device: gs.rand(2, device=device),
        lambda device: gs.nn.Linear(1, 1).to(device),
        lambda device: gs.Generator(device),
        lambda device: gs.set_default_device(device),
        lambda device: gs.arange(3, device=device),
        lambda device: gs.hann_window(3, device=device),
        lambda device: gs.ones(1).new_zeros(2, device=device),
    ],
)
def test_another_device_is_refused_and_the_cpu_is_taken(call: Any) -> None:
    for device in ("cpu", gs.device("cpu"), gs.device("cpu", 0)):
        call(device)
    for device in ("cuda", gs.device("cuda:0")):
        with pytest.raises(RuntimeError, match="there is no device 'cuda"):
            call(device)
