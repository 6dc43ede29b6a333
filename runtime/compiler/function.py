"""`gs.compile`: a function whose calls run a program that was captured of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.apply_modes import apply_modes
from ..core.levels import has_open_levels
from ..core.modes import mode
from ..core.tensor import Tensor, new_tensor, wrap
from ..core.user_warnings import warn
from ..dispatch.entered_modes import modes as function_modes
from ..func.trees import leaves_of, map_leaves
from ..inplace.allowed_mutation import keep_saved
from ..inplace.ops import mark_written
from .backends import Backend
from .backward import CompiledFunctionBackward
from .capture import Resize, thread
from .errors import CaptureError, place_of
from .executable import Executable, make, overlapping
from .fast_call import MISSED, FastCall, fast_call
from .joint import Detached, Given, Result, Trace, as_it_is, check_result, trace
from .signatures import difference, form_of, other_leaves, outline, signature
from .sources import Place, Sources

if TYPE_CHECKING:  # sizes that vary are few programs' matter: the module is imported for these
    from .dynamic import Family

SIGNATURES_MAX: Final = 64
"""Programs that one function keeps; the one that was used least recently goes first."""
CHANGED: Final = (
    "gs.compile: {}the function changes {}, which a program would not do again. "
    "Return the new value instead, or keep it in a tensor that is written to in place"
)
WARN_FROM: Final = 8
"""Programs of one function from which each further one is warned of."""


class Entry:
    """A program and what has to hold for it to be run."""

    __slots__ = (
        *("executable", "fast_call", "inputs", "is_prepared", "outside", "reason", "sources"),
        "with_grad",
    )

    def __init__(
        self, sources: Sources, outside: list[Tensor], executable: Executable | None, reason: str
    ) -> None:
        self.sources = sources
        self.outside = outside
        """Tensors that are no arguments."""
        self.inputs = [form_of(tensor) for tensor in outside]
        self.with_grad: list[tuple[int, bool]] = []
        """Tensors, by their position, whose gradient has to be there, or must not be."""
        self.executable = executable
        """None where the function runs as it is."""
        self.reason = reason
        self.is_prepared = False
        self.fast_call: FastCall | None = None
        """The short way into it, once it `is_prepared`, if there is one."""

    def mismatch(self, leaves: list[Any]) -> str | None:
        """Return what has changed since the capture, None if nothing has."""
        changed = self.sources.changed()
        if changed is not None:
            return changed
        for tensor, form in zip(self.outside, self.inputs, strict=True):
            if form_of(tensor) != form:
                return f"a tensor of shape {list(form[0])} that the function reads"
        tensors = _split_leaves(leaves)[0] + self.outside if self.with_grad else []
        for number, there in self.with_grad:
            if (getattr(tensors[number], "_grad", None) is not None) != there:
                return "whether a parameter has a gradient"
        return None


class CompiledFunction:
    """A function and the programs that were captured of it. Made by `gs.compile`."""

    def __init__(
        self,
        function: Callable[..., Any],
        backend: Backend,
        fullgraph: bool,
        check: bool,
        dynamic: bool,
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.backend = backend
        self.fullgraph = fullgraph
        self.check = check
        self.dynamic = dynamic
        self._entries: dict[Any, list[Entry]] = {}
        self._families: list[Family] = []
        self._count = 0
        self._captures = 0
        self._fast: tuple[int, FastCall] = (-1, lambda: MISSED)
        """The short way into the program of the last call, and how many arguments it takes."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind a method."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        count, fast = self._fast
        if len(args) == count and not kwargs:
            found = fast(*args)
            if found is not MISSED:
                return found
        return self._call(args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies have programs of their own."""
        return CompiledFunction, (self.function, *self.options())

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if thread.tape is not None or has_open_levels() or function_modes.stack:
            return self.function(*args, **kwargs)
        leaves, key = signature(args, kwargs)
        changed = None
        for entry in self._entries.get(key, ()):
            changed = entry.mismatch(leaves)
            if changed is None:
                break
        else:
            entry = self._captured(key, leaves, args, kwargs, changed)
        if entry.executable is None:
            return self.function(*args, **kwargs)
        if not kwargs:
            self._prepare(entry, entry.executable, args)
        return _run(entry, entry.executable, leaves, lambda: self.function(*args, **kwargs))

    def _prepare(self, entry: Entry, executable: Executable, args: tuple[Any, ...]) -> None:
        """Let the next call, if it is like this one, take the short way."""
        if not entry.is_prepared:
            entry.is_prepared = True

            def finish(tensors: list[Tensor], given: tuple[Any, ...]) -> Any:
                return _finish(executable, tensors, [], functools.partial(self.function, *given))

            def record(
                tensors: list[Tensor], results: list[Tensor], found: Any, given: tuple[Any, ...]
            ) -> None:
                again = functools.partial(self.function, *given)
                _record(executable, tensors, results, found, again)

            entry.fast_call = fast_call(
                *(args, entry.sources.guards, entry.outside, entry.with_grad, executable),
                *(finish, record),
            )
        if entry.fast_call is not None:
            self._fast = len(args), entry.fast_call

    def options(self) -> tuple[Any, ...]:
        """Return the options that it was made with."""
        return Backend(self.backend.name), self.fullgraph, self.check, self.dynamic

    def entry_for(self, *args: Any, **kwargs: Any) -> Entry:
        """Return the program of a call, captured if there is none yet; the call is not run."""
        leaves, key = signature(args, kwargs)
        for entry in self._entries.get(key, ()):
            if entry.mismatch(leaves) is None:
                return entry
        return self._captured(key, leaves, args, kwargs, None)

    def inputs_of(self, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return the arrays that the program of a call runs on."""
        assert entry.executable is not None
        tensors, arrays = _split_leaves(signature(args, kwargs)[0])
        return _inputs(entry.executable, tensors + entry.outside, arrays)

    def count_programs(self) -> int:
        """Return how many signatures there is a program for."""
        return self._count

    def count_captures(self) -> int:
        """Return how often the function was captured; with `dynamic` once for many signatures."""
        return self._captures

    # ---- captures

    def _captured(
        self, key: Any, leaves: list[Any], args: Any, kwargs: Any, changed: str | None
    ) -> Entry:
        entry = self._of_size(key, leaves, args, kwargs, changed) if self.dynamic else None
        if entry is None:
            self._tell(key, changed)
            sources = self._sources(args, kwargs)
            try:
                found = self._traced(sources, leaves, args, kwargs)
                entry = Entry(sources, _outside(sources, leaves), None, "")
                if found is not None:
                    self._captures += 1
                    entry = self._entry(sources, leaves, found, self.backend)
            except CaptureError as error:
                if self.fullgraph:
                    raise
                warn(f"{error} It runs as it is (fullgraph=False).")
                entry = Entry(sources, [], None, str(error))
        if entry.executable is not None or entry.reason:
            self._keep(key, entry)
        if self.check and entry.executable is not None and entry.executable.is_repeatable:
            again = functools.partial(self.function, *args, **kwargs)
            _compare(_run(entry, entry.executable, leaves, again), again())
        return entry

    def _sources(self, args: Any, kwargs: Any) -> Sources:
        sources = Sources()
        sources.add(Place("attribute", self, "function"), _name_of(self.function))
        for leaf in other_leaves(args, kwargs):
            sources.add(Place("itself", leaf), type(leaf).__name__)
        return sources

    def _traced(
        self,
        sources: Sources,
        leaves: list[Any],
        args: Any,
        kwargs: Any,
        resized: Resize = as_it_is,
    ) -> Trace | None:
        """Capture a call; None if an optimizer made its state, at its first step."""
        tensors, arrays = _split_leaves(leaves)
        tensors += _outside(sources, leaves)
        states = [(optimizer, _state_of(optimizer)) for optimizer in sources.optimizers]

        def call(recorders: Sequence[Any]) -> Any:
            by_id = {id(a): r for a, r in zip(arrays, recorders, strict=True)}
            given = map_leaves(lambda leaf: by_id.get(id(leaf), leaf), [list(args), kwargs])
            before = outline(given)
            kept = leaves_of(given)  # alive while outlines, which have their ids, are compared
            returned = self.function(*given[0], **given[1])
            if outline(given) != before:
                what = "a list, dict or dataclass that is an argument"
                raise CaptureError(CHANGED.format(place_of(self.function), what))
            del kept
            check_result(returned, sources)
            return returned

        error: CaptureError | None = None
        try:
            found = trace(call, tensors, arrays, resized)
            changed = sources.changed()
        except CaptureError as refused:
            error = refused
        if any(_state_of(optimizer) != state for optimizer, state in states):
            for optimizer, state in states:  # an optimizer makes its state at its first step
                _restore_state(optimizer, state)
            return None
        if error is not None:
            raise error
        if changed is not None:
            raise CaptureError(CHANGED.format(place_of(self.function), changed))
        drawn = sources.drawn()
        if drawn is not None:
            raise CaptureError(
                f"gs.compile: {place_of(self.function)}the function draws random numbers of "
                f"{drawn}, which would be the same ones at every call. "
                "Draw with gs.rand, gs.randn and the like"
            )
        return found

    def _entry(self, sources: Sources, leaves: list[Any], found: Trace, backend: Backend) -> Entry:
        """Build the program of a capture."""
        outside = _outside(sources, leaves)
        tensors = _split_leaves(leaves)[0] + outside
        if found.program.writes and overlapping(tensors):
            raise CaptureError(
                "gs.compile: two tensors lie on the same memory, and one is written to. "
                "Pass a clone() of one of them"
            )
        entry = Entry(sources, outside, make(found, backend), "")
        matter = [
            (nr, there)
            for nr, there in enumerate(_have_grads(tensors))
            if nr not in found.unread_grads
        ]
        if found.new_grads or found.cleared_grads or any(there for _, there in matter):
            entry.with_grad = matter
        return entry

    # ---- sizes that vary

    def _of_size(
        self, key: Any, leaves: list[Any], args: Any, kwargs: Any, changed: str | None
    ) -> Entry | None:
        """Return the program of a size, of a family that is known or captured now; or None."""
        from .dynamic import guessed, varied, without_size

        known = list(self._entries)
        wanted = [*(varied(other, key) for other in reversed(known)), guessed(key)]
        family, size = self._family(key, leaves)
        if family is None:
            pattern = next((each for each in wanted if each), None)
            found = None if pattern is None else without_size(key, pattern)
            if pattern is None or found is None:
                return None
            self._tell(key, changed)
            family, size = self._new_family(pattern, found[0], leaves, args, kwargs), found[1]
            if family is None:
                return None
        if family.why and known and not family.is_told:
            family.is_told = True
            warn(
                f"gs.compile(dynamic=True): {_name_of(self.function)} is captured for each size, "
                f"because {family.why}"
            )
        trace_at_size = family.at(size)
        if trace_at_size is None:
            return None
        return self._entry(family.sources, leaves, trace_at_size, family.backend)

    def _family(self, key: Any, leaves: list[Any]) -> tuple[Family | None, int]:
        for family in self._families:
            size = family.size_of(key)
            if size is None or family.sources.changed() is not None:
                continue
            tensors = _split_leaves(leaves)[0] + _outside(family.sources, leaves)
            if family.has_grad == _have_grads(tensors):
                return family, size
        return None, 0

    def _new_family(
        self, pattern: frozenset[int], key: Any, leaves: list[Any], args: Any, kwargs: Any
    ) -> Family | None:
        """Capture a function for all sizes of some arguments."""
        from .dynamic import Family, capture

        sources = self._sources(args, kwargs)
        tensors = _split_leaves(leaves)[0] + _outside(sources, leaves)
        family = Family(
            *(pattern, key, sources, self.backend.for_sizes()), has_grad=_have_grads(tensors)
        )
        is_first_step = False

        def trace_at(resized: Resize) -> Trace:
            nonlocal is_first_step
            found = self._traced(sources, leaves, args, kwargs, resized)
            if found is None:
                is_first_step = True
                raise CaptureError("an optimizer made its state")
            return found

        capture(family, leaves, trace_at)
        if is_first_step:
            return None
        self._captures += not family.why
        self._families = [*self._families[1 - SIGNATURES_MAX :], family]
        return family

    def _keep(self, key: Any, entry: Entry) -> None:
        if self._count >= SIGNATURES_MAX:
            oldest = next(iter(self._entries))
            self._count -= len(self._entries.pop(oldest))
        self._entries.setdefault(key, []).insert(0, entry)
        self._count += 1

    def _tell(self, key: Any, changed: str | None) -> None:
        """Warn where a function is captured again and again, and say what has changed."""
        if self._captures < WARN_FROM:
            return
        if changed is None:
            known = next(reversed(self._entries), None)
            changed = difference(known, key)
        warn(
            f"gs.compile: {_name_of(self.function)} is captured for the "
            f"{self._captures + 1}th time, because {changed} has changed. Pass a tensor in place "
            "of a number that changes, and call it with few shapes, or with dynamic=True"
        )


# ---- one call


def _run(entry: Entry, executable: Executable, leaves: list[Any], again: Callable[[], Any]) -> Any:
    tensors, arrays = _split_leaves(leaves)
    if entry.outside:
        tensors += entry.outside
    return _finish(executable, tensors, arrays, again)


def _finish(
    executable: Executable, tensors: list[Tensor], arrays: list[Any], again: Callable[[], Any]
) -> Any:
    """Run a program, and return its results as the function does."""
    known = executable.trace
    for nr in executable.written:
        if nr < len(tensors):
            keep_saved(tensors[nr])
    inputs = _inputs(executable, tensors, arrays)
    for nr in executable.freed_grads:
        tensors[nr]._grad = None
    found = executable.run(*inputs)
    results = [_result(array) for array in found[: known.result_count]]
    for nr, at in known.new_grads:
        tensors[nr]._grad = results[at] if at < known.result_count else wrap(found[at])
    for nr in known.cleared_grads:
        tensors[nr]._grad = None
    for nr in executable.written:
        if nr < len(tensors):
            mark_written(tensors[nr])
    if known.differentiable:
        _record(executable, tensors, results, found, again)
    if mode.flags:
        apply_modes(tuple(results))
    if type(known.structure) is Result:
        return results[0]

    def place(leaf: Any) -> Any:
        if type(leaf) is Result:
            return results[leaf.number]
        if type(leaf) is Detached:
            return tensors[leaf.number].detach()
        return tensors[leaf.number] if type(leaf) is Given else leaf

    return map_leaves(place, known.structure)


def _inputs(executable: Executable, tensors: list[Tensor], arrays: list[Any]) -> list[Any]:
    """Return the arrays of tensors, other arrays, and those of gradients that are read."""
    given = [tensor.array for tensor in tensors] + arrays
    grads = [tensors[nr]._grad for nr in executable.trace.read_grads]
    return given + [grad.array for grad in grads if grad is not None]


def _split_leaves(leaves: list[Any]) -> tuple[list[Tensor], list[Any]]:
    """Return the tensors and the arrays among arguments."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if len(tensors) == len(leaves):
        return tensors, []
    return tensors, [leaf for leaf in leaves if not isinstance(leaf, Tensor)]


def _outside(sources: Sources, leaves: list[Any]) -> list[Tensor]:
    """Return the tensors that a function reads, and that are no arguments."""
    given = {id(leaf) for leaf in leaves}
    return [tensor for tensor, _ in sources.tensors.values() if id(tensor) not in given]


def _have_grads(tensors: list[Tensor]) -> list[bool]:
    return [getattr(tensor, "_grad", None) is not None for tensor in tensors]


def _record(
    executable: Executable,
    tensors: list[Tensor],
    results: list[Tensor],
    found: Sequence[Any],
    again: Callable[[], Any],
) -> None:
    trace = executable.trace
    node = CompiledFunctionBackward(
        executable, tensors, again if executable.is_repeatable else None
    )
    node.saved_values = found[len(trace.program.outputs) :]
    for _, nr in executable.outline.saved_inputs:
        if nr < len(tensors):
            node.watch(tensors[nr], "argument")
    node.attach(results)
    for nr in executable.outline.saved_results:
        node.watch(results[nr], "result")
    if trace.is_freed:
        node.release()


def _result(array: Any) -> Tensor:
    out = new_tensor()
    out.array = array
    out.grad_node = out.alias = None
    return out


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _compare(found: Any, expected: Any) -> None:
    """Raise RuntimeError if a program's results are not those of the function itself."""
    pairs = zip(leaves_of(found), leaves_of(expected), strict=True)
    for nr, (ours, theirs) in enumerate(pairs):
        if not isinstance(theirs, Tensor):
            continue
        precision = np.finfo(theirs.dtype).eps if theirs.dtype.kind in "fc" else 0.0
        allowed = float(precision) ** 0.75
        is_close = np.allclose(ours.array, theirs.array, allowed, allowed, equal_nan=True)
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape or not is_close:
            raise RuntimeError(
                f"gs.compile(check=True): result {nr} of the program differs from that of the "
                "function: please report it with the output of gs.compiler.explain"
            )


def _state_of(optimizer: Any) -> dict[int, dict[Any, Any]]:
    return {
        id(key): {name: id(v) for name, v in kept.items()} for key, kept in optimizer.state.items()
    }


def _restore_state(optimizer: Any, state: dict[int, dict[Any, Any]]) -> None:
    """Take out of an optimizer's state what a capture has put in."""
    for key in list(optimizer.state):
        known = state.get(id(key))
        if known is None:
            del optimizer.state[key]
        else:
            for name in list(optimizer.state[key]):
                if name not in known:
                    del optimizer.state[key][name]
