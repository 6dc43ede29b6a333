"""Linear algebra: the ops of PyTorch's namespace `linalg`, and what is made of them."""

from __future__ import annotations

from .core.missing import explaining as _explaining
from .functions.linear_algebra.indefinite import ldl_factor as ldl_factor
from .functions.linear_algebra.indefinite import ldl_factor_ex as ldl_factor_ex
from .functions.linear_algebra.indefinite import ldl_solve as ldl_solve
from .functions.linear_algebra.linalg import matrix_norm as matrix_norm
from .functions.linear_algebra.linalg import matrix_power as matrix_power
from .functions.linear_algebra.linalg import multi_dot as multi_dot
from .functions.linear_algebra.linalg import norm as norm
from .functions.linear_algebra.linalg import tensorinv as tensorinv
from .functions.linear_algebra.linalg import tensorsolve as tensorsolve
from .functions.linear_algebra.linalg import vander as vander
from .functions.linear_algebra.matrix_rank import cond as cond
from .functions.linear_algebra.matrix_rank import matrix_rank as matrix_rank
from .functions.linear_algebra.matrix_rank import pinv as _pinv
from .functions.linear_algebra.reflectors import householder_product as householder_product
from .generated.names.linalg import *  # noqa: F403
from .kernels.linalg.decompositions import LinAlgError as LinAlgError

__getattr__ = _explaining(__name__)

pinv = _pinv  # type: ignore[assignment]  # takes tensors as bounds, the op only numbers
