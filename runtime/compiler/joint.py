"""The joint program of a call: the function forward, and the engine backward, on one tape."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..autograd.run_backward import run_backward
from ..core.modes import enable_grad
from ..core.node import Node
from ..core.tensor import Tensor, wrap
from ..func.trees import StandIn, leaves_of, map_leaves
from ..graph.anomaly import set_detect_anomaly
from .capture import Lent, Resize, lending, recording
from .errors import CaptureError, refusal
from .light import blank
from .partition import root_of
from .program import Program, Value
from .recorder import Recorder
from .sources import Sources
from .tape import Tape


@dataclass(frozen=True)
class Result(StandIn):
    """Placeholder of a tensor in the structure that a function returns."""

    number: int
    """Its position among the distinct tensors that are returned."""


@dataclass(frozen=True)
class Given(StandIn):
    """Placeholder of a tensor that the function returns as it got it."""

    number: int
    """Its position among the tensors that are inputs."""


@dataclass(frozen=True)
class Detached(StandIn):
    """Placeholder of a tensor that is `detach()` of one that the function got."""

    number: int
    """The position of that one among the tensors that are inputs."""


@dataclass
class Backward:
    """The gradients for one choice of the results that get a cotangent."""

    roots: tuple[int, ...]
    """The positions of these results."""
    cotangents: tuple[Value, ...]
    grads: tuple[Value | None, ...]
    """For each input tensor that requires grad."""


@dataclass
class Trace:
    """A program, and what its inputs and outputs are."""

    inputs: tuple[Value, ...]
    program: Program
    """Without cotangents among its inputs; the results, then new gradients, are its outputs."""
    structure: Any
    """Structure that the function returns; `Result`, `Given` and `Detached` stand for tensors."""
    result_count: int
    differentiable: tuple[int, ...]
    """The results that require grad."""
    is_freed: bool
    """True if the function itself ran their backward pass, and saved nothing for another."""
    leaves: tuple[int, ...]
    """The inputs that require grad."""
    backwards: list[Backward]
    new_grads: tuple[tuple[int, int], ...]
    """Tensors whose `grad` is another tensor afterwards, each with its position in the outputs."""
    cleared_grads: tuple[int, ...]
    """Tensors whose `grad` is None afterwards."""
    read_grads: tuple[int, ...]
    """Tensors whose `grad` is an input, in order, after all others."""
    unread_grads: frozenset[int]
    """Tensors of which it does not matter whether they have a `grad`, and which."""


MAX_PATTERNS = 4
"""Results up to which the gradient of each alone has a program of its own."""


def as_it_is(array: Any) -> Any:
    """Return an array as it is, which is what captures of one size run on."""
    return array


def trace(
    call: Callable[[Sequence[Any]], Any],
    tensors: Sequence[Tensor],
    arrays: Sequence[Any],
    resized: Resize = as_it_is,
) -> Trace:
    """Call a function on recorders and return its joint program.

    `call` gets recorders for `arrays`; it reads `tensors` itself. The inputs of the program are
    these tensors, then the arrays, then the gradients that tensors have, all `resized`.

    Most training steps clear the gradients before they use them. So that one program does for the
    first step and the others, leaves without a gradient get one, unless that makes a difference.
    """
    lacking = {nr for nr, tensor in enumerate(tensors) if _lacks_grad(tensor)}
    if lacking and resized is as_it_is:
        try:
            found = _trace(call, tensors, arrays, resized, lacking)
        except Exception:  # of the way that the function takes with gradients
            return _trace(call, tensors, arrays, resized)
        if lacking <= found.unread_grads:
            return found
    return _trace(call, tensors, arrays, resized)


def _trace(
    call: Callable[[Sequence[Any]], Any],
    tensors: Sequence[Tensor],
    arrays: Sequence[Any],
    resized: Resize,
    lacking: Collection[int] = (),
) -> Trace:
    """Trace a call; the tensors at the positions `lacking` are lent a gradient.

    A first attempt computes no large arrays. Where a kernel cannot go on with zeros in place of
    them, as there is no factor of a matrix of zeros, a second one computes everything.
    """
    try:
        with np.errstate(all="ignore"):
            return _trace_on(Tape(is_light=True), call, tensors, arrays, resized, lacking)
    except CaptureError:
        raise
    except Exception:
        return _trace_on(Tape(), call, tensors, arrays, resized, lacking)


def _trace_on(
    tape: Tape,
    call: Callable[[Sequence[Any]], Any],
    tensors: Sequence[Tensor],
    arrays: Sequence[Any],
    resized: Resize,
    lacking: Collection[int],
) -> Trace:
    known = {id(t) for t in tensors}
    with set_detect_anomaly(False), recording(tape), lending(tensors, tape, resized) as lent:
        given = [tape.input(resized(array)) for array in arrays]
        for nr in lacking:
            tensors[nr]._grad = wrap(blank(_plain(tensors[nr].array)))
        found = [getattr(t, "_grad", None) for t in tensors]
        grads = [grad for grad in found if grad is not None and id(grad) not in known]
        with lending(grads, tape, resized), _asked_for() as asked:
            returned = call(given)
            return _traced(tape, lent, returned, found, asked)


def _lacks_grad(tensor: Tensor) -> bool:
    node = tensor.grad_node
    return node is not None and node.is_leaf and getattr(tensor, "_grad", None) is None


@contextmanager
def _asked_for() -> Iterator[set[int]]:
    """Collect the ids of what the attribute `grad` answers."""
    asked: set[int] = set()
    known: Any = vars(Tensor)["grad"]

    def grad(self: Tensor) -> Any:
        found = known.fget(self)
        asked.add(id(found))
        return found

    Tensor.grad = property(grad, known.fset, known.fdel)  # type: ignore[assignment]
    try:
        yield asked
    finally:
        Tensor.grad = known  # type: ignore[method-assign]


def _traced(
    tape: Tape, lent: list[Lent], returned: Any, before: list[Any], asked: set[int]
) -> Trace:
    tensors = [each.tensor for each in lent]
    _check_histories(tensors)
    results, structure = _structure(returned, lent)
    _check_results(results)
    leaves = tuple(nr for nr, each in enumerate(lent) if each.tensor.grad_node is not None)
    differentiable = tuple(nr for nr, t in enumerate(results) if t.grad_node is not None)
    new_grads, cleared = _changed_grads(tensors, before)
    places = {id(result): at for at, result in enumerate(results)}
    outputs = [result.array for result in results]
    for _, grad in new_grads:
        if id(grad) not in places:
            places[id(grad)] = len(outputs)
            outputs.append(grad.array)
    inputs = tuple(value for value, _ in tape.inputs)
    program = tape.program(outputs)
    backwards, is_freed = _backwards(tape, lent, results, differentiable, leaves)
    joint = tape.program(outputs)  # with the steps of the backward pass
    program = Program(inputs, joint.constants, joint.steps, program.outputs, program.writes)
    known = {id(tensor) for tensor in tensors}
    with_grad = [nr for nr, g in enumerate(before) if g is not None and id(g) not in known]
    first = len(inputs) - len(with_grad)
    needed = _needed(program, backwards)
    read = [(nr, v) for nr, v in zip(with_grad, inputs[first:], strict=True) if v in needed]
    inputs = (*inputs[:first], *(value for _, value in read))
    read_grads = tuple(nr for nr, _ in read)
    return Trace(
        inputs,
        program,
        structure,
        len(results),
        differentiable,
        is_freed,
        leaves,
        backwards,
        tuple((nr, places[id(grad)]) for nr, grad in new_grads),
        cleared,
        read_grads,
        frozenset(nr for nr in with_grad if id(before[nr]) not in asked) - set(read_grads),
    )


def _check_histories(tensors: Sequence[Tensor]) -> None:
    """Refuse writes that are to be differentiated: an input gets values, but no history."""
    for tensor in tensors:
        if tensor.grad_node is not None and not tensor.grad_node.is_leaf:
            raise refusal(
                f"a tensor of shape {list(tensor.array.shape)} that is an argument, or comes from "
                f"outside, is written to by {tensor.grad_node.name()}, the gradient of which "
                "would be lost",
                "Return the new tensor instead, or write under gs.no_grad()",
            )


def _check_results(results: Sequence[Tensor]) -> None:
    """Refuse leaves: a program makes arrays, and nodes of what it computes."""
    for tensor in results:
        if tensor.grad_node is not None and tensor.grad_node.is_leaf:
            raise refusal(
                "a leaf that requires a gradient is made in the function and returned",
                "Call requires_grad_() on the result, outside",
            )


def _needed(program: Program, backwards: Sequence[Backward]) -> set[Value]:
    """The values that steps read, that are written to, or that results lie on."""
    found = {value for step in program.steps for value in step.inputs}
    found.update(value for value, _ in program.writes)
    grads = (grad for backward in backwards for grad in backward.grads if grad is not None)
    results = (*program.outputs, *(new for _, new in program.writes), *grads)
    return found | {root_of(value) for value in results}


def _structure(returned: Any, lent: Sequence[Lent]) -> tuple[list[Tensor], Any]:
    """Return the tensors that a function returns, each once, and the structure around them."""
    results: list[Tensor] = []
    numbers: dict[int, Any] = {id(each.tensor): Given(nr) for nr, each in enumerate(lent)}
    aliases = {id(each.tensor.alias): nr for nr, each in enumerate(lent) if each.tensor.alias}

    def place(leaf: Any) -> Any:
        if isinstance(leaf, Recorder):
            leaf = wrap(leaf)
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) not in numbers:
            nr = aliases.get(id(leaf.alias))
            if nr is not None and leaf.grad_node is None and leaf.array is lent[nr].tensor.array:
                numbers[id(leaf)] = Detached(nr)
            else:
                numbers[id(leaf)] = Result(len(results))
                results.append(leaf)
        return numbers[id(leaf)]

    return results, map_leaves(place, returned)


def _changed_grads(
    tensors: Sequence[Tensor], before: Sequence[Any]
) -> tuple[list[tuple[int, Tensor]], tuple[int, ...]]:
    new: list[tuple[int, Tensor]] = []
    cleared: list[int] = []
    for nr, (tensor, grad) in enumerate(zip(tensors, before, strict=True)):
        after = getattr(tensor, "_grad", None)
        if after is grad:
            continue
        if after is None:
            cleared.append(nr)
        else:
            new.append((nr, after))
    return new, tuple(cleared)


def _backwards(
    tape: Tape,
    lent: list[Lent],
    results: Sequence[Tensor],
    differentiable: tuple[int, ...],
    leaves: tuple[int, ...],
) -> tuple[list[Backward], bool]:
    """Run the engine on recorders: for all results together, and for each one alone."""
    if not differentiable or not leaves:
        return [], False
    patterns = [differentiable]
    if 1 < len(differentiable) <= MAX_PATTERNS:
        patterns += [(nr,) for nr in differentiable]
    nodes = [lent[nr].tensor.grad_node for nr in leaves]
    hooks = [node.hooks for node in nodes if node is not None]
    found: list[Backward] = []
    _set_hooks(nodes, [None] * len(nodes))
    try:
        cotangents = {
            nr: tape.input(np.ones_like(_plain(results[nr].array))) for nr in differentiable
        }
        for roots in patterns:
            with enable_grad():
                grads = run_backward(
                    [results[nr] for nr in roots],
                    [wrap(cotangents[nr]) for nr in roots],
                    keep_graph=True,
                    create_graph=False,
                    inputs=[lent[nr].tensor for nr in leaves],
                    allow_unreachable=True,
                )
            values = [None if grad is None else tape.value_of(grad.array) for grad in grads]
            given = tuple(tape.value_of(cotangents[nr]) for nr in roots)
            found.append(Backward(roots, given, tuple(values)))
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        return [], True
    finally:
        _set_hooks(nodes, hooks)
    return found, False


def _set_hooks(nodes: Sequence[Node | None], hooks: Sequence[Any]) -> None:
    for node, kept in zip((n for n in nodes if n is not None), hooks, strict=False):
        node.hooks = kept


def _plain(array: Any) -> Any:
    return array.plain() if isinstance(array, Recorder) else array


def check_result(returned: Any, sources: Sources) -> None:
    """Refuse results that a program cannot make."""
    for leaf in leaves_of(returned):
        if isinstance(leaf, np.ndarray) and not isinstance(leaf, Recorder):
            raise refusal(
                "an array is returned that the program does not compute", "Return a tensor"
            )
        is_known = isinstance(leaf, Tensor | np.ndarray) or sources.knows(leaf)
        if not is_known and _holds_tensors(leaf, set()):
            raise refusal(
                f"an object of type {type(leaf).__name__} is returned, which may hold tensors, and "
                "which a program does not make anew",
                "Return the tensors, in tuples, lists, dicts or dataclasses, and make it outside",
            )


def _holds_tensors(value: Any, seen: set[int]) -> bool:
    """Return whether tensors can be reached from an object that the function has made."""
    if id(value) in seen or isinstance(value, type | types.ModuleType):
        return False
    seen.add(id(value))
    if isinstance(value, Tensor | np.ndarray | Iterator):
        return True
    return any(_holds_tensors(part, seen) for part in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, types.FunctionType):
        defaults = value.__defaults__ or ()
        return [*(cell.cell_contents for cell in value.__closure__ or ()), *defaults]
    if isinstance(value, types.MethodType):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    return list(getattr(value, "__dict__", {}).values())
