"""Embeddings."""

from ...core.missing import explaining as _explaining
from .. import Embedding as Embedding
from .. import EmbeddingBag as EmbeddingBag

__getattr__ = _explaining(__name__)
