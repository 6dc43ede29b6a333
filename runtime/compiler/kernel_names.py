"""How a capture records each kernel: as one step, or as what it computes."""

from __future__ import annotations

from typing import Final

_INLINE_MODULES: Final = {
    "elementwise.masking": "choice where",
    "elementwise.checks": "refuse_bools same_dtype",
    "linalg.products": (
        "addbmm addcdiv addmm addmv addr baddbmm bmm broadcast_matmul cross dot lerp "
        "lerp_tensor mm mv vdot"
    ),
    "elementwise.arithmetic": "times pow_scalar clamp rsub_scalar",
    "shape.views": (
        "alias cat expand flip permute permute_backward squeeze stack "
        "t transpose unbind unsqueeze view cloned copied to_copy sum_to_size"
    ),
    "shape.layout": "diagonal split split_with_sizes",
    "indexing.slices": "select slice_view",
    "reductions.sums": "mean sum unreduce",
    "nn.losses": "reduced unreduced mse_loss same_ndim",
    "nn.activations": "softmax softmax_backward log_softmax log_softmax_backward",
}

INLINE: Final = frozenset(name for names in _INLINE_MODULES.values() for name in names.split())
"""Kernels that are recorded as the functions of NumPy's that they call, so that these fuse."""

DATA_DEPENDENT: Final = frozenset(
    ("nonzero", "unique", "unique_consecutive", "unique_dim", "masked_select", "bincount")
)
"""Kernels whose results have a shape that depends on the elements of their arguments."""
