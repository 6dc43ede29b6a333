"""`out=`, `axis=` and `keepdims=` as PyTorch takes them: values, dtypes, shapes, errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import gradspec as gs

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")]

VALUES = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3) / 7


def _definite(t: Any) -> Any:
    """A positive definite matrix, with which float32 computes without rounding."""
    return t.tensor([[4.0, 2.0], [2.0, 5.0]])


CALLS: dict[str, Any] = {
    "sin": lambda t, x, **kw: t.sin(x, **kw),
    "abs": lambda t, x, **kw: t.abs(x, **kw),
    "add": lambda t, x, **kw: t.add(x, x, alpha=2, **kw),
    "mul by a number": lambda t, x, **kw: t.mul(x, 3, **kw),
    "pow": lambda t, x, **kw: t.pow(x, 2, **kw),
    "gt": lambda t, x, **kw: t.gt(x, 0.5, **kw),
    "mm": lambda t, x, **kw: t.mm(x, x.t(), **kw),
    "matmul": lambda t, x, **kw: t.matmul(x, x.t(), **kw),
    "sum": lambda t, x, **kw: t.sum(x, 1, **kw),
    "mean": lambda t, x, **kw: t.mean(x, 0, **kw),
    "amax": lambda t, x, **kw: t.amax(x, 1, True, **kw),
    "argmax": lambda t, x, **kw: t.argmax(x, 1, **kw),
    "cumsum": lambda t, x, **kw: t.cumsum(x, 1, **kw),
    "softmax": lambda t, x, **kw: t.softmax(x, 1, **kw),
    "logsumexp": lambda t, x, **kw: t.logsumexp(x, 1, **kw),
    "cat": lambda t, x, **kw: t.cat([x, x], 1, **kw),
    "stack": lambda t, x, **kw: t.stack([x, x], **kw),
    "where": lambda t, x, **kw: t.where(x > 0.5, x, -x, **kw),
    "var": lambda t, x, **kw: t.var(x, 1, **kw),
    "outer": lambda t, x, **kw: t.outer(x[0], x[1], **kw),
    "tril": lambda t, x, **kw: t.tril(x, **kw),
    "gather": lambda t, x, **kw: t.gather(x, 1, x[:, :1].long(), **kw),
    "prod": lambda t, x, **kw: t.prod(x, 1, **kw),
    "nansum": lambda t, x, **kw: t.nansum(x, 1, **kw),
    "cumprod": lambda t, x, **kw: t.cumprod(x, 1, **kw),
    "square": lambda t, x, **kw: t.square(x, **kw),
    "logical_and": lambda t, x, **kw: t.logical_and(x, x > 0.5, **kw),
    "norm": lambda t, x, **kw: t.norm(x, 2, 1, **kw),
    "linalg.norm": lambda t, x, **kw: t.linalg.norm(x, dim=1, **kw),
    "linalg.matrix_power": lambda t, x, **kw: t.linalg.matrix_power(x[:, :2], 2, **kw),
    "diff": lambda t, x, **kw: t.diff(x, **kw),
    "cross": lambda t, x, **kw: t.cross(x, x.flip(1), 1, **kw),
    "kron": lambda t, x, **kw: t.kron(x, x, **kw),
    "hstack": lambda t, x, **kw: t.hstack([x, x], **kw),
    "take_along_dim": lambda t, x, **kw: t.take_along_dim(x, x[:, :1].long(), 1, **kw),
    "nonzero_static": lambda t, x, **kw: t.nonzero_static(x > 0.5, size=4, **kw),
    "fft": lambda t, x, **kw: t.fft.fft(x, **kw),
    "pinv": lambda t, x, **kw: t.linalg.pinv(_definite(t), **kw),
    "cond": lambda t, x, **kw: t.linalg.cond(x, **kw),
    "matrix_rank": lambda t, x, **kw: t.linalg.matrix_rank(x, **kw),
    "tensorinv": lambda t, x, **kw: t.linalg.tensorinv(_definite(t), 1, **kw),
    "tensorsolve": lambda t, x, **kw: t.linalg.tensorsolve(
        _definite(t), t.tensor([8.0, 16.0]), **kw
    ),
    "cholesky": lambda t, x, **kw: t.cholesky(_definite(t), **kw),
    "cholesky_inverse": lambda t, x, **kw: t.cholesky_inverse(_definite(t), **kw),
    "cholesky_solve": lambda t, x, **kw: t.cholesky_solve(x, _definite(t), **kw),
    "householder_product": lambda t, x, **kw: t.linalg.householder_product(x.mT, x[0, :2], **kw),
    "inv": lambda t, x, **kw: t.linalg.inv(_definite(t), **kw),
    "addr": lambda t, x, **kw: t.addr(x, x[:, 0], x[0], **kw),
    "mvlgamma": lambda t, x, **kw: t.mvlgamma(x + 2, 2, **kw),
    "clamp": lambda t, x, **kw: t.clamp(x, 0.3, 0.5, **kw),
    "heaviside": lambda t, x, **kw: t.heaviside(x, x, **kw),
    "linalg.cross": lambda t, x, **kw: t.linalg.cross(x, x.flip(1), **kw),
    "tensordot": lambda t, x, **kw: t.tensordot(x, x.mT, 1, **kw),
    "chain_matmul": lambda t, x, **kw: t.chain_matmul(*[_definite(t)] * 3, **kw),
    "nuclear_norm": lambda t, x, **kw: t.nuclear_norm(t.eye(2) * 3, **kw),
    "frobenius_norm": lambda t, x, **kw: t.frobenius_norm(t.tensor([[3.0, 4.0]]), (0, 1), **kw),
    "igamma": lambda t, x, **kw: t.igamma(x, x, **kw),
    "zeta": lambda t, x, **kw: t.special.zeta(x + 2, x, **kw),
    "zeta of a number": lambda t, x, **kw: t.special.zeta(x + 2, 1.5, **kw),
    "bessel_j0": lambda t, x, **kw: t.special.bessel_j0(x, **kw),
    "airy_ai": lambda t, x, **kw: t.special.airy_ai(x, **kw),
    "chebyshev_polynomial_t": lambda t, x, **kw: t.special.chebyshev_polynomial_t(x, 3, **kw),
    "zeros": lambda t, x, **kw: t.zeros(2, 2, **kw),
    "arange": lambda t, x, **kw: t.arange(5, **kw),
    "linspace": lambda t, x, **kw: t.linspace(0, 1, 5, **kw),
}
WRITES = {
    ("var", "complex64"),
    ("linspace", "bool"),
    *((name, "bool") for name in ("cumsum", "cumprod", "nansum")),
    *(("nansum", dtype) for dtype in ("int64", "complex64")),
}
"""Calls for which PyTorch has no kernel."""


def result(name: str, library: Any, size: tuple[int, ...], dtype: str, x: Any) -> Any:
    out = library.zeros(size, dtype=getattr(library, dtype))
    try:
        answer = CALLS[name](library, x, out=out)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return type(error)
    assert answer is out
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "complex64", "bool"])
@pytest.mark.parametrize("name", CALLS)
def test_the_result_is_written_to_out(name: str, dtype: str) -> None:
    ours = result(name, gs, (0,), dtype, gs.tensor(VALUES))
    theirs = result(name, torch, (0,), dtype, torch.tensor(VALUES))
    if (name, dtype) in WRITES:
        assert theirs is NotImplementedError
    elif isinstance(theirs, type):
        assert isinstance(ours, type), f"PyTorch raises {theirs}"
    else:
        assert not isinstance(ours, type), f"{ours} is raised"
        assert ours.numpy().dtype == theirs.numpy().dtype
        rtol = 1e-3 if dtype == "float16" else 1e-6
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=rtol)


@pytest.mark.parametrize("name", CALLS)
def test_an_out_with_elements_of_another_shape_is_resized_with_a_warning(name: str) -> None:
    wanted = CALLS[name](gs, gs.tensor(VALUES))
    out = gs.zeros(7, 7, dtype=wanted.dtype)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        answer = CALLS[name](gs, gs.tensor(VALUES), out=out)
    warned = any("was resized" in str(each.message) for each in given)
    assert warned is (name == "arange" or name not in MADE)  # see below
    assert answer is out
    assert out.shape == wanted.shape
    assert gs.equal(out, wanted)
    kept = out.data_ptr()
    CALLS[name](gs, gs.tensor(VALUES), out=out)
    assert out.data_ptr() == kept


@pytest.mark.parametrize("library", [gs, torch])
def test_a_transform_is_written_to_out(library: Any) -> None:
    out = library.empty(3, dtype=library.complex64)
    assert library.fft.fft(library.tensor([1.0, 2.0, 3.0]), out=out) is out
    assert out[0].item() == 6


@pytest.mark.parametrize("library", [gs, torch])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float64"])
def test_sums_and_products_are_computed_in_the_dtype_of_out(library: Any, dtype: str) -> None:
    wanted = getattr(library, dtype)
    x = library.tensor([100, 100, 57], dtype=library.uint8)
    total = library.sum(x, 0, out=library.empty((), dtype=wanted))
    product = library.prod(x, 0, out=library.empty((), dtype=wanted))
    running = library.cumsum(x, 0, out=library.empty(3, dtype=wanted))
    expected = {
        "uint8": (1, 570_000 % 256, [100, 200, 1]),
        "int8": (1, 570_000 % 256 - 256, [100, -56, 1]),
        "int64": (257, 570_000, [100, 200, 257]),
        "float64": (257, 570_000, [100, 200, 257]),
    }
    assert (total.item(), product.item(), running.tolist()) == expected[dtype]


@pytest.mark.parametrize("library", [gs, torch])
def test_bytes_and_bools_hold_whether_any_is_true(library: Any) -> None:
    x = library.tensor([0, 2], dtype=library.uint8)
    assert library.any(x, out=library.empty((), dtype=library.bool)).item() is True
    assert library.all(x > 0, out=library.empty((), dtype=library.uint8)).item() == 0
    with pytest.raises(RuntimeError):
        library.all(x, out=library.empty(()))


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("library", [gs, torch])
@pytest.mark.parametrize(
    ("name", "args"),
    [("arange", (4,)), ("range", (0, 3)), ("linspace", (0, 3, 4)), ("logspace", (0, 3, 4))],
)
def test_numbers_in_a_row_fill_what_has_as_many_elements(
    library: Any, name: str, args: Any
) -> None:
    whole = library.full((2, 3), -1.0)
    part = whole.narrow(1, 1, 2)
    assert getattr(library, name)(*args, out=part) is part
    values = [1, 10, 100, 1000] if name == "logspace" else [0, 1, 2, 3]
    assert whole.tolist() == [[-1, *values[:2]], [-1, *values[2:]]]


def test_several_results_are_written_to_a_tuple() -> None:
    x, y = gs.tensor(VALUES), torch.tensor(VALUES)
    ours = gs.sort(x, 1, True, out=(gs.empty(0), gs.empty(0, dtype=gs.int64)))
    theirs = torch.sort(y, 1, True, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    with pytest.raises(TypeError, match="tuple of 2 Tensors"):
        gs.sort(x, 1, out=gs.empty(0))


@pytest.mark.parametrize("library", [gs, torch])
def test_no_gradient_flows_through_out(library: Any) -> None:
    x = library.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        library.sin(x, out=library.empty(2))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        library.sin(library.ones(2), out=x)
    with library.no_grad():
        assert not library.sin(x, out=library.empty(2)).requires_grad
    with pytest.raises(TypeError, match="must be Tensor"):
        library.sin(library.ones(2), out=3)


def test_a_write_is_counted() -> None:
    out = gs.ones(2)
    y = gs.ones(2, requires_grad=True) * out
    gs.sin(gs.ones(2), out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


AXES: dict[str, Any] = {
    "sum": lambda t, x, d, k: t.sum(x, **d, **k),
    "x.sum": lambda t, x, d, k: x.sum(**d, **k),
    "mean": lambda t, x, d, k: t.mean(x, **d, **k),
    "amax": lambda t, x, d, k: t.amax(x, **d, **k),
    "x.argmax": lambda t, x, d, k: x.argmax(**d, **k),
    "max": lambda t, x, d, k: t.max(x, **d, **k).values,
    "std": lambda t, x, d, k: t.std(x, **d, **k),
    "x.all": lambda t, x, d, k: (x > 0).all(**d, **k),
    "logsumexp": lambda t, x, d, k: t.logsumexp(x, **d, **k),
    "prod": lambda t, x, d, k: t.prod(x, **d, **k),
    "softmax": lambda t, x, d, k: t.softmax(x, **d),
    "x.cumsum": lambda t, x, d, k: x.cumsum(**d),
    "fft": lambda t, x, d, k: t.fft.fft(x, **d),
    "rfft": lambda t, x, d, k: t.fft.rfft(x, **d),
    "fftn": lambda t, x, d, k: t.fft.fftn(x, **d),
    "fftshift": lambda t, x, d, k: t.fft.fftshift(x, **d),
    "linalg.norm": lambda t, x, d, k: t.linalg.norm(x, **d, **k),
    "linalg.matrix_norm": lambda t, x, d, k: t.linalg.matrix_norm(x, axis=(0, 1), **k),
    "gradient": lambda t, x, d, k: t.gradient(x, **d)[0],
    "unsafe_chunk": lambda t, x, d, k: t.unsafe_chunk(x, 2, **d)[1],
    "unsqueeze": lambda t, x, d, k: t.unsqueeze(x, **d),
    "cat": lambda t, x, d, k: t.cat([x, x], **d),
    "stack": lambda t, x, d, k: t.stack([x, x], **d),
    "unbind": lambda t, x, d, k: t.unbind(x, **d)[0],
    "x.sort": lambda t, x, d, k: x.sort(**d).values,
    "topk": lambda t, x, d, k: t.topk(x, 2, **d).values,
    "chunk": lambda t, x, d, k: t.chunk(x, 2, **d)[0],
    "x.squeeze": lambda t, x, d, k: x[None].squeeze(axis=0) if "axis" in d else x[None].squeeze(0),
}


@pytest.mark.parametrize("name", AXES)
def test_numpys_names_of_arguments(name: str) -> None:
    x, y = gs.tensor(VALUES), torch.tensor(VALUES)
    ours = AXES[name](gs, x, {"axis": 1}, {"keepdims": True})
    theirs = AXES[name](torch, y, {"axis": 1}, {"keepdims": True})
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.cumsum(x),
        lambda t, x: t.cumsum(x, 0, axis=1),
        lambda t, x: t.sum(x, dim=0, axis=1),
        lambda t, x: t.sum(x, 0, axis=1),
        lambda t, x: t.amax(x, 0, axis=1),
        lambda t, x: t.sin(x, axis=1),
        lambda t, x: t.relu(x, out=x),
    ],
)
@pytest.mark.parametrize("library", [gs, torch])
def test_what_is_no_argument_is_refused(library: Any, call: Any) -> None:
    with pytest.raises(TypeError):
        call(library, library.ones(2, 2))


OVERLAPPING: dict[str, Any] = {
    "sin": lambda t, x, out: t.sin(x, out=out),
    "add": lambda t, x, out: t.add(x, 1, out=out),
    "pow": lambda t, x, out: t.pow(x, 2, out=out),
    "where": lambda t, x, out: t.where(x > 0, x, x, out=out),
    "addcmul": lambda t, x, out: t.addcmul(x, x, x, out=out),
    "cumsum": lambda t, x, out: t.cumsum(x, 0, out=out),
    "sort": lambda t, x, out: t.sort(x, out=(out, t.empty(0, dtype=t.int64)))[0],
    "gather": lambda t, x, out: t.gather(x, 0, t.zeros(3, 3, dtype=t.int64), out=out),
    "index_select": lambda t, x, out: t.index_select(x, 0, t.tensor([2, 1, 0]), out=out),
    "cat": lambda t, x, out: t.cat([x], out=out),
    "stack": lambda t, x, out: t.stack([x[0], x[1], x[2]], out=out),
    "cross": lambda t, x, out: t.cross(x, x, out=out),
    "vstack": lambda t, x, out: t.vstack([x], out=out),
    "mm": lambda t, x, out: t.mm(x, x, out=out),
    "softmax": lambda t, x, out: t.softmax(x, 0, out=out),
    "sum": lambda t, x, out: t.sum(x, 0, keepdim=True, out=out[:1]),
    "tril": lambda t, x, out: t.tril(x, out=out),
}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", OVERLAPPING)
def test_an_out_that_lies_on_what_is_read_is_refused_where_pytorch_refuses_it(
    name: str, first: int
) -> None:
    def is_refused(library: Any) -> bool:
        memory = library.arange(1.0, 12.0) / 12
        x, out = memory[:9].view(3, 3), memory[first : first + 9].view(3, 3)
        try:
            OVERLAPPING[name](library, x, out)
        except RuntimeError as error:
            return "unsupported operation" in str(error)
        return False

    assert is_refused(gs) is is_refused(torch)


MADE: dict[str, Any] = {
    "zeros": lambda t, out: t.zeros(2, 2, out=out),
    "ones": lambda t, out: t.ones(4, out=out),
    "full": lambda t, out: t.full((2,), 3.0, out=out),
    "eye": lambda t, out: t.eye(2, out=out),
    "linspace": lambda t, out: t.linspace(0, 1, 5, out=out),
    "logspace": lambda t, out: t.logspace(0, 3, 4, out=out),
    "arange": lambda t, out: t.arange(4, out=out),
    "rand": lambda t, out: t.rand(4, out=out) < 1,
    "bernoulli": lambda t, out: t.bernoulli(t.tensor([0.0, 1.0]), out=out),
    "normal": lambda t, out: t.normal(0.0, 1.0, (4,), out=out).isfinite(),
}


@pytest.mark.parametrize("name", MADE)
def test_whether_an_out_that_is_filled_is_resized_with_a_warning(name: str) -> None:
    def run(library: Any) -> Any:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            filled = MADE[name](library, library.zeros(3))
        return filled.tolist(), [each.category for each in given]

    assert run(gs) == run(torch)
