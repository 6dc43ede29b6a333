"""The backward graph as plain data, ready to be drawn, on request with the forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from ..core.accumulate_grad import AccumulateGrad
from ..core.node import Node, OutputNode
from ..core.tensor import Tensor
from ..dispatch.registry import BY_NAME

Named: TypeAlias = Mapping[str, Tensor] | Iterable[tuple[str, Tensor]]
"""Names for leaves: a dictionary, or the pairs of `Module.named_parameters()`."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """Vertex to draw; `kind` is `output`, `result`, `op`, `accumulate`, `leaf` or `stop`."""

    key: str
    kind: str
    lines: tuple[str, ...]
    tooltip: str


@dataclass(frozen=True, slots=True)
class Link:
    """Arrow in the direction in which gradients flow, or, if `forward`, values."""

    source: str
    target: str
    label: str = ""
    tooltip: str = ""
    kind: str = "flow"
    """`flow`; `store`, from an `AccumulateGrad` to its leaf; `stop`, where no gradient goes;
    `forward`, from an input of an op to its result."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All vertices and links, outputs first."""

    vertices: tuple[Vertex, ...]
    links: tuple[Link, ...]


def trace(
    outputs: Iterable[Tensor],
    params: Named | None = None,
    *,
    forward: bool = False,
    notes: Mapping[Node, Sequence[str]] = MappingProxyType({}),
) -> Trace:
    """Walk from `outputs` along `grad_fn` and `next_functions` to the leaves.

    With `forward` the trace has the results of ops, too, and the links of the forward pass. `notes`
    are lines below the names of nodes.
    """
    tracer = _Tracer(leaf_names(params), forward, notes)
    for number, output in enumerate(outputs):
        tracer.add_output(output, number)
    tracer.follow()
    if forward:
        tracer.add_forward_links()
    return Trace(tuple(tracer.vertices), tuple(tracer.links))


def leaf_names(params: Named | None) -> dict[Node | None, str]:
    """Return names by vertex; a tensor without a vertex is not in the graph."""
    pairs = params.items() if isinstance(params, Mapping) else params or ()
    return {tensor.grad_node: name for name, tensor in pairs if tensor.grad_node is not None}


def shape_text(tensor: Tensor) -> str:
    """Write a shape as `32 × 10`, or as `scalar`."""
    return " × ".join(map(str, tensor.shape)) or "scalar"


class _Tracer:
    """Collector of vertices and links while the graph is walked."""

    def __init__(
        self, names: dict[Node | None, str], forward: bool, notes: Mapping[Node, Sequence[str]]
    ) -> None:
        self.notes = notes
        self.vertices: list[Vertex] = []
        self.links: list[Link] = []
        self.names = names
        self.names_of_results = {
            (grad_node.node, grad_node.output_nr)
            if isinstance(grad_node, OutputNode)
            else (grad_node, 0): name
            for grad_node, name in names.items()
        }
        self.forward = forward
        self.results: dict[Node, dict[int, str]] = {}
        """The vertices of the results of a node, by the number of the output."""
        self.inputs: list[tuple[str, Node]] = []
        """The vertices of tensors, each with a node whose op took it."""
        self.keys: dict[Node, str] = {}
        self.pending: list[Node] = []

    def add_output(self, output: Tensor, number: int) -> None:
        key = f"out{number}"
        name = self.names.get(output.grad_node, "output")
        tooltip = f"{name}: {output.dtype} {shape_text(output)}"
        self.vertices.append(Vertex(key, "output", (name, shape_text(output)), tooltip))
        start = output.grad_fn or output.grad_node
        if start is not None:
            tooltip = "where the backward pass starts"
            self.links.append(Link(key, self.key(start), tooltip=tooltip))
            self.results.setdefault(start, {})[output.output_nr] = key

    def follow(self) -> None:
        """Visit everything below the known vertices."""
        while self.pending:
            node = self.pending.pop()
            if isinstance(node, AccumulateGrad):
                self.add_leaf(node)
            else:
                self.add_op(node)

    def key(self, node: Node) -> str:
        """Return the key of a vertex; a new one will be visited."""
        if node not in self.keys:
            self.keys[node] = f"n{len(self.keys)}"
            self.pending.append(node)
        return self.keys[node]

    def add_leaf(self, node: AccumulateGrad) -> None:
        leaf, key, name = node.variable, self.keys[node], self.names.get(node, "leaf")
        lines = ("AccumulateGrad", *self.notes.get(node, ()))
        self.vertices.append(Vertex(key, "accumulate", lines, f"adds to {name}.grad"))
        tooltip = f"{name}: {leaf.dtype} {shape_text(leaf)}, requires_grad=True"
        self.vertices.append(Vertex(f"{key}_leaf", "leaf", (name, shape_text(leaf)), tooltip))
        tooltip = f"stored in {name}.grad"
        self.links.append(Link(key, f"{key}_leaf", tooltip=tooltip, kind="store"))

    def add_op(self, node: Node) -> None:
        key = self.keys[node]
        tooltip = f"gradient of {node.op or 'a custom function'}, #{node.sequence_nr}"
        lines = (node.name(), *self.notes.get(node, ()))
        self.vertices.append(Vertex(key, "op", lines, tooltip))
        arguments = _tensor_arguments(node)
        if len(arguments) != len(node.next_nodes):  # an argument without gradient, or a list
            arguments = [f"input {i}" for i in range(len(node.next_nodes))]
        for (child, output_nr), argument in zip(node.next_functions, arguments, strict=True):
            if child is None:
                self.inputs.append((self.add_stop(key, argument), node))
                continue
            label = f"output {output_nr}" if output_nr else ""
            tooltip = f"gradient with respect to {argument}"
            target = self.key(child)
            if isinstance(child, AccumulateGrad):
                self.inputs.append((f"{target}_leaf", node))
            elif self.forward:
                target = self.result(child, output_nr)
                self.inputs.append((target, node))
            self.links.append(Link(key, target, label, tooltip))

    def add_stop(self, key: str, argument: str) -> str:
        stop = f"{key}_stop{len(self.vertices)}"
        self.vertices.append(Vertex(stop, "stop", (argument,), f"{argument} needs no gradient"))
        self.links.append(Link(key, stop, tooltip="no gradient is computed", kind="stop"))
        return stop

    def result(self, node: Node, output_nr: int) -> str:
        """Return the vertex of one result of an op, through which the gradient reaches its node."""
        results = self.results.setdefault(node, {})
        if output_nr not in results:
            key = self.keys[node]
            results[output_nr] = made = f"{key}_result{output_nr}"
            name = self.names_of_results.get((node, output_nr), "")
            op = _op_name(node)
            self.vertices.append(Vertex(made, "result", (name or op,), op))
            self.links.append(Link(made, key, tooltip="its gradient is complete"))
        return results[output_nr]

    def add_forward_links(self) -> None:
        """Link each input of an op to each of its results."""
        said = {vertex.key for vertex in self.vertices if vertex.lines == (vertex.tooltip,)}
        for source, node in self.inputs:
            name = _op_name(node)
            for target in self.results.get(node, {}).values():
                label = "" if target in said else name
                self.links.append(Link(source, target, label, f"forward: {name}", "forward"))


def _op_name(node: Node) -> str:
    """Name an op: `add` for the node of `add.Tensor`, `MySquare` for that of a custom function."""
    return node.op.partition(".")[0].lstrip("_") or node.name().partition("Backward")[0]


def _tensor_arguments(node: Node) -> list[str]:
    op = BY_NAME.get(node.op)
    params = () if op is None else op.params
    return [param.name for param in params if param.type in ("Tensor", "Tensor?")]
