"""Compiled modules: modules whose calls run a program."""

from __future__ import annotations

from typing import Any

from ..nn.module import Module
from .function import CompiledFunction


class OptimizedModule(Module):
    """A module whose calls are compiled; all else that is asked of it is the module's own.

    As in PyTorch the module is `_orig_mod`, also in the names of parameters and in states. What it
    has no attribute for, such as `count_captures`, is asked of `compiled`, the `CompiledFunction`.
    """

    def __init__(self, compiled: CompiledFunction) -> None:
        super().__init__()
        vars(self)["compiled"] = compiled
        vars(self)["forward"] = compiled
        original: Any = compiled.function
        self._modules["_orig_mod"] = original

    @property
    def training(self) -> bool:
        """Read whether the module is in training mode."""
        return bool(self._original().training)

    @training.setter
    def training(self, value: bool) -> None:
        self._original().training = value

    def _original(self) -> Any:
        return self._modules["_orig_mod"]

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._original()
        if name.startswith("__"):
            raise AttributeError(f"'OptimizedModule' object has no attribute '{name}'")
        for holder in (self._original(), vars(self)["compiled"]):
            if hasattr(holder, name):
                return getattr(holder, name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "training":
            object.__setattr__(self, name, value)
        else:
            setattr(self._original(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._original(), name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies have programs of their own."""
        return _again, (self._orig_mod, *self.compiled.options())


def _again(module: Module, *options: Any) -> OptimizedModule:
    return OptimizedModule(CompiledFunction(module, *options))
