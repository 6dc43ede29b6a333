"""Sources of a function besides its arguments: tensors of closures, modules and optimizers.

Tensors become inputs by reference. What else is found, Python's numbers and texts, which objects
there are and where, is taken for constant: a `Guard` for each says so, and is looked at before
every call.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..nn.module import Module
from .errors import package_of
from .foreign_generators import Generator, generator_of

_CONSTANTS: Final = (int, float, complex, str, bytes, bool, type(None), np.dtype, type, range)
_FUNCTIONS: Final = (types.FunctionType, types.MethodType, functools.partial)
_OWN: Final = frozenset(("gradspec", "numpy", "builtins", "math", "functools", "itertools"))
_LOOKING_UP_GLOBALS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_MISSING: Final = object()
ARRAY_MAX: Final = 1 << 20
"""Bytes of an array of NumPy's up to which it is compared with what it was before every call."""


@dataclass(frozen=True)
class Place:
    """Path to a value."""

    how: str
    """`item` of a holder by a key, content of a `cell`, `length`, `attribute`, the bytes of an
    `array`, or the object `itself`."""
    holder: Any
    key: Any = None

    def read(self) -> Any:
        """Return what is there now."""
        if self.how == "item":
            return _item(self.holder, self.key)
        if self.how == "cell":
            return _content(self.holder)
        if self.how == "length":
            return len(self.holder)
        if self.how == "array":
            return self.holder.tobytes()
        return getattr(self.holder, self.key) if self.how == "attribute" else self.holder


@dataclass
class Guard:
    """Something outside of a function that has to be what it was when the function was captured."""

    place: Place
    expected: Any
    name: str
    by_value: bool = False

    def holds(self) -> bool:
        """Return whether it is the same still."""
        found = self.place.read()
        if not self.by_value:
            return found is self.expected
        return type(found) is type(self.expected) and found == self.expected


@dataclass
class Sources:
    """The tensors that a function can reach, each once, by where it was found; and the guards."""

    tensors: dict[int, tuple[Tensor, str]] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    optimizers: list[Any] = field(default_factory=list)
    generators: list[Generator] = field(default_factory=list)
    _seen: dict[int, Any] = field(default_factory=dict)

    def changed(self) -> str | None:
        """Return the name of the first thing that is not what it was, None if all is."""
        for guard in self.guards:
            if not guard.holds():
                return guard.name
        return None

    def drawn(self) -> str | None:
        """Return the name of a generator of random numbers that is not in the state it was in."""
        return next((each.name for each in self.generators if each.has_drawn()), None)

    def knows(self, value: Any) -> bool:
        """Return whether an object was there before the function was called."""
        return id(value) in self._seen

    # ---- the walk

    def add(self, place: Place, name: str) -> None:
        """Look at what is in a place: take a tensor, guard a constant, go into everything else."""
        value = place.read()
        if value is _MISSING:
            return
        if isinstance(value, _CONSTANTS) and not isinstance(value, type):
            self.guards.append(Guard(place, value, name, by_value=True))
            return
        self.guards.append(Guard(place, value, name))
        if isinstance(value, Tensor):
            self.tensors.setdefault(id(value), (value, name))
            return
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        self._enter(value, name)

    def _enter(self, value: Any, name: str) -> None:
        generator = generator_of(value, name)
        if generator is not None:
            self.generators.append(generator)
        if generator is not None or isinstance(value, types.ModuleType):
            return
        if isinstance(value, np.ndarray):
            if value.nbytes <= ARRAY_MAX and not value.dtype.hasobject:
                place = Place("array", value)
                self.guards.append(Guard(place, place.read(), f"what is in {name}", by_value=True))
            return
        if isinstance(value, _FUNCTIONS):
            self.add_function(value, name)
        elif isinstance(value, Module):
            self._add_module(value, name)
        elif isinstance(value, Mapping):
            self._add_items(value, list(value), name)
        elif isinstance(value, set | frozenset):
            self.guards.append(Guard(Place("length", value), len(value), f"len({name})", True))
        elif isinstance(value, list | tuple | deque):
            self._add_items(value, range(len(value)), name)
        elif hasattr(value, "param_groups") and hasattr(value, "zero_grad"):
            self._add_optimizer(value, name)
        elif _is_users(value):
            attributes = vars(value)
            self._add_items(attributes, list(attributes), name, "{}.{}")

    def _add_items(self, holder: Any, keys: Any, name: str, form: str = "{}[{!r}]") -> None:
        count = len(holder)
        self.guards.append(Guard(Place("length", holder), count, f"len({name})", True))
        for key in list(keys):
            self.add(Place("item", holder, key), form.format(name, key))

    def _add_module(self, module: Module, name: str) -> None:
        attributes = vars(module)
        for kind in ("_parameters", "_buffers", "_modules"):
            members = attributes[kind]
            self._add_items(members, list(members), name, "{}.{}")
        for key, value in list(attributes.items()):
            if not key.startswith("_") or isinstance(value, bool):
                self.add(Place("item", attributes, key), f"{name}.{key}")
        self.add_function(type(module).forward, f"{type(module).__name__}.forward")

    def _add_optimizer(self, optimizer: Any, name: str) -> None:
        self.optimizers.append(optimizer)
        self._add_items(optimizer.param_groups, range(len(optimizer.param_groups)), name)
        state = optimizer.state
        for number, key in enumerate(list(state)):
            kept = state[key]
            self._add_items(kept, list(kept), f"{name}.state[{number}]")

    def add_function(self, function: Any, name: str) -> None:
        """Look at what a function's code names: its closure, globals and defaults."""
        if isinstance(function, functools.partial):
            self.add(Place("attribute", function, "func"), name)
            self._add_items(function.args, range(len(function.args)), f"{name}.args")
            self._add_items(function.keywords, list(function.keywords), f"{name}.keywords")
            return
        if isinstance(function, types.MethodType):
            self.add(Place("attribute", function, "__self__"), f"{name}.__self__")
            function = function.__func__
        function = getattr(function, "__wrapped__", function) if _is_own(function) else function
        if not isinstance(function, types.FunctionType) or _is_own(function):
            return
        code = function.__code__
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(Place("cell", cell), variable)
        for variable in sorted(_global_names(code)):
            if variable in function.__globals__ and not hasattr(builtins, variable):
                self.add(Place("item", function.__globals__, variable), variable)
        if "random" in code.co_names and id(np) in self._seen:
            self.add(Place("itself", np.random), "np.random")
        defaults = function.__defaults__ or ()
        self._add_items(defaults, range(len(defaults)), f"{name}.__defaults__")


def _global_names(code: types.CodeType) -> set[str]:
    """The globals that code, and functions defined in it, may look up."""
    found = {
        each.argval for each in dis.get_instructions(code) if each.opname in _LOOKING_UP_GLOBALS
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _global_names(constant)
    return found


def _is_own(value: Any) -> bool:
    namespace = getattr(value, "__globals__", None)
    module = package_of(namespace) if namespace else str(getattr(value, "__module__", ""))
    return module.partition(".")[0] in _OWN


def _is_users(value: Any) -> bool:
    """Return whether the attributes of an object are to be looked at."""
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return False
    return not _is_own(type(value)) and not callable(getattr(value, "__array__", None))


def _item(holder: Any, key: Any) -> Any:
    try:
        return holder[key]
    except (KeyError, IndexError):
        return _MISSING


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING
