"""A profiler of every op and every node that runs in a `with profile()` block.

It uses Python's own profiling hook, so ops cost nothing extra outside of the block.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar, Final

from ..core.mode_decorator import ModeDecorator
from ..core.node import Node
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..dispatch.entered_modes import own_code
from ..dispatch.registry import OPS, import_all
from .profiler_table import Average, Averages


@dataclass(slots=True)
class Event:
    """One call of an op or node; times in nanoseconds."""

    name: str
    start: int
    end: int = 0
    inside: int = 0
    """The time of the events that this one contains."""
    shapes: tuple[tuple[int, ...], ...] = ()
    code: CodeType | None = field(default=None, repr=False)
    thread: int = 0
    count: ClassVar[int] = 1
    """An event is one call, and an average of several has the same attribute."""

    @property
    def input_shapes(self) -> list[list[int]]:
        """The shapes of the inputs, if they were recorded, as PyTorch has them."""
        return [list(shape) for shape in self.shapes]

    @property
    def total(self) -> int:
        """Time from call to return."""
        return self.end - self.start

    @property
    def own(self) -> int:
        """Time without that of the events inside."""
        return self.total - self.inside


_TABLE: Final = __name__.partition(".")[0] + ".generated."


class _Active(threading.local):
    """The profiler of one thread."""

    profile: profile | None = None


_active: Final = _Active()


class profile:
    """Profiler of the ops and nodes of this thread; `key_averages()` sums them up.

    With `record_shapes` the averages can be told apart by the shapes of the inputs. What else
    PyTorch measures is not measured here, and asking for it warns: floating point operations,
    memory, source lines, modules, and devices other than the CPU.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
    ) -> None:
        warn_of_unmeasured(
            use_cuda=use_cuda,
            use_device=use_device,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
        )
        self.enabled = enabled
        self.events: list[Event] = []
        """Calls that have returned, in the order of their return."""
        self._record_shapes = record_shapes
        self._open: list[Event] = []
        self._names: dict[CodeType, str] = {}

    def __enter__(self) -> profile:
        if self.enabled:
            self._names = _names_of_code()
            self._before: Any = sys.getprofile()
            self._outer, _active.profile = _active.profile, self
            sys.setprofile(self._watch)
        return self

    def __exit__(self, *_: object) -> None:
        if self.enabled:
            sys.setprofile(self._before)
            _active.profile = self._outer
            while self._open:
                self._close(self._open[-1].code)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events without that of others inside of them, in microseconds."""
        return self.key_averages().total_average().self_cpu_time_total

    def _watch(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            name = self._names.get(frame.f_code)
            if name is not None:
                self._start(frame, name)
        elif event == "return" and self._open and self._open[-1].code is frame.f_code:
            self._close(frame.f_code)

    def _start(self, frame: FrameType, name: str) -> None:
        code = frame.f_code
        arguments = frame.f_locals
        values = [arguments[word] for word in code.co_varnames[: code.co_argcount]]
        if not name:
            name = values[0].name()  # a node, whose class may share its code with others
        shapes = tuple(_shapes(values)) if self._record_shapes else ()
        self._open_event(name, code, shapes)

    def _open_event(
        self, name: str, code: CodeType | None, shapes: tuple[tuple[int, ...], ...] = ()
    ) -> None:
        thread = threading.get_ident()
        self._open.append(Event(name, time.perf_counter_ns(), 0, 0, shapes, code, thread))

    def _close(self, code: CodeType | None) -> None:
        event = self._open.pop()
        event.end = time.perf_counter_ns()
        if self._open:
            self._open[-1].inside += event.total
        self.events.append(event)

    @property
    def function_events(self) -> list[Event]:
        """The calls by the times of their starts, under PyTorch's name."""
        return sorted(self.events, key=lambda event: event.start)

    def key_averages(self, group_by_input_shape: bool = False) -> Averages:
        """Sum up count, own and total time of each op, or of each op and its inputs' shapes."""
        found: dict[tuple[Any, ...], Average] = {}
        for event in self.events:
            shapes = event.shapes if group_by_input_shape else ()
            average = found.setdefault((event.name, shapes), Average(event.name, shapes))
            average.count += 1
            average.self_cpu_time_total += event.own / 1000
            average.cpu_time_total += event.total / 1000
        return Averages(found.values(), with_shapes=group_by_input_shape)

    def table(
        self,
        sort_by: str | None = "self_cpu_time_total",
        row_limit: int = 100,
        header: str | None = None,
    ) -> str:
        """Return the averages as text."""
        return self.key_averages().table(sort_by, row_limit, header)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write the events as JSON for a trace viewer (chrome://tracing, Perfetto).

        It is compressed if `path` ends in `.gz`.
        """
        events = [
            {
                "name": event.name,
                "cat": "backward" if "Backward" in event.name else "op",
                "ph": "X",
                "ts": event.start / 1000,
                "dur": event.total / 1000,
                "pid": 0,
                "tid": event.thread,
                "args": {"input shapes": [list(shape) for shape in event.shapes]},
            }
            for event in self.function_events
        ]
        import gzip  # only who writes a trace waits for these
        import json

        text = json.dumps({"traceEvents": events}).encode()
        Path(path).write_bytes(gzip.compress(text) if str(path).endswith(".gz") else text)

    def __str__(self) -> str:
        return self.table()


class record_function(ModeDecorator):
    """Record the block as an event of this name, if a profiler runs.

    Also a decorator: every call of the function is an event.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._running: list[profile | None] = []

    def __enter__(self) -> record_function:
        running = _active.profile
        self._running.append(running)
        if running is not None:
            running._open_event(self.name, None)
        return self

    def __exit__(self, *_: object) -> None:
        running = self._running.pop()
        if running is not None and running._open:  # what is open ends with the profiler
            running._close(None)

    def clone(self) -> record_function:
        """Make the same event, not entered."""
        return record_function(self.name, self.args)


def warn_of_unmeasured(**asked: object) -> None:
    """Warn of each thing that is asked for, by the name of its argument, and is not measured."""
    for name, value in asked.items():
        if value:
            warn(f"profile: {name}={value} has no effect: times and shapes are recorded")


def _names_of_code() -> dict[CodeType, str]:
    """Return the names of events by code object; empty for nodes, which are asked.

    Ops of the table are called as by PyTorch, `aten::mul`; those of a package of one's own by
    their names.
    """
    import_all()
    names = {
        own_code(function): "aten::" * (op.function.__module__.startswith(_TABLE))
        + op.name.partition(".")[0]
        for function, op in OPS.items()
    }
    stack: list[type[Node]] = [Node]
    while stack:
        kind = stack.pop()
        stack.extend(kind.__subclasses__())
        for method in ("apply", "apply_differentiable", "take_from"):
            function = vars(kind).get(method)
            if function is not None:
                names[function.__code__] = ""
    return names


def _shapes(values: list[Any]) -> Iterator[tuple[int, ...]]:
    """Return the shapes of tensors and arrays among arguments, those in lists included."""
    for value in values:
        if isinstance(value, Tensor):
            yield tuple(value.array.shape)
        elif isinstance(value, list | tuple):
            yield from _shapes(list(value))
        elif hasattr(value, "shape"):
            yield tuple(value.shape)


__all__ = ["Event", "profile", "record_function"]
