"""`scan`, `fori_loop`, `while_loop`, `cond`: loops and branches as functions of tensors.

`scan` and `fori_loop` have JAX's arguments, the others PyTorch's. All have gradients of every
order, since their bodies are recorded as all else. In a program that is captured a loop is one
step, and so is its backward pass (`loops.py`); `cond` computes both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from ..core.levels import has_open_levels
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..func.trees import leaves_of, map_leaves, with_leaves
from .capture import thread
from .errors import CaptureError, refusal
from .loops import UNROLLED_MAX, UnrollError, recorded, recorded_while
from .recorder import Recorder


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Go through the first dimension of tensors with a state: `state, y = f(state, x)`.

    Parameters
    ----------
    f
        A function of the state and of the row of `xs` at hand, or None if there are no `xs`. It
        returns the next state, of the same structure, and a result: tensors in nested tuples, lists
        and dicts, or None.
    init
        The first state.
    xs
        Tensors in nested tuples, lists and dicts, of one first dimension; None for none.
    length
        The number of rounds, which `xs` tell if there are any.
    reverse
        Whether to begin with the last row; results stay in the order of the rows.

    Returns
    -------
    tuple
        The last state, and the results of all rounds, stacked.

    Raises
    ------
    ValueError
        If the lengths differ, nothing tells the number of rounds, or `f` returns a state of
        another structure, shape or dtype.
    """
    rounds = _rounds(xs, length)
    found = _as_loop("scan", f, init, xs, rounds, reverse)
    return _unrolled("scan", f, init, xs, rounds, reverse) if found is None else found


