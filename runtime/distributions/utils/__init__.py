"""PyTorch's `torch.distributions.utils`: what distributions of one's own are written with."""

from ...core.missing import explaining as _explaining
from ..discrete import clamped as clamp_probs
from ..distribution import broadcast_all
from ..probabilities import (
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

__getattr__ = _explaining(__name__)
