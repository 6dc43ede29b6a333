"""Functions of neural networks: the ops of the table in PyTorch's namespace `nn.functional`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from ..generated.names.nn import *  # noqa: F403

# Some take the place of ops of the same name, which have no argument `inplace`.
from ..core.missing import explaining as _explaining
from . import grad as grad
from .activations.functions import celu as celu
from .activations.functions import celu_ as celu_
from .activations.functions import elu as elu
from .activations.functions import elu_ as elu_
from .activations.functions import hardsigmoid as hardsigmoid
from .activations.functions import hardswish as hardswish
from .activations.functions import hardtanh as hardtanh
from .activations.functions import hardtanh_ as hardtanh_
from .activations.functions import leaky_relu_ as leaky_relu_
from .activations.functions import mish as mish
from .activations.functions import relu as relu
from .activations.functions import relu6 as relu6
from .activations.functions import relu_ as relu_
from .activations.functions import rrelu as rrelu
from .activations.functions import rrelu_ as rrelu_
from .activations.functions import selu as selu
from .activations.functions import selu_ as selu_
from .activations.functions import silu as silu
from .activations.functions import softsign as softsign
from .activations.functions import tanhshrink as tanhshrink
from .activations.functions import threshold as threshold
from .activations.functions import threshold_ as threshold_
from .activations.softmax import gumbel_softmax as gumbel_softmax
from .activations.softmax import log_softmax as log_softmax
from .activations.softmax import softmax as softmax
from .activations.softmax import softmin as softmin
from .attention.dot_product import scaled_dot_product_attention as scaled_dot_product_attention
from .attention.functions import multi_head_attention_forward as multi_head_attention_forward
from .bags import embedding_bag as embedding_bag
from .bilinear import bilinear as bilinear
from .composed import batch_norm as batch_norm
from .composed import dropout as dropout
from .composed import embedding as embedding
from .composed import leaky_relu as leaky_relu
from .composed import max_pool1d as max_pool1d
from .composed import max_pool2d as max_pool2d
from .composed import max_pool3d as max_pool3d
from .dropouts.functions import alpha_dropout as alpha_dropout
from .dropouts.functions import dropout1d as dropout1d
from .dropouts.functions import dropout2d as dropout2d
from .dropouts.functions import dropout3d as dropout3d
from .dropouts.functions import feature_alpha_dropout as feature_alpha_dropout
from .losses.ctc import ctc_loss as ctc_loss
from .losses.functions import cross_entropy as cross_entropy
from .losses.functions import huber_loss as huber_loss
from .losses.functions import kl_div as kl_div
from .losses.functions import l1_loss as l1_loss
from .losses.functions import linear_cross_entropy as linear_cross_entropy
from .losses.functions import mse_loss as mse_loss
from .losses.functions import smooth_l1_loss as smooth_l1_loss
from .losses.functions import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from .native_functions import conv_tbc as conv_tbc
from .native_functions import grouped_mm as grouped_mm
from .native_functions import native_channel_shuffle as native_channel_shuffle
from .normalization.functions import instance_norm as instance_norm
from .normalization.functions import local_response_norm as local_response_norm
from .normalization.functions import rms_norm as rms_norm
from .pooling.fractional import fractional_max_pool2d as fractional_max_pool2d
from .pooling.fractional import (
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
)
from .pooling.fractional import fractional_max_pool3d as fractional_max_pool3d
from .pooling.fractional import (
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
)
from .pooling.functions import adaptive_max_pool1d as adaptive_max_pool1d
from .pooling.functions import adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices
from .pooling.functions import adaptive_max_pool2d as adaptive_max_pool2d
from .pooling.functions import adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices
from .pooling.functions import adaptive_max_pool3d as adaptive_max_pool3d
from .pooling.functions import adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices
from .pooling.functions import fold as fold
from .pooling.functions import lp_pool1d as lp_pool1d
from .pooling.functions import lp_pool2d as lp_pool2d
from .pooling.functions import lp_pool3d as lp_pool3d
from .pooling.functions import max_unpool1d as max_unpool1d
from .pooling.functions import max_unpool2d as max_unpool2d
from .pooling.functions import max_unpool3d as max_unpool3d
from .pooling.functions import unfold as unfold
from .resampling.functions import affine_grid as affine_grid
from .resampling.functions import grid_sample as grid_sample
from .resampling.functions import interpolate as interpolate
from .resampling.functions import upsample as upsample
from .resampling.functions import upsample_bilinear as upsample_bilinear
from .resampling.functions import upsample_nearest as upsample_nearest

if TYPE_CHECKING:  # type checkers believe the first of two definitions, Python the last
    from ..generated.names.nn import *  # type: ignore[assignment]  # noqa: F403

__getattr__ = _explaining(__name__)