def _unrolled(
    name: str, f: Callable[[Any, Any], Any], init: Any, xs: Any, rounds: int, reverse: bool
) -> tuple[Any, Any]:
    """Go through the rounds one by one."""
    state = init
    results: list[Any] = []
    for number in reversed(range(rounds)) if reverse else range(rounds):
        row = None if xs is None else map_leaves(itemgetter(number), xs)
        before = state
        state, result = f(state, row)
        _check_state(name, before, state)
        results.append(result)
    if reverse:
        results.reverse()
    return state, _stacked(results)


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Return the last of the states `state = body_fun(number, state)` for `lower` to `upper - 1`.

    `number` is a tensor without dimensions, of dtype int64. ValueError if a state has another
    structure, shape or dtype than the one before.
    """
    numbers = wrap(np.arange(lower, upper, dtype=np.int64))

    def body(state: Any, number: Any) -> tuple[Any, None]:
        return body_fun(number, state), None

    found = _as_loop("fori_loop", body, init_val, numbers, len(numbers), False)
    if found is None:
        found = _unrolled("fori_loop", body, init_val, numbers, len(numbers), False)
    return found[0]


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> tuple[Any, ...]:
    """Repeat `state = body_fn(*state)` while `cond_fn(*state)` is true, and return the last state.

    A state is a tuple; `cond_fn` returns a bool, or a tensor of one element. ValueError if a state
    has another structure, shape or dtype than the one before.
    """
    state = tuple(carried_inputs)
    while True:
        condition = cond_fn(*state)
        if _is_recorded(condition):
            return _recorded_while(cond_fn, body_fn, state, condition)
        if not condition:
            return state
        before = state
        state = tuple(body_fn(*state))
        _check_state("while_loop", before, state)


def _recorded_while(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], init: tuple[Any, ...], first: Tensor
) -> tuple[Any, ...]:
    """Record a loop whose number of rounds depends on data: its condition is a state, the first."""

    def body(states: list[Tensor]) -> list[Tensor]:
        state = tuple(body_fn(*with_leaves(init, states[1:])))
        _check_state("while_loop", init, state)
        return [truth(cond_fn(*state)), *leaves_of(state)]

    def truth(condition: Any) -> Tensor:
        if not isinstance(condition, Tensor):
            raise UnrollError
        return (condition.detach() != 0).reshape(())

    leaves = leaves_of(init)
    tape = thread.tape
    if tape is None or has_open_levels() or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise _unknown_rounds()
    try:
        found = recorded_while(tape, body, [truth(first), *leaves])
    except UnrollError:
        raise _unknown_rounds() from None
    last: tuple[Any, ...] = with_leaves(init, found[1:])
    return last


def _unknown_rounds() -> CaptureError:
    return refusal(
        "the number of rounds of while_loop() depends on the values of tensors, and its state "
        "has parts that are no tensors, requires grad, or is drawn at random",
        "Use gs.fori_loop with the largest number of rounds, and gs.where to keep a state that is "
        "final; or gs.no_grad(), where no gradient is wanted",
    )


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()
) -> Any:
    """Return `true_fn(*operands)` if a bool, or a tensor of one element, is true, else the other.

    A program that is captured computes both and chooses among their results, which then have to be
    alike: ValueError if their structures, shapes or dtypes differ. The side that is not chosen has
    a gradient of zero, so that it must not be infinite there.
    """
    if not _is_recorded(pred):
        return true_fn(*operands) if pred else false_fn(*operands)
    first, second = true_fn(*operands), false_fn(*operands)
    _check_state("cond", first, second)
    chosen = pred.reshape(())
    leaves = zip(leaves_of(first), leaves_of(second), strict=True)
    return with_leaves(first, [ops.where(chosen, a, b) for a, b in leaves])


def _as_loop(
    name: str, f: Callable[[Any, Any], Any], init: Any, xs: Any, rounds: int, reverse: bool
) -> Any:
    """Record a loop as one step of a program; None where there is no capture, or it cannot be.

    What a round cannot do is found out again, and told, when the rounds are recorded one by one.
    """
    tape = thread.tape
    leaves = [*leaves_of(init), *leaves_of(xs)]
    if tape is None or rounds <= UNROLLED_MAX or has_open_levels():
        return None
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        return None
    structures: list[Any] = []

    def body(states: list[Tensor], rows: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        state = with_leaves(init, states)
        new, result = f(state, None if xs is None else with_leaves(xs, rows))
        _check_state(name, init, new)
        structures.append(result)
        return leaves_of(new), leaves_of(result)

    def unrolled() -> tuple[list[Tensor], list[Tensor]]:
        state, results = _unrolled(name, f, init, xs, rounds, reverse)
        return leaves_of(state), leaves_of(results)

    try:
        last, results = recorded(
            tape, body, leaves_of(init), leaves_of(xs), rounds, reverse, unrolled
        )
    except (UnrollError, CaptureError):
        return None
    return with_leaves(init, last), with_leaves(structures[-1], results)


def _is_recorded(value: Any) -> bool:
    return isinstance(value, Tensor) and isinstance(value.array, Recorder)


def _rounds(xs: Any, length: int | None) -> int:
    lengths = {len(leaf) for leaf in leaves_of(xs)} | (set() if length is None else {length})
    if len(lengths) != 1:
        raise ValueError(
            f"scan(): the first dimensions of xs, and length, must be one number, not "
            f"{sorted(lengths) or 'none at all'}"
        )
    return lengths.pop()


def _check_state(name: str, before: Any, after: Any) -> None:
    """Raise ValueError unless two structures of tensors are alike."""
    forms = [[_form(leaf) for leaf in leaves_of(each)] for each in (before, after)]
    is_same = map_leaves(lambda leaf: 0, before) == map_leaves(lambda leaf: 0, after)
    if forms[0] != forms[1] or not is_same:
        raise ValueError(f"{name}(): expected a result like {forms[0]}, but got {forms[1]}")


def _form(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        return f"{leaf.dtype}{list(leaf.shape)}"
    return type(leaf).__name__


def _stacked(results: list[Any]) -> Any:
    """Return the results of all rounds in one structure of stacked tensors."""
    if not results or not leaves_of(results[0]):
        return results[0] if results else None
    rows = [leaves_of(result) for result in results]
    return with_leaves(results[0], [ops.stack(list(each)) for each in zip(*rows, strict=True)])
