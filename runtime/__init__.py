"""A NumPy autograd with PyTorch's API, generated from a proved table of derivatives.

import gradspec as gs

x = gs.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
x.grad  # tensor([2., 4.])
"""

from __future__ import annotations

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import autograd as autograd
from . import overrides as overrides
from .core.lazy import LazyModule as _LazyModule
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
from .dispatch.overloads import BY_KEYWORD as _BY_KEYWORD
from .dtypes.names import bool as bool
from .dtypes.names import cdouble as cdouble
from .dtypes.names import cfloat as cfloat
from .dtypes.names import complex64 as complex64
from .dtypes.names import complex128 as complex128
from .dtypes.names import double as double
from .dtypes.names import dtype as dtype
from .dtypes.names import float as float
from .dtypes.names import float16 as float16
from .dtypes.names import float32 as float32
from .dtypes.names import float64 as float64
from .dtypes.names import half as half
from .dtypes.names import int as int
from .dtypes.names import int8 as int8
from .dtypes.names import int16 as int16
from .dtypes.names import int32 as int32
from .dtypes.names import int64 as int64
from .dtypes.names import long as long
from .dtypes.names import short as short
from .dtypes.names import uint8 as uint8
from .dtypes.names import uint16 as uint16
from .dtypes.names import uint32 as uint32
from .dtypes.names import uint64 as uint64
from .dtypes.promotion import get_default_dtype as get_default_dtype
from .dtypes.promotion import set_default_dtype as set_default_dtype
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
from .functions.composites import narrow as narrow
from .functions.composites import nonzero as nonzero
from .functions.composites import norm as norm
from .functions.composites import positive as positive
from .functions.composites import ravel as ravel
from .functions.composites import row_stack as row_stack
from .functions.composites import scatter_reducing as _scatter_reducing
from .functions.composites import tensor_split as tensor_split
from .functions.composites import vstack as vstack
from .functions.conversion import clone as clone
from .functions.creation import array as array
from .functions.creation import as_tensor as as_tensor
from .functions.creation import empty as empty
from .functions.creation import empty_like as empty_like
from .functions.creation import empty_permuted as empty_permuted
from .functions.creation import empty_strided as empty_strided
from .functions.creation import eye as eye
from .functions.creation import from_numpy as from_numpy
from .functions.creation import full as full
from .functions.creation import full_like as full_like
from .functions.creation import ones as ones
from .functions.creation import ones_like as ones_like
from .functions.creation import tensor as tensor
from .functions.creation import zeros as zeros
from .functions.creation import zeros_like as zeros_like
from .functions.in_place_names import NAMES as _IN_PLACE
from .generated import FUNCTIONS as _OPS
from .graph.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .graph.anomaly import is_anomaly_enabled as is_anomaly_enabled
from .tensor_methods import install_all as _install_methods

