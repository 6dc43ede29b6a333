"""The record of a capture: steps as they happen, and which value each array has now.

Arrays may be written to and seen through views; a program has neither. So each array that owns
its memory has a `Storage`, with the value that it has now. A view knows how it is made from that,
and is made anew, by steps, if it is read after the storage was written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .errors import current_place, refusal
from .light import LIGHT_FROM, blank, blank_result, of_one_example
from .program import LEAVES, Program, Step, Value
from .recorder import Recorder
from .steps import View, copied, function_of

Array: TypeAlias = np.ndarray[Any, Any]


class Storage:
    """The memory of an array, and the value that is in it."""

    __slots__ = ("depth", "memory", "value", "version")

    def __init__(self, memory: Array, value: Value, depth: int = 0) -> None:
        self.memory = memory
        self.value = value
        self.depth = depth
        """Number of nested loops whose rounds were being recorded when it was made."""
        self.version = 0
        """Number of writes to it."""

    def holds(self, array: Array) -> bool:
        """Return whether an array is in this memory."""
        return bool(array.size) and np.may_share_memory(self.memory, array)


@dataclass
class Round:
    """The steps of one round of a loop, which are no steps of the tape."""

    steps: tuple[Step, ...] = ()
    remade: list[Recorder] = field(default_factory=list)
    """Views of what was there before, for which these steps made a value."""


class Tape:
    """Steps in order, and the values they read and make."""

    def __init__(self, *, is_light: bool = False) -> None:
        self.is_light = is_light
        """True if large arrays are zeros of which only the layout counts, which take no memory."""
        self._rounds: list[Round] = []
        self.inputs: list[tuple[Value, Storage]] = []
        self.constants: dict[int, tuple[Value, Array]] = {}
        self.steps: list[Step] = []
        self._count = 0

    def _is_light(self, array: Array) -> bool:
        return self.is_light and array.nbytes >= LIGHT_FROM

    # ---- what goes in

    def input(self, array: Array) -> Recorder:
        """Return a recorder for an argument: a copy, so that a capture writes to nothing of it."""
        memory = blank(array) if self._is_light(array) else copied(array)
        value = self.named("x", memory)
        storage = Storage(memory, value)
        self.inputs.append((value, storage))
        return self._recorder(memory, storage)

    def stand_in(self, array: Array) -> Recorder:
        """Return a recorder for what differs from round to round of the loop that is recorded."""
        memory = np.array(array, order="C")
        storage = Storage(memory, self.named("x", memory), self.depth - 1)
        return self._recorder(memory, storage)

    def recorded(self, structure: Any) -> Any:
        """Return a structure with recorders in place of arrays that are constant."""
        if isinstance(structure, np.ndarray) and not isinstance(structure, Recorder):
            return self._recorder(structure, Storage(structure, self.constant(structure)))
        return structure if isinstance(structure, Recorder) else _mapped(self.recorded, structure)

    def adopt(self, array: Array) -> Recorder:
        """Return a recorder for an array that is the same at every call, to be written to."""
        storage = Storage(array.copy("K"), self.constant(array), self.depth)
        return self._recorder(storage.memory, storage)

    def adopt_view(self, base: Recorder, origin: Array, view: Array) -> Recorder:
        """Return a recorder for a view of `origin`, which `base` was adopted from."""
        offset = _address(view) - _address(origin)
        link = _by_strides(view.shape, view.strides, offset, view.dtype)
        seen = function_of(link[0])(base.storage.memory, *link[1])
        return self._recorder(seen, base.storage, (link,))

    def program(self, outputs: Sequence[Any]) -> Program:
        """Return what was recorded, with the values that arrays have now as outputs."""
        found = tuple(self.value_of(output) for output in outputs)
        writes = tuple((v, store.value) for v, store in self.inputs if store.value is not v)
        inputs = tuple(value for value, _ in self.inputs)
        self._check_defined(found, [value for _, value in writes])
        return Program(inputs, tuple(self.constants.values()), tuple(self.steps), found, writes)

    def _check_defined(self, *wanted: Sequence[Value]) -> None:
        """Refuse to read what was made in a round of a loop: it is no part of the program."""
        known = {value for value, _ in (*self.inputs, *self.constants.values())}
        read = {value for values in wanted for value in values}
        for step in self.steps:
            known.update(step.outputs)
            read.update(step.inputs)
        if not read <= known:
            raise refusal(
                "a tensor that was made in a round of a loop is used outside of it",
                "Return it from the body, as a part of the state or as a result",
            )

    # ---- loops

    @property
    def depth(self) -> int:
        """Count the nested loops of which a round is being recorded."""
        return len(self._rounds)

    @contextmanager
    def round(self) -> Iterator[Round]:
        """Record a round of a loop: its steps are taken from the tape at the end."""
        found = Round()
        start = len(self.steps)
        self._rounds.append(found)
        try:
            yield found
        finally:
            self._rounds.pop()
            found.steps = tuple(self.steps[start:])
            del self.steps[start:]
            for recorder in found.remade:
                recorder.version = -1

    def record(self, function: str, args: Any, arrays: Sequence[Array]) -> list[Recorder]:
        """Record a call that is not made, as its results are known to be new arrays like these."""
        values = tuple(self.named("v", each) for each in arrays)
        self.steps.append(Step(function, self._values(args), {}, values, True, current_place()))
        return [
            self._recorder(each, Storage(each, value, self.depth))
            for each, value in zip(arrays, values, strict=True)
        ]

    def _check_writable(self, storage: Storage) -> None:
        if storage.depth < self.depth:
            raise refusal(
                "a round of a loop writes to a tensor that is not made in it",
                "Let the state of the loop have it, and return the new one",
            )

    # ---- what is computed

    def call(self, function: str, args: Any, kwargs: Mapping[str, Any] | None = None) -> Any:
        """Call a function on arrays, and record it; results that are no arrays are as they are."""
        kwargs = kwargs or {}
        plain, options = _plain(args), _plain(kwargs)
        found: Any = blank_result(function, plain, options) if self.is_light else None
        if found is None:
            few = of_one_example(function, plain) if self.is_light else plain
            found = function_of(function)(*few, **options)
        several = isinstance(found, tuple | list)
        arrays = [
            np.asarray(each) if isinstance(each, np.ndarray | np.generic) else each
            for each in (found if several else (found,))
        ]
        if not any(isinstance(each, np.ndarray) for each in arrays):
            return found
        if not all(isinstance(each, np.ndarray) for each in arrays):
            raise refusal(
                f"{function} answers arrays among other results",
                "Call it outside of the compiled function",
            )
        given = self._values(args), self._values(kwargs)
        recorders = recorders_of((args, kwargs))
        outs: list[Any] = []
        values: list[Value] = []
        for each in arrays:
            of = next((r for r in recorders if r.storage.holds(each)), None)
            if of is None:
                value = self.named("v", each)
                outs.append(self._recorder(each, Storage(each, value, self.depth)))
            else:
                value = self._view_value(of.storage, each)
                known = function, args[1:], dict(kwargs)
                is_link = not several and args and args[0] is of and not recorders_of(args[1:])
                link = known if is_link else self._link(of.storage, each)
                before = of.views if is_link else ()
                outs.append(self._recorder(each, of.storage, (*before, link), value))
            values.append(value)
        self.steps.append(Step(function, *given, tuple(values), several, current_place()))
        if not several:
            return outs[0]
        return found._make(outs) if hasattr(found, "_make") else type(found)(outs)

    def draw(self, generator: Any, method: str, args: Any, kwargs: Mapping[str, Any]) -> Recorder:
        """Draw random numbers, and record that."""
        found = function_of("array.draw")(generator, method, *_plain(args), **_plain(kwargs))
        value = self.named("v", found)
        given = (generator, method, *self._values(args)), self._values(kwargs)
        self.steps.append(Step("array.draw", *given, (value,), False, current_place()))
        return self._recorder(found, Storage(found, value, self.depth))

    def write(self, target: Recorder, values: Any, index: Any = ...) -> None:
        """Overwrite elements of an array, and record its memory's new value."""
        storage = target.storage
        self._check_writable(storage)
        plain = _plain(values)
        before = storage.value
        if index is Ellipsis and not target.views and self._can_be(values, storage):
            storage.value = self.value_of(values)
        else:
            given = self._values(values)
            if index is Ellipsis and not target.views:
                self._step_on(storage, "array.fill", (before, given))
            else:
                args = (before, target.views, self._values(index), given)
                self._step_on(storage, "array.overwrite", args)
        storage.version += 1
        if not self._is_light(storage.memory):
            storage.memory.flags.writeable = True
            seen = target.plain()
            seen.flags.writeable = True
            seen[_plain(index)] = plain

    def add_at(self, target: Recorder, index: Any, values: Any) -> None:
        """Record `np.add.at`."""
        storage = target.storage
        self._check_writable(storage)
        given = (storage.value, target.views, self._values(index), self._values(values))
        self._step_on(storage, "array.add_at", given)
        np.add.at(target.plain(), _plain(index), _plain(values))
        storage.version += 1

    def place(self, array: Recorder, storage: Storage) -> None:
        """Let an array that NumPy made by itself be a view of a storage."""
        array._storage = storage
        array.views = (self._link(storage, array.plain()),)
        array.version = -1

    def _step_on(self, storage: Storage, name: str, args: tuple[Any, ...]) -> None:
        """Record a step that makes the new value of a storage."""
        value = self.named("v", storage.memory)
        self.steps.append(Step(name, args, {}, (value,), False, current_place()))
        storage.value = value

    def _can_be(self, values: Any, storage: Storage) -> bool:
        """Return whether what is written can be the storage's new value as it is."""
        if not isinstance(values, Recorder) or values.views or not values.is_tracked:
            return False
        ours, theirs = storage.memory, values.storage.memory
        return (
            ours.shape == theirs.shape
            and ours.dtype == theirs.dtype
            and ours.strides == theirs.strides
            and values.shape == ours.shape
        )

    # ---- which value an array has

    def value_of(self, array: Any) -> Value:
        """Return the value that an array has now; one that is no recorder is a constant."""
        if not isinstance(array, Recorder):
            return self.constant(array)
        storage = array.storage
        if not array.views and array.shape == storage.memory.shape:
            return storage.value
        if array.version != storage.version:
            array.value = self._made_anew(array)
            array.version = storage.version
            if storage.depth < self.depth:
                self._rounds[-1].remade.append(array)
        return array.value

    def _made_anew(self, array: Recorder) -> Value:
        value = array.storage.value
        seen: Array = array.storage.memory
        for function, args, kwargs in array.views:
            seen = function_of(function)(seen, *args, **kwargs)
            source, value = value, self._view_value(array.storage, seen)
            self.steps.append(Step(function, (source, *args), kwargs, (value,)))
        return value

    def _values(self, structure: Any) -> Any:
        """Return a structure with values in place of arrays."""
        kind = type(structure)
        if kind is tuple:
            return tuple([self._values(item) for item in structure])
        if isinstance(structure, np.ndarray):
            return self.value_of(structure)
        if isinstance(structure, np.generic):
            return self.value_of(np.asarray(structure))
        return structure if kind in LEAVES else _mapped(self._values, structure)

    def constant(self, array: Array) -> Value:
        """Return the value of an array that is the same at every call."""
        known = self.constants.get(id(array))
        if known is None:
            known = self.named("c", array), array
            self.constants[id(array)] = known
        return known[0]

    def named(self, letter: str, array: Array) -> Value:
        """Return a new value of an array like this one, which no step of the tape makes."""
        self._count += 1
        return Value(f"{letter}{self._count}", array.shape, array.dtype, array.strides)

    def _view_value(self, storage: Storage, view: Array) -> Value:
        self._count += 1
        base = storage.value
        root = base if base.base is None else base.base
        offset = base.offset + _address(view) - _address(storage.memory)
        return Value(f"v{self._count}", view.shape, view.dtype, view.strides, root, offset)

    def _link(self, storage: Storage, view: Array) -> View:
        offset = _address(view) - _address(storage.memory)
        return _by_strides(view.shape, view.strides, offset, view.dtype)

    def _recorder(
        self,
        array: Array,
        storage: Storage,
        views: tuple[View, ...] = (),
        value: Value | None = None,
    ) -> Recorder:
        made = array.view(Recorder)
        made.tape, made._storage, made.views = self, storage, views
        made.value = storage.value if value is None else value
        made.version = storage.version
        if views and value is None:
            made.version = -1
        return made


