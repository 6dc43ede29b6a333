"""NumPy kernels too long for one expression; generated code calls them as `kernels.name`.

They run on arrays of numbers and, during a proof, on arrays of symbols: no `float()`, no
`np.asarray`, nothing that asks for one dtype.
"""

from __future__ import annotations

from ..core.lazy import lazy_attributes

_NAMES = {
    "elementwise.activations": "along_channels celu glu hardtanh softshrink threshold",
    "nn.adaptive": "adaptive_max_pool max_unpool",
    "elementwise.arithmetic": (
        "clamp div_rounded fmod fmod_scalar logaddexp pow pow_backward "
        "pow_of_scalar pow_scalar remainder remainder_scalar round round_decimals "
        "rsub_scalar times times_log within"
    ),
    "shape.joining": "block_diag block_diag_backward repeat_index rot90",
    "elementwise.checks": "refuse_bools same_dtype",
    "elementwise.complex_numbers": "complex sgn sign view_as_complex view_as_real",
    "nn.conv": "channel_sum convolution convolution_input convolution_weight per_channel",
    "reductions.counting": "bincount bucketize histc searchsorted",
    "linalg.decompositions": (
        "cholesky cholesky_ex cofactor_slope cofactors computed_q det eigh inv_ex lu pinv qr "
        "quotient slogdet solve_ex solve_triangular svd"
    ),
    "linalg.distances": "cdist pdist row_pairs",
    "indexing.embeddings": "embedding embedding_dense_backward embedding_padded one_hot",
    "reductions.extremes": (
        "amax amin argmax argmin is_extreme max max_with_indices min min_with_indices "
        "put_along_dim take_along_dim"
    ),
    "linalg.factors": "lu_factor_ex lu_solve row_order unit_lower",
    "linalg.fourier": "fft_c2c fft_c2r fft_r2c lengthened",
    "linalg.fused": "addbmm addcdiv addmv addr baddbmm cross lerp lerp_tensor vdot",
    "nn.grids": (
        "affine_grid affine_grid_backward grid_neighbours grid_neighbours_backward "
        "grid_places grid_slopes"
    ),
    "indexing.index_writes": "index_add index_along index_copy index_fill index_keep index_reduce",
    "indexing.index": (
        "index index_backward index_put index_select index_select_backward masked_fill "
        "select select_backward slice_backward slice_view"
    ),
    "shape.layout": (
        "diag_embed diagonal diagonal_backward in_order_of repeat repeat_backward roll split "
        "split_with_sizes trace trace_backward"
    ),
    "linalg.least_squares": "lstsq",
    "linalg.products": "addmm bmm broadcast_matmul dot mm mv",
    "nn.loss": (
        "binary_cross_entropy_with_logits mse_loss nll_loss nll_loss2d nll_loss_backward "
        "reduced unreduced"
    ),
    "nn.losses": "binary_cross_entropy huber_loss smooth_l1_loss",
    "nn.margin_losses": (
        "anchor multi_margin_loss one_label_each same_ndim soft_margin_loss variance"
    ),
    "elementwise.masking": "where",
    "linalg.matrix_functions": "matrix_exp",
    "reductions.nan_reductions": "count_numbers nansum",
    "nn.softmax": "gelu log_softmax log_softmax_backward softmax softmax_backward",
    "elementwise.normal": "gelu_slope normal_cdf",
    "nn.normalization": "batch_norm group_norm layer_norm mean_to_size over_count",
    "reductions.norms": "vector_norm",
    "elementwise.numbers": (
        "fill fill_with frac gcd isclose lcm ldexp logaddexp2 logit nan_to_num "
        "nextafter polar sinc sinc_slope"
    ),
    "reductions.order_statistics": "median median_with_indices mode positions quantile_points",
    "shape.padding": "constant_pad_nd constant_unpad_nd pad_by_index pad_by_index_backward",
    "indexing.slices": (
        "diagonal_scatter narrow_copy select_scatter slice_scatter unfold unfold_backward"
    ),
    "shape.patches": "col2im im2col",
    "indexing.masked": "masked_put masked_scatter masked_select masked_take put take take_backward",
    "nn.pooling": (
        "adaptive_avg_pool adaptive_avg_pool_backward avg_pool avg_pool_backward "
        "max_pool_backward max_pool_take max_pool_with_indices"
    ),
    "reductions.products": "cumprod delay other_products prod recurrence",
    "shape.rearranging": "channel_shuffle channel_unshuffle pixel_shuffle pixel_unshuffle",
    "reductions.sums": "all any cumsum logsumexp mean over_freedom std sum unmean unreduce var",
    "nn.resampling": "resample resample_backward",
    "reductions.running": "cummax cummin logcumsumexp",
    "reductions.samples": "observation_weights renorm",
    "indexing.scatter_reductions": "flat_places scatter_count scatter_reduce",
    "indexing.scattering": "corner gather gather_backward in_corner scatter scatter_add",
    "shape.views": (
        "alias cat cat_backward expand flip permute permute_backward squeeze stack "
        "stack_backward sum_to_size t to_copy transpose tril triu unbind unsqueeze view"
    ),
    "reductions.sorting": "kthvalue nonzero sort topk",
    "elementwise.special": "bessel erfcx_slope lgamma polygamma scaled_bessel xlog1py",
    "reductions.uniqueness": "unique unique_consecutive unique_dim",
}
"""The kernels that formulas may call, by module. A module must not have the name of a kernel."""

__getattr__, __dir__ = lazy_attributes(
    globals(),
    {name: (f".{module}", name) for module, names in _NAMES.items() for name in names.split()},
)
