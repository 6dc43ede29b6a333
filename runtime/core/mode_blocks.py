"""Modes of `with` blocks that Ctrl-C cannot leave half entered or half left.

KeyboardInterrupt may be raised wherever Python code runs: in an `__enter__` that has switched a
mode already, or in an `__exit__` that has not switched it back yet. So what a `with` statement
calls here is one function of C each: to enter is to append the block to the list of its thread, to
leave is to release its lock. A block counts while its lock is held, and while there is
a reference to leave it. `__enter__` and `__exit__` are descriptors: their code in Python runs when
the statement looks them up, and nothing is switched yet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from .modes import Modes, Observer


class Block:
    """One `with` block, and what holds in it."""

    __slots__ = ("__weakref__", "_lock", "modes")

    def __init__(self, modes: Modes) -> None:
        self.modes = modes
        self._lock = threading.Lock()
        self._lock.acquire()

    def leave(self) -> Callable[..., None]:
        """Return the function that ends the block and takes anything; the block is gone with it."""
        leave: Any = partial(self._lock.__exit__)
        leave.block = self
        return leave

    def is_open(self) -> bool:
        """Return whether it has not been left."""
        return self._lock.locked()


class Blocks:
    """The blocks that a thread is in, innermost last, and what holds outside of all."""

    __slots__ = ("__weakref__", "_entered", "_outside", "_prepared", "observers")

    def __init__(self, outside: Modes) -> None:
        self._outside = outside
        self._entered: list[ref[Block]] = []
        self._prepared: ref[Block] | None = None
        """The block that may be entered next, at any moment."""
        self.observers: tuple[Observer, ...] = ()
        """The observers of the ops of the thread."""

    def modes(self) -> Modes:
        """Return the modes that hold now, and forget the blocks that were left."""
        entered = self._entered
        while entered:
            block = entered[-1]()
            if block is not None and block._lock.locked():  # asked by every op in a block
                return block.modes
            entered.pop()
        return self._outside

    def is_unusual(self) -> bool:
        """Return whether ops have anything to do about it; asked by any thread."""
        known = [*self._entered] if self._prepared is None else [self._prepared, *self._entered]
        blocks = [block() for block in known]
        modes = [block.modes for block in blocks if block is not None and block.is_open()]
        return bool(self.observers) or any(each.are_unusual() for each in (self._outside, *modes))

    def prepare(self, modes: Modes) -> Block:
        """A block to be entered next."""
        self.modes()  # which forgets blocks
        block = Block(modes)
        self._prepared = ref(block)
        return block

    def enter(self, block: Block) -> Callable[[], None]:
        """Return the function that begins a block."""
        return partial(self._entered.append, ref(block))


class Method:
    """A descriptor for `__enter__` or `__exit__`: `look(manager)` answers what is to be called."""

    __slots__ = ("_look", "_name")

    def __init__(self, look: Callable[[Any], Callable[..., None]]) -> None:
        self._look = look
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, manager: Any, owner: type) -> Callable[..., None]:
        if manager is not None:
            return self._look(manager)
        name = self._name  # ExitStack asks the class for a function that takes the manager
        return lambda manager, *error: getattr(manager, name)(*error)


class Blockwise:
    """A context manager each of whose `with` statements has a block of its own."""

    def __init__(self) -> None:
        self._to_enter: list[tuple[Blocks, Block]] = []
        """Blocks that were looked up to be left, as Python 3.14 does that first."""
        self._to_leave: list[tuple[Blocks, Block]] = []
        """Blocks that were looked up to be entered only."""

    def _new_block(self) -> tuple[Blocks, Block]:
        raise NotImplementedError

    def _enter(self) -> Callable[..., None]:
        while self._to_enter:
            blocks, block = self._to_enter.pop()
            if block.is_open():
                return blocks.enter(block)
        self._to_leave.append(self._new_block())
        blocks, block = self._to_leave[-1]
        return blocks.enter(block)

    def _leave(self) -> Callable[..., None]:
        if self._to_leave:
            return self._to_leave.pop()[1].leave()
        self._to_enter.append(self._new_block())
        return self._to_enter[-1][1].leave()

    __enter__ = Method(_enter)
    __exit__ = Method(_leave)
