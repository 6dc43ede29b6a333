"""The methods of `Tensor` that layers above `core` define, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .autograd.backward import BackwardMethods
from .core.node import Node
from .core.tensor import Size, Tensor
from .dispatch.operators import SizeMethods
from .functions.complex_parts import ComplexParts
from .functions.composites import CompositeMethods, invert, narrow
from .functions.conversion import ConversionMethods, clone
from .functions.dtype_views import DtypeViewMethods
from .functions.indexing import IndexingMethods
from .functions.methods import install, lazy_methods
from .functions.numpy_protocol import ValueMethods
from .functions.properties import PROPERTIES, PropertyMethods
from .generated import METHODS
from .graph.leaf_gradients import AccumulationMethods
from .graph.node_methods import NodeMethods
from .inplace.fill_copy import OverwriteMethods
from .numpy_overrides.protocol import NumpyFunctionMethods
from .overrides import OverrideMethods

if TYPE_CHECKING:
    from .functions.elements import ElementMethods
    from .functions.finite_differences import DifferenceMethods
    from .functions.foreign_memory import ForeignMemoryMethods
    from .functions.histograms import HistogramMethods
    from .functions.legacy import LegacyMethods
    from .functions.linear_algebra.old_linalg import OldLinalgMethods
    from .functions.new_tensors import NewTensorMethods
    from .functions.pickling import PicklingMethods
    from .functions.predicates import PredicateMethods
    from .functions.spectral.short_time_fourier import ShortTimeMethods
    from .functions.splitting import SplittingMethods
    from .functions.storages import StorageMethods
    from .functions.strided import StridedMethods
    from .functions.unique import UniqueMethods
    from .generated.names.methods import TensorMethods as _OpMethods
    from .inplace.inplace_views import ViewInPlaceMethods
    from .inplace.random_fill import RandomFillMethods
    from .inplace.requires_grad import RequiresGradMethods
    from .inplace.resize import ResizeMethods
    from .random import RandomMethods

    class _LaterMethods(
        DifferenceMethods,
        ElementMethods,
        ForeignMemoryMethods,
        HistogramMethods,
        LegacyMethods,
        NewTensorMethods,
        OldLinalgMethods,
        PicklingMethods,
        PredicateMethods,
        RandomFillMethods,
        RandomMethods,
        RequiresGradMethods,
        ResizeMethods,
        ShortTimeMethods,
        SplittingMethods,
        StorageMethods,
        StridedMethods,
        UniqueMethods,
        ViewInPlaceMethods,
        _OpMethods,
    ):
        __slots__ = ()
else:
    _LaterMethods = object  # at run time each is imported when it is used


class TensorMethods(
    AccumulationMethods,
    BackwardMethods,
    ComplexParts,
    CompositeMethods,
    ConversionMethods,
    IndexingMethods,
    NumpyFunctionMethods,
    OverrideMethods,
    OverwriteMethods,
    PropertyMethods,
    ValueMethods,
    _LaterMethods,
):
    """Bases of `Tensor` for type checkers; at run time their methods are copied into it."""

    __slots__ = ()


LATER: Final = {
    ("functions.elements", "ElementMethods"): (
        "apply_ fill_diagonal_ isreal map2_ map_ nonzero_static where"
    ),
    ("functions.finite_differences", "DifferenceMethods"): "diff",
    ("functions.foreign_memory", "ForeignMemoryMethods"): "__dlpack__ __dlpack_device__",
    ("functions.histograms", "HistogramMethods"): "histogram",
    ("functions.legacy", "LegacyMethods"): "__init__ new type",
    ("functions.new_tensors", "NewTensorMethods"): (
        "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"
    ),
    ("functions.pickling", "PicklingMethods"): "__deepcopy__ __reduce_ex__",
    ("functions.predicates", "PredicateMethods"): "allclose equal",
    ("functions.splitting", "SplittingMethods"): (
        "dsplit hsplit repeat_interleave sum_to_size take_along_dim type_as vsplit"
    ),
    ("functions.storages", "StorageMethods"): "storage untyped_storage",
    ("functions.strided", "StridedMethods"): (
        "as_strided as_strided_scatter storage_offset unsafe_chunk"
    ),
    ("functions.unique", "UniqueMethods"): "unique unique_consecutive",
    ("inplace.inplace_views", "ViewInPlaceMethods"): (
        "as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
    ),
    ("inplace.random_fill", "RandomFillMethods"): (
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_"
    ),
    ("inplace.requires_grad", "RequiresGradMethods"): "detach_ requires_grad_",
    ("inplace.resize", "ResizeMethods"): "resize_ resize_as_ set_",
    ("random", "RandomMethods"): "bernoulli multinomial",
    ("functions.linear_algebra.old_linalg", ""): (
        "eig geqrf lstsq lu orgqr ormqr qr solve symeig triangular_solve"
    ),
    ("functions.spectral.short_time_fourier", ""): "istft stft",
}
"""Methods that are imported when they are used, by module and, if they have one, class."""


def install_all() -> None:
    """Give `Tensor`, `Node` and `Size` the methods of all layers."""
    install(Node, vars(NodeMethods))
    install(Size, vars(SizeMethods))
    for methods in TensorMethods.__bases__:
        if methods is not object:
            install(Tensor, vars(methods))
    install(Tensor, PROPERTIES)
    for (module, owner), names in LATER.items():
        later = {name: (module, f"{owner}.{name}".strip("."), "") for name in names.split()}
        install(Tensor, lazy_methods(__package__, later))
    install(Tensor, lazy_methods(f"{__package__}.generated", METHODS))
    install(Tensor, vars(DtypeViewMethods))  # in the place of an op's
    install(Tensor, {"clone": clone})  # the op has no memory_format
    install(Tensor, {"narrow": narrow})  # the op takes no tensor to start at
    install(Tensor, {"__invert__": invert})  # the op raises other errors
