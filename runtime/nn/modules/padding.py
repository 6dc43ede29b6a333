"""Padding."""

from ...core.missing import explaining as _explaining
from .. import CircularPad1d as CircularPad1d
from .. import CircularPad2d as CircularPad2d
from .. import CircularPad3d as CircularPad3d
from .. import ConstantPad1d as ConstantPad1d
from .. import ConstantPad2d as ConstantPad2d
from .. import ConstantPad3d as ConstantPad3d
from .. import ReflectionPad1d as ReflectionPad1d
from .. import ReflectionPad2d as ReflectionPad2d
from .. import ReflectionPad3d as ReflectionPad3d
from .. import ReplicationPad1d as ReplicationPad1d
from .. import ReplicationPad2d as ReplicationPad2d
from .. import ReplicationPad3d as ReplicationPad3d
from .. import ZeroPad1d as ZeroPad1d
from .. import ZeroPad2d as ZeroPad2d
from .. import ZeroPad3d as ZeroPad3d

__getattr__ = _explaining(__name__)
