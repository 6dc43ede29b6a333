"""Grad mode and the other modes of a thread, folded into one integer that an op tests once.

`mode.flags` counts the threads that are in any unusual mode. While it is 0 an op returns its
result as it is; otherwise it hands the result to `finish`, which looks at the modes of its own
thread. So a mode costs nothing while nobody uses it.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, TypeVar, cast

from .alias import UNDER_NO_GRAD, base_of, view_kind
from .node import AccumulateGrad

_Callable = TypeVar("_Callable", bound=Callable[..., Any])
_Result = TypeVar("_Result")


class Mode:
    """The process-wide count of unusual threads."""

    __slots__ = ("_lock", "flags")

    def __init__(self) -> None:
        self.flags = 0
        self._lock = threading.Lock()

    def shift(self, by: int) -> None:
        """One thread more (+1) or less (-1) is in an unusual mode."""
        with self._lock:
            self.flags += by


mode: Final = Mode()


class _Unusual:
    """Held by a thread while it is in an unusual mode; a thread that ends lets go of it."""

    __slots__ = ()

    def __init__(self) -> None:
        mode.shift(1)

    def __del__(self) -> None:
        mode.shift(-1)


class _ThreadModes(threading.local):
    """The modes of one thread."""

    without_grad: _Unusual | None = None


_thread: Final = _ThreadModes()


def is_grad_enabled() -> bool:
    """Whether ops of this thread are recorded."""
    return _thread.without_grad is None


def _switch_grad(enabled: bool) -> bool:
    """Switch recording in this thread; returns what it was."""
    before = _thread.without_grad is None
    if before is not enabled:
        _thread.without_grad = None if enabled else _Unusual()
    return before


def finish(result: _Result) -> _Result:
    """Apply this thread's modes to the result of an op (a tensor or a tuple of them).

    With gradients disabled the result leaves the graph, and what its node saved goes with it.
    """
    if _thread.without_grad is not None:
        for tensor in result if isinstance(result, tuple) else (result,):
            tensor.edge = None
            base = base_of(tensor)
            if base is not None:
                _restrict_view(tensor, base)
    return result


def _restrict_view(view: Any, base: Any) -> None:
    """A view made without gradients has no history, but asks for a gradient if its base does."""
    if view_kind(view) is None:
        view._view_kind = UNDER_NO_GRAD
    if base.edge is not None:
        view.edge = AccumulateGrad(view)


class _GradMode:
    """A context manager that is a decorator too: of functions, generators and coroutines."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_switch_grad(self._enabled))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _switch_grad(self._before.pop())

    def __call__(self, function: _Callable) -> _Callable:
        if inspect.isgeneratorfunction(function):
            return cast(_Callable, _wrap_generator(function, self._enabled))

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_coroutine(*args: Any, **kwargs: Any) -> Any:
                with _GradMode(self._enabled):
                    return await function(*args, **kwargs)

            return cast(_Callable, run_coroutine)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _GradMode(self._enabled):
                return function(*args, **kwargs)

        return cast(_Callable, run)


def _wrap_generator(function: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    """The mode holds while the generator runs, not while its consumer does."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with _GradMode(enabled):
                item = next(generator)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    with _GradMode(enabled):
                        generator.close()
                    raise
                except BaseException as error:
                    with _GradMode(enabled):
                        item = generator.throw(error)
                else:
                    with _GradMode(enabled):
                        item = generator.send(sent)
        except StopIteration as stop:
            return stop.value

    return run


class no_grad(_GradMode):
    """Do not record ops: results have `requires_grad=False`. Context manager and decorator."""

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(False)

    def __new__(cls, function: _Callable | None = None) -> Any:
        # `@no_grad` without parentheses decorates at once, as in PyTorch.
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)


class enable_grad(_GradMode):
    """Record ops, also inside `no_grad`. Context manager and decorator."""

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(True)

    def __new__(cls, function: _Callable | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)


class set_grad_enabled(_GradMode):
    """Switch recording at once, and back at the end of the `with` block if there is one."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._before.append(_switch_grad(mode))

    def __enter__(self) -> None:
        # Switched by the constructor, which has remembered what was before.
        pass

    def __call__(self, function: _Callable) -> _Callable:
        # Used as a decorator the switch belongs to the function, not to the module.
        _switch_grad(self._before.pop())
        return super().__call__(function)
