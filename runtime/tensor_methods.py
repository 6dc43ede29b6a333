"""The methods of `Tensor` that layers above `core` define, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .autograd.backward import BackwardMethods
from .core.node import Node
from .core.tensor import Size, Tensor
from .dispatch.operators import SizeMethods
from .functions.complex_parts import ComplexParts
from .functions.composites import CompositeMethods
from .functions.conversion import ConversionMethods, clone
from .functions.dtype_views import DtypeViewMethods
from .functions.elements import ElementMethods
from .functions.finite_differences import DifferenceMethods
from .functions.foreign_memory import ForeignMemoryMethods
from .functions.histograms import HistogramMethods
from .functions.indexing import IndexingMethods
from .functions.legacy import LegacyMethods
from .functions.methods import install, lazy_methods
from .functions.new_tensors import NewTensorMethods
from .functions.numpy_protocol import ValueMethods
from .functions.pickling import PicklingMethods
from .functions.predicates import PredicateMethods
from .functions.properties import PROPERTIES, PropertyMethods
from .functions.splitting import SplittingMethods
from .functions.storages import StorageMethods
from .functions.strided import StridedMethods
from .functions.unique import UniqueMethods
from .generated import METHODS
from .graph.leaf_gradients import AccumulationMethods
from .graph.node_methods import NodeMethods
from .inplace.fill_copy import OverwriteMethods
from .inplace.inplace_views import ViewInPlaceMethods
from .inplace.random_fill import RandomFillMethods
from .inplace.requires_grad import RequiresGradMethods
from .inplace.resize import ResizeMethods
from .numpy_twins.protocol import NumpyFunctionMethods
from .overrides import OverrideMethods
from .random import RandomMethods

if TYPE_CHECKING:
    from .functions.linear_algebra.old_linalg import OldLinalgMethods
    from .functions.spectral.short_time_fourier import ShortTimeMethods
    from .generated.methods import TensorMethods as _OpMethods

    class _LaterMethods(OldLinalgMethods, ShortTimeMethods, _OpMethods):
        __slots__ = ()
else:
    _LaterMethods = object  # at run time each is imported when it is used


class TensorMethods(
    AccumulationMethods,
    BackwardMethods,
    ComplexParts,
    CompositeMethods,
    LegacyMethods,
    ConversionMethods,
    DifferenceMethods,
    ElementMethods,
    ForeignMemoryMethods,
    HistogramMethods,
    IndexingMethods,
    NewTensorMethods,
    NumpyFunctionMethods,
    OverrideMethods,
    OverwriteMethods,
    PicklingMethods,
    PredicateMethods,
    PropertyMethods,
    RandomFillMethods,
    RandomMethods,
    RequiresGradMethods,
    ResizeMethods,
    StorageMethods,
    SplittingMethods,
    StridedMethods,
    UniqueMethods,
    ValueMethods,
    ViewInPlaceMethods,
    _LaterMethods,
):
    """Bases of `Tensor` for type checkers; at run time their methods are copied into it."""

    __slots__ = ()


_LATER: Final = {
    **dict.fromkeys(
        [
            "eig",
            "geqrf",
            "lstsq",
            "lu",
            "orgqr",
            "ormqr",
            "qr",
            "solve",
            "symeig",
            "triangular_solve",
        ],
        "linear_algebra.old_linalg",
    ),
    **dict.fromkeys(["istft", "stft"], "spectral.short_time_fourier"),
}
"""Methods that are functions of the same name, by their module in `functions`."""


def install_all() -> None:
    """Give `Tensor`, `Node` and `Size` the methods of all layers."""
    install(Node, vars(NodeMethods))
    install(Size, vars(SizeMethods))
    for methods in TensorMethods.__bases__:
        if methods is not object:
            install(Tensor, vars(methods))
    install(Tensor, PROPERTIES)
    later = {name: (module, name, "") for name, module in _LATER.items()}
    install(Tensor, lazy_methods(f"{__package__}.functions", later))
    install(Tensor, lazy_methods(f"{__package__}.generated", METHODS))
    install(Tensor, vars(DtypeViewMethods))  # in the place of an op's
    install(Tensor, {"clone": clone})  # the op has no memory_format
