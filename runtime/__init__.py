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
from .core.dtypes import bool as bool
from .core.dtypes import cdouble as cdouble
from .core.dtypes import cfloat as cfloat
from .core.dtypes import complex64 as complex64
from .core.dtypes import complex128 as complex128
from .core.dtypes import double as double
from .core.dtypes import finfo as finfo
from .core.dtypes import float as float
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import half as half
from .core.dtypes import iinfo as iinfo
from .core.dtypes import int as int
from .core.dtypes import int8 as int8
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import long as long
from .core.dtypes import short as short
from .core.dtypes import uint8 as uint8
from .core.lazy import lazy_attributes as _lazy_attributes
from .core.memory_format import channels_last as channels_last
from .core.memory_format import channels_last_3d as channels_last_3d
from .core.memory_format import contiguous_format as contiguous_format
from .core.memory_format import memory_format as memory_format
from .core.memory_format import preserve_format as preserve_format
from .core.missing import name_missing_methods as _name_missing_methods
from .core.modes import enable_grad as enable_grad
from .core.modes import inference_mode as inference_mode
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.modes import is_inference_mode_enabled as is_inference_mode_enabled
from .core.modes import no_grad as no_grad
from .core.modes import set_grad_enabled as set_grad_enabled
from .core.numpy_warnings import mute_package as _mute_package
from .core.tensor import Size as Size
from .core.tensor import Tensor as Tensor
from .core.type_promotion import get_default_dtype as get_default_dtype
from .core.type_promotion import set_default_dtype as set_default_dtype
from .fast.allocator import set_allocator_cache as set_allocator_cache
from .fast.parallel_for import get_num_threads as get_num_threads
from .fast.parallel_for import set_num_threads as set_num_threads
from .functions.composites import atleast_1d as atleast_1d
from .functions.composites import atleast_2d as atleast_2d
from .functions.composites import atleast_3d as atleast_3d
from .functions.composites import chain_matmul as chain_matmul
from .functions.composites import chunk as chunk
from .functions.composites import column_stack as column_stack
from .functions.composites import cross as cross
from .functions.composites import dstack as dstack
from .functions.composites import hstack as hstack
from .functions.composites import kron as kron
from .functions.composites import matrix_power as matrix_power
from .functions.composites import moveaxis as moveaxis
from .functions.composites import movedim as movedim
from .functions.composites import mvlgamma as mvlgamma
from .functions.composites import nonzero as nonzero
from .functions.composites import norm as norm
from .functions.composites import positive as positive
from .functions.composites import ravel as ravel
from .functions.composites import row_stack as row_stack
from .functions.composites import tensor_split as tensor_split
from .functions.composites import vstack as vstack
from .functions.creation import arange as arange
from .functions.creation import as_tensor as as_tensor
from .functions.creation import empty as empty
from .functions.creation import empty_like as empty_like
from .functions.creation import eye as eye
from .functions.creation import from_numpy as from_numpy
from .functions.creation import full as full
from .functions.creation import full_like as full_like
from .functions.creation import linspace as linspace
from .functions.creation import logspace as logspace
from .functions.creation import ones as ones
from .functions.creation import ones_like as ones_like
from .functions.creation import tensor as tensor
from .functions.creation import zeros as zeros
from .functions.creation import zeros_like as zeros_like
from .functions.finite_differences import diff as diff
from .functions.finite_differences import gradient as gradient
from .functions.new_tensors import tril_indices as tril_indices
from .functions.new_tensors import triu_indices as triu_indices
from .functions.pickling import leaf_parts as _leaf_parts
from .functions.predicates import allclose as allclose
from .functions.predicates import equal as equal
from .functions.predicates import is_complex as is_complex
from .functions.predicates import is_floating_point as is_floating_point
from .functions.predicates import is_tensor as is_tensor
from .functions.predicates import numel as numel
from .functions.splitting import block_diag as block_diag
from .functions.splitting import broadcast_shapes as broadcast_shapes
from .functions.splitting import broadcast_tensors as broadcast_tensors
from .functions.splitting import cartesian_prod as cartesian_prod
from .functions.splitting import combinations as combinations
from .functions.splitting import dsplit as dsplit
from .functions.splitting import hsplit as hsplit
from .functions.splitting import meshgrid as meshgrid
from .functions.splitting import repeat_interleave as repeat_interleave
from .functions.splitting import take_along_dim as take_along_dim
from .functions.splitting import vsplit as vsplit
from .functions.unique import unique as unique
from .functions.unique import unique_consecutive as unique_consecutive
from .generated import FUNCTIONS as _OPS
from .graph.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .graph.anomaly import is_anomaly_enabled as is_anomaly_enabled
from .random import _standard_gamma as _standard_gamma
from .random import bernoulli as bernoulli
from .random import binomial as binomial
from .random import manual_seed as manual_seed
from .random import multinomial as multinomial
from .random import normal as normal
from .random import poisson as poisson
from .random import rand as rand
from .random import rand_like as rand_like
from .random import randint as randint
from .random import randint_like as randint_like
from .random import randn as randn
from .random import randn_like as randn_like
from .random import randperm as randperm
from .tensor_methods import install_all as _install_methods

