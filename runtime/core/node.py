"""The backward graph: what an op leaves behind so that its gradient can be computed.

A node of the graph is a `Node`. An edge is simply a reference to the node that the gradient
goes to next: the node of the op that made the tensor (`OutputNode` in between where that op has
several differentiable outputs), or the `AccumulateGrad` of a leaf. A tensor holds its own node
in `Tensor.grad_node`, so recording an op costs one tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakSet, ref

from numpy.lib.mixins import NDArrayOperatorsMixin

from .hooks import Hooks, RemovableHandle

if TYPE_CHECKING:
    from ..graph.node_methods import NodeMethods
else:
    NodeMethods = object

next_sequence_nr: Final[Callable[[], int]] = count().__next__
"""Numbers nodes in the order of the forward pass, process-wide.

Every edge leads from a larger number to a smaller one, so going through nodes by falling number
visits each after all that depend on it, and the most recent op first, as PyTorch does.
"""


def saves(
    *,
    tensors: str = "",
    results: str = "",
    computed: str = "",
    options: str = "",
    shapes: str = "",
    several_outputs: bool = False,
    lists: bool = False,
) -> dict[str, str]:
    """Declare what nodes of a class save, by names of the table: their slots, and what each holds.

    - `saved_<name>`: a tensor or a tuple of them, and in `version_<name>` its version at that time
    - `saved_<name>`: a result of the op, as an array, because the tensor would hold the node
    - `computed_<name>`: an array that was computed on the way, and can be once more
    - `options`: a tuple of everything that is no tensor
    - `shape_<name>`: the shape and dtype to which a gradient must be brought, False if it fits
    - `output_shapes`, `output_count`: of a node with several outputs
    - `input_counts`: how many inputs each argument is, where one of several is a list
    """
    fields: dict[str, str] = {}
    for name in tensors.split():
        fields |= {f"saved_{name}": "tensor", f"version_{name}": "version"}
    fields |= {f"saved_{name}": "result" for name in results.split()}
    fields |= {f"computed_{name}": "computed" for name in computed.split()}
    fields |= {"options": options} if options else {}
    fields |= {f"shape_{name}": "shape" for name in shapes.split()}
    fields |= {"output_shapes": "shape", "output_count": ""} if several_outputs else {}
    return fields | ({"input_counts": ""} if lists else {})


renumbered: Final[WeakSet[Node]] = WeakSet()
"""The nodes whose number was set by hand: edges at them may lead to larger numbers."""


class Node(NodeMethods):
    """One recorded op.

    Generated subclasses keep what their gradient needs in slots and define

    - `apply(grad, needs)`: the VJP on NumPy arrays, and
    - `apply_differentiable(grad, needs)`: the same formula on tensors, for `create_graph=True`.

    Calling a node and reading what it saved are installed from `graph.node_methods`.

    `needs[i]` is falsy where the gradient of input `i` is not needed; the answer is a tuple
    with one entry per input, None where there is no gradient.
    """

    __slots__ = ("__weakref__", "hooks", "next_nodes", "sequence_nr")

    saved_fields: ClassVar[Mapping[str, str]] = {}
    """The slots of a generated class, and what each holds: see `saves`."""

    saved_slots: ClassVar[tuple[str, ...]] = ()
    """Those of them that hold tensors and results, which hooks may replace."""

    held_slots: ClassVar[tuple[str, ...]] = ()
    """Those and the computed ones: what memory is held by until the graph is freed."""

    op: ClassVar[str] = ""
    """The entry of the table that the node was generated from."""
    has_several_outputs: bool = False
    """True if `apply` takes a list with the gradient of each of `output_count` outputs."""

    output_nrs: ClassVar[tuple[tuple[str, int | None], ...]] = ()
    """Slots and the output each keeps, for an op with several; None for one without gradient."""

    is_ordinary: ClassVar[bool] = True
    """True if all that `apply` does is to compute: a custom function may look at leaves."""

    is_leaf: ClassVar[bool] = False
    """True if this is the node of a leaf (`AccumulateGrad`)."""

    runs_without_grad: ClassVar[bool] = False
    """True if `apply` is called even where no gradient arrives, with None."""

    bypasses_queue: ClassVar[bool] = False
    """True if the node waits for no other, but runs as soon as its gradient is complete."""

    next_nodes: tuple[Node | None, ...]
    hooks: Hooks | None
    sequence_nr: int
    output_count: int

    if TYPE_CHECKING:

        def __getattr__(self, slot: str) -> Any:
            """Any of the slots of a generated class."""

        def __setattr__(self, slot: str, value: Any) -> None:
            """Any of the slots of a generated class."""

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on arrays."""
        raise NotImplementedError(f"{self.name()} has no gradient on arrays")

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on tensors, itself recorded."""
        raise NotImplementedError(f"{self.name()} is not differentiable twice")

    def release(self) -> None:
        """Let go of saved arrays; a node that saves none can run again, as in PyTorch."""
        for slot in self.held_slots:
            setattr(self, slot, FREED)

    def name(self) -> str:
        """The name of the node, e.g. `MulBackward0`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """`(node, output number)` of each input; `(None, 0)` where no gradient flows."""
        return tuple(
            (None, 0) if grad_node is None else place_of(grad_node) for grad_node in self.next_nodes
        )

    def _sequence_nr(self) -> int:
        """The number by which ready nodes are ordered; the greatest there is for a leaf's."""
        return self.sequence_nr

    def _set_sequence_nr(self, sequence_nr: int) -> None:
        """Give the node another number, from 0 on."""
        self.sequence_nr = sequence_nr
        renumbered.add(self)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node ran; it may replace the first."""
        return self._own_hooks().add(self._own_hooks().after_node, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; it may replace them."""
        return self._own_hooks().add(self._own_hooks().before_node, hook)

    @property
    def metadata(self) -> dict[str, Any]:
        """Anything that is to be remembered about this node, by name."""
        return self._own_hooks().metadata

    def _own_hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def tensor_hooks(self) -> Hooks | None:
        """Return the hooks of the tensor that this is the node of, if it has any."""
        return self.hooks

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


