"""Activations and attention."""

from ...core.missing import explaining as _explaining
from .. import CELU as CELU
from .. import ELU as ELU
from .. import GELU as GELU
from .. import GLU as GLU
from .. import SELU as SELU
from .. import Hardshrink as Hardshrink
from .. import Hardsigmoid as Hardsigmoid
from .. import Hardswish as Hardswish
from .. import Hardtanh as Hardtanh
from .. import LeakyReLU as LeakyReLU
from .. import LogSigmoid as LogSigmoid
from .. import LogSoftmax as LogSoftmax
from .. import Mish as Mish
from .. import MultiheadAttention as MultiheadAttention
from .. import PReLU as PReLU
from .. import ReLU as ReLU
from .. import ReLU6 as ReLU6
from .. import RReLU as RReLU
from .. import Sigmoid as Sigmoid
from .. import SiLU as SiLU
from .. import Softmax as Softmax
from .. import Softmax2d as Softmax2d
from .. import Softmin as Softmin
from .. import Softplus as Softplus
from .. import Softshrink as Softshrink
from .. import Softsign as Softsign
from .. import Tanh as Tanh
from .. import Tanhshrink as Tanhshrink
from .. import Threshold as Threshold

__getattr__ = _explaining(__name__)
