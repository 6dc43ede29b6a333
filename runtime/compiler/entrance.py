"""`gs.compile`, and what programs ask of PyTorch's compiler besides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..nn.module import Module
from .backends import NAMES, backend_of
from .capture import thread
from .errors import refusal
from .function import CompiledFunction
from .module import OptimizedModule

_PYTORCH_BACKENDS: Final = {"inductor": "auto", "aot_eager": "numpy", "eager": "numpy"}
_PYTORCH_MODES: Final = (
    None,
    "default",
    "reduce-overhead",
    "max-autotune",
    "max-autotune-no-cudagraphs",
    "lite",
)


def compile(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "auto",
    fullgraph: bool = True,
    check: bool = False,
    dynamic: bool | None = False,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Return a function that computes the same by a program that is captured at its first call.

    Parameters
    ----------
    function
        A function of tensors, in nested tuples, lists and dicts, or a Module, for which a Module is
        returned. Without it, a decorator. Tensors of closures, modules and optimizers are inputs
        of the program, read, and written to, where they are; all else that is no tensor is taken
        as constant, and guarded: if it changes, the function is captured again.
    backend
        "c" builds with the system's compiler, "numpy" needs none; "auto" is the first of both
        that there is. PyTorch's "inductor" is "auto", its "aot_eager" and "eager" are "numpy".
    fullgraph
        Raise `CaptureError` where the function cannot be captured; else call it as it is.
    check
        Compare the results of each new program with those of the function itself, which is called
        for it; one that writes to its arguments or draws random numbers is not compared.
        RuntimeError if they differ.
    dynamic
        Let the leading dimension of arguments vary: one capture does for all sizes from 2 on. It
        is that of the first tensor that requires no gradient, and of all arguments that have
        the same; or what has varied between two calls. Where the function does not allow that, each
        size has a capture of its own, and a warning says why.
    mode, options
        PyTorch's, which choose nothing here.
    disable
        Return the function as it is.

    Raises
    ------
    CaptureError
        At the first call: if a condition, or a shape, depends on the values of tensors; if a side
        effect would be lost. It names the line, and says what to write instead.
    """
    if mode not in _PYTORCH_MODES:
        raise RuntimeError(f"gs.compile: unrecognized mode={mode}, should be one of PyTorch's")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified")
    chosen = backend_of(_PYTORCH_BACKENDS.get(backend, backend))
    given = (chosen, fullgraph, check, bool(dynamic))

    def compiled(target: Callable[..., Any]) -> Any:
        if not callable(target):
            raise TypeError(f"gs.compile: expected a function, got {type(target).__name__}")
        if disable:
            return target
        made = CompiledFunction(target, *given)
        return OptimizedModule(made) if isinstance(target, Module) else made

    return compiled if function is None else compiled(function)


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Any:
    """Return a function that no program contains; without `fn`, a decorator.

    While another is captured its call is a `CaptureError`, so that the other runs as it is where
    it was compiled with `fullgraph=False`. With `recursive=False` it may be captured.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not recursive:
        return fn

    @functools.wraps(fn)
    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        if thread.tape is not None:
            because = "" if reason is None else f" ({reason})"
            raise refusal(
                f"calls a function that is disabled for the compiler{because}",
                "Compile with fullgraph=False, or call it outside of the compiled function",
            )
        return fn(*args, **kwargs)

    return as_it_is


def is_compiling() -> bool:
    """Return whether a function is being captured by this thread."""
    return thread.tape is not None


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: there is no export."""
    return False


def list_backends() -> list[str]:
    """The names that `compile` takes for a backend, without PyTorch's."""
    return list(NAMES)
