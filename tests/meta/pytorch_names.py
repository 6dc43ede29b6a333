"""`python -m tests.meta.pytorch_names`: write the names of PyTorch's public namespaces to a file.

The library reads `runtime/pytorch_names.txt` when a name is looked up that it does not have.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from .source_tree import ROOT

FILE = ROOT / "runtime" / "pytorch_names.txt"

NAMESPACES = (
    *("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init"),
    *("torch.linalg", "torch.fft", "torch.special", "torch.optim"),
    *("torch.autograd", "torch.autograd.forward_ad", "torch.autograd.graph"),
    *("torch.autograd.functional", "torch.nn.utils", "torch.optim.lr_scheduler"),
    *("torch.optim.swa_utils", "torch.utils.data", "torch.utils.checkpoint"),
    *("torch.distributions", "torch.distributions.constraints", "torch.func", "torch.masked"),
)


def listing() -> str:
    """A line for each namespace: what it is called, and its names in alphabetical order."""
    return "".join(f"{path}: {' '.join(_names(path))}\n" for path in NAMESPACES)


def _names(path: str) -> list[str]:
    parent, _, last = path.rpartition(".")
    space = getattr(import_module(parent), last) if parent else import_module(path)
    return [name for name in sorted(dir(space)) if name[0] != "_" and _is_public(space, name)]


def _is_public(space: Any, name: str) -> bool:
    """Return whether it is PyTorch's own: neither a module or type that it imports, nor a text."""
    if not isinstance(space, ModuleType):
        return True
    value = getattr(space, name)
    if isinstance(value, ModuleType):
        return value.__name__.startswith("torch.")
    home = getattr(value, "__module__", None) or "torch"
    return home.split(".")[0] in ("torch", "builtins") and not isinstance(value, str | dict | list)


if __name__ == "__main__":
    FILE.write_text(listing(), encoding="utf-8")
