"""Linear layers."""

from ...core.missing import explaining as _explaining
from .. import Bilinear as Bilinear
from .. import Identity as Identity
from .. import LazyLinear as LazyLinear
from .. import Linear as Linear
from ..linear import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear

__getattr__ = _explaining(__name__)
