"""Checkpointing: parts of a graph that are computed again in the backward pass, not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

from ..autograd.backward import backward
from ..autograd.function import Function
from ..core.missing import explaining as _explaining
from ..core.modes import enable_grad
from ..core.random_generator import generator
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..graph.graph_task import current_task
from ..graph.saved_tensor_hooks import saved_tensors_hooks
from ..nn.containers import Sequential

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn"]

__getattr__ = _explaining(__name__)

Contexts: TypeAlias = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]


class CheckpointError(RuntimeError):
    """A function computed something else the second time."""


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
    else the second time; `determinism_check="none"` compares only how much. `early_stop` and
    `debug` are accepted, and change nothing.
    """
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
        frame = _Frame(function, args, kwargs, preserve_rng_state, context_fn, determinism_check)
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


class _SameNumbers:
    """Block with the random numbers that there were at another time."""

    def __init__(self, preserve: bool) -> None:
        self.state = generator().bit_generator.state if preserve else None

    def __enter__(self) -> None:
        if self.state is not None:
            self.before = generator().bit_generator.state
            generator().bit_generator.state = self.state

    def __exit__(self, *_: object) -> None:
        if self.state is not None:
            generator().bit_generator.state = self.before


def _detached(arg: Any) -> Any:
    """Return a leaf in the place of a tensor, so that nothing flows on to its history."""
    if not isinstance(arg, Tensor):
        return arg
    return arg.detach().requires_grad_(arg.requires_grad)


class _Frame:
    """A call without saved values: what its nodes save is computed again when it is needed."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        preserve_rng_state: bool,
        context_fn: Contexts,
        determinism_check: str,
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.forward_context, self.second_context = context_fn()
        self.checks_shapes = determinism_check == "default"
        self.numbers = _SameNumbers(preserve_rng_state)
        self.outlines: list[tuple[Any, Any]] = []
        self.recomputed: dict[int, Tensor] = {}

    def run(self) -> Any:
        """Call the function; its nodes keep numbers in the place of tensors."""
        with saved_tensors_hooks(self._pack, self._unpack), self.forward_context:
            return self.function(*self.args, **self.kwargs)

    def _pack(self, tensor: Tensor) -> int:
        self.outlines.append((tensor.shape, tensor.dtype))
        return len(self.outlines) - 1

    def _unpack(self, number: int) -> Tensor:
        if number not in self.recomputed:
            self._recompute()
        return self.recomputed.pop(number)

    def _recompute(self) -> None:
        saved: list[Tensor] = []

        def pack(tensor: Tensor) -> Tensor:
            saved.append(tensor.detach())
            return saved[-1]

        args = [_detached(arg) for arg in self.args]
        kwargs = {name: _detached(arg) for name, arg in self.kwargs.items()}
        hooks = saved_tensors_hooks(pack, lambda tensor: tensor)
        with enable_grad(), self.numbers, hooks, self.second_context:
            self.function(*args, **kwargs)
        if len(saved) != len(self.outlines):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation: "
                f"{len(self.outlines)}, then {len(saved)}."
            )
        found = [(tensor.shape, tensor.dtype) for tensor in saved]
        if self.checks_shapes and found != self.outlines:
            pairs = zip(self.outlines, found, strict=True)
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass (shape and dtype, before and "
                f"after): {[pair for pair in pairs if pair[0] != pair[1]]}"
            )
        self.recomputed = dict(enumerate(saved))


class CheckpointFunction(Function):
    """Node in the place of a whole function, which it computes again to differentiate it."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Call the function; nothing is recorded."""
        ctx.function = function
        ctx.numbers = _SameNumbers(preserve_rng_state)
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
