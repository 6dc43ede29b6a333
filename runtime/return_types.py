"""The types of what ops with several results return, by the names of the ops, as in PyTorch."""

from __future__ import annotations

from .core.missing import no_attribute
from .dispatch.named_results import Result
from .dispatch.registry import import_all


def __getattr__(name: str) -> type[Result]:
    import_all()
    for found in Result.__subclasses__():
        if found._shown == f"gradspec.return_types.{name}":
            return found
    raise no_attribute("gradspec.return_types", name)  # `__name__` is None by now
