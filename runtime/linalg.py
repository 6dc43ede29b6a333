"""Linear algebra: the ops of PyTorch's namespace `linalg`, and what is made of them."""

from __future__ import annotations

from .core.missing import explaining as _explaining
from .functions.linalg import matrix_norm as matrix_norm
from .functions.linalg import matrix_power as matrix_power
from .functions.linalg import multi_dot as multi_dot
from .functions.linalg import norm as norm
from .functions.linalg import tensorinv as tensorinv
from .functions.linalg import tensorsolve as tensorsolve
from .functions.linalg import vander as vander
from .functions.matrix_rank import cond as cond
from .functions.matrix_rank import matrix_rank as matrix_rank
from .functions.reflectors import householder_product as householder_product
from .generated.linalg_names import *  # noqa: F403
from .kernels.linalg.decompositions import LinAlgError as LinAlgError

__getattr__ = _explaining(__name__)
