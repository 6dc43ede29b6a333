"""`TorchFunctionMode`: inside its block every public function asks the mode what to do.

An op costs nothing for it while there is no mode: while there is one in any thread, the code of the
public functions is replaced by code that asks the modes of its thread, and put back after the last.
Functions stay the objects that they are, so that names which were imported before are asked, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from inspect import CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from pkgutil import iter_modules
from types import CodeType, FunctionType, TracebackType
from typing import Any, Final

from .core.numpy_warnings import LIBRARY
from .core.tensor import Tensor
from .core.torch_function import flattened
from .dispatch.entered_modes import handle_torch_function, modes, own_codes
from .dispatch.operators import OPERATORS, are_operands
from .dispatch.registry import OPS, import_all, public_function

_NAMESPACES: Final = (
    *("", ".autograd", ".fft", ".linalg", ".masked", ".nn.functional", ".nn.init", ".special"),
)
"""The modules of the package whose functions ask the modes."""
_HOMES: Final = tuple(
    f"{LIBRARY}.{name}."
    for name in (
        *("autograd.backward", "dispatch", "fft", "functions", "generated", "inplace", "linalg"),
        *("masked", "nn", "random", "special"),
    )
)
"""Modules that define those functions; others are about modes, files and settings."""
_SILENT: Final = frozenset(
    ("manual_seed", "set_default_tensor_type", "set_printoptions", "is_tensor")
)
_PLACEHOLDER: Final = "the function that asks the modes"


class TorchFunctionMode:
    """A context manager whose `__torch_function__` gets every call of a public function.

    It is given the function, the types of the arguments that have overrides, and the arguments, as
    `__torch_function__` of a class is; functions that take no tensors ask, too. While it answers,
    calls go to the mode outside of it, or run.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _patches.take(1)
        modes.stack.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        modes.stack.pop()
        _patches.take(-1)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call be what it is: a base for modes that look at some."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


class _Patches:
    """The code of the public functions, and how many modes are entered in all threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._count = 0
        self._codes: list[tuple[FunctionType, CodeType, CodeType]] = []

    def take(self, step: int) -> None:
        """Count a mode that is entered or left, and exchange the code at the first and the last."""
        with self._lock:
            is_first = not self._count
            if is_first:
                import_all()
                self._codes = _codes(len(OPS))
            self._count += step  # nothing is counted where the code could not be made
            if is_first or not self._count:
                for function, plain, asking in self._codes:
                    function.__code__ = asking if self._count else plain


_patches: Final = _Patches()


@cache
def _codes(number_of_ops: int) -> list[tuple[FunctionType, CodeType, CodeType]]:
    """Every function that asks the modes, its own code, and that which asks.

    Packages of others may have registered ops since the last mode.
    """
    found: dict[int, tuple[FunctionType, CodeType, CodeType]] = {}
    for function, public, is_operator in _candidates():
        if isinstance(function, FunctionType) and id(function) not in found and _is_asked(function):
            asking = _asking(function, public, is_operator)
            own_codes[asking] = function.__code__
            found[id(function)] = function, function.__code__, asking
    return list(found.values())


def _candidates() -> Iterator[tuple[Any, Callable[..., Any], bool]]:
    """Functions, what each is called by users, and whether it is an operator."""
    for name in dir(Tensor):
        if not name.startswith("_") or name in _METHODS:
            method: Any = getattr(Tensor, name, None)
            yield method, public_function(_named(name, method)), name in OPERATORS
    for path in _NAMESPACES:
        namespace = import_module(LIBRARY + path)
        modules = {module.name for module in iter_modules(getattr(namespace, "__path__", ()))}
        for name in sorted(set(dir(namespace)) - modules - _SILENT):
            if not name.startswith("_"):
                value: Any = getattr(namespace, name, None)
                yield value, value, False
    for function in OPS:
        yield function, public_function(function), False


_METHODS: Final = OPERATORS | {"__eq__", "__ne__", "__getitem__", "__setitem__", "__invert__"}


def _named(name: str, method: Any) -> Any:
    """The method or function whose operator a method is: `add_` of `+=`, `add` of `+`."""
    if name.startswith("__i"):
        return getattr(Tensor, f"{name[3:-2]}_", method)
    return getattr(method, "__wrapped__", method) if name in _METHODS else method


def _is_asked(function: FunctionType) -> bool:
    if function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE):
        return False
    module = getattr(function.__globals__.get("__spec__"), "name", "")
    is_public = _is_home(module) or _is_home(str(function.__module__))
    return is_public or function in OPS or function is Tensor.detach


def _is_home(module: str) -> bool:
    return f"{module}.".startswith(_HOMES)


def _asking(function: FunctionType, public: Callable[..., Any], is_operator: bool) -> CodeType:
    """Code with the parameters of a function that asks the modes, and runs the function if none."""
    plain = FunctionType(
        *(function.__code__, function.__globals__, function.__name__),
        *(function.__defaults__, function.__closure__),
    )
    plain.__kwdefaults__ = function.__kwdefaults__
    defaults = function.__defaults__ or ()
    first_default = function.__code__.co_argcount - len(defaults)

    def ask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not modes.stack or (is_operator and not are_operands(args[:2])):
            return plain(*args, **kwargs)
        given = len(args)
        while first_default < given <= first_default + len(defaults):
            if args[given - 1] is not defaults[given - 1 - first_default]:
                break
            given -= 1
        relevant = flattened((*args, *kwargs.values()))
        return handle_torch_function(public, relevant, *args[:given], **kwargs)

    code = function.__code__
    asking = _compiled(_source(code))
    constants = tuple(ask if each == _PLACEHOLDER else each for each in asking.co_consts)
    return asking.replace(co_consts=constants, co_name=code.co_name, co_qualname=code.co_qualname)


def _source(code: CodeType) -> str:
    """A function of the same parameters and variables outside, whose body calls a placeholder."""
    count, by_name = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames)
    positional, keywords = names[:count], names[count : count + by_name]
    rest = iter(names[count + by_name :])
    parameters, args = list(positional), list(positional)
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if code.co_flags & CO_VARARGS:
        starred = "*" + next(rest)
        parameters.append(starred)
        args.append(starred)
    elif keywords:
        parameters.append("*")
    parameters += keywords
    kwargs = [f"{name!r}: {name}" for name in keywords]
    if code.co_flags & CO_VARKEYWORDS:
        name = next(rest)
        parameters.append(f"**{name}")
        kwargs.append(f"**{name}")
    return (
        f"def around({', '.join(code.co_freevars)}):\n"
        f" def asking({', '.join(parameters)}):\n"
        f"  _ask_ = {_PLACEHOLDER!r}\n"
        + "".join(f"  {name}\n" for name in code.co_freevars)
        + f"  return _ask_(({', '.join([*args, ''])}), {{{', '.join(kwargs)}}})\n"
    )


@cache
def _compiled(source: str) -> CodeType:
    """The code of the inner function of a source."""
    around = next(each for each in compile(source, "<asking>", "exec").co_consts if _is_code(each))
    code: CodeType = next(each for each in around.co_consts if _is_code(each))
    return code


def _is_code(value: object) -> bool:
    return isinstance(value, CodeType)
