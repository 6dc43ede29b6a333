"""Refusals of PyTorch outside of the ops: the same types of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

Call = Callable[[Any], Any]

CONVERSIONS: dict[str, Call] = {
    "float of several": lambda t: float(t.ones(2, 2)),
    "float of none": lambda t: float(t.ones(0)),
    "int of several": lambda t: int(t.ones(2)),
    "complex of several": lambda t: complex(t.ones(2)),
    "bool of several": lambda t: bool(t.ones(2)),
    "bool of none": lambda t: bool(t.ones(0)),
    "item of several": lambda t: t.ones(2).item(),
    "complex of a real number": lambda t: complex(t.ones(1)),
    "complex of a complex number": lambda t: complex(t.tensor(1 + 2j)),
    "float of a complex number": lambda t: float(t.tensor(1 + 2j)),
    "int of a complex number": lambda t: int(t.tensor(1 + 2j)),
    "float of a complex number that is real": lambda t: float(t.tensor(1 + 0j)),
    "int of nan": lambda t: int(t.tensor(float("nan"))),
    "int of inf": lambda t: int(t.tensor(float("inf"))),
    "index of a float": lambda t: [1, 2][t.tensor(1.0)],
    "len of a number": lambda t: len(t.tensor(1.0)),
    "list of a number": lambda t: list(t.tensor(1.0)),
    "format": lambda t: f"{t.tensor(1.5)}",
    "format with digits": lambda t: f"{t.tensor(1.5):.3f}",
    "format of an int": lambda t: f"{t.tensor(7):>5d}",
    "format of what requires grad": lambda t: f"{t.tensor(1.5, requires_grad=True)}",
    "format of several": lambda t: f"{t.ones(2)}",
    "format of several with digits": lambda t: f"{t.ones(2):.2f}",
    "format of a float as an int": lambda t: f"{t.tensor(1.5):d}",
}

DATA: dict[str, Call] = {
    **{
        f"tensor of {data!r}": lambda t, data=data: t.tensor(data)
        for data in (None, [None], "a", ["a"], {1: 2}, {1}, [{}], [[1, 2], [3]], range(3), [[]])
    },
    "as_tensor of None": lambda t: t.as_tensor(None),
    "from_numpy of a list": lambda t: t.from_numpy([1]),
    "Tensor of a list": lambda t: t.Tensor([1, 2]),
    "Tensor of bools and floats": lambda t: t.Tensor([True, 1.5]),
    "Tensor of a tuple": lambda t: t.Tensor((2, 3)),
    "Tensor of nested lists": lambda t: t.Tensor([[1, 2], [3, 4]]),
    "Tensor of ragged lists": lambda t: t.Tensor([[1, 2], [3]]),
    "Tensor of a shape": lambda t: list(t.Tensor(2, 3).shape),
    "Tensor of a length": lambda t: (list(t.Tensor(5).shape), t.Tensor(5).is_leaf),
    "Tensor of a negative length": lambda t: t.Tensor(-1),
    "Tensor of nothing": lambda t: t.Tensor(),
    "Tensor of a tensor": lambda t: t.Tensor(t.ones(2)),
    "Tensor of a tensor of integers": lambda t: t.Tensor(t.tensor([1])),
    "Tensor of a float": lambda t: t.Tensor(2.5),
    "Tensor of a text": lambda t: t.Tensor("a"),
    "Tensor of None": lambda t: t.Tensor(None),
    "Tensor that is used": lambda t: (t.Tensor([1, 2]).requires_grad_() * 2).sum(),
}

INDICES: dict[str, Call] = {
    "text": lambda t: t.ones(2)["a"],
    "text after None": lambda t: t.ones(2)[None, "a"],
    "text that is written to": lambda t: t.ones(2).__setitem__("a", 1),
    "two ellipses": lambda t: t.ones(2)[..., ...],
    "two ellipses and a number": lambda t: t.ones(2, 2)[..., ..., 0],
    "a number between two ellipses": lambda t: t.ones(2, 3)[..., 0, ...],
    "a float": lambda t: t.ones(2)[1.0],
    "a set": lambda t: t.ones(2)[{1}],
    "an object": lambda t: t.ones(2)[object()],
    "a slice of texts": lambda t: t.ones(4)["a":],  # type: ignore[misc]
    "too many": lambda t: t.ones(2)[0, 0, 0],
    "of a number": lambda t: t.tensor(1.0)[0],
    "a large number": lambda t: t.ones(2)[2],
    "a large number in a list": lambda t: t.ones(4)[[0, 5]],
    "a mask of another size": lambda t: t.ones(4)[t.ones(3) > 0],
    "lists of two lengths": lambda t: t.ones(4, 4)[[0, 1], [0, 1, 2]],
    "a negative step": lambda t: t.ones(2)[::-1],
    "a text that is written": lambda t: t.ones(4).__setitem__(0, "a"),
    "too many that are written": lambda t: t.ones(4).__setitem__(0, t.ones(2)),
}

COMPARISONS: dict[str, Call] = {
    **{
        f"{word} {other!r}": lambda t, word=word, other=other: (
            getattr(t.ones(2), word)(other) is NotImplemented
        )
        for word in ("__eq__", "__ne__")
        for other in (None, "a", [1, 1], (1, 1))
    },
    "== None": lambda t: t.ones(2) == None,  # noqa: E711
    "!= None": lambda t: t.ones(2) != None,  # noqa: E711
    "== a text": lambda t: t.ones(2) == "a",
    "None in a list": lambda t: None in [t.ones(2)],
    "== of another shape": lambda t: t.ones(2) == t.ones(3),
    "eq of None": lambda t: t.eq(t.ones(2), None),
    "< None": lambda t: t.ones(2) < None,
    "+ None": lambda t: t.ones(2) + None,
    "a text times": lambda t: "a" * t.ones(2),
}

OTHERS: dict[str, Call] = {
    "copy_ of a text": lambda t: t.ones(2).copy_("a"),
    "fill_ with a text": lambda t: t.ones(2).fill_("a"),
    "fill_ with several": lambda t: t.ones(2).fill_(t.ones(2)),
    "requires_grad_ of a text": lambda t: t.ones(2).requires_grad_("a"),
    "set_grad_enabled of a text": lambda t: t.set_grad_enabled("a"),
    "numel of a number": lambda t: t.numel(5),
    "is_complex of a number": lambda t: t.is_complex(5),
    "equal of a number": lambda t: t.equal(t.ones(2), 5),
    "allclose of a number": lambda t: t.allclose(t.ones(2), 5),
    "Module.to a device": lambda t: t.nn.Linear(1, 1).to("cpu").weight * 0,
    "Module.to a device and a dtype": lambda t: t.nn.Linear(1, 1).to("cpu", t.float64).weight * 0,
    "Module.to a dtype by name": lambda t: t.nn.Linear(1, 1).to(dtype=t.float64).weight * 0,
    "Module.to a tensor": lambda t: t.nn.Linear(1, 1).to(t.ones(1).double()).weight * 0,
    "Module.to integers": lambda t: t.nn.Linear(1, 1).to(t.int64),
    "Module.to no device": lambda t: t.nn.Linear(1, 1).to("nonsense"),
    "load_state_dict of a number": lambda t: t.nn.Linear(1, 1).load_state_dict(5),
    "a convolution with stride and same": lambda t: t.nn.Conv2d(1, 1, 3, 2, "same"),
}

CALLS = CONVERSIONS | DATA | INDICES | COMPARISONS | OTHERS


@pytest.mark.parametrize("name", CALLS)
def test_same(name: str) -> None:
    import torch

    assert_same(CALLS[name], torch)


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"Module\.to: there is no device 'cuda', only 'cpu'"):
        gs.nn.Linear(1, 1).to("cuda")
