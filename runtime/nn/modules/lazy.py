"""The base of lazy modules of one's own."""

from ...core.missing import explaining as _explaining
from ..lazy_modules import LazyModuleMixin as LazyModuleMixin

__getattr__ = _explaining(__name__)
