"""Every op says what it computes: by a definition, or where an algorithm does, by its `doc`."""

from __future__ import annotations

import importlib.resources

from gradspec_codegen.ir.walk import calls
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec

DEFINED_BY_A_KERNEL = {
    "arithmetic": "_choice _to_copy",
    "complex_numbers": "complex view_as_real",
    "conv": (
        "_convolution _convolution_input _convolution_weight _stacked_convolution "
        "_stacked_convolution_input _stacked_convolution_weight"
    ),
    "bessel": "_airy_slope _spherical_bessel special_airy_ai",
    "decompositions": (
        "_cofactors _ones_for_zeros "
        "_row_order _slope_of_cofactors linalg_cholesky_ex "
        "linalg_eig linalg_eigh linalg_inv_ex linalg_lstsq linalg_lu linalg_lu_factor_ex "
        "linalg_lu_solve linalg_matrix_exp linalg_pinv linalg_qr linalg_solve_ex linalg_svd"
    ),
    "distances": "_row_pairs",
    "gamma": "_gamma_density _gamma_quantile _igamma_derivative",
    "indexing": (
        "_corner _flat_places _in_corner _index_along _masked_take unfold_backward "
        "diagonal_scatter gather index.Tensor index_put index_reduce masked_scatter "
        "masked_select scatter.src scatter.value scatter_add scatter_reduce.two "
        "select_scatter slice.Tensor slice_scatter unfold"
    ),
    "layout": (
        "_block_diag _block_diag_backward _col2im _im2col _repeat_backward _repeat_index "
        "split.Tensor split_with_sizes"
    ),
    "losses": "_label_rows",
    "numbers": (
        "bitwise_left_shift.Tensor bitwise_right_shift.Tensor frexp.Tensor gcd lcm nan_to_num"
    ),
    "padding": "_constant_unpad_nd _pad_by_index _pad_by_index_backward constant_pad_nd",
    "pooling": (
        "_adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_avg_pool_backward "
        "_adaptive_max_pool2d _adaptive_max_pool3d _avg_pool1d_backward _avg_pool_backward "
        "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d max_pool1d_with_indices "
        "max_pool2d_with_indices max_pool3d_with_indices"
    ),
    "polynomials": "_orthogonal_polynomial",
    "reduction": "_recurrence",
    "resampling": (
        "_affine_grid_backward _grid_neighbours _grid_neighbours_backward _grid_places "
        "_grid_slopes _resample _resample_backward affine_grid_generator"
    ),
    "shape": "_cat_backward _stack_backward _sum_to_size expand squeeze.dims unbind.int",
    "sorting": (
        "_nonzero _quantile_points _unique2 _unique_consecutive _unique_dim bincount histc "
        "mode nanmedian.dim"
    ),
    "statistics": "cummax cummin",
    "strided": "_as_strided _as_strided_backward _as_strided_scatter _strided_spread",
}
"""The ops that an algorithm defines, by family: a definition in a few lines is to be preferred."""


def _is_a_kernel(op: OpSpec) -> bool:
    expression = op.forward.block.expression if op.forward else None
    found = [] if expression is None else list(calls(expression))
    return bool(found) and found[0] is expression and found[0].function.startswith("kernels.")


def test_which_ops_are_defined_by_a_kernel() -> None:
    path = importlib.resources.files("gradspec_codegen.specs") / "derivatives.yaml"
    with importlib.resources.as_file(path) as spec:
        table = load_table(spec)
    found: dict[str, set[str]] = {}
    for op in filter(_is_a_kernel, table.ops):
        found.setdefault(op.family, set()).add(op.name)
        assert len(op.doc.split()) > 3, f"{op.name}: `doc` is to say the mathematics"
    assert found == {family: set(names.split()) for family, names in DEFINED_BY_A_KERNEL.items()}
