"""`CompiledFunctionBackward`: the node of what a compiled function returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.run_backward import run_backward
from ..core.modes import enable_grad, is_grad_enabled
from ..core.node import FREED, Node, OutputNode, freed_graph, next_sequence_nr
from ..core.storage import Alias, own_alias
from ..core.tensor import Tensor
from ..func.trees import leaves_of
from ..graph.saved_values import check_writes
from .executable import Executable
from .program import Value

Recompute = Callable[[], Any]
"""Calls the function itself, on the same arguments."""


class CompiledFunctionBackward(Node):
    """The node of all results of one call: runs the backward program on what the call saved."""

    __slots__ = (
        "_again",
        "_executable",
        "_inputs",
        "_versions",
        "has_several_outputs",
        "output_count",
        "saved_values",
    )

    def __init__(
        self, executable: Executable, inputs: Sequence[Tensor], again: Recompute | None
    ) -> None:
        trace = executable.trace
        self._executable = executable
        self._inputs = [inputs[nr] for nr in trace.leaves]
        self._again = again
        self.next_nodes = tuple(tensor.grad_node for tensor in self._inputs)
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self.output_count = len(trace.differentiable)
        self.has_several_outputs = self.output_count > 1
        self.saved_values: Any = ()
        self._versions: list[tuple[Any, Alias, int, str]] = []

    def attach(self, results: Sequence[Tensor]) -> None:
        """Make results outputs of this node."""
        places = self._executable.trace.differentiable
        for nr, place in enumerate(places):
            results[place].grad_node = OutputNode(self, nr) if self.has_several_outputs else self

    def watch(self, tensor: Tensor, what: str) -> None:
        """Refuse to run once memory of a saved value was written to."""
        alias = own_alias(tensor)
        self._versions.append((tensor.array, alias, alias.version, what))

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Run the backward program of the results that have a cotangent."""
        self._check()
        arrived = grad if self.has_several_outputs else [grad]
        present = [nr for nr, each in enumerate(arrived) if each is not None]
        trace = self._executable.trace
        roots = tuple(trace.differentiable[nr] for nr in present)
        found = self._executable.gradients_of(roots)
        if found is None or found.run is None:
            grads = self._recomputed(arrived, create_graph=False)
            return tuple(None if g is None else g.array for g in grads)
        saved = self.saved_values
        forms = zip(present, found.cotangents, strict=True)
        cotangents = [_laid_out(arrived[nr], form) for nr, form in forms]
        answers = found.run(*[saved[nr] for nr in found.saved], *cotangents)
        out: list[Any] = [None] * len(self.next_nodes)
        for place, answer in zip(found.places, answers, strict=True):
            if needs[place]:
                out[place] = answer
        return tuple(out)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Call the function again, recorded, and go back through its ops.

        That is recorded only if the pass is: cotangents of `vmap` are tensors in any pass.
        """
        self._check()
        arrived = grad if self.has_several_outputs else [grad]
        return tuple(self._recomputed(arrived, create_graph=is_grad_enabled()))

    def _recomputed(self, cotangents: Sequence[Any], create_graph: bool) -> Sequence[Any]:
        if self._again is None:
            raise RuntimeError(
                "CompiledFunctionBackward: the function writes to its inputs or draws random "
                "numbers, so that it cannot be called again to be differentiated twice, or by an "
                "unusual choice of its results: compile a function that does neither"
            )
        with enable_grad():
            results = _distinct(self._again(), self._inputs)
        chosen = [
            (results[place], cotangents[nr])
            for nr, place in enumerate(self._executable.trace.differentiable)
            if cotangents[nr] is not None
        ]
        grads = [c if isinstance(c, Tensor) else _tensor(c) for _, c in chosen]
        with enable_grad():
            return run_backward(
                [result for result, _ in chosen],
                grads,
                keep_graph=create_graph,
                create_graph=create_graph,
                inputs=self._inputs,
                allow_unreachable=True,
            )

    def _check(self) -> None:
        if self.saved_values is FREED:
            raise freed_graph()
        for array, alias, version, what in self._versions:
            check_writes(self, what, array, None, alias.version, version)

    def release(self) -> None:
        """Let go of what the call saved."""
        self.saved_values = FREED
        self._versions = []


def _tensor(array: Any) -> Tensor:
    from ..core.tensor import wrap

    return wrap(array)


def _laid_out(cotangent: Any, like: Value) -> Any:
    """Return a cotangent in the layout that the program was captured with, which is dense."""
    cotangent = np.asarray(cotangent)  # the engine adds up numbers to NumPy's scalars
    if cotangent.strides == like.strides and cotangent.dtype == like.dtype:
        return cotangent
    order = sorted(range(cotangent.ndim), key=lambda dim: -like.strides[dim])
    turned = np.ascontiguousarray(cotangent.transpose(order), like.dtype)
    turned = turned.reshape([cotangent.shape[dim] for dim in order])
    return turned.transpose(np.argsort(order)) if order else turned


def _distinct(returned: Any, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The tensors that a function returned, each once, without those that it was given."""
    known = {id(tensor) for tensor in inputs}
    found: dict[int, Tensor] = {}
    for leaf in leaves_of(returned):
        if isinstance(leaf, Tensor) and id(leaf) not in known:
            found.setdefault(id(leaf), leaf)
    return list(found.values())