if _TYPE_CHECKING:
    from . import accelerator as accelerator
    from . import amp as amp
    from . import backends as backends
    from . import compiler as compiler
    from . import cuda as cuda
    from . import distributed as distributed
    from . import distributions as distributions
    from . import fft as fft
    from . import func as func
    from . import jit as jit
    from . import linalg as linalg
    from . import masked as masked
    from . import multiprocessing as multiprocessing
    from . import nn as nn
    from . import ops as ops
    from . import optim as optim
    from . import quasirandom as quasirandom
    from . import random as random
    from . import serialization as serialization
    from . import special as special
    from . import testing as testing
    from . import utils as utils
    from . import viz as viz
    from .amp import GradScaler as GradScaler
    from .amp import autocast as autocast
    from .amp import is_autocast_available as is_autocast_available
    from .compiler import compile as compile
    from .compiler import cond as cond
    from .compiler import fori_loop as fori_loop
    from .compiler import scan as scan
    from .compiler import while_loop as while_loop
    from .core.devices import device as device
    from .core.devices import get_default_device as get_default_device
    from .core.devices import set_default_device as set_default_device
    from .core.random_generator import Generator as Generator
    from .core.random_generator import default_generator as default_generator
    from .core.random_generator import get_rng_state as get_rng_state
    from .core.random_generator import initial_seed as initial_seed
    from .core.random_generator import seed as seed
    from .core.random_generator import set_rng_state as set_rng_state
    from .core.threads import get_num_threads as get_num_threads
    from .core.threads import set_num_threads as set_num_threads
    from .dtypes.limits import finfo as finfo
    from .dtypes.limits import iinfo as iinfo
    from .dtypes.refused import bfloat16 as bfloat16
    from .dtypes.refused import chalf as chalf
    from .dtypes.refused import complex32 as complex32
    from .fast.allocator import set_allocator_cache as set_allocator_cache
    from .functions.elements import isin as isin
    from .functions.elements import isreal as isreal
    from .functions.elements import nonzero_static as nonzero_static
    from .functions.elements import scalar_tensor as scalar_tensor
    from .functions.elements import unravel_index as unravel_index
    from .functions.elements import vander as vander
    from .functions.finite_differences import diff as diff
    from .functions.finite_differences import gradient as gradient
    from .functions.foreign_memory import asarray as asarray
    from .functions.foreign_memory import from_dlpack as from_dlpack
    from .functions.foreign_memory import from_file as from_file
    from .functions.foreign_memory import frombuffer as frombuffer
    from .functions.foreign_memory import to_dlpack as to_dlpack
    from .functions.histograms import histogram as histogram
    from .functions.histograms import histogramdd as histogramdd
    from .functions.legacy import BoolTensor as BoolTensor
    from .functions.legacy import ByteTensor as ByteTensor
    from .functions.legacy import CharTensor as CharTensor
    from .functions.legacy import DoubleTensor as DoubleTensor
    from .functions.legacy import FloatTensor as FloatTensor
    from .functions.legacy import HalfTensor as HalfTensor
    from .functions.legacy import IntTensor as IntTensor
    from .functions.legacy import LongTensor as LongTensor
    from .functions.legacy import ShortTensor as ShortTensor
    from .functions.legacy import set_default_tensor_type as set_default_tensor_type
    from .functions.linear_algebra.einsum import einsum as einsum
    from .functions.linear_algebra.einsum import tensordot as tensordot
    from .functions.linear_algebra.low_rank import pca_lowrank as pca_lowrank
    from .functions.linear_algebra.low_rank import svd_lowrank as svd_lowrank
    from .functions.linear_algebra.old_linalg import eig as eig
    from .functions.linear_algebra.old_linalg import frobenius_norm as frobenius_norm
    from .functions.linear_algebra.old_linalg import lstsq as lstsq
    from .functions.linear_algebra.old_linalg import lu as lu
    from .functions.linear_algebra.old_linalg import lu_unpack as lu_unpack
    from .functions.linear_algebra.old_linalg import matrix_rank as matrix_rank
    from .functions.linear_algebra.old_linalg import norm_except_dim as norm_except_dim
    from .functions.linear_algebra.old_linalg import nuclear_norm as nuclear_norm
    from .functions.linear_algebra.old_linalg import qr as qr
    from .functions.linear_algebra.old_linalg import solve as solve
    from .functions.linear_algebra.old_linalg import symeig as symeig
    from .functions.linear_algebra.old_linalg import triangular_solve as triangular_solve
    from .functions.linear_algebra.reflectors import geqrf as geqrf
    from .functions.linear_algebra.reflectors import orgqr as orgqr
    from .functions.linear_algebra.reflectors import ormqr as ormqr
    from .functions.new_tensors import tril_indices as tril_indices
    from .functions.new_tensors import triu_indices as triu_indices
    from .functions.predicates import allclose as allclose
    from .functions.predicates import equal as equal
    from .functions.predicates import is_complex as is_complex
    from .functions.predicates import is_floating_point as is_floating_point
    from .functions.predicates import is_tensor as is_tensor
    from .functions.predicates import numel as numel
    from .functions.printing import set_printoptions as set_printoptions
    from .functions.progressions import arange as arange
    from .functions.progressions import linspace as linspace
    from .functions.progressions import logspace as logspace
    from .functions.progressions import range as range
    from .functions.promotion import can_cast as can_cast
    from .functions.promotion import promote_types as promote_types
    from .functions.promotion import result_type as result_type
    from .functions.properties import get_device as get_device
    from .functions.properties import is_conj as is_conj
    from .functions.properties import is_inference as is_inference
    from .functions.properties import is_neg as is_neg
    from .functions.properties import is_nonzero as is_nonzero
    from .functions.properties import is_same_size as is_same_size
    from .functions.properties import is_signed as is_signed
    from .functions.properties import layout as layout
    from .functions.properties import strided as strided
    from .functions.segments import segment_reduce as segment_reduce
    from .functions.spectral.short_time_fourier import istft as istft
    from .functions.spectral.short_time_fourier import stft as stft
    from .functions.spectral.windows import bartlett_window as bartlett_window
    from .functions.spectral.windows import blackman_window as blackman_window
    from .functions.spectral.windows import hamming_window as hamming_window
    from .functions.spectral.windows import hann_window as hann_window
    from .functions.spectral.windows import kaiser_window as kaiser_window
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
    from .functions.storages import BoolStorage as BoolStorage
    from .functions.storages import ByteStorage as ByteStorage
    from .functions.storages import CharStorage as CharStorage
    from .functions.storages import ComplexDoubleStorage as ComplexDoubleStorage
    from .functions.storages import ComplexFloatStorage as ComplexFloatStorage
    from .functions.storages import DoubleStorage as DoubleStorage
    from .functions.storages import FloatStorage as FloatStorage
    from .functions.storages import HalfStorage as HalfStorage
    from .functions.storages import IntStorage as IntStorage
    from .functions.storages import LongStorage as LongStorage
    from .functions.storages import ShortStorage as ShortStorage
    from .functions.storages import Storage as Storage
    from .functions.storages import TypedStorage as TypedStorage
    from .functions.storages import UntypedStorage as UntypedStorage
    from .functions.strided import as_strided as as_strided
    from .functions.strided import as_strided_ as as_strided_
    from .functions.strided import as_strided_copy as as_strided_copy
    from .functions.strided import as_strided_scatter as as_strided_scatter
    from .functions.strided import unsafe_chunk as unsafe_chunk
    from .functions.unique import unique as unique
    from .functions.unique import unique_consecutive as unique_consecutive
    from .generated import *  # noqa: F403
    from .nn.activations.functions import rrelu as rrelu
    from .nn.activations.functions import rrelu_ as rrelu_
    from .nn.bilinear import _trilinear as _trilinear
    from .nn.bilinear import bilinear as bilinear
    from .nn.composed import native_batch_norm as native_batch_norm
    from .nn.composed import native_dropout as native_dropout
    from .nn.composed import native_layer_norm as native_layer_norm
    from .nn.fake_quantization import (
        fake_quantize_per_channel_affine as fake_quantize_per_channel_affine,
    )
    from .nn.fake_quantization import (
        fake_quantize_per_tensor_affine as fake_quantize_per_tensor_affine,
    )
    from .nn.functional import max_pool1d_with_indices as max_pool1d_with_indices
    from .nn.losses.native import (
        binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
    )
    from .nn.losses.native import cosine_embedding_loss as cosine_embedding_loss
    from .nn.losses.native import ctc_loss as ctc_loss
    from .nn.losses.native import hinge_embedding_loss as hinge_embedding_loss
    from .nn.losses.native import kl_div as kl_div
    from .nn.losses.native import margin_ranking_loss as margin_ranking_loss
    from .nn.losses.native import poisson_nll_loss as poisson_nll_loss
    from .nn.losses.native import triplet_margin_loss as triplet_margin_loss
    from .nn.native_functions import _weight_norm as _weight_norm
    from .nn.native_functions import _weight_norm_interface as _weight_norm_interface
    from .nn.native_functions import batch_norm_update_stats as batch_norm_update_stats
    from .nn.native_functions import conv_tbc as conv_tbc
    from .nn.native_functions import embedding_bag as embedding_bag
    from .nn.native_functions import embedding_renorm_ as embedding_renorm_
    from .nn.native_functions import native_channel_shuffle as native_channel_shuffle
    from .nn.native_functions import native_group_norm as native_group_norm
    from .nn.normalization.functions import rms_norm as rms_norm
    from .nn.recurrent.functions import gru as gru
    from .nn.recurrent.functions import lstm as lstm
    from .nn.recurrent.functions import rnn_relu as rnn_relu
    from .nn.recurrent.functions import rnn_tanh as rnn_tanh
    from .nn.top_level import adaptive_max_pool1d as adaptive_max_pool1d
    from .nn.top_level import alpha_dropout as alpha_dropout
    from .nn.top_level import batch_norm as batch_norm
    from .nn.top_level import dropout as dropout
    from .nn.top_level import dropout_ as dropout_
    from .nn.top_level import feature_alpha_dropout as feature_alpha_dropout
    from .nn.top_level import feature_dropout as feature_dropout
    from .nn.top_level import grid_sampler as grid_sampler
    from .nn.top_level import instance_norm as instance_norm
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
    from .serialization import load as load
    from .serialization import save as save
    from .switches import (
        are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    )
    from .switches import get_deterministic_debug_mode as get_deterministic_debug_mode
    from .switches import get_float32_matmul_precision as get_float32_matmul_precision
    from .switches import get_num_interop_threads as get_num_interop_threads
    from .switches import is_autocast_enabled as is_autocast_enabled
    from .switches import (
        is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,  # noqa: E501
    )
    from .switches import is_storage as is_storage
    from .switches import is_warn_always_enabled as is_warn_always_enabled
    from .switches import set_deterministic_debug_mode as set_deterministic_debug_mode
    from .switches import set_float32_matmul_precision as set_float32_matmul_precision
    from .switches import set_flush_denormal as set_flush_denormal
    from .switches import set_num_interop_threads as set_num_interop_threads
    from .switches import set_warn_always as set_warn_always
    from .switches import typename as typename
    from .switches import use_deterministic_algorithms as use_deterministic_algorithms
    from .version import __version__ as __version__