def _address(array: Array) -> int:
    """Return where the first element lies."""
    address: int = array.__array_interface__["data"][0]
    return address


def _by_strides(shape: Any, strides: Any, offset: int, dtype: Any) -> View:
    return "array.as_strided", (shape, strides, offset, dtype), {}


def _plain(structure: Any) -> Any:
    """Return a structure with plain arrays in place of recorders."""
    kind = type(structure)
    if kind in LEAVES:
        return structure
    if kind is Recorder:
        return structure.plain()
    if kind is tuple:
        return tuple([_plain(item) for item in structure])
    return structure if isinstance(structure, np.ndarray) else _mapped(_plain, structure)


def _mapped(function: Any, structure: Any) -> Any:
    """Apply a function to the items of a structure of tuples, lists, dicts and slices."""
    if isinstance(structure, tuple):
        items = [function(item) for item in structure]
        return structure._make(items) if hasattr(structure, "_make") else tuple(items)
    if isinstance(structure, list):
        return [function(item) for item in structure]
    if isinstance(structure, Mapping):
        return {key: function(item) for key, item in structure.items()}
    if isinstance(structure, slice):
        return slice(
            *(function(each) for each in (structure.start, structure.stop, structure.step))
        )
    return structure


def recorders_of(structure: Any) -> list[Recorder]:
    """Find the recorders in a structure."""
    found: list[Recorder] = []
    _collect(structure, found)
    return found


def _collect(structure: Iterable[Any], found: list[Recorder]) -> None:
    for item in structure:
        kind = type(item)
        if kind is Recorder:
            found.append(item)
        elif kind in LEAVES:
            continue
        elif isinstance(item, tuple | list):
            _collect(item, found)
        elif isinstance(item, Mapping):
            _collect(item.values(), found)
