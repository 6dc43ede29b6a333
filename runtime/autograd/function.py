"""`Function`: custom ops with a forward and a backward in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from ..core.apply_modes import apply_modes
from ..core.levels import has_open_levels
from ..core.modes import is_grad_enabled, mode, no_grad
from ..core.node import Node, OutputNode, next_sequence_nr
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..dispatch.unbroadcast import reduce_to_differentiable
from ..dtypes.kinds import COMPLEX_KINDS
from ..forward_ad.dual import split
from ..graph.anomaly import remember_call
from ..inplace.ops import mark_written, rebase_history
from ..inplace.rebase_history import check_recordable
from ..kernels.reductions.unbroadcast import ShapeDtype, reduce_to
from .context import ContextNode, FunctionCtx
from .function_jvp import attach_tangents, innermost_level, is_differentiable
from .function_vmap import apply_batched, is_batched
from .once_differentiable import once_differentiable as once_differentiable
from .returned import (
    alias_of,
    check_dirty,
    check_dirty_view,
    check_pure_view,
    restrict_view,
    unrecorded,
)


class FunctionNode(ContextNode):
    """Node of a custom function; attributes of its ctx can be read from it."""

    __slots__ = (
        "_input_likes", "_output_edges", "_output_likes", "ctx", "has_several_outputs",
        "output_count",
    )  # fmt: skip

    function: ClassVar[type[Function]]

    def __init__(self, ctx: FunctionCtx, args: tuple[Any, ...], outputs: Sequence[object]) -> None:
        self.ctx = ctx
        self.next_nodes = tuple(arg.grad_node for arg in args if isinstance(arg, Tensor))
        self.hooks = None
        self.sequence_nr = next_sequence_nr()
        self.output_count, self.has_several_outputs = len(outputs), len(outputs) > 1
        self._input_likes = [_like(arg) for arg in args]
        self._output_likes = [_like(output) for output in outputs]
        self._output_edges: dict[int, ref[OutputNode]] = {}
        ctx._node = ref(self)

    def output_node(self, output_nr: int) -> Node | None:
        """Return the node of an output, the same one as long as it is referenced."""
        if output_nr in self.ctx._not_differentiable:
            return None
        if self.output_count == 1:
            return self
        known = self._output_edges.get(output_nr)
        grad_node = None if known is None else known()
        if grad_node is None:
            grad_node = OutputNode(self, output_nr)
            self._output_edges[output_nr] = ref(grad_node)
        return grad_node

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Run `backward` on tensors that record nothing."""
        grads = grad if self.output_count > 1 else (grad,)
        wrapped = [None if item is None else wrap(item) for item in grads]
        with no_grad():
            results = self._run(wrapped)
        return tuple(
            reduce_to(result.array, like) if result is not None and needed else None
            for (result, like), needed in zip(results, needs, strict=True)
        )

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Run `backward` so that its ops are recorded."""
        results = self._run(list(grad if self.output_count > 1 else (grad,)))
        return tuple(
            reduce_to_differentiable(result, like) if result is not None and needed else None
            for (result, like), needed in zip(results, needs, strict=True)
        )

    def release(self) -> None:
        """Release the saved tensors."""
        self.ctx._saved = None

    def _run(self, grads: list[Tensor | None]) -> list[tuple[Tensor | None, ShapeDtype]]:
        """Run `backward`, and check the gradient of each tensor argument."""
        if self.ctx._materialize:
            without = () if self.ctx._materialize_non_diff_grads else self.ctx._not_differentiable
            for nr, like in enumerate(self._output_likes):
                if grads[nr] is None and like is not None and nr not in without:
                    grads[nr] = wrap(np.zeros(*like))
        results = self.function._backward(self.ctx, *grads)
        return self._checked(results if isinstance(results, tuple) else (results,))

    def _checked(self, results: tuple[Any, ...]) -> list[tuple[Tensor | None, ShapeDtype]]:
        expected = len(self._input_likes)
        if len(results) < expected or any(extra is not None for extra in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})"
            )
        checked: list[tuple[Tensor | None, ShapeDtype]] = []
        for position, (result, like) in enumerate(zip(results, self._input_likes, strict=False), 1):
            if result is not None and not isinstance(result, Tensor):
                raise RuntimeError(
                    f"{self.name()}: expected Variable or None (got {type(result).__name__}) as "
                    f"gradient {position}"
                )
            if like is None:
                if result is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at "
                        f"position {position}, but the corresponding forward input was not a "
                        "Variable"
                    )
                continue
            if result is not None and not _reducible(result.array.shape, like[0]):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {len(checked)} "
                    f"- got {list(result.shape)} but expected shape compatible with {list(like[0])}"
                )
            if result is not None and result.is_complex() and like[1].kind not in COMPLEX_KINDS:
                raise RuntimeError(
                    f"Function {self.name()} returned a complex gradient at index {len(checked)} "
                    f"for an input of dtype {like[1]}"
                )
            checked.append((result, like))
        return checked

    def __getattr__(self, name: str) -> Any:
        # Only for what the node itself does not have: `y.grad_fn.saved_tensors`.
        return getattr(self.ctx, name)


def _like(value: object) -> ShapeDtype | None:
    return (value.array.shape, value.array.dtype) if isinstance(value, Tensor) else None


def _reducible(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether a gradient of `shape` can be summed to `target`, as after broadcasting."""
    if shape == target:
        return True
    try:
        return np.broadcast_shapes(shape, target) == shape
    except ValueError:
        return False


