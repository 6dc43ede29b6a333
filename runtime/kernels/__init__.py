"""NumPy kernels too long for one expression; generated code calls them as `kernels.name`.

They run on arrays of numbers and, during a proof, on arrays of symbols: no `float()`, no
`np.asarray`, nothing that asks for one dtype.
"""

from __future__ import annotations

from ..later import attach

_NAMES = {
    "arithmetic": (
        "clamp div_rounded fmod fmod_scalar logaddexp pow pow_of_scalar pow_scalar "
        "remainder_scalar round round_decimals rsub_scalar times times_log within"
    ),
    "checks": "refuse_bools same_dtype",
    "complex_numbers": "complex sgn sign view_as_complex view_as_real",
    "conv": "channel_sum convolution convolution_input convolution_weight per_channel",
    "decompositions": (
        "cholesky_ex cofactors computed_q det eigh inv_ex lu pinv qr quotient slogdet "
        "solve_ex solve_triangular svd"
    ),
    "embeddings": "embedding embedding_dense_backward embedding_padded one_hot",
    "extremes": (
        "amax amin argmax argmin max max_with_indices min min_with_indices "
        "put_along_dim take_along_dim"
    ),
    "fourier": "fft_c2c fft_c2r fft_r2c lengthened",
    "fused": "addbmm addcdiv addmv addr baddbmm cross lerp lerp_tensor vdot",
    "indexing": (
        "index index_backward index_put index_select index_select_backward masked_fill "
        "select select_backward slice_backward slice_view"
    ),
    "layout": (
        "diag_embed diagonal diagonal_backward repeat repeat_backward roll split "
        "split_with_sizes trace trace_backward"
    ),
    "linalg": "addmm bmm broadcast_matmul dot mm mv",
    "loss": (
        "binary_cross_entropy_with_logits mse_loss nll_loss nll_loss2d "
        "nll_loss_backward reduced unreduced"
    ),
    "losses": "binary_cross_entropy huber_loss smooth_l1_loss",
    "masking": "where",
    "matrix_functions": "matrix_exp",
    "nn": "gelu log_softmax log_softmax_backward softmax softmax_backward",
    "normal": "gelu_slope normal_cdf",
    "normalization": "batch_norm layer_norm mean_to_size over_count",
    "norms": "vector_norm",
    "padding": "constant_pad_nd constant_unpad_nd pad_by_index pad_by_index_backward",
    "pooling": (
        "adaptive_avg_pool adaptive_avg_pool_backward avg_pool avg_pool_backward "
        "max_pool_backward max_pool_take max_pool_with_indices"
    ),
    "products": "cumprod delay prod recurrence",
    "reduction": "all any cumsum logsumexp mean over_freedom sum unmean unreduce var",
    "scattering": "gather gather_backward scatter scatter_add",
    "shape": (
        "alias cat cat_backward expand flip permute permute_backward squeeze stack "
        "stack_backward sum_to_size t to_copy transpose tril triu unbind unsqueeze view"
    ),
    "sorting": "kthvalue nonzero sort topk",
    "special": "polygamma",
}
"""The kernels that formulas may call, by module. A module must not have the name of a kernel."""

__getattr__, __dir__ = attach(
    globals(),
    {name: (f".{module}", name) for module, names in _NAMES.items() for name in names.split()},
)