_branches = _LazyModule(".functions.branches", globals(), "_branches")

_install_methods()
_BY_KEYWORD["where", "domain"] = lambda *args, **kwargs: _branches.where_on(*args, **kwargs)
_BY_KEYWORD["scatter", "reduce"] = _scatter_reducing
_name_missing_methods(Tensor)

newaxis = None

# Functions of lists of tensors: those that have an in-place variant, and the others.
_WITH_IN_PLACE = (
    *("abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min"),
    *("cos", "cosh", "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma"),
    *("log", "log10", "log1p", "log2", "maximum", "minimum", "mul", "neg", "pow", "reciprocal"),
    *("round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc"),
)
_FOREACH = (
    *(f"{name}{end}" for name in _WITH_IN_PLACE for end in ("", "_")),
    *("clone", "copy_", "max", "mm", "norm", "powsum", "zero_"),
)

# Names of further modules, which are imported when one of them is first asked for.
_FURTHER = {
    ".amp": "GradScaler autocast is_autocast_available",
    ".core.devices": "device get_default_device set_default_device",
    ".core.random_generator": (
        "Generator default_generator get_rng_state initial_seed seed set_rng_state"
    ),
    ".core.threads": "get_num_threads set_num_threads",
    ".dtypes.limits": "finfo iinfo",
    ".dtypes.refused": "bfloat16 chalf complex32",
    ".fast.allocator": "set_allocator_cache",
    ".functions.elements": ("isin isreal nonzero_static scalar_tensor unravel_index vander"),
    ".functions.finite_differences": "diff gradient",
    ".functions.foreign_memory": "asarray from_dlpack from_file frombuffer to_dlpack",
    ".functions.histograms": "histogram histogramdd",
    ".functions.legacy": (
        "BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor "
        "LongTensor ShortTensor set_default_tensor_type"
    ),
    ".functions.new_tensors": "tril_indices triu_indices",
    ".functions.predicates": "allclose equal is_complex is_floating_point is_tensor numel",
    ".functions.progressions": "arange linspace logspace range",
    ".functions.promotion": "can_cast promote_types result_type",
    ".functions.properties": (
        "get_device is_conj is_inference is_neg is_nonzero is_same_size is_signed layout strided"
    ),
    ".functions.spectral.windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    ".functions.splitting": (
        "block_diag broadcast_shapes broadcast_tensors cartesian_prod combinations dsplit "
        "hsplit meshgrid repeat_interleave take_along_dim vsplit"
    ),
    ".functions.storages": (
        "BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage "
        "DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage Storage "
        "TypedStorage UntypedStorage"
    ),
    ".functions.strided": "as_strided as_strided_ as_strided_copy as_strided_scatter unsafe_chunk",
    ".functions.unique": "unique unique_consecutive",
    ".nn.fake_quantization": ("fake_quantize_per_channel_affine fake_quantize_per_tensor_affine"),
    ".nn.functional": "max_pool1d_with_indices",
    ".nn.top_level": (
        "adaptive_max_pool1d alpha_dropout batch_norm dropout dropout_ feature_alpha_dropout "
        "feature_dropout grid_sampler instance_norm"
    ),
    ".random": (
        "_standard_gamma bernoulli binomial manual_seed multinomial normal poisson rand "
        "rand_like randint randint_like randn randn_like randperm"
    ),
    ".switches": (
        "are_deterministic_algorithms_enabled get_deterministic_debug_mode "
        "get_float32_matmul_precision get_num_interop_threads is_autocast_enabled "
        "is_deterministic_algorithms_warn_only_enabled is_storage is_warn_always_enabled "
        "set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal "
        "set_num_interop_threads set_warn_always typename use_deterministic_algorithms"
    ),
}
_OLD_LINALG = (
    *("eig", "frobenius_norm", "lstsq", "lu", "lu_unpack", "matrix_rank", "norm_except_dim"),
    *("nuclear_norm", "qr", "solve", "symeig", "triangular_solve"),
)

