"""Recurrent networks, and their base class."""

from ...core.missing import explaining as _explaining
from .. import GRU as GRU
from .. import LSTM as LSTM
from .. import RNN as RNN
from .. import GRUCell as GRUCell
from .. import LSTMCell as LSTMCell
from .. import RNNBase as RNNBase
from .. import RNNCell as RNNCell

__getattr__ = _explaining(__name__)
