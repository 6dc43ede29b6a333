"""Containers."""

from ...core.missing import explaining as _explaining
from .. import ModuleDict as ModuleDict
from .. import ModuleList as ModuleList
from .. import ParameterDict as ParameterDict
from .. import ParameterList as ParameterList
from .. import Sequential as Sequential

__getattr__ = _explaining(__name__)