class Function:
    """Base class of custom ops: define `forward` and `backward` as static methods, call `apply`.

    `forward(ctx, *args)` computes the outputs, on tensors that record nothing; instead it may be
    `forward(*args)` with a `setup_context(ctx, inputs, output)`. `backward(ctx, *grads)`
    gets one gradient per output and returns one per argument, None for those that are not tensors.
    The node of the results is called `<Name>Backward`.
    """

    clear_saved_tensors_on_access: ClassVar[bool] = False
    """True if `backward` may read `ctx.saved_tensors` only once, which frees them early."""

    generate_vmap_rule: ClassVar[bool] = False
    """True if `vmap` may apply the function to one example after the other."""

    _backward_cls: ClassVar[type[FunctionNode]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated: the methods of an autograd Function are "
            f"static, call {type(self).__name__}.apply",
            DeprecationWarning,
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = f"{cls.__name__}Backward"
        namespace = {"__slots__": (), "__doc__": f"The node of {cls.__name__}.", "function": cls}
        cls._backward_cls = type(name, (FunctionNode,), namespace)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what `backward` needs, if `forward` does not take a ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradient of each argument, given that of each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangent of each output from those of the arguments (None if no tensor)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute the outputs for a batch of arguments, and the dimension of the batch in each.

        `info` has `batch_size` and `randomness`; `in_dims` says where each argument has the batch.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: functions have no instances that could be called."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated: make forward "
            f"and backward static methods, and call {type(self).__name__}.apply"
        )

    @classmethod
    def _backward(cls, ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        if cls.backward is Function.backward:
            return cls.vjp(ctx, *grads)
        if cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed: they "
                f"are two names of one method, leave one out of {cls.__name__}"
            )
        return cls.backward(ctx, *grads)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the op, and record it if any tensor argument requires grad."""
        takes_ctx = cls.setup_context is Function.setup_context
        if not takes_ctx:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        elif kwargs:
            args = _in_order(cls.forward, args, kwargs)
        if has_open_levels() and is_batched(args):
            return apply_batched(cls, args, cls.vmap is not Function.vmap)
        level = innermost_level(args)
        primals = args if level is None else tuple(split(arg, level)[0] for arg in args)
        ctx = FunctionCtx(tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in primals))
        ctx._clears_on_access = cls.clear_saved_tensors_on_access
        with no_grad():
            if takes_ctx:
                returned = cls.forward(ctx, *primals)
            else:
                returned = cls.forward(*primals)
                cls.setup_context(ctx, primals, returned)
        outputs = returned if isinstance(returned, tuple) else (returned,)
        if level is not None:
            ctx._save_duals(zip(args, primals, strict=True))
        if any(ctx.needs_input_grad) and is_grad_enabled():
            outputs = cls._record(ctx, primals, outputs)
        else:
            outputs = unrecorded(ctx, primals, outputs)
        if level is not None:
            outputs = attach_tangents(cls.jvp, ctx, args, outputs, level, cls.__name__)
        ctx._for_forward = None
        return outputs if isinstance(returned, tuple) else outputs[0]

    @classmethod
    def _record(
        cls, ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Connect the outputs to the graph."""
        marked = ctx._not_differentiable
        check_dirty(ctx, args, outputs)
        if ctx._is_pure_view:
            check_pure_view(args, outputs)
        recorded: list[Any] = []
        constant = set()
        taken = set(map(id, args)) - ctx._dirty
        for nr, output in enumerate(outputs):
            if id(output) in marked or not is_differentiable(output):
                constant.add(nr)
                if isinstance(output, Tensor) and output.grad_node is not None:
                    output = output.detach()  # an input that is returned as a constant
            elif id(output) in ctx._dirty:
                check_recordable(output, f"{cls.__name__}.apply")
                check_dirty_view(output, len(outputs))
                mark_written(output)
            else:
                if id(output) in taken or output.grad_node is not None:
                    # An input returned as it is, or a tensor with a history, which stays its own.
                    output = alias_of(output, args)
                restrict_view(ctx, output, len(outputs))
            recorded.append(output)
        ctx._not_differentiable = frozenset(constant)
        ctx._keep(recorded)
        node = cls._backward_cls(ctx, args, recorded)
        remember_call(node)
        for nr, output in enumerate(recorded):
            grad_node = None if nr in constant else node.output_node(nr)
            if grad_node is not None and id(output) in ctx._dirty:
                rebase_history(output, grad_node)
                output.grad = None  # which was that of other values, as PyTorch has it
            elif grad_node is not None:
                output.grad_node = grad_node
        if mode.flags:
            apply_modes(tuple(output for output in recorded if isinstance(output, Tensor)))
        return tuple(recorded)


def _in_order(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the arguments of a `forward` by position, which is that of their gradients.

    TypeError for an unknown name, or one behind an argument that is left out.
    """
    names = list(inspect.signature(forward).parameters)[1 + len(args) :]  # the first is ctx
    if set(names[: len(kwargs)]) != kwargs.keys():
        raise TypeError(
            f"forward() takes {names[: len(kwargs)]} after {len(args)} positional arguments, "
            f"got the keyword arguments {list(kwargs)}"
        )
    return (*args, *(kwargs[name] for name in names[: len(kwargs)]))


class InplaceFunction(Function):
    """Old base class of functions that modify an argument, named by `ctx.mark_dirty`."""
