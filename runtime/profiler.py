"""PyTorch's public profiler: a profile of the steps of a loop that a schedule chooses.

with gs.profiler.profile(schedule=gs.profiler.schedule(wait=1, warmup=1, active=3)) as profile:
    for batch in batches:
        train(batch)
        profile.step()
print(profile.key_averages().table(sort_by="self_cpu_time_total"))

Times are those of `gs.autograd.profiler`, of the ops and nodes of this thread.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path

from .autograd import kineto_available as kineto_available
from .autograd.profiler import Event, record_function, warn_of_unmeasured
from .autograd.profiler import profile as _Recording
from .autograd.profiler_table import Averages
from .core.missing import explaining as _explaining


class ProfilerActivity(Enum):
    """Kinds of activity that could be watched; here it is the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """Actions of a profiler during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be watched: the CPU."""
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return what to do in each step: `wait`, then `warmup`, then record `active` steps.

    That is done `repeat` times, or for ever if it is 0, after `skip_first` steps at the start; with
    `skip_first_wait` the first `wait` is left out. ValueError for numbers that cannot be meant.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise ValueError(
            "Invalid profiler schedule arguments: wait, warmup, repeat and skip_first are at least "
            f"0 and active at least 1, got wait={wait}, warmup={warmup}, active={active}, "
            f"repeat={repeat}, skip_first={skip_first}"
        )
    length = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"a profiler's steps count from 0, got {step}")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        if repeat and step >= repeat * length:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        is_last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if is_last else ProfilerAction.RECORD

    return action_of


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return an `on_trace_ready` that writes each trace to a file of its own in `dir_name`."""

    def write(finished: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' * use_gzip}"
        finished.export_chrome_trace(os.path.join(dir_name, name))

    return write


class profile:
    """Profiler of the ops and nodes of this thread, during the steps that `schedule` chooses.

    Parameters
    ----------
    activities
        Those of devices other than the CPU are not watched, and warn.
    schedule
        What to do in each step (`schedule(...)`, or any function of the number); without it all
        is recorded from start to stop.
    on_trace_ready
        Called with this profiler when a recording has ended.
    record_shapes
        Let averages be told apart by the shapes of the inputs.
    profile_memory, with_stack, with_flops, with_modules
        Not measured here; asking for one warns.

    Raises
    ------
    RuntimeError
        From what reads a recording before there is one.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        acc_events: bool = False,
    ) -> None:
        foreign = set(activities or ()) - supported_activities()
        warn_of_unmeasured(
            activities=sorted(activity.name for activity in foreign),
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
        )
        self.record_shapes = record_shapes
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        """True if a recording keeps the events of those before it."""
        self.step_num = 0
        self._schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self._names_steps = schedule is not None
        self._recording: _Recording | None = None
        self._is_open = False
        self._step: record_function | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step."""
        self._act(self._schedule(self.step_num))

    def stop(self) -> None:
        """End the last step, and a recording that is open."""
        self._end_step()
        if self._is_open:
            self._finish()

    def step(self) -> None:
        """End this step, and begin the next."""
        self._end_step()
        ended = self._schedule(self.step_num)
        self.step_num += 1
        if self._is_open and ended is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
        self._act(self._schedule(self.step_num))

    def _act(self, action: ProfilerAction) -> None:
        records = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and not self._is_open:
            before = self._recording
            self._recording = _Recording(record_shapes=self.record_shapes)
            if self.acc_events and before is not None:
                self._recording.events.extend(before.events)
            self._recording.__enter__()
            self._is_open = True
        elif self._is_open and not records:
            self._finish()
        if self._is_open and self._names_steps:
            self._step = record_function("ProfilerStep*")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _finish(self) -> None:
        self._finished().__exit__()
        self._is_open = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _finished(self) -> _Recording:
        if self._recording is None:
            raise RuntimeError(
                "Profiler didn't finish running: no step has been recorded yet, see its schedule"
            )
        return self._recording

    def events(self) -> list[Event]:
        """Return the calls of the last recording, by the times of their starts."""
        return self._finished().function_events

    def key_averages(self, group_by_input_shape: bool = False) -> Averages:
        """Sum up the last recording by op, or by op and its inputs' shapes."""
        return self._finished().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write the last recording as JSON for a trace viewer; compressed if it ends in `.gz`."""
        self._finished().export_chrome_trace(path)


__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

__getattr__ = _explaining(__name__)
