"""Functions of neural networks: the ops of the table in PyTorch's namespace `nn.functional`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from ..generated.nn_names import *  # noqa: F403

# Some take the place of ops of the same name, which have no argument `inplace`.
from ..core.missing import explaining as _explaining
from .activation_functions import celu as celu
from .activation_functions import celu_ as celu_
from .activation_functions import elu as elu
from .activation_functions import elu_ as elu_
from .activation_functions import hardsigmoid as hardsigmoid
from .activation_functions import hardswish as hardswish
from .activation_functions import hardtanh as hardtanh
from .activation_functions import hardtanh_ as hardtanh_
from .activation_functions import leaky_relu_ as leaky_relu_
from .activation_functions import mish as mish
from .activation_functions import relu as relu
from .activation_functions import relu6 as relu6
from .activation_functions import relu_ as relu_
from .activation_functions import rrelu as rrelu
from .activation_functions import rrelu_ as rrelu_
from .activation_functions import selu as selu
from .activation_functions import selu_ as selu_
from .activation_functions import silu as silu
from .activation_functions import softsign as softsign
from .activation_functions import tanhshrink as tanhshrink
from .activation_functions import threshold as threshold
from .activation_functions import threshold_ as threshold_
from .attention import scaled_dot_product_attention as scaled_dot_product_attention
from .bags import embedding_bag as embedding_bag
from .bilinear import bilinear as bilinear
from .composed import batch_norm as batch_norm
from .composed import dropout as dropout
from .composed import embedding as embedding
from .composed import leaky_relu as leaky_relu
from .composed import max_pool1d as max_pool1d
from .composed import max_pool2d as max_pool2d
from .composed import max_pool3d as max_pool3d
from .ctc import ctc_loss as ctc_loss
from .dropout_functions import alpha_dropout as alpha_dropout
from .dropout_functions import dropout1d as dropout1d
from .dropout_functions import dropout2d as dropout2d
from .dropout_functions import dropout3d as dropout3d
from .dropout_functions import feature_alpha_dropout as feature_alpha_dropout
from .fractional_pools import fractional_max_pool2d as fractional_max_pool2d
from .fractional_pools import (
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
)
from .fractional_pools import fractional_max_pool3d as fractional_max_pool3d
from .fractional_pools import (
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
)
from .loss_functions import huber_loss as huber_loss
from .loss_functions import kl_div as kl_div
from .loss_functions import l1_loss as l1_loss
from .loss_functions import linear_cross_entropy as linear_cross_entropy
from .loss_functions import mse_loss as mse_loss
from .loss_functions import smooth_l1_loss as smooth_l1_loss
from .loss_functions import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from .multihead.functions import multi_head_attention_forward as multi_head_attention_forward
from .native_functions import conv_tbc as conv_tbc
from .native_functions import grouped_mm as grouped_mm
from .native_functions import native_channel_shuffle as native_channel_shuffle
from .normalization_functions import instance_norm as instance_norm
from .normalization_functions import local_response_norm as local_response_norm
from .normalization_functions import rms_norm as rms_norm
from .resampling_functions import affine_grid as affine_grid
from .resampling_functions import grid_sample as grid_sample
from .resampling_functions import interpolate as interpolate
from .resampling_functions import upsample as upsample
from .resampling_functions import upsample_bilinear as upsample_bilinear
from .resampling_functions import upsample_nearest as upsample_nearest
from .softmax import gumbel_softmax as gumbel_softmax
from .softmax import log_softmax as log_softmax
from .softmax import softmax as softmax
from .softmax import softmin as softmin
from .window_functions import adaptive_max_pool1d as adaptive_max_pool1d
from .window_functions import adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices
from .window_functions import adaptive_max_pool2d as adaptive_max_pool2d
from .window_functions import adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices
from .window_functions import adaptive_max_pool3d as adaptive_max_pool3d
from .window_functions import adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices
from .window_functions import fold as fold
from .window_functions import lp_pool1d as lp_pool1d
from .window_functions import lp_pool2d as lp_pool2d
from .window_functions import lp_pool3d as lp_pool3d
from .window_functions import max_unpool1d as max_unpool1d
from .window_functions import max_unpool2d as max_unpool2d
from .window_functions import max_unpool3d as max_unpool3d
from .window_functions import unfold as unfold

if TYPE_CHECKING:  # type checkers believe the first of two definitions, Python the last
    from ..generated.nn_names import *  # type: ignore[assignment]  # noqa: F403

__getattr__ = _explaining(__name__)
