"""Functions of neural networks: the ops of the table in PyTorch's namespace `nn.functional`."""

from __future__ import annotations

from ..generated.nn_names import *  # noqa: F403
from .attention import scaled_dot_product_attention as scaled_dot_product_attention
from .composed import batch_norm as batch_norm
from .composed import dropout as dropout
from .composed import embedding as embedding
from .composed import leaky_relu as leaky_relu
from .composed import max_pool1d as max_pool1d
from .composed import max_pool2d as max_pool2d
from .composed import max_pool3d as max_pool3d
from .softmax import log_softmax as log_softmax
from .softmax import softmax as softmax
from .softmax import softmin as softmin
