"""The backend that always works: a program as a Python function on NumPy, line by line."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from .buffers import Plan, plan
from .kept.texts import rendered
from .program import Program, Step, Value
from .steps import function_of

_numbers = count()


@dataclass(frozen=True)
class Line:
    """A line of the emitted function, and where it comes from."""

    text: str
    place: str = ""


def build(program: Program) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs a program: it takes the input arrays, and returns the outputs.

    Its source is in the attribute `source`.
    """
    writer = _Writer(program)
    source = writer.source()
    file = f"<gradspec program {next(_numbers)}>"
    namespace = writer.namespace
    namespace["__name__"] = None  # so that NumPy does not warn: see `core.numpy_warnings`
    exec(compile(source, file, "exec"), namespace)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    function: Callable[..., tuple[Any, ...]] = namespace["program"]
    function.source = source  # type: ignore[attr-defined]
    return function


def source_of(program: Program) -> str:
    """Return the text of the function that `build` makes."""
    return _Writer(program).source()


@dataclass(frozen=True)
class Function:
    """A function of the emitted source: the program, or a round of one of its loops."""

    name: str
    inputs: list[str]
    lines: list[Line]
    writes: list[tuple[str, str]]
    outputs: list[str]


class _Writer:
    """Turns steps into lines, and collects the objects that these name."""

    def __init__(self, program: Program, within: _Writer | None = None) -> None:
        self.program = program
        self.namespace: dict[str, Any] = {} if within is None else within.namespace
        self.functions: list[Function] = [] if within is None else within.functions
        self._constants: dict[str, str] = {} if within is None else within._constants
        self._objects: dict[int, str] = {} if within is None else within._objects
        self._buffers: Plan = plan(program)
        self._scalars_only = self._read_by_ufuncs_only()

    def source(self) -> str:
        """Return the text of the program, after the functions of its loops."""
        self.add_function("program")
        return rendered(
            "numpy_program.py.j2",
            {
                "title": f"{len(self.program.steps)} steps.",
                "constants": self._constants.items(),
                "functions": self.functions,
            },
        )

    def add_function(self, name: str) -> None:
        """Write a function, and before it those of the loops in it."""
        program = self.program
        for value, array in program.constants:
            self.namespace[value.name] = array
            text = repr(array.item()) if array.ndim == 0 else f"an array of {value.shape}"
            self._constants[value.name] = f"{text}, {value.dtype}"
        lines: list[Line] = []
        for nr, step in enumerate(program.steps):
            lines += self._lines(nr, step)
        writes = [(value.name, self._value(new)) for value, new in program.writes]
        if len(writes) > 1:
            for at, (_, new) in enumerate(program.writes):
                lines.append(Line(f"written{at} = {self._written(new)}"))
            writes = [(name, f"written{at}") for at, (name, _) in enumerate(writes)]
        inputs = [value.name for value in program.inputs]
        outputs = [self._value(value) for value in program.outputs]
        self.functions.append(Function(name, inputs, lines, writes, outputs))

    def _written(self, value: Value) -> str:
        """Name the value written to an input; a copy if it shares memory with another."""
        root = value if value.base is None else value.base
        name = self._value(value)
        return (
            f"{name}.copy()" if any(root is target for target, _ in self.program.writes) else name
        )

    def _lines(self, nr: int, step: Step) -> list[Line]:
        place = str(step.place)
        into = self._buffers.into.get(nr)
        call = self._call(step, None if into is None else self._value(into))
        targets = ", ".join(value.name for value in step.outputs)
        if step.is_tuple and len(step.outputs) == 1:
            targets += ","
        if not step.outputs:
            lines = [Line(call, place)]
        elif self._must_be_array(step):
            lines = [Line(f"{targets} = {self._object(np.asarray, 'asarray')}({call})", place)]
        else:
            lines = [Line(f"{targets} = {call}", place)]
        released = [value.name for value in self._buffers.released.get(nr, ()) if value.size > 4096]
        if released:
            lines.append(Line(f"del {', '.join(released)}"))
        return lines

    def _must_be_array(self, step: Step) -> bool:
        """Return whether NumPy may answer a scalar where an array is asked for."""
        if (
            step.is_tuple
            or step.outputs[0].shape
            or not step.function.startswith(("np.", "array.g"))
        ):
            return False
        return step.outputs[0] not in self._scalars_only

    def _read_by_ufuncs_only(self) -> set[Value]:
        """The values for which a scalar does as well as an array."""
        program = self.program
        found = {v for step in program.steps for v in step.outputs if not v.shape}
        found -= {*program.outputs, *(value for _, value in program.writes)}
        for step in program.steps:
            if not isinstance(function_of(step.function), np.ufunc):
                found -= set(step.inputs)
        return found

    # ---- calls

    def _call(self, step: Step, out: str | None) -> str:
        kind, _, name = step.function.partition(".")
        args = step.args
        if step.function == "array.getitem":
            return f"{self._text(args[0])}[{self._index(args[1])}]"
        if step.function in ("array.reshape", "array.transpose", "array.astype") and len(args) == 2:
            return f"{self._text(args[0])}.{name}({self._text(args[1])})"
        if step.function == "array.loop":
            return self._loop(step)
        texts = [self._text(arg) for arg in args]
        texts += [f"{key}={self._text(value)}" for key, value in step.kwargs.items()]
        if out is not None:
            texts.append(f"out={out}")
        called = name.replace(".", "_") if kind == "np" else step.function.replace(".", "_")
        function = self._object(function_of(step.function), called)
        return f"{function}({', '.join(texts)})"

    def _loop(self, step: Step) -> str:
        name = f"round_of_{step.outputs[0].name}"
        _Writer(step.args[0].body, self).add_function(name)
        function = self._object(function_of(step.function), "array_loop")
        return f"{function}({', '.join(map(self._text, step.args))}, {name})"

    def _index(self, index: Any) -> str:
        items = index if isinstance(index, tuple) else (index,)
        texts = [self._part(item) for item in items]
        if not texts:
            return "()"
        return ", ".join(texts) + ("," if isinstance(index, tuple) and len(texts) == 1 else "")

    def _part(self, item: Any) -> str:
        if not isinstance(item, slice):
            return self._text(item)
        start, stop, step = (
            "" if x is None else self._text(x) for x in (item.start, item.stop, item.step)
        )
        return f"{start}:{stop}" + (f":{step}" if step else "")

    # ---- arguments

    def _value(self, value: Value) -> str:
        return value.name

    def _text(self, value: Any) -> str:
        """Return an expression for an argument."""
        if isinstance(value, Value):
            return self._value(value)
        if value is None or value is Ellipsis or type(value) in (bool, int, str):
            return "..." if value is Ellipsis else repr(value)
        if type(value) is float and abs(value) < float("inf"):
            return repr(value)
        if type(value) is tuple:
            return f"({''.join(self._text(item) + ', ' for item in value)})"
        if type(value) is list:
            return f"[{', '.join(self._text(item) for item in value)}]"
        if type(value) is dict and all(type(key) is str for key in value):
            items = (f"{key!r}: {self._text(item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._text, (value.start, value.stop, value.step)))})"
        if isinstance(value, np.dtype):
            return self._object(value, f"dtype_{value.name}")
        return self._object(value, f"{type(value).__name__}_{len(self._objects)}")

    def _object(self, value: Any, name: str) -> str:
        known = self._objects.get(id(value))
        if known is not None:
            return known
        while name in self.namespace or not name.isidentifier():
            name = f"{name}_" if name.isidentifier() else f"object_{len(self._objects)}"
        self.namespace[name] = value
        self._objects[id(value)] = name
        return name
