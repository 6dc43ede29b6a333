"""Collation of examples into a batch."""

from ....core.missing import explaining as _explaining
from ..collate import default_collate as default_collate
from ..collate import default_convert as default_convert

__getattr__ = _explaining(__name__)
