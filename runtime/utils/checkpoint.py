"""Checkpointing: parts of a graph that are computed again in the backward pass, not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeAlias

from ..autograd.backward import backward
from ..autograd.function import Function
from ..core.missing import explaining as _explaining
from ..core.modes import enable_grad
from ..core.random_generator import draws_are_recorded
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..graph.graph_task import current_task
from ..nn.containers import Sequential
from .recomputation import CheckpointError, Frame, GraphExecGroup, SameNumbers
from .selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

__getattr__ = _explaining(__name__)

Contexts: TypeAlias = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]

_early_stop: ContextVar[bool | None] = ContextVar("early_stop", default=None)
_debug: ContextVar[bool | None] = ContextVar("debug", default=None)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Choose `early_stop` for the checkpoints made in the block, whatever they are given."""
    token = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(token)


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Choose `debug` for the checkpoints made in the block; with None, what they are given."""
    token = _debug.set(enabled)
    try:
        yield
    finally:
        _debug.reset(token)


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return two contexts, of the forward pass and of the recomputation, that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)`, and again in the backward pass: its graph is not kept.

    With `use_reentrant=False` only what the nodes save is not kept. With True, PyTorch's default,
    no node is made, `torch.autograd.grad` of the result is refused, and one of `args` itself must
    require grad. Random numbers are the same both times, unless `preserve_rng_state` is False.
    `context_fn` returns a context for each time. CheckpointError if the function saves something
    else the second time; `determinism_check="none"` compares only how much, and with `debug` the
    error lists the nodes that were made each time. The second call ends when all that is needed is
    there, unless `early_stop` is False.
    """
    if draws_are_recorded():
        with context_fn()[0]:  # a program of gs.compile chooses itself what it keeps
            return function(*args, **kwargs)
    if use_reentrant is None:
        warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended; the default is True."
        )
        use_reentrant = True
    if not use_reentrant:
        if determinism_check not in ("default", "none"):
            raise ValueError(
                'determinism_check should be one of ["default", "none"] but got '
                f"{determinism_check}"
            )
        forced_stop, forced_debug = _early_stop.get(), _debug.get()
        frame = Frame(
            function,
            args,
            kwargs,
            preserve_rng_state,
            context_fn(),
            determinism_check == "default",
            early_stop if forced_stop is None else forced_stop,
            debug if forced_debug is None else forced_debug,
        )
        return frame.run()
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    if not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
        warn("None of the inputs have requires_grad=True. Gradients will be None")
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other; each segment of them but the last is checkpointed."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    listed = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    if segments > len(listed):
        raise ValueError(
            f"checkpoint_sequential: {segments} segments of {len(listed)} functions would be "
            "empty; ask for as many as there are functions at most"
        )
    size = len(listed) // segments
    for start in range(0, size * (segments - 1), size or 1):
        part = _chained(listed[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chained(listed[size * (segments - 1) :])(input)


def _chained(functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    def call(input: Any) -> Any:
        for function in functions:
            input = function(input)
        return input

    return call


def _detached(arg: Any) -> Any:
    """Return a leaf in the place of a tensor, so that nothing flows on to its history."""
    if not isinstance(arg, Tensor):
        return arg
    return arg.detach().requires_grad_(arg.requires_grad)


class CheckpointFunction(Function):
    """Node in the place of a whole function, which it computes again to differentiate it."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Call the function; nothing is recorded."""
        ctx.function = function
        ctx.numbers = SameNumbers(preserve_rng_state)
        ctx.positions = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(args[i] for i in ctx.positions))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Call the function again, and go backward through it."""
        task = current_task()
        if task is not None and task.needs is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(): pass use_reentrant=False."
            )
        args = list(ctx.others)
        for position, tensor in zip(ctx.positions, ctx.saved_tensors, strict=True):
            args[position] = _detached(tensor)
        with enable_grad(), ctx.numbers:
            outputs = ctx.function(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([output for output, _ in pairs], [grad for _, grad in pairs])
        found = (arg.grad if isinstance(arg, Tensor) else None for arg in args)
        return None, None, *found
