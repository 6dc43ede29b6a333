"""NumPy kernels too long for one expression; generated code calls them as `kernels.name`.

They run on arrays of numbers and, during a proof, on arrays of symbols: no `float()`, no
`np.asarray`, nothing that asks for one dtype.
"""

from __future__ import annotations

from ..core.lazy import lazy_attributes

_NAMES = {
    "elementwise.arithmetic": (
        "clamp div_rounded fill fill_with fmod fmod_scalar frac frexp gcd heaviside isclose lcm "
        "ldexp logaddexp logaddexp2 nan_to_num nextafter pow pow_backward pow_of_scalar "
        "pow_scalar remainder remainder_scalar round round_decimals rsub_scalar times times_log "
        "within"
    ),
    "elementwise.bits": "left_shift right_shift",
    "elementwise.bessel_functions": "airy spherical_bessel",
    "elementwise.checks": "refuse_bools same_dtype",
    "elementwise.complex_numbers": "complex over_cosh polar sgn sign view_as_complex view_as_real",
    "elementwise.masking": "choice where",
    "elementwise.normal": "gelu_slope normal_cdf",
    "elementwise.gamma_functions": (
        "gamma_density gamma_quantile gammainc gammainc_derivative gammaincc"
    ),
    "elementwise.polynomials": "orthogonal_polynomial",
    "elementwise.special": (
        "bessel erfcx_bend erfcx_slope gaussian lgamma log_ndtr_slope logit ndtri_slope polygamma "
        "scaled_bessel sinc sinc_bend sinc_slope xlog1py"
    ),
    "indexing.advanced": (
        "index index_add index_along index_backward index_copy index_fill index_keep index_put "
        "index_reduce index_select index_select_backward"
    ),
    "indexing.embeddings": "embedding embedding_dense_backward embedding_padded one_hot",
    "indexing.gather_scatter": (
        "corner flat_places gather gather_backward in_corner scatter scatter_add scatter_count "
        "scatter_reduce"
    ),
    "indexing.masked": (
        "masked_fill masked_put masked_scatter masked_select masked_take put take take_backward"
    ),
    "indexing.slices": (
        "diagonal_scatter narrow_copy select select_backward select_scatter slice_backward "
        "slice_scatter slice_view unfold unfold_backward"
    ),
    "linalg.decompositions": (
        "cholesky cholesky_ex cholesky_inverse cholesky_solve differentiable_q eigh inv_ex lu "
        "lu_factor_ex lu_solve pinv qr quotient row_order ones_for_zeros solve_ex "
        "solve_triangular svd unit_lower"
    ),
    "linalg.determinants": "cofactor_slope cofactors det slogdet",
    "linalg.eigenvalues": "eig free_of_phase no_common_phase",
    "linalg.distances": "cdist pdist row_pairs",
    "linalg.fourier": "fft_c2c fft_c2r fft_r2c lengthened",
    "linalg.least_squares": "lstsq",
    "linalg.matrix_functions": "matrix_exp",
    "linalg.products": (
        "addbmm addcdiv addcmul addmm addmv addr baddbmm bmm broadcast_matmul cross dot lerp "
        "lerp_tensor mm mv vdot"
    ),
    "nn.activations": (
        "along_channels celu gelu glu hardtanh log_softmax log_softmax_backward softmax "
        "softmax_backward softshrink threshold"
    ),
    "nn.conv": "channel_sum convolution convolution_input convolution_weight per_channel",
    "nn.stacked_conv": ("stacked_convolution stacked_convolution_input stacked_convolution_weight"),
    "nn.grids": (
        "affine_grid affine_grid_backward grid_neighbours grid_neighbours_backward grid_places "
        "grid_slopes"
    ),
    "nn.losses": (
        "anchor binary_cross_entropy binary_cross_entropy_with_logits huber_loss label_rows "
        "mse_loss multi_margin_loss nll_loss nll_loss2d nll_loss_backward one_label_each reduced "
        "same_ndim smooth_l1_loss soft_margin_loss unreduced variance"
    ),
    "nn.normalization": "batch_norm group_norm layer_norm mean_to_size over_count",
    "nn.pooling": (
        "adaptive_avg_pool adaptive_avg_pool_backward adaptive_max_pool avg_pool "
        "avg_pool_backward max_pool_backward max_pool_take max_pool_with_indices max_unpool"
    ),
    "nn.resampling": "resample resample_backward",
    "reductions.counting": (
        "bincount bucketize histc searchsorted unique unique_consecutive unique_dim"
    ),
    "reductions.extremes": (
        "amax amin aminmax argmax argmin is_extreme max max_with_indices min min_with_indices "
        "put_along_dim take_along_dim"
    ),
    "reductions.norms": "renorm vector_norm",
    "reductions.scans": "cummax cummin cumprod delay logcumsumexp other_products prod recurrence",
    "reductions.sorting": (
        "kthvalue median median_with_indices mode nonzero positions quantile_points sort topk"
    ),
    "reductions.sums": (
        "all any count_numbers cumsum logsumexp mean nansum observation_weights "
        "over_freedom std sum unmean unreduce var"
    ),
    "shape.layout": (
        "diag_embed diagonal diagonal_backward in_order_of repeat repeat_backward roll split "
        "split_with_sizes trace trace_backward"
    ),
    "shape.padding": "constant_pad_nd constant_unpad_nd pad_by_index pad_by_index_backward",
    "shape.patches": "col2im im2col",
    "shape.rearranging": (
        "block_diag block_diag_backward channel_shuffle channel_unshuffle pixel_shuffle "
        "pixel_unshuffle repeat_index rot90"
    ),
    "shape.strided": "as_strided as_strided_backward strided_scatter strided_spread",
    "shape.views": (
        "alias cat cat_backward cloned copied expand flip permute permute_backward squeeze stack "
        "stack_backward sum_to_size t to_copy transpose tril triu unbind unsqueeze view "
        "view_as_dtype"
    ),
}
"""The kernels that formulas may call, by module. A module must not have the name of a kernel."""

__getattr__, __dir__ = lazy_attributes(
    globals(),
    {name: (f".{module}", name) for module, names in _NAMES.items() for name in names.split()},
)
