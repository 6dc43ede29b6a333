"""Eigenvalues of matrices that need not be symmetric, and phases that vectors leave open."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.checks import Array
from .decompositions import _check_matrices


def eig(self: Array) -> tuple[Array, Array]:
    """Complex eigenvalues, in the order of LAPACK, and eigenvectors of length one."""
    _check_matrices("linalg.eig", self)
    if self.dtype.kind in "fc" and not np.isfinite(self).all():
        raise RuntimeError(
            "linalg.eig: the matrix has an element that is infinite or nan; eigenvalues are found "
            "of finite numbers only"
        )
    values, vectors = np.linalg.eig(self)
    wanted = np.result_type(self.dtype, np.complex64)
    return values.astype(wanted, copy=False), vectors.astype(wanted, copy=False)


def free_of_phase(self: Array, caller: str) -> Array:
    """Return products `V^H grad_V` as they are; RuntimeError if a gradient asks for a phase.

    Vectors are defined up to a factor of absolute value one, each. A function that does not depend
    on it has gradients whose products with their vectors are real.
    """
    if not is_symbolic(self.dtype) and self.dtype.kind == "c":
        _refuse_phases(caller, "eigenvectors", np.diagonal(self, 0, -2, -1).imag)
    return self


def no_common_phase(self: Array) -> Array:
    """Return the sums of the phases that gradients of left and right singular vectors ask for.

    Of each pair of vectors the phases are open together: both may be multiplied by one number. So
    these sums are zero, but for rounding; RuntimeError if they are not.
    """
    if not is_symbolic(self.dtype) and self.dtype.kind == "c":
        _refuse_phases("svd_backward", "singular vectors", self.imag)
    return self


def _refuse_phases(name: str, what: str, phases: Any) -> None:
    """Lax, as in PyTorch: rounding is no reason to refuse."""
    if not np.allclose(phases, 0, atol=1e-2):
        raise RuntimeError(
            f"{name}: complex {what} are defined up to a phase e^{{i phi}} each, and this gradient "
            "depends on the phases, so it is ill-defined. Differentiate what all choices have in "
            "common, such as absolute values or projections."
        )
