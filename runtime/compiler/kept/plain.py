"""Steps and their arguments as plain data, which JSON can hold, and back.

What is no value is written with a tag, so that a tuple comes back as a tuple and `1.0` as a float.
A type that is not known is refused, as what says less than all would fit another program as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from ...core.random_generator import Generator
from ..program import Loop, Program, Step, Value

Plain: TypeAlias = Any
"""Data that JSON can hold."""


class UnknownTypeError(TypeError):
    """Raised for what has no plain form."""


class Writer:
    """Writes structures; each value is a number, and described once, in `values`."""

    def __init__(self, objects: Iterable[Any] | None = None) -> None:
        self.values: list[Plain] = []
        self._numbers: dict[Value, int] = {}
        self.objects: list[Any] = list(objects or ())
        """Generators, which are numbers as well."""
        self._takes_objects = objects is None

    def value(self, value: Value) -> int:
        """Return the number of a value."""
        number = self._numbers.get(value)
        if number is None:
            base = -1 if value.base is None else self.value(value.base)
            number = self._numbers[value] = len(self.values)
            self.values.append(
                (value.shape, letter_of(value.dtype), value.strides, base, value.offset)
            )
        return number

    def several(self, values: Iterable[Value]) -> list[int]:
        """Return the numbers of values."""
        return [self.value(value) for value in values]

    def step(self, step: Step) -> Plain:
        """Return a step, without the place that it comes from."""
        return (
            step.function,
            [self.structure(arg) for arg in step.args],
            [(name, self.structure(arg)) for name, arg in step.kwargs.items()],
            self.several(step.outputs),
            step.is_tuple,
        )

    def program(self, program: Program) -> Plain:
        """Return a program; of its constants there are hashes."""
        return (
            self.several(program.inputs),
            [(self.value(value), _hash(array)) for value, array in program.constants],
            [self.step(step) for step in program.steps],
            self.several(program.outputs),
            [self.several(pair) for pair in program.writes],
        )

    def structure(self, structure: Any) -> Plain:
        """Return an argument."""
        kind = type(structure)
        if kind is Value:
            return ("v", self.value(structure))
        if kind in _AS_THEY_ARE:
            return structure
        writer = _WRITERS.get(kind)
        if writer is not None:
            return writer(self, structure)
        if isinstance(structure, np.dtype):
            return ("d", letter_of(structure))
        if isinstance(structure, Generator):
            return ("g", self._object(structure))
        if kind is type and structure in _NAMES:
            return ("y", _NAMES[structure])
        raise UnknownTypeError(f"{kind.__name__} has no plain form")

    def _object(self, found: Any) -> int:
        for number, known in enumerate(self.objects):
            if known is found:
                return number
        if not self._takes_objects:
            raise UnknownTypeError("an object that the capture has not seen")
        self.objects.append(found)
        return len(self.objects) - 1

    def loop(self, loop: Loop) -> Plain:
        """Return a loop; the values of its body are among the others."""
        body = self.program(loop.body)
        return ("r", body, loop.length, loop.states, loop.rows, loop.is_reversed)


class Reader:
    """Reads what a `Writer` has written."""

    def __init__(self, values: Sequence[Plain], objects: Sequence[Any]) -> None:
        self._objects = objects
        self.values: list[Value] = []
        for number, (shape, letter, strides, base, offset) in enumerate(values):
            of = None if base < 0 else self.values[base]
            dtype = np.dtype(letter)
            self.values.append(Value(f"v{number}", tuple(shape), dtype, tuple(strides), of, offset))

    def several(self, numbers: Iterable[int]) -> tuple[Value, ...]:
        """Return the values of some numbers."""
        return tuple(self.values[number] for number in numbers)

    def step(self, plain: Plain) -> Step:
        """Return a step."""
        function, args, kwargs, outputs, is_tuple = plain
        return Step(
            function,
            tuple(map(self.structure, args)),
            {name: self.structure(arg) for name, arg in kwargs},
            self.several(outputs),
            is_tuple,
        )

    def structure(self, plain: Plain) -> Any:
        """Return an argument."""
        if type(plain) is not list:
            return plain
        tag, *rest = plain
        if tag == "v":
            return self.values[rest[0]]
        if tag == "g":
            return self._objects[rest[0]]
        if tag in _SEQUENCES:
            return _SEQUENCES[tag](map(self.structure, rest))
        if tag == "m":
            return {name: self.structure(item) for name, item in rest}
        if tag == "s":
            return slice(*map(self.structure, rest))
        return _READERS[tag](*rest)


_LETTERS: Final = "?bhilqBHILQefdgFDG"
"""The letters of the dtypes of numbers."""
_AS_THEY_ARE: Final = frozenset((int, bool, str, type(None)))
_TYPES: Final[dict[str, type]] = {
    **{kind.__name__: kind for kind in (bool, int, float, complex)},
    **{letter: np.dtype(letter).type for letter in _LETTERS},
}
_NAMES: Final = {kind: name for name, kind in _TYPES.items()}
_SEQUENCES: Final[dict[str, Callable[[Iterable[Any]], Any]]] = {"t": tuple, "l": list}
_READERS: Final[dict[str, Callable[..., Any]]] = {
    "f": float.fromhex,
    "c": lambda real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "e": lambda: ...,
    "d": np.dtype,
    "y": _TYPES.__getitem__,
}
_WRITERS: Final[dict[type, Callable[[Writer, Any], Plain]]] = {
    float: lambda _, x: ("f", x.hex()),
    complex: lambda _, x: ("c", x.real.hex(), x.imag.hex()),
    type(...): lambda _, x: ("e",),
    tuple: lambda writer, x: ("t", *map(writer.structure, x)),
    list: lambda writer, x: ("l", *map(writer.structure, x)),
    slice: lambda writer, x: ("s", *map(writer.structure, (x.start, x.stop, x.step))),
    dict: lambda writer, x: ("m", *((_text(key), writer.structure(x[key])) for key in x)),
    Loop: Writer.loop,
}


def _text(key: Any) -> str:
    if type(key) is not str:
        raise UnknownTypeError("a key that is no text")
    return key


def letter_of(dtype: np.dtype[Any]) -> str:
    """Return the letter of a dtype of numbers in the machine's order of bytes."""
    if dtype.char not in _LETTERS or not dtype.isnative:
        raise UnknownTypeError(f"{dtype} has no plain form")
    return dtype.char


ARRAYS_MAX: Final = 1 << 20
"""Bytes of an array from which it is not written."""


def _hash(array: np.ndarray[Any, Any]) -> str:
    if array.nbytes > ARRAYS_MAX:
        raise UnknownTypeError("a large constant")
    return sha256(array.tobytes()).hexdigest()


def array_as_text(array: np.ndarray[Any, Any]) -> Plain:
    """Return an array; it lies in a row, the last dimension or the first one first."""
    if array.nbytes > ARRAYS_MAX:
        raise UnknownTypeError("a large constant")
    order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
    if order == "F" and not array.flags.f_contiguous:
        raise UnknownTypeError("a constant with gaps")
    return letter_of(array.dtype), array.shape, order, array.tobytes(order).hex()


def array_of_text(plain: Plain) -> np.ndarray[Any, Any]:
    """Return an array that was written."""
    letter, shape, order, content = plain
    elements = np.frombuffer(bytearray.fromhex(content), np.dtype(letter))
    found: np.ndarray[Any, Any] = elements.reshape(shape, order=order).copy(order)
    return found
