"""Distances."""

from ...core.missing import explaining as _explaining
from .. import CosineSimilarity as CosineSimilarity
from .. import PairwiseDistance as PairwiseDistance

__getattr__ = _explaining(__name__)
