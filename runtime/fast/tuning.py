"""The sizes from which the runtime computes in another way.

Each is named after the decision it takes and says what was measured: on two cores with AVX-512,
NumPy 2.4 and OpenBLAS. None of them is a promise. Modules import them by name, since a lookup in
another module would cost small arrays 20 ns; tests change them in all modules at once, by
`tests/thresholds.py`.
"""

from __future__ import annotations

from typing import Final

# ---- functions of single elements

LOGADDEXP_VECTOR_MIN: Final = 3 << 8
"""Elements from which `logaddexp` is made of vectorised functions: 2 to 4 ns each instead of 20."""

POWER_MAGNITUDE_MIN: Final = 16
"""Elements from which whole powers are those of magnitudes: 60 ns saved for a negative base."""

NORMAL_POLYNOMIAL_MIN: Final = 1 << 11
"""float32 elements from which the normal distribution is a polynomial: up to 4 times as fast as
SciPy's function, which computes one element after another in float64."""

ZERO_MASK_MIN: Final = 1 << 9
"""Elements from which a mask of bits is faster than `np.where` with zero."""

SELECT_MASK_MIN: Final = 1 << 13
"""Elements from which it is faster between two arrays: `np.where` takes a branch
for each, which processors predict for short arrays only."""

# ---- sums, products, order

BLAS_ROW_SUM_MIN: Final = 1 << 12
BLAS_COLUMN_SUM_MIN: Final = 1 << 15
"""Elements from which rows, or columns, are summed by BLAS: 0.06 instead of 0.2 to 0.4 ns each."""

BLAS_ROW_MAX: Final = 1 << 13
"""The longest row for it: NumPy adds pairwise, with smaller errors from here on."""

BLAS_COLUMN_MAX: Final = 1 << 16
"""The longest column for it: as many ones are kept."""

FLAT_MV_MIN: Final = 1 << 19
FLAT_MV_ROWS: Final = range(8, 64)
FLAT_MV_COLUMNS: Final = 1000
"""Elements and rows of matrices that `mv` takes apart, and the columns of a part: half to three
quarters of the time of BLAS, which goes through such a matrix in one thread."""

TRIANGLE_BLOCK: Final = 64
"""Rows up to which a triangle is solved like any matrix: in parts 300 rows take a third of the time
for two right sides, 1,000 a twelfth."""

CONV_COLUMNS_MAX: Final = 1 << 18
"""Elements of windows that are laid out at a time: there are many times more than in the input."""

PARTITION_MIN: Final = 1 << 10
"""Elements from which finding a few pays more than sorting all."""

ADD_ROW_MIN: Final = 1 << 8
"""The length from which rows are added one by one, not as single elements."""

# ---- backward passes

DEFER_LEAF_MAX: Final = 1 << 15
"""Elements up to which a leaf's gradient may wait for the end of a pass: more would cost memory."""
