"""A mode as a decorator: of functions, and step by step of generators and coroutines."""

from __future__ import annotations

import functools
import types
from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from .user_warnings import warn

_Callable = TypeVar("_Callable", bound=Callable[..., Any])


class ModeDecorator(AbstractContextManager[Any]):
    """Base of the modes: `@mode()` makes the body of a function a `with` block."""

    @abstractmethod
    def clone(self) -> ModeDecorator:
        """Return the same mode, not entered: every call has a block of its own."""

    def __call__(self, function: _Callable) -> _Callable:
        import inspect  # it takes long to import

        if inspect.isclass(function):
            warn(
                "Decorating classes is deprecated: the mode holds while an instance is made, and "
                "in no method. Decorate __init__, or the methods.",
                FutureWarning,
            )

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def run_generator(*args: Any, **kwargs: Any) -> Any:
                return (yield from _steps(function(*args, **kwargs), self))

            return cast(_Callable, run_generator)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_coroutine(*args: Any, **kwargs: Any) -> Any:
                return await types.coroutine(_steps)(function(*args, **kwargs), self)

            return cast(_Callable, run_coroutine)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return cast(_Callable, run)


def _steps(running: Any, mode: ModeDecorator) -> Generator[Any, Any, Any]:
    """Run a generator or coroutine so that the mode holds while it runs, and only then.

    In between, its consumer or the other tasks of the event loop keep their own modes.
    """
    try:
        with mode.clone():
            item = running.send(None)
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                with mode.clone():
                    running.close()
                raise
            except BaseException as error:
                with mode.clone():
                    item = running.throw(error)
            else:
                with mode.clone():
                    item = running.send(sent)
    except StopIteration as stop:
        return stop.value
