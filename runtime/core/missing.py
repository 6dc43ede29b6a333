"""Names that are asked for and are not here: PyTorch's are called so, with the nearest that is.

`pytorch_names.txt` has the names of PyTorch's public namespaces. It is read when a name is missed,
and written by `python -m tests.meta.pytorch_names`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn

from .numpy_warnings import LIBRARY

_PACKAGE: Final = LIBRARY


def explaining(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module, which says why a name is not there."""

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(module, name)

    return __getattr__


def no_attribute(module: str, name: str) -> AttributeError:
    """The AttributeError for a name that a module does not have."""
    message = f"module {module!r} has no attribute {name!r}"
    if not name.startswith("_"):
        message += _explanation(module.replace(_PACKAGE, "torch", 1), name)
    # Said here, as Python's own suggestions would be any modules that have been imported.
    return AttributeError(message, name=name, obj=_NOTHING)


class MissingMethod:
    """Descriptor of an attribute that others' tensors or arrays have: AttributeError."""

    __slots__ = ("_advice", "_name")

    def __init__(self, name: str, advice: str = "") -> None:
        self._name = name
        self._advice = advice

    def __get__(self, tensor: object, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}"
            + (f": {self._advice}" if self._advice else _explanation("torch.Tensor", self._name)),
            name=self._name,
            obj=_NOTHING,
        )


def name_missing_methods(tensor: type) -> None:
    """Let a class explain each attribute of PyTorch's tensors that it does not have."""
    for name in _names_of_pytorch()["torch.Tensor"] - set(dir(tensor)):
        setattr(tensor, name, MissingMethod(name))


_NOTHING: Final = object()


@cache
def _names_of_pytorch() -> dict[str, frozenset[str]]:
    """The names by namespace."""
    text = Path(__file__).parents[1].joinpath("pytorch_names.txt").read_text(encoding="utf-8")
    spaces = (line.split(": ") for line in text.splitlines())
    return {path: frozenset(names.split()) for path, names in spaces}


def _explanation(path: str, name: str) -> str:
    """Name what PyTorch calls so, and what is near it here; `path` is PyTorch's namespace."""
    near = next(_near(path, name), None)
    if name not in _names_of_pytorch().get(path, ()):
        return "" if near is None else f". Did you mean: {near!r}?"
    nearest = "" if near is None else f"; the nearest that is here is {near}"
    return f": {path}.{name} of PyTorch is not in gradspec yet{nearest}"


def _near(path: str, name: str) -> Iterator[str]:
    """Yield the same function in another namespace, then what is spelled much alike in this one."""
    for other in _names_of_pytorch():
        if name in _here(other) and f"{other}.{name}" not in _names_of_pytorch():
            yield f"{_ours(other)}.{name}"
    from difflib import get_close_matches  # few programs need a hint

    for near in get_close_matches(name, _here(path), 1, 0.75):
        yield f"{_ours(path)}.{near}"


def _here(path: str) -> frozenset[str]:
    """Return the names in a namespace of PyTorch that this library has, too."""
    names = _names_of_pytorch().get(path, frozenset())
    return names & frozenset(_without_missing(path.replace("torch", _PACKAGE, 1)))


def _without_missing(path: str) -> Iterator[str]:
    namespace: Any = sys.modules.get(path) or getattr(sys.modules[_PACKAGE], "Tensor", None)
    if path != f"{_PACKAGE}.Tensor" and path not in sys.modules:
        return
    for name in dir(namespace):
        if type(vars(namespace).get(name)) is not MissingMethod:
            yield name


def _ours(path: str) -> str:
    return path.replace("torch", "gs", 1)
