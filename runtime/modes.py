"""Grad mode and the other modes of a thread, folded into one integer that an op tests once.

`mode.flags` counts the threads that are in any unusual mode. While it is 0 an op returns its
result as it is; otherwise it hands the result to `finish`, which looks at the modes of its own
thread. So a mode costs nothing while nobody uses it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from .aliasing import INFERENCE, INFERENCE_ALIAS, UNDER_NO_GRAD, base_of, view_kind
from .mode_decorator import ModeDecorator
from .node import nowhere

if TYPE_CHECKING:
    from .tensor import Tensor

_Callable = TypeVar("_Callable", bound=Callable[..., Any])
_Result = TypeVar("_Result")

Observer: TypeAlias = Callable[["tuple[Tensor, ...]"], None]
"""Called with the results of every op of a thread."""


class Mode:
    """The process-wide count of unusual threads."""

    __slots__ = ("_lock", "flags", "observers")

    def __init__(self) -> None:
        self.flags = 0
        self.observers: tuple[Observer, ...] = ()
        """Those that see the ops of all threads."""
        self._lock = threading.Lock()

    def shift(self, by: int) -> None:
        """One thread more (+1) or less (-1) is in an unusual mode."""
        with self._lock:
            self.flags += by

    def observe_all_threads(self, observer: Observer) -> None:
        """From now on `observer` sees the results of every op, whichever thread runs it."""
        with self._lock:
            if observer not in self.observers:
                self.observers += (observer,)
                self.flags += 1

    def stop_observing(self, observer: Observer) -> None:
        """Undo `observe_all_threads`."""
        with self._lock:
            if observer in self.observers:
                self.observers = tuple(known for known in self.observers if known is not observer)
                self.flags -= 1


mode: Final = Mode()

current_mode: Final = mode
"""What generated code calls it, where `mode` may be an argument of an op."""


class _Unusual:
    """Held by a thread while it is in an unusual mode; a thread that ends lets go of it."""

    __slots__ = ()

    def __init__(self) -> None:
        mode.shift(1)

    def __del__(self) -> None:
        mode.shift(-1)


class _Modes:
    """The modes of one thread."""

    __slots__ = ("inference", "observed", "observers", "without_grad")

    def __init__(self) -> None:
        self.without_grad: _Unusual | None = None
        self.inference: _Unusual | None = None
        self.observed: _Unusual | None = None
        self.observers: tuple[Observer, ...] = ()


class _Thread(threading.local):
    """Each thread finds its own modes here; that takes longer than to read what they are."""

    def __init__(self) -> None:
        self.modes = _Modes()


_thread: Final = _Thread()


def is_grad_enabled() -> bool:
    """Whether ops of this thread are recorded."""
    return _thread.modes.without_grad is None


def is_inference_mode_enabled() -> bool:
    """Whether this thread makes inference tensors."""
    return _thread.modes.inference is not None


def is_recording() -> bool:
    """Whether the results of ops stay in the graph."""
    modes = _thread.modes
    return modes.without_grad is None and modes.inference is None


def _switch_grad(enabled: bool) -> bool:
    """Switch recording in this thread; returns what it was."""
    before = _thread.modes.without_grad is None
    if before is not enabled:
        _thread.modes.without_grad = None if enabled else _Unusual()
    return before


@contextmanager
def observe(observer: Observer) -> Iterator[None]:
    """Inside the block `observer` sees the results of every op of this thread."""
    before = _thread.modes.observers
    _thread.modes.observers = (*before, observer)
    if not before:
        _thread.modes.observed = _Unusual()
    try:
        yield
    finally:
        _thread.modes.observers = before
        if not before:
            _thread.modes.observed = None


def inherit_modes() -> Callable[[], AbstractContextManager[None]]:
    """A context manager for another thread: the modes that this one has now."""
    grad_enabled, inference = is_grad_enabled(), is_inference_mode_enabled()
    observers = _thread.modes.observers

    @contextmanager
    def enter() -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(inference_mode(inference))
            stack.enter_context(_GradMode(grad_enabled))
            for observer in observers:
                stack.enter_context(observe(observer))
            yield

    return enter


def finish(result: _Result) -> _Result:
    """Apply this thread's modes to the result of an op (a tensor or a tuple of them).

    With gradients disabled nothing has been recorded; views and inference tensors remember why.
    """
    modes = _thread.modes
    if modes.without_grad is not None or modes.inference is not None:
        if isinstance(result, tuple):
            for tensor in result:
                _mark(tensor, modes)
        else:
            _mark(result, modes)
    if mode.observers or modes.observers:
        tensors: Any = result if isinstance(result, tuple) else (result,)
        for observer in (*mode.observers, *modes.observers):
            observer(tensors)
    return result


def _mark(tensor: Any, modes: _Modes) -> None:
    if tensor.alias is not None:
        _restrict_view(tensor)
    elif modes.inference is not None:
        tensor.alias = INFERENCE_ALIAS


def finish_leaf(tensor: Tensor) -> Tensor:
    """Apply this thread's modes to a tensor that no op made."""
    if _thread.modes.inference is not None:
        tensor.alias = INFERENCE_ALIAS
    return tensor


def refuse_inference(tensor: Tensor, what: str) -> None:
    """Raise RuntimeError for an inference tensor, outside of inference mode."""
    if tensor.alias is INFERENCE_ALIAS and _thread.modes.inference is None:
        raise RuntimeError(
            f"{what} on an inference tensor outside InferenceMode is not allowed: clone() it "
            "outside of the mode to get a normal tensor."
        )


def _restrict_view(view: Tensor) -> None:
    """A view made without gradients has no history, but asks for a gradient if its base does.

    As in PyTorch, that gradient arrives nowhere.
    """
    base = base_of(view)
    if base is None or view.alias is INFERENCE_ALIAS:
        return
    if view_kind(view) is None:
        view._view_kind = UNDER_NO_GRAD if _thread.modes.inference is None else INFERENCE
    if base.edge is not None:
        view.edge = nowhere(view)


class _GradMode(ModeDecorator):
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

    def clone(self) -> _GradMode:
        """The same mode, not entered."""
        return _GradMode(self._enabled)


class no_grad(_GradMode):
    """Do not record ops: results have `requires_grad=False`. Context manager and decorator."""

    def __init__(self) -> None:
        super().__init__(False)

    def __new__(cls, function: _Callable | None = None) -> Any:
        # `@no_grad` without parentheses decorates at once, as in PyTorch.
        return super().__new__(cls) if function is None else cls()(function)


class enable_grad(_GradMode):
    """Record ops, also inside `no_grad`. Context manager and decorator."""

    def __init__(self) -> None:
        super().__init__(True)

    def __new__(cls, function: _Callable | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


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


class inference_mode(ModeDecorator):
    """Like `no_grad`, and the results can never take part in a recorded op. Also a decorator.

    With `mode=False` it lets ops be recorded again inside the block.
    """

    def __init__(self, mode: bool = True) -> None:
        self._mode = mode
        self._before: list[tuple[_Unusual | None, bool]] = []

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __enter__(self) -> None:
        self._before.append((_thread.modes.inference, _switch_grad(not self._mode)))
        _thread.modes.inference = _Unusual() if self._mode else None

    def __exit__(self, *_: object) -> None:
        _thread.modes.inference, grad_enabled = self._before.pop()
        _switch_grad(grad_enabled)

    def clone(self) -> inference_mode:
        """The same mode, not entered."""
        made: inference_mode = inference_mode(self._mode)
        return made
