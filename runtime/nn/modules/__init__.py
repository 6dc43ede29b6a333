"""PyTorch's `torch.nn.modules`: the modules, and their base classes by the files they are in."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

if not _TYPE_CHECKING:
    from .. import *  # noqa: F403

    del utils  # noqa: F821  # that of `nn`, which would hide the one here

from . import activation as activation
from . import adaptive as adaptive
from . import batchnorm as batchnorm
from . import channelshuffle as channelshuffle
from . import container as container
from . import conv as conv
from . import distance as distance
from . import dropout as dropout
from . import flatten as flatten
from . import fold as fold
from . import instancenorm as instancenorm
from . import lazy as lazy
from . import linear as linear
from . import loss as loss
from . import module as module
from . import normalization as normalization
from . import padding as padding
from . import pixelshuffle as pixelshuffle
from . import pooling as pooling
from . import rnn as rnn
from . import sparse as sparse
from . import transformer as transformer
from . import upsampling as upsampling
from . import utils as utils  # type: ignore[no-redef]