if _TYPE_CHECKING:
    from . import fft as fft
    from . import func as func
    from . import linalg as linalg
    from . import masked as masked
    from . import nn as nn
    from . import optim as optim
    from . import special as special
    from . import viz as viz
    from .functions.einsum import einsum as einsum
    from .functions.einsum import tensordot as tensordot
    from .functions.printing import set_printoptions as set_printoptions
    from .functions.segments import segment_reduce as segment_reduce
    from .generated import *  # noqa: F403
    from .nn.activation_functions import rrelu as rrelu
    from .nn.activation_functions import rrelu_ as rrelu_
    from .nn.composed import native_batch_norm as native_batch_norm
    from .nn.composed import native_dropout as native_dropout
    from .nn.composed import native_layer_norm as native_layer_norm
    from .nn.native_losses import (
        binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
    )
    from .nn.native_losses import cosine_embedding_loss as cosine_embedding_loss
    from .nn.native_losses import ctc_loss as ctc_loss
    from .nn.native_losses import hinge_embedding_loss as hinge_embedding_loss
    from .nn.native_losses import kl_div as kl_div
    from .nn.native_losses import margin_ranking_loss as margin_ranking_loss
    from .nn.native_losses import poisson_nll_loss as poisson_nll_loss
    from .nn.native_losses import triplet_margin_loss as triplet_margin_loss
    from .nn.normalization_functions import rms_norm as rms_norm
    from .version import __version__ as __version__

_install_methods()
_name_missing_methods(Tensor)
_copyreg.pickle(Tensor, _leaf_parts)

# Not every program trains, prints or draws: that is imported when it is first asked for.
_LAZY = {
    **{name: (".generated", name) for name in _OPS},
    **{name: (f".{name}", "") for name in ("fft", "func", "linalg", "masked", "nn", "optim")},
    **{name: (f".{name}", "") for name in ("special", "viz")},
    "vmap": (".func", "vmap"),
    **{name: (".functions.einsum", name) for name in ("einsum", "tensordot")},
    "native_batch_norm": (".nn.composed", "native_batch_norm"),
    "native_dropout": (".nn.composed", "native_dropout"),
    "native_layer_norm": (".nn.composed", "native_layer_norm"),
    "rms_norm": (".nn.normalization_functions", "rms_norm"),
    **{
        name: (".nn.native_losses", name)
        for name in (
            *("binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss"),
            *("hinge_embedding_loss", "kl_div", "margin_ranking_loss", "poisson_nll_loss"),
            "triplet_margin_loss",
        )
    },
    **{name: (".nn.activation_functions", name) for name in ("rrelu", "rrelu_")},
    "segment_reduce": (".functions.segments", "segment_reduce"),
    "set_printoptions": (".functions.printing", "set_printoptions"),
    "__version__": (".version", "__version__"),
}
__getattr__, __dir__ = _lazy_attributes(globals(), _LAZY)
__all__ = [
    *_LAZY,
    *("autograd", "overrides"),
    *(n for n, v in globals().items() if n[0] != "_" and not isinstance(v, type(_copyreg))),
]

_mute_package(__name__)