_NATIVE = (
    *("_weight_norm", "_weight_norm_interface", "conv_tbc", "embedding_bag", "embedding_renorm_"),
    *("batch_norm_update_stats", "native_channel_shuffle", "native_group_norm"),
)

# Not every program trains, prints or draws: that is imported when it is first asked for.
_LAZY = {
    **{name: (".generated", name) for name in _OPS},
    **{
        name: (f".{name}", "")
        for name in (
            "_C",
            "accelerator",
            "amp",
            "backends",
            "compiler",
            "cuda",
            "distributed",
            "multiprocessing",
            "distributions",
            "fft",
            "func",
            "jit",
            "linalg",
            "masked",
            "nn",
            "ops",
            "optim",
            "profiler",
            "quasirandom",
            "random",
        )
    },
    **{
        name: (f".{name}", "")
        for name in (
            *("return_types", "serialization", "signal", "special", "testing", "utils", "version"),
        )
    },
    **{n: (".compiler", n) for n in ("compile", "cond", "fori_loop", "scan", "while_loop")},
    "load": (".serialization", "load"),
    "save": (".serialization", "save"),
    "viz": (".viz", ""),
    "vmap": (".func", "vmap"),
    **{name: (".functions.linear_algebra.einsum", name) for name in ("einsum", "tensordot")},
    **{name: (".functions.linear_algebra.old_linalg", name) for name in _OLD_LINALG},
    **{
        name: (".functions.linear_algebra.reflectors", name) for name in ("geqrf", "orgqr", "ormqr")
    },
    **{
        name: (".functions.linear_algebra.low_rank", name)
        for name in ("pca_lowrank", "svd_lowrank")
    },
    **{name: (".functions.spectral.short_time_fourier", name) for name in ("istft", "stft")},
    **{name: (".nn.recurrent.functions", name) for name in ("gru", "lstm", "rnn_relu", "rnn_tanh")},
    **{name: (".nn.native_functions", name) for name in _NATIVE},
    **{name: (".nn.bilinear", name) for name in ("_trilinear", "bilinear")},
    "native_batch_norm": (".nn.composed", "native_batch_norm"),
    "native_dropout": (".nn.composed", "native_dropout"),
    "native_layer_norm": (".nn.composed", "native_layer_norm"),
    "rms_norm": (".nn.normalization.functions", "rms_norm"),
    **{
        name: (".nn.losses.native", name)
        for name in (
            *("binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss"),
            *("hinge_embedding_loss", "kl_div", "margin_ranking_loss", "poisson_nll_loss"),
            "triplet_margin_loss",
        )
    },
    **{name: (".nn.activations.functions", name) for name in ("rrelu", "rrelu_")},
    **{f"_foreach_{name}": (".functions.foreach", f"_foreach_{name}") for name in _FOREACH},
    "segment_reduce": (".functions.segments", "segment_reduce"),
    "set_printoptions": (".functions.printing", "set_printoptions"),
    "__version__": (".version", "__version__"),
    **{name: (home, name) for home, names in _FURTHER.items() for name in names.split()},
    **{name: (".functions.in_place_names", name) for name in _IN_PLACE},
}
__getattr__, __dir__ = _lazy_attributes(globals(), _LAZY)
__all__ = [
    *_LAZY,
    *("autograd", "overrides"),
    *(n for n, v in globals().items() if n[0] != "_" and not isinstance(v, type(autograd))),
]

_mute_package(__name__)