class OutputNode(Node):
    """The node of one output of a node that has several differentiable ones."""

    is_ordinary = False
    bypasses_queue = True

    __slots__ = ("node", "output_nr")

    def __init__(self, node: Node, output_nr: int) -> None:
        self.node = node
        self.output_nr = output_nr
        self.next_nodes = (node,)
        self.hooks = None  # for ever: the node has them
        self.sequence_nr = node.sequence_nr

    def _own_hooks(self) -> Hooks:
        return self.node._own_hooks().of_output(self.output_nr)

    def tensor_hooks(self) -> Hooks | None:
        """The hooks of this output."""
        hooks = self.node.hooks
        return None if hooks is None else hooks.outputs.get(self.output_nr)


def place_of(node: Node) -> tuple[Node, int]:
    """The node that a gradient goes to, and of which of its outputs it is the gradient."""
    return (node.node, node.output_nr) if isinstance(node, OutputNode) else (node, 0)


class Gone(Node):
    """The node in place of a node that is gone: no gradient goes on from here."""

    __slots__ = ()

    def __init__(self) -> None:
        self.next_nodes = ()
        self.hooks = None
        self.sequence_nr = 0

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[()]:
        """Return no gradient."""
        return ()

    apply_differentiable = apply


class WeakNode(OutputNode):
    """The node of an output that the node itself keeps, by hooks: it does not hold the node."""

    __slots__ = ("_node",)

    def __init__(self, grad_node: Node) -> None:
        node, self.output_nr = place_of(grad_node)
        self._node = ref(node)
        self.hooks = None
        self.sequence_nr = grad_node.sequence_nr

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node, or what stands for it once it is gone."""
        return self._node() or Gone()

    @property
    def next_nodes(self) -> tuple[Node | None, ...]:  # type: ignore[override]
        """The node, if there still is one."""
        return (self._node(),)


class GraphRoot(Node):
    """The node above the roots of a backward pass that has several: its gradients are theirs."""

    has_several_outputs = True

    __slots__ = ("output_count",)

    def __init__(self, roots: Sequence[Node]) -> None:
        self.next_nodes = tuple(roots)
        self.output_count = len(self.next_nodes)
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Each root gets its cotangent."""
        return tuple(grad)

    apply_differentiable = apply


class Freed(NDArrayOperatorsMixin):
    """Placeholder of a saved value after the graph has been freed; any use of it raises."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise freed_graph()

    def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
        raise freed_graph()

    __array__ = __array_function__ = __array_ufunc__


FREED: Final[Any] = Freed()


def freed_graph() -> RuntimeError:
    """The error of a second backward through a graph that was not retained."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed): the first pass did so. Specify retain_graph=True in "
        "the first .backward() or autograd.grad() if they are needed again."
    )
