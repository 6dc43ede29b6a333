"""A NumPy autograd with PyTorch's API, generated from a proved table of derivatives.

import gradspec as gs

x = gs.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
x.grad  # tensor([2., 4.])
"""

from __future__ import annotations

import copyreg as _copyreg
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import autograd as autograd
from . import overrides as overrides
from .anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .anomaly import is_anomaly_enabled as is_anomaly_enabled
from .arrangement import ArrangementMethods as _ArrangementMethods
from .arrangement import block_diag as block_diag
from .arrangement import broadcast_shapes as broadcast_shapes
from .arrangement import broadcast_tensors as broadcast_tensors
from .arrangement import cartesian_prod as cartesian_prod
from .arrangement import combinations as combinations
from .arrangement import dsplit as dsplit
from .arrangement import hsplit as hsplit
from .arrangement import meshgrid as meshgrid
from .arrangement import repeat_interleave as repeat_interleave
from .arrangement import take_along_dim as take_along_dim
from .arrangement import vsplit as vsplit
from .autograd.backward import BackwardMethods as _BackwardMethods
from .composites import atleast_1d as atleast_1d
from .composites import atleast_2d as atleast_2d
from .composites import atleast_3d as atleast_3d
from .composites import chain_matmul as chain_matmul
from .composites import chunk as chunk
from .composites import column_stack as column_stack
from .composites import cross as cross
from .composites import dstack as dstack
from .composites import hstack as hstack
from .composites import kron as kron
from .composites import matrix_power as matrix_power
from .composites import moveaxis as moveaxis
from .composites import movedim as movedim
from .composites import nonzero as nonzero
from .composites import norm as norm
from .composites import positive as positive
from .composites import row_stack as row_stack
from .composites import tensor_split as tensor_split
from .composites import vstack as vstack
from .constructor import construct as _construct
from .copying import leaf_parts as _leaf_parts
from .creation import arange as arange
from .creation import as_tensor as as_tensor
from .creation import empty as empty
from .creation import empty_like as empty_like
from .creation import eye as eye
from .creation import from_numpy as from_numpy
from .creation import full as full
from .creation import full_like as full_like
from .creation import linspace as linspace
from .creation import logspace as logspace
from .creation import ones as ones
from .creation import ones_like as ones_like
from .creation import tensor as tensor
from .creation import zeros as zeros
from .creation import zeros_like as zeros_like
from .differences import DifferenceMethods as _DifferenceMethods
from .differences import diff as diff
from .differences import gradient as gradient
from .distinct import DistinctMethods as _DistinctMethods
from .distinct import unique as unique
from .distinct import unique_consecutive as unique_consecutive
from .dtypes import bool as bool
from .dtypes import cdouble as cdouble
from .dtypes import cfloat as cfloat
from .dtypes import complex64 as complex64
from .dtypes import complex128 as complex128
from .dtypes import double as double
from .dtypes import finfo as finfo
from .dtypes import float as float
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import half as half
from .dtypes import iinfo as iinfo
from .dtypes import int as int
from .dtypes import int8 as int8
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import long as long
from .dtypes import short as short
from .dtypes import uint8 as uint8
from .generated import FUNCTIONS as _OPS
from .generated import METHODS as _METHODS
from .indexing import getitem as _getitem
from .indexing import setitem as _setitem
from .later import attach as _attach
from .memory import set_allocator_cache as set_allocator_cache
from .memory_format import channels_last as channels_last
from .memory_format import channels_last_3d as channels_last_3d
from .memory_format import contiguous_format as contiguous_format
from .memory_format import memory_format as memory_format
from .memory_format import preserve_format as preserve_format
from .methods import install_ops as _install_ops
from .missing import name_missing_methods as _name_missing_methods
from .modes import enable_grad as enable_grad
from .modes import inference_mode as inference_mode
from .modes import is_grad_enabled as is_grad_enabled
from .modes import is_inference_mode_enabled as is_inference_mode_enabled
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled
from .new_tensors import NewTensorMethods as _NewTensorMethods
from .new_tensors import tril_indices as tril_indices
from .new_tensors import triu_indices as triu_indices
from .numpy_warnings import mute_package as _mute_package
from .overrides import OverrideMethods as _OverrideMethods
from .overwrite import OverwriteMethods as _OverwriteMethods
from .promotion import get_default_dtype as get_default_dtype
from .promotion import set_default_dtype as set_default_dtype
from .queries import QueryMethods as _QueryMethods
from .queries import allclose as allclose
from .queries import equal as equal
from .queries import is_complex as is_complex
from .queries import is_floating_point as is_floating_point
from .queries import is_tensor as is_tensor
from .queries import numel as numel
from .random import bernoulli as bernoulli
from .random import manual_seed as manual_seed
from .random import multinomial as multinomial
from .random import normal as normal
from .random import rand as rand
from .random import rand_like as rand_like
from .random import randint as randint
from .random import randint_like as randint_like
from .random import randn as randn
from .random import randn_like as randn_like
from .random import randperm as randperm
from .tensor import Size as Size
from .tensor import Tensor as Tensor
from .tensor import install as _install
from .threads import get_num_threads as get_num_threads
from .threads import set_num_threads as set_num_threads
from .view_in_place import ViewInPlaceMethods as _ViewInPlaceMethods

if _TYPE_CHECKING:
    from . import fft as fft
    from . import linalg as linalg
    from . import nn as nn
    from . import optim as optim
    from . import special as special
    from . import viz as viz
    from .contraction import einsum as einsum
    from .contraction import tensordot as tensordot
    from .generated import *  # noqa: F403
    from .nn.composed import native_batch_norm as native_batch_norm
    from .nn.composed import native_dropout as native_dropout
    from .nn.composed import native_layer_norm as native_layer_norm
    from .nn.normalization_functions import rms_norm as rms_norm
    from .printing import set_printoptions as set_printoptions

_install(_BackwardMethods)
_install_ops(f"{__name__}.generated", _METHODS)
_install(_OverwriteMethods)
_install(_ViewInPlaceMethods)
_install(_OverrideMethods)
_install(_QueryMethods)
_install(_ArrangementMethods)
_install(_NewTensorMethods)
_install(_DifferenceMethods)
_install(_DistinctMethods)
Tensor.__init__ = _construct  # type: ignore[method-assign, assignment]
Tensor.__getitem__ = _getitem  # type: ignore[method-assign]
Tensor.__setitem__ = _setitem  # type: ignore[method-assign]
_name_missing_methods(Tensor)
_copyreg.pickle(Tensor, _leaf_parts)

# Not every program trains, prints or draws: that is imported when it is first asked for.
_LATER = {
    **{name: (".generated", name) for name in _OPS},
    **{name: (f".{name}", "") for name in ("fft", "linalg", "nn", "optim", "special", "viz")},
    **{name: (".contraction", name) for name in ("einsum", "tensordot")},
    "native_batch_norm": (".nn.composed", "native_batch_norm"),
    "native_dropout": (".nn.composed", "native_dropout"),
    "native_layer_norm": (".nn.composed", "native_layer_norm"),
    "rms_norm": (".nn.normalization_functions", "rms_norm"),
    "set_printoptions": (".printing", "set_printoptions"),
}
__getattr__, __dir__ = _attach(globals(), _LATER)
__all__ = [
    *_LATER,
    *("autograd", "overrides"),
    *(n for n, v in globals().items() if n[0] != "_" and not isinstance(v, type(_copyreg))),
]

_mute_package(__name__)
