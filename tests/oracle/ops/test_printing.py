"""The text of a tensor is PyTorch's, to the byte."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual
from gradspec.core.node import Node
from gradspec.core.tensor import wrap
from gradspec.functions import printing
from gradspec.functions.printing import set_printoptions, tensor_repr

pytestmark = pytest.mark.oracle

DTYPES = [
    "bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _torchs_namespace():
    """Lines break where the text of the dtype says: for comparing, it must be as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printing, "NAMESPACE", "torch.")
        yield


@pytest.fixture(scope="module")
def same(torch):
    def check(array: np.ndarray) -> None:
        assert tensor_repr(wrap(array)) == repr(torch.from_numpy(array))

    return check


def arrays():
    def of(dtype: str):
        shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
        kind = np.dtype(dtype).kind
        values = {"f": tame(), "c": st.builds(complex, tame(), tame())}.get(kind)
        if values is not None:
            values = values.map(np.dtype(dtype).type)
        return hnp.arrays(dtype, shapes, elements=values)

    return st.sampled_from(DTYPES).flatmap(of)


def tame():
    """Floats of the sizes that people print, besides special ones."""
    return st.one_of(
        st.integers(-20, 20).map(float),
        st.sampled_from([0.0, -0.0, 0.5, 1.25, -1e-3, 1e-5, 1e4, 1e9, np.inf, -np.inf, np.nan]),
        st.floats(-1000, 1000, width=16),
    )


@settings(max_examples=600, deadline=None)
@given(array=arrays())
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_arrays_of_every_kind(same, array):
    same(array)


@settings(max_examples=300, deadline=None)
@given(array=hnp.arrays("float64", hnp.array_shapes(min_dims=0, max_dims=2), elements=st.floats()))
def test_any_double(same, array):
    same(array)


@settings(max_examples=100, deadline=None)
@given(array=hnp.arrays("int64", hnp.array_shapes(min_dims=0, max_dims=2)))
def test_any_integer(same, array):
    same(array)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "bool", "float16"])
@pytest.mark.parametrize(
    "shape", [(1000,), (1001,), (2000,), (7, 200), (200, 7), (6, 200), (20, 20, 20), (3, 4, 500)]
)
def test_long_ones_are_summarized(same, shape, dtype):
    values = np.random.default_rng(0).normal(scale=5, size=shape)
    same((values > 0 if dtype == "bool" else values).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty(same, shape, dtype):
    same(np.zeros(shape, dtype))


@pytest.mark.parametrize("size", range(1, 60))
def test_line_breaks(same, size):
    same(np.arange(size) * 0.37)
    same((np.arange(size) * 1.5).astype(np.float32))
    same(np.arange(size, dtype=np.int32))


OPTIONS = [
    {"precision": 2},
    {"precision": 8},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 0},
    {"linewidth": 40},
    {"sci_mode": True},
    {"sci_mode": False},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "default"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(torch, same, options):
    set_printoptions(**options)
    torch.set_printoptions(**options)
    try:
        for array in (
            np.linspace(0, 3, 7),
            np.linspace(0, 3, 28).reshape(4, 7),
            np.array([1e-7, 1.5, 1e7]),
            np.arange(24).reshape(2, 3, 4),
            np.linspace(0, 3, 1200).reshape(30, 40),
        ):
            same(array)
    finally:
        set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


def test_requires_grad(torch):
    for size in (3, 12, 13, 20):
        array = np.linspace(0, 3, size)
        theirs = torch.from_numpy(array).requires_grad_()
        assert tensor_repr(wrap(array).requires_grad_()) == repr(theirs)


class MulBackward0(Node):
    """Stands for a node of the table."""

    __slots__ = ()

    def __init__(self) -> None:
        self.next_nodes, self.hooks, self.sequence_nr = (), None, 0


@pytest.mark.parametrize("size", [1, 9, 10, 11, 12, 13, 20])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_grad_fn(torch, size, dtype):
    array = np.linspace(0, 3, size).astype(dtype)
    ours = wrap(array)
    ours.grad_node = MulBackward0()
    assert tensor_repr(ours) == repr(torch.from_numpy(array).requires_grad_() * 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
def test_tangent(torch):
    array = np.linspace(0, 3, 5)
    forward_ad = torch.autograd.forward_ad
    with dual_level(), forward_ad.dual_level():
        ours = make_dual(wrap(array), wrap(2 * array))
        theirs = forward_ad.make_dual(torch.from_numpy(array), torch.from_numpy(2 * array))
        assert tensor_repr(ours) == repr(theirs)
    assert "tangent" not in tensor_repr(ours)


def test_objects_print_as_themselves():
    assert (
        tensor_repr(wrap(np.array(["x", "2*y"], object)))
        == "tensor([  x, 2*y], dtype=torch.object)"
    )


@pytest.mark.parametrize("call", [
    lambda lib, x: x.max(1),
    lambda lib, x: lib.sort(x, dim=0),
    lambda lib, x: lib.topk(x, 1),
    lambda lib, x: lib.linalg.slogdet(x),
    lambda lib, x: lib.linalg.svd(x),
    lambda lib, x: lib.cummax(x, 0),
])  # fmt: skip
def test_several_results_are_shown_by_their_names(torch, call):
    given = [[2.0, 1.0], [0.5, 4.0]]
    found, expected = call(gs, gs.tensor(given)), call(torch, torch.tensor(given))
    assert repr(found) == repr(expected).replace("torch.return_types", "gradspec.return_types")
    name = repr(found).partition("(")[0].rpartition(".")[2]
    assert type(found) is getattr(gs.return_types, name)
    assert isinstance(expected, getattr(torch.return_types, name))
    assert repr(type(found)(list(found))) == repr(found)
    assert repr(type(expected)(list(expected))) == repr(expected)
