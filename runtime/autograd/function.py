"""`Function`: an op of the user's own, with its forward and backward in Python."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final
from weakref import ref

import numpy as np

from ..broadcast import Like, reduce_to, reduce_to_differentiable
from ..forward_mode import Dual, Level, split, with_tangent
from ..inplace import mark_written, take_over
from ..modes import is_grad_enabled, no_grad
from ..node import Node, OutputEdge, next_sequence_nr
from ..tensor import Tensor, wrap
from ..view_history import check_recordable
from .context import ContextNode, FunctionCtx
from .returned import alias_of, check_dirty, check_dirty_view, unrecorded


class FunctionNode(ContextNode):
    """The node of a custom function; attributes of its ctx can be read from it."""

    __slots__ = (
        "_input_likes", "_output_edges", "_output_likes", "ctx", "has_several_outputs",
        "output_count",
    )  # fmt: skip

    function: ClassVar[type[Function]]

    def __init__(self, ctx: FunctionCtx, args: tuple[Any, ...], outputs: Sequence[object]) -> None:
        self.ctx = ctx
        self.edges = tuple(arg.edge for arg in args if isinstance(arg, Tensor))
        self.hooks = None
        self.sequence_nr = next_sequence_nr()
        self.output_count, self.has_several_outputs = len(outputs), len(outputs) > 1
        self._input_likes = [_like(arg) for arg in args]
        self._output_likes = [_like(output) for output in outputs]
        self._output_edges: dict[int, ref[OutputEdge]] = {}
        ctx._node = ref(self)

    def output_edge(self, output_nr: int) -> Node | None:
        """The vertex of an output; the same one while anybody holds it."""
        if output_nr in self.ctx._not_differentiable:
            return None
        if self.output_count == 1:
            return self
        known = self._output_edges.get(output_nr)
        edge = None if known is None else known()
        if edge is None:
            edge = OutputEdge(self, output_nr)
            self._output_edges[output_nr] = ref(edge)
        return edge

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
        """Run `backward` so that what it does is recorded."""
        results = self._run(list(grad if self.output_count > 1 else (grad,)))
        return tuple(
            reduce_to_differentiable(result, like) if result is not None and needed else None
            for (result, like), needed in zip(results, needs, strict=True)
        )

    def release(self) -> None:
        """Let go of the saved tensors."""
        self.ctx._saved = None

    def _run(self, grads: list[Tensor | None]) -> list[tuple[Tensor | None, Like]]:
        """The gradient of each tensor argument, and what it must look like."""
        if self.ctx._materialize:
            for nr, like in enumerate(self._output_likes):
                if grads[nr] is None and like is not None:
                    grads[nr] = wrap(np.zeros(*like))
        results = self.function._backward(self.ctx, *grads)
        return self._checked(results if isinstance(results, tuple) else (results,))

    def _checked(self, results: tuple[Any, ...]) -> list[tuple[Tensor | None, Like]]:
        expected = len(self._input_likes)
        if len(results) < expected or any(extra is not None for extra in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})"
            )
        checked: list[tuple[Tensor | None, Like]] = []
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
            if result is not None and result.is_complex() and like[1].kind not in "cO":
                raise RuntimeError(
                    f"Function {self.name()} returned a complex gradient at index {len(checked)} "
                    f"for an input of dtype {like[1]}"
                )
            checked.append((result, like))
        return checked

    def __getattr__(self, name: str) -> Any:
        # Only for what the node itself does not have: `y.grad_fn.saved_tensors`.
        return getattr(self.ctx, name)


def _like(value: object) -> Like | None:
    return (value.array.shape, value.array.dtype) if isinstance(value, Tensor) else None


def _reducible(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a gradient of `shape` can be one of `target`, seen through broadcasting."""
    if shape == target:
        return True
    try:
        return np.broadcast_shapes(shape, target) == shape
    except ValueError:
        return False


