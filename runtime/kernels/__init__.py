"""NumPy kernels too long for one expression; generated code calls them as `kernels.name`.

They run on arrays of numbers and, during a proof, on arrays of symbols: no `float()`, no
`np.asarray`, nothing that asks for one dtype.
"""

from __future__ import annotations

from ..later import attach

_NAMES = {
    "activations": "along_channels celu glu hardtanh softshrink threshold",
    "adaptive": "adaptive_max_pool max_unpool",
    "arithmetic": (
        "clamp div_rounded fmod fmod_scalar has_no_slope logaddexp pow pow_backward "
        "pow_of_scalar pow_scalar remainder remainder_scalar round round_decimals "
        "rsub_scalar times times_log within"
    ),
    "arrangement": "block_diag block_diag_backward repeat_index rot90",
    "checks": "refuse_bools same_dtype",
    "complex_numbers": "complex sgn sign view_as_complex view_as_real",
    "conv": "channel_sum convolution convolution_input convolution_weight per_channel",
    "counting": "bincount bucketize histc searchsorted",
    "decompositions": (
        "cholesky cholesky_ex cofactor_slope cofactors computed_q det eigh inv_ex lu pinv qr "
        "quotient slogdet solve_ex solve_triangular svd"
    ),
    "distances": "cdist pdist row_pairs",
    "embeddings": "embedding embedding_dense_backward embedding_padded one_hot",
    "extremes": (
        "amax amin argmax argmin is_extreme max max_with_indices min min_with_indices "
        "put_along_dim take_along_dim"
    ),
    "factors": "lu_factor_ex lu_solve row_order unit_lower",
    "fourier": "fft_c2c fft_c2r fft_r2c lengthened",
    "fused": "addbmm addcdiv addmv addr baddbmm cross lerp lerp_tensor vdot",
    "grids": (
        "affine_grid affine_grid_backward grid_neighbours grid_neighbours_backward "
        "grid_places grid_slopes"
    ),
    "index_writes": "index_add index_along index_copy index_fill index_keep index_reduce",
    "indexing": (
        "index index_backward index_put index_select index_select_backward masked_fill "
        "select select_backward slice_backward slice_view"
    ),
    "layout": (
        "diag_embed diagonal diagonal_backward in_order_of repeat repeat_backward roll split "
        "split_with_sizes trace trace_backward"
    ),
    "least_squares": "lstsq",
    "linalg": "addmm bmm broadcast_matmul dot mm mv",
    "loss": (
        "binary_cross_entropy_with_logits mse_loss nll_loss nll_loss2d nll_loss_backward "
        "reduced unreduced"
    ),
    "losses": "binary_cross_entropy huber_loss smooth_l1_loss",
    "margin_losses": "anchor multi_margin_loss one_label_each same_ndim soft_margin_loss variance",
    "masking": "where",
    "matrix_functions": "matrix_exp",
    "nan_reductions": "aminmax count_nonzero count_numbers nansum",
    "nn": "gelu log_softmax log_softmax_backward softmax softmax_backward",
    "normal": "gelu_slope normal_cdf",
    "normalization": "batch_norm group_norm layer_norm mean_to_size over_count",
    "norms": "vector_norm",
    "numbers": (
        "fill fill_with frac gcd isclose lcm ldexp logaddexp2 logit nan_to_num "
        "nextafter polar sinc sinc_slope"
    ),
    "order_statistics": "median median_with_indices mode positions quantile_points",
    "padding": "constant_pad_nd constant_unpad_nd pad_by_index pad_by_index_backward",
    "parts": "diagonal_scatter narrow_copy select_scatter slice_scatter unfold unfold_backward",
    "patches": "col2im im2col",
    "places": "masked_put masked_scatter masked_select masked_take put take take_backward",
    "pooling": (
        "adaptive_avg_pool adaptive_avg_pool_backward avg_pool avg_pool_backward "
        "max_pool_backward max_pool_take max_pool_with_indices"
    ),
    "products": "cumprod delay other_products prod recurrence",
    "rearranging": "channel_shuffle channel_unshuffle pixel_shuffle pixel_unshuffle",
    "reduction": "all any cumsum logsumexp mean over_freedom std sum unmean unreduce var",
    "resampling": "resample resample_backward",
    "running": "cummax cummin logcumsumexp",
    "samples": "observation_weights renorm",
    "scatter_reductions": "flat_places scatter_count scatter_reduce",
    "scattering": "corner gather gather_backward in_corner scatter scatter_add",
    "shape": (
        "alias cat cat_backward expand flip permute permute_backward squeeze stack "
        "stack_backward sum_to_size t to_copy transpose tril triu unbind unsqueeze view"
    ),
    "sorting": "kthvalue nonzero sort topk",
    "special": "bessel erfcx_slope lgamma polygamma scaled_bessel xlog1py",
    "spread": "std_mean var_mean",
    "uniqueness": "unique unique_consecutive unique_dim",
}
"""The kernels that formulas may call, by module. A module must not have the name of a kernel."""

__getattr__, __dir__ = attach(
    globals(),
    {name: (f".{module}", name) for module, names in _NAMES.items() for name in names.split()},
)
