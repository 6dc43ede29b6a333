"""Arguments of ops that count as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.nn import functional

CALLS = {
    "alpha": lambda number: gs.add(gs.ones(2), gs.ones(2), alpha=number),
    "slope": lambda number: functional.leaky_relu(gs.ones(2), number),
    "beta": lambda number: functional.softplus(gs.ones(2), beta=number),
    "elu": lambda number: functional.elu(gs.ones(2), number),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_with_dimensions_is_no_number(call: str) -> None:
    with pytest.raises(TypeError, match=r"must be (Number|float), not Tensor"):
        CALLS[call](gs.ones(2))


@pytest.mark.parametrize("call", CALLS)
def test_nor_is_one_whose_gradient_would_be_lost(call: str) -> None:
    with pytest.raises(TypeError, match=r"must be (Number|float), not Tensor"):
        CALLS[call](gs.tensor(0.5, requires_grad=True))


def test_a_tensor_without_dimensions_is_one() -> None:
    assert CALLS["alpha"](gs.tensor(2)).tolist() == [3, 3]


X = gs.ones(3, 4)
IMAGE = gs.ones(1, 2, 4, 4)

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "int: bool": (lambda: gs.topk(X, True), "topk(): argument 'k' must be int, not bool"),
    "int: bool of NumPy": (
        lambda: gs.unsqueeze(X, np.True_),
        "unsqueeze(): argument 'dim' must be int, not bool",
    ),
    "int: float": (lambda: gs.topk(X, 2.0), "topk(): argument 'k' must be int, not float"),
    "int: tensor of bools": (
        lambda: gs.cumsum(X, gs.tensor(True)),
        "cumsum(): argument 'dim' must be int, not Tensor",
    ),
    "int of a composite": (
        lambda: gs.narrow(X, 0, 0, True),
        "narrow(): argument 'length' must be int, not bool",
    ),
    "int that no kernel looks at": (
        lambda: gs.cov(X, correction=1.5),
        "cov(): argument 'correction' must be int, not float",
    ),
    "int?": (lambda: gs.argmax(X, False), "argmax(): argument 'dim' must be int, not bool"),
    "int[]: a single number": (
        lambda: gs.flip(X, 1),
        "flip(): argument 'dims' must be tuple of ints, not int",
    ),
    "int[]: bool first": (
        lambda: gs.permute(X, (True, 0)),
        "permute(): argument 'dims' must be tuple of ints, but found element of type bool at pos 0",
    ),
    "int[1]: float": (
        lambda: gs.roll(X, 1.5, 0),
        "roll(): argument 'shifts' must be tuple of ints, not float",
    ),
    "int[1]: float after an int": (
        lambda: gs.roll(X, (1, 1.5), (0, 1)),
        "argument 'shifts' must be int, not float",
    ),
    "int?[2]: float": (
        lambda: functional.adaptive_avg_pool2d(IMAGE, (None, 1.5)),
        "argument 'output_size' must be tuple of ints, but found element of type float at pos 1",
    ),
    "int?[2]: None for both": (
        lambda: functional.adaptive_avg_pool2d(IMAGE, None),
        "argument 'output_size' must be tuple of ints, not NoneType",
    ),
    "float: complex": (
        lambda: functional.elu(X, alpha=1j),
        "elu(): argument 'alpha' must be float, not complex",
    ),
    "float: complex of NumPy": (
        lambda: functional.threshold(X, np.complex64(1), 0),
        "threshold(): argument 'threshold' must be float, not complex64",
    ),
    "float: complex tensor": (
        lambda: functional.celu(X, gs.tensor(1j)),
        "celu(): argument 'alpha' must be float, not Tensor",
    ),
    "float: text": (
        lambda: functional.layer_norm(X, (4,), eps="1e-5"),
        "layer_norm(): argument 'eps' must be float, not str",
    ),
    "float of a composite": (
        lambda: functional.normalize(X, eps=1j),
        "normalize(): argument 'eps' must be float, not complex",
    ),
    "Scalar: list": (
        lambda: gs.addcmul(X, X, X, value=[1]),
        "addcmul(): argument 'value' must be Number, not list",
    ),
    "Scalar: None": (
        lambda: gs.dist(X, X, None),
        "dist(): argument 'p' must be Number, not NoneType",
    ),
    "Scalar: complex weight": (
        lambda: gs.lerp(X, X, 1j),
        "lerp: a complex weight is for complex tensors",
    ),
    "Scalar: complex weight as a tensor": (
        lambda: gs.lerp(X, X, gs.tensor(1j)),
        "lerp: a complex weight is for complex tensors",
    ),
    "Scalar: a weight of another dtype": (
        lambda: gs.lerp(X, X, X.double()),
        "lerp: the dtype of weight must be that of input",
    ),
    "Scalar: bool for a factor": (
        lambda: gs.addr(X[0], gs.ones(4), gs.ones(4), beta=True),
        "Boolean beta only supported for Boolean results.",
    ),
    "bool: int": (lambda: gs.topk(X, 2, largest=1), "argument 'largest' must be bool, not int"),
    "bool: bool of NumPy": (
        lambda: gs.amax(X, 0, np.True_),
        "amax(): argument 'keepdim' must be bool, not bool",
    ),
    "bool: tensor of an overload": (
        lambda: gs.var(X, gs.tensor(True)),
        "var() received an invalid combination of arguments",
    ),
    "float: complex of NumPy, of an overload": (
        lambda: gs.quantile(X, np.complex64(0.5)),
        "must be Tensor, not complex",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_numbers_of_another_kind_are_refused(kind: str) -> None:
    call, message = REFUSED[kind]
    with pytest.raises((TypeError, RuntimeError)) as raised:
        call()
    assert message in str(raised.value)


ACCEPTED: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "int of NumPy": (lambda: gs.topk(X, np.int64(2)).values, (3, 2)),
    "int as a tensor": (lambda: gs.topk(X, gs.tensor(2)).values, (3, 2)),
    "int as a tensor, of an overload": (
        lambda: gs.conv1d(gs.ones(1, 2, 5), gs.ones(1, 2, 1), stride=gs.tensor(2)),
        (1, 1, 3),
    ),
    "ints as tensors, of an overload": (
        lambda: gs.conv1d(gs.ones(1, 2, 5), gs.ones(1, 2, 1), stride=(gs.tensor(2),)),
        (1, 1, 3),
    ),
    "int[2] of NumPy": (lambda: functional.max_pool2d(IMAGE, np.int64(2)), (1, 2, 2, 2)),
    "int[2] as a tensor": (lambda: functional.avg_pool2d(IMAGE, gs.tensor(2)), (1, 2, 2, 2)),
    "int[2] of an op by its op": (
        lambda: gs.conv_transpose2d(IMAGE, gs.ones(2, 1, 1, 1), stride=np.int64(2)),
        (1, 1, 7, 7),
    ),
    "int[] as a list": (lambda: gs.permute(X, [1, 0]), (4, 3)),
    "int?[2] with None": (
        lambda: functional.adaptive_avg_pool2d(IMAGE, (None, 2)),
        (1, 2, 4, 2),
    ),
    "float as a bool": (lambda: functional.celu(X, True), (3, 4)),
}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_numbers_of_kinds_that_stand_for_others_are_taken(kind: str) -> None:
    call, shape = ACCEPTED[kind]
    assert call().shape == shape


def test_whole_numbers_of_numpy_do_not_decide_the_dtype() -> None:
    assert gs.polygamma(np.int64(1), gs.tensor([1, 2])).dtype == gs.float32
    assert gs.var(gs.ones(3, dtype=gs.float64), correction=gs.tensor(0)).dtype == gs.float64


def test_the_value_of_addcmul_is_brought_to_the_dtype() -> None:
    """PyTorch counts 1.5 as 1 among integers here, where `add` refuses it."""
    whole = gs.tensor([3, 4])
    assert gs.addcmul(whole, whole, whole, value=1.5).tolist() == [12, 20]
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        gs.addcmul(whole > 3, whole > 3, whole > 3)


def test_none_is_an_empty_list_where_that_is_the_default() -> None:
    x = gs.tensor([[3.0, 1.0], [2.0, 4.0]])
    assert gs.amin(x, None).item() == 1
    assert gs.roll(x, 1, None).tolist() == [[4, 3], [1, 2]]
    assert gs.nn.functional.max_pool1d(x, 2, stride=None).tolist() == [[3], [4]]
    with pytest.raises(TypeError, match="must be tuple of ints, not NoneType"):
        gs.flip(x, None)