class Function:
    """Base class of custom ops: define `forward` and `backward` as static methods, call `apply`.

    `forward(ctx, *args)` computes the outputs, on tensors that record nothing; instead it may be
    `forward(*args)` with a `setup_context(ctx, inputs, output)` beside it. `backward(ctx, *grads)`
    gets one gradient per output and returns one per argument, None for those that are not tensors.
    The node of the results is called `<Name>Backward`.
    """

    _node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = f"{cls.__name__}Backward"
        namespace = {"__slots__": (), "__doc__": f"The node of {cls.__name__}.", "function": cls}
        cls._node_class = type(name, (FunctionNode,), namespace)

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
        """The gradient of each argument, given that of each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, given that of each argument (None if it is no tensor)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: functions have no instances that could be called."""
        name = type(self).__name__
        raise RuntimeError(f"{name} is not called as an instance: use {name}.apply")

    @classmethod
    def _backward(cls, ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        return (cls.vjp if cls.backward is Function.backward else cls.backward)(ctx, *grads)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the op; recorded if any tensor argument requires a gradient."""
        takes_ctx = cls.setup_context is Function.setup_context
        if not takes_ctx:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        elif kwargs:
            args = _in_order(cls.forward, args, kwargs)
        level = _innermost_level(args)
        primals = args if level is None else tuple(split(arg, level)[0] for arg in args)
        ctx = FunctionCtx(tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in primals))
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
            outputs = cls._attach_tangents(ctx, args, outputs, level)
        ctx._for_forward = None
        return outputs if isinstance(returned, tuple) else outputs[0]

    @classmethod
    def _attach_tangents(
        cls, ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...], level: Level
    ) -> tuple[Any, ...]:
        """Run the `jvp`: duals of the outputs, plain tensors where it answers None."""
        tangents = [split(arg, level)[1] for arg in args]
        if ctx._materialize:
            tangents = [
                wrap(np.zeros_like(arg.array))
                if tangent is None and _differentiable(arg)
                else tangent
                for arg, tangent in zip(args, tangents, strict=True)
            ]
        found = cls.jvp(ctx, *tangents)
        ctx._for_forward = None
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(outputs):
            raise RuntimeError(
                f"{cls.__name__}.jvp returned {len(found)} tangents for {len(outputs)} outputs"
            )
        for nr, pair in enumerate(zip(outputs, found, strict=True)):
            _check_tangent(cls.__name__, nr, *pair)
        ctx._output_tangents.append((level, found))
        return tuple(
            output if tangent is None else with_tangent(output, tangent, level)
            for output, tangent in zip(outputs, found, strict=True)
        )

    @classmethod
    def _record(
        cls, ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Put the outputs into the graph."""
        marked = ctx._not_differentiable
        check_dirty(ctx, args, outputs)
        recorded: list[Any] = []
        constant = set()
        taken = set(map(id, args)) - ctx._dirty
        for nr, output in enumerate(outputs):
            if id(output) in marked or not _differentiable(output):
                constant.add(nr)
                if isinstance(output, Tensor) and output.edge is not None:
                    output = output.detach()  # an input that is returned as a constant
            elif id(output) in ctx._dirty:
                check_recordable(output, f"{cls.__name__}.apply")
                check_dirty_view(output, len(outputs))
                mark_written(output)
            elif id(output) in taken or output.edge is not None:
                # An input returned as it is, or a tensor with a history, which stays its own.
                output = alias_of(output, args)
            taken.add(id(output))
            recorded.append(output)
        ctx._not_differentiable = frozenset(constant)
        ctx._keep(recorded)
        node = cls._node_class(ctx, args, recorded)
        for nr, output in enumerate(recorded):
            vertex = None if nr in constant else node.output_edge(nr)
            if vertex is not None and id(output) in ctx._dirty:
                take_over(output, vertex)
            elif vertex is not None:
                output.edge = vertex
        return tuple(recorded)


def _in_order(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments of a `forward` by position, where each has its gradient.

    TypeError for a name that it does not have, or that stands behind one that is left out.
    """
    names = list(inspect.signature(forward).parameters)[1 + len(args) :]  # the first is ctx
    if set(names[: len(kwargs)]) != kwargs.keys():
        raise TypeError(
            f"forward() takes {names[: len(kwargs)]} after {len(args)} positional arguments, "
            f"got the keyword arguments {list(kwargs)}"
        )
    return (*args, *(kwargs[name] for name in names[: len(kwargs)]))


def _differentiable(value: object) -> bool:
    # O: the symbols of a proof.
    return isinstance(value, Tensor) and value.array.dtype.kind in "fcO"


def _check_tangent(name: str, nr: int, output: Any, tangent: Any) -> None:
    """Raise RuntimeError for an answer of a `jvp` that is no tangent of its output."""
    if tangent is None:
        return
    if not _differentiable(output):
        raise RuntimeError(
            f"{name}.jvp returned a tangent at position {nr}, but the output there is not a "
            "differentiable Tensor: return None at that position"
        )
    if tangent.array.shape != output.array.shape:
        raise RuntimeError(
            f"{name}.jvp returned a tangent of shape {list(tangent.shape)} for output {nr}, which "
            f"has shape {list(output.shape)}"
        )


def _innermost_level(args: tuple[Any, ...]) -> Level | None:
    levels = [arg.level for arg in args if isinstance(arg, Dual) and arg.level.open]
    return max(levels, key=lambda level: level.depth, default=None)


class _DifferentiatedTwice(Node):
    """Stands behind the result of a `once_differentiable` backward."""

    __slots__ = ()

    def __init__(self, edges: tuple[Node | None, ...]) -> None:
        self.edges = edges
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Raise: this is as far as gradients go."""
        del grad, needs
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )

    apply_differentiable: Final = apply


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a `backward` that is not made of recorded ops: differentiating it again is an error."""

    @functools.wraps(backward)
    def run(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        with no_grad():
            returned = backward(ctx, *grads)
        edges = tuple(g.edge for g in grads if g is not None and g.edge is not None)
        if not is_grad_enabled() or not edges:
            return returned
        if isinstance(returned, tuple):
            return tuple(_guarded(item, edges) for item in returned)
        return _guarded(returned, edges)

    return run


def _guarded(result: Any, edges: tuple[Node | None, ...]) -> Any:
    if not isinstance(result, Tensor):
        return result
    guarded = result.detach()
    guarded.edge = _DifferentiatedTwice(edges)
    return guarded
