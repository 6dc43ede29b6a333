"""Grad mode and the other modes of a thread, folded into one integer that an op tests once.

While `mode.flags` is 0, no thread is in any unusual mode, and an op returns its result as it is;
otherwise it hands the result to `apply_modes`, which looks at the modes of its own thread. So a
mode costs nothing while it is not used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from weakref import ref

from .mode_blocks import Block, Blocks, Blockwise
from .mode_decorator import ModeDecorator

if TYPE_CHECKING:
    from .tensor import Tensor

_Callable = TypeVar("_Callable", bound=Callable[..., Any])

Observer: TypeAlias = Callable[["tuple[Tensor, ...]"], None]
"""Called with the results of every op of a thread."""


class Mode:
    """The unusual modes of any thread of the process."""

    __slots__ = ("_lock", "_threads", "flags", "observers")

    def __init__(self) -> None:
        self.flags = 0
        """Nonzero while a thread is in an unusual mode, and until an op finds that none is."""
        self.observers: tuple[Observer, ...] = ()
        """The observers of the ops of all threads."""
        self._threads: list[ref[Blocks]] = []
        """The threads that may be in an unusual mode."""
        self._lock = threading.Lock()

    def watch(self, thread: Blocks) -> None:
        """Let ops look at the modes of their threads, while those of one are unusual."""
        with self._lock:
            if not any(known() is thread for known in self._threads):
                self._threads.append(ref(thread))
            self.flags = 1

    def settle(self) -> None:
        """Forget what is unusual no longer; called by ops, as Ctrl-C may stop a block that ends."""
        with self._lock:
            self._threads = list(filter(_is_unusual, self._threads))
            self.flags = int(bool(self._threads or self.observers))

    def observe_all_threads(self, observer: Observer) -> None:
        """Show the results of every op to `observer` from now on, whichever thread runs it."""
        with self._lock:
            if observer not in self.observers:
                self.observers += (observer,)
            self.flags = 1

    def stop_observing(self, observer: Observer) -> None:
        """Undo `observe_all_threads`."""
        self.observers = tuple(known for known in self.observers if known is not observer)
        self.settle()


mode: Final = Mode()

current_mode: Final = mode
"""The name in generated code, where `mode` may be an argument of an op."""


class Modes:
    """The modes of one block: whether ops are recorded, and whether in inference mode."""

    __slots__ = ("inference", "records")

    def __init__(self, records: bool = True, inference: bool = False) -> None:
        self.records = records
        self.inference = inference

    def are_unusual(self) -> bool:
        """Return whether ops have anything to do about it."""
        return self.inference or not self.records


def _is_unusual(thread: ref[Blocks]) -> bool:
    blocks = thread()
    return blocks is not None and blocks.is_unusual()


class _Thread(threading.local):
    """Each thread finds its own modes here; that takes longer than to read what they are."""

    def __init__(self) -> None:
        self.blocks = Blocks(Modes())


this_thread: Final = _Thread()


def is_grad_enabled() -> bool:
    """Return whether ops of this thread are recorded."""
    return this_thread.blocks.modes().records


def is_inference_mode_enabled() -> bool:
    """Return whether this thread makes inference tensors."""
    return this_thread.blocks.modes().inference


def is_recording() -> bool:
    """Return whether the results of ops stay in the graph."""
    modes = this_thread.blocks.modes()
    return modes.records and not modes.inference


def start_observing(observer: Observer) -> None:
    """Show the results of every op of this thread to `observer` from now on."""
    blocks = this_thread.blocks
    blocks.observers = (*blocks.observers, observer)
    mode.watch(blocks)


def stop_observing(observer: Observer) -> None:
    """Undo `start_observing`."""
    blocks = this_thread.blocks
    blocks.observers = tuple(known for known in blocks.observers if known is not observer)


@contextmanager
def observe(observer: Observer) -> Iterator[None]:
    """Inside the block `observer` sees the results of every op of this thread."""
    start_observing(observer)
    try:
        yield
    finally:
        stop_observing(observer)


def inherit_modes() -> Callable[[], AbstractContextManager[None]]:
    """A context manager for another thread: the modes that this one has now."""
    grad_enabled, inference = is_grad_enabled(), is_inference_mode_enabled()
    observers = this_thread.blocks.observers

    @contextmanager
    def enter() -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(inference_mode(inference))
            stack.enter_context(_GradMode(grad_enabled))
            for observer in observers:
                stack.enter_context(observe(observer))
            yield

    return enter


def _new_block(records: bool, inference: bool) -> tuple[Blocks, Block]:
    """A block of this thread, to be entered, and where."""
    blocks = this_thread.blocks
    block = blocks.prepare(Modes(records, inference))
    if block.modes.are_unusual():
        mode.watch(blocks)
    return blocks, block


class _GradMode(Blockwise, ModeDecorator):
    """A context manager that is a decorator too: of functions, generators and coroutines."""

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        self._enabled = enabled

    def _new_block(self) -> tuple[Blocks, Block]:
        return _new_block(self._enabled, is_inference_mode_enabled())

    def clone(self) -> _GradMode:
        """Return the same mode, not entered."""
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
    """Switch recording at once, and back at the end of the `with` block if there is one.

    At the end of every block it is what it was before this object was made, as in PyTorch.
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        super().__init__(mode)
        blocks = this_thread.blocks
        modes = blocks.modes()
        self._before: tuple[Modes, bool] | None = (modes, modes.records)
        modes.records = mode
        current_mode.watch(blocks)

    def _switch_back(self) -> None:
        """The switch belongs to a block, or to a function: not to what is around it."""
        if self._before is not None:
            modes, records = self._before
            modes.records = records
            self._before = None

    def _new_block(self) -> tuple[Blocks, Block]:
        self._switch_back()
        return super()._new_block()

    def __call__(self, function: _Callable) -> _Callable:
        self._switch_back()
        return super().__call__(function)


class inference_mode(Blockwise, ModeDecorator):
    """Do not record ops, whose results can never take part in a recorded op. Also a decorator.

    With `mode=False` it lets ops be recorded again inside the block.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._mode = mode

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def _new_block(self) -> tuple[Blocks, Block]:
        return _new_block(not self._mode, self._mode)

    def clone(self) -> inference_mode:
        """Return the same mode, not entered."""
        made: inference_mode = inference_mode(self._mode)
        return made
