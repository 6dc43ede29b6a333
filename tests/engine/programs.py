"""Random programs of tensors, run on this library and on PyTorch side by side.

Every step does the same in both: an op, a view, an in-place op, a hook, a mode, a backward pass.
After each the values, the graph and the gradients must be the same, and so must the exceptions.
Run at length with `python -m tests.engine.programs COUNT [FIRST_SEED]`.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

import gradspec as gs

Step: TypeAlias = tuple[str, Callable[[Any, list[Any]], Any]]
"""What is done, in words, and `do(library, tensors)`, which answers a new tensor or None."""

# Of ops that keep their output here and their input there (tanh, sigmoid), PyTorch refuses other
# writes than this library does: they are left out.
UNARY = ("sin", "cos", "relu", "neg", "square", "abs", "exp", "clone", "detach", "contiguous")
BINARY = ("add", "sub", "mul", "maximum")
UNARY_IN_PLACE = ("sin_", "cos_", "relu_", "neg_", "exp_", "zero_")
BINARY_IN_PLACE = ("add_", "sub_", "mul_", "copy_")
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum()": lambda x: x.sum(),
    "sum(0)": lambda x: x.sum(0),
    "mean()": lambda x: x.mean(),
    "max(0)": lambda x: x.max(0).values,
    "amax(0)": lambda x: x.amax(0),
    "cumsum(0)": lambda x: x.cumsum(0),
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "[0]": lambda x: x[0],
    "[-1]": lambda x: x[-1],
    "[1:]": lambda x: x[1:],
    "[::2]": lambda x: x[::2],
    "[:]": lambda x: x[:],
    "[...]": lambda x: x[...],
    "[None]": lambda x: x[None],
    "[..., 0]": lambda x: x[..., 0],
    "[:, 1:]": lambda x: x[:, 1:],
    "view(-1)": lambda x: x.view(-1),
    "reshape(-1)": lambda x: x.reshape(-1),
    "reshape(3, -1)": lambda x: x.reshape(3, -1),
    "t()": lambda x: x.t(),
    "transpose(0, -1)": lambda x: x.transpose(0, -1),
    "unsqueeze(-1)": lambda x: x.unsqueeze(-1),
    "squeeze()": lambda x: x.squeeze(),
    "expand(2, 2, 3)": lambda x: x.expand(2, 2, 3),
    "unbind()[0]": lambda x: x.unbind()[0],
}


SAME_NODE = {"ReshapeAliasBackward0": "ViewBackward0", "UnsafeViewBackward0": "ViewBackward0"}
"""What PyTorch calls the node of `reshape`, depending on strides and copies."""


def make_step(rng: random.Random, count: int) -> Step:
    """One step on some of `count` tensors."""
    kinds = (
        *(_op, _op, _view, _view, _in_place, _in_place),
        *(_assignment, _mode, _hook, _pass, _change),
    )
    return rng.choice(kinds)(rng, count)


def _op(rng: random.Random, count: int) -> Step:
    i, j = rng.randrange(count), rng.randrange(count)
    kind = rng.random()
    if kind < 0.4:
        name = rng.choice(UNARY)
        return f"x{i}.{name}()", lambda t, x: getattr(x[i], name)()
    if kind < 0.8:
        name = rng.choice(BINARY)
        return f"x{i}.{name}(x{j})", lambda t, x: getattr(t, name)(x[i], x[j])
    name = rng.choice(list(REDUCTIONS))
    return f"x{i}.{name}", lambda t, x: REDUCTIONS[name](x[i])


def _view(rng: random.Random, count: int) -> Step:
    i = rng.randrange(count)
    name = rng.choice(list(VIEWS))
    return f"x{i} viewed by {name}", lambda t, x: VIEWS[name](x[i])


def _in_place(rng: random.Random, count: int) -> Step:
    i, j = rng.randrange(count), rng.randrange(count)
    kind = rng.random()
    if kind < 0.35:
        name = rng.choice(UNARY_IN_PLACE)
        return f"x{i}.{name}()", lambda t, x: _nothing(getattr(x[i], name)())
    if kind < 0.8:
        name = rng.choice(BINARY_IN_PLACE)
        return f"x{i}.{name}(x{j})", lambda t, x: _nothing(getattr(x[i], name)(_source(x[i], x[j])))
    number = rng.choice([0.5, 2.0, -1.0])
    if kind < 0.9:
        return f"x{i}.mul_({number})", lambda t, x: _nothing(x[i].mul_(number))
    return f"x{i}.add_(0).fill_({number})", lambda t, x: _nothing(x[i].add_(0).fill_(number))


def _source(written: Any, read: Any) -> Any:
    """What is read, or a copy if it may lie on a part of what is written and neither looks.

    Both look where elements lie without gaps; elsewhere the result is that of some order.
    """
    one = written if written._base is None else written._base
    other = read if read._base is None else read._base
    shared = one is other and written is not read
    return read.clone() if shared and not (_is_dense(written) and _is_dense(read)) else read


def _is_dense(tensor: Any) -> bool:
    return tensor.is_contiguous() or (tensor.ndim == 2 and tensor.t().is_contiguous())


def _assignment(rng: random.Random, count: int) -> Step:
    i, j = rng.randrange(count), rng.randrange(count)
    word, index = rng.choice(
        [
            ("0", lambda t: 0),
            ("1:", lambda t: slice(1, None)),
            (":", lambda t: slice(None)),
            ("[0, 1]", lambda t: t.tensor([0, 1])),
            ("..., 0", lambda t: (..., 0)),
        ]
    )
    if rng.random() < 0.3:
        return f"x{i}[{word}] = 0.5", lambda t, x: x[i].__setitem__(index(t), 0.5)
    if rng.random() < 0.5:

        def augment(t: Any, x: list[Any]) -> None:
            # What `+=` does, but that the history is asked for before the assignment: PyTorch
            # takes a view for a leaf while nobody has looked at its new history.
            part = x[i][index(t)]
            part += _source(part, x[j])
            _ = x[i].grad_fn
            x[i][index(t)] = part

        return f"x{i}[{word}] += x{j}", augment
    return f"x{i}[{word}] = x{j}", lambda t, x: x[i].__setitem__(index(t), x[j])


def _mode(rng: random.Random, count: int) -> Step:
    words, inner = rng.choice((_op, _view, _in_place))(rng, count)
    name = rng.choice(("no_grad", "no_grad", "enable_grad", "inference_mode"))

    def do(t: Any, x: list[Any]) -> Any:
        with getattr(t, name)():
            return inner(t, x)

    return f"with {name}: {words}", do


def _hook(rng: random.Random, count: int) -> Step:
    i = rng.randrange(count)
    if rng.random() < 0.25:
        return f"x{i}.detach().clone().requires_grad_()", _new_leaf(i)
    words, do = rng.choice(
        [
            ("register_hook", lambda x: x.register_hook(lambda grad: grad * 2)),
            ("node prehook", lambda x: x.grad_fn.register_prehook(lambda g: (g[0] * 3,))),
            ("node hook", lambda x: x.grad_fn.register_hook(lambda into, out: (into[0] * 5,))),
            ("accumulate hook", lambda x: x.register_post_accumulate_grad_hook(_double_grad)),
        ]
    )
    kind = rng.random()
    if kind < 0.3:
        return f"x{i}.retain_grad()", lambda t, x: x[i].retain_grad()
    if kind < 0.5:
        return "the last hook is removed", lambda t, x: x.handles.pop().remove()
    return f"x{i}: {words}", lambda t, x: x.handles.append(do(x[i]))


def _double_grad(leaf: Any) -> None:
    leaf.grad = leaf.grad * 2


def _change(rng: random.Random, count: int) -> Step:
    """What is changed about a tensor other than its elements."""
    i, j = rng.randrange(count), rng.randrange(count)

    def set_data(t: Any, x: list[Any]) -> None:
        # A clone: overlaps of tensors that share memory in this way are not looked for.
        # What a view and its base have in common after that, or a graph and a leaf of another
        # shape, or an inference tensor and a version, is nobody's promise.
        if not x[i]._is_view() and not x[i].is_inference() and x[i].shape == x[j].shape:
            x[i].data = x[j].clone()

    def zero_grad(t: Any, x: list[Any]) -> None:
        x[i].grad = None

    flag = rng.random() < 0.7
    return rng.choice(
        [
            (f"x{i}.detach_()", lambda t, x: _nothing(x[i].detach_())),
            (f"x{i}.requires_grad_({flag})", lambda t, x: _nothing(x[i].requires_grad_(flag))),
            (f"x{i}.data = x{j}.clone()", set_data),
            (f"x{i}.data.mul_(2)", lambda t, x: _nothing(x[i].data.mul_(2))),
            (f"x{i}.grad = None", zero_grad),
        ]
    )


def _new_leaf(i: int) -> Callable[[Any, list[Any]], Any]:
    return lambda t, x: x[i].detach().clone().requires_grad_()


def _pass(rng: random.Random, count: int) -> Step:
    i, j = rng.randrange(count), rng.randrange(count)
    retain, create = rng.random() < 0.6, rng.random() < 0.3
    if rng.random() < 0.4:
        return (
            f"x{i}.sum().backward(retain_graph={retain})",
            lambda t, x: x[i].sum().backward(retain_graph=retain),
        )
    return (
        f"grad(x{i}.sum(), x{j}, retain_graph={retain}, create_graph={create})",
        # A clone: whether the gradient itself is a view is nobody's promise.
        lambda t, x: t.autograd.grad(x[i].sum(), x[j], retain_graph=retain, create_graph=create)[
            0
        ].clone(),
    )


def _nothing(_: Any) -> None:
    """The answer of a step that makes no new tensor."""


class Tensors(list[Any]):
    """The tensors of a program, and the handles of its hooks."""

    def __init__(self, tensors: Iterable[Any]) -> None:
        super().__init__(tensors)
        self.handles: list[Any] = []


def start(library: Any, rng: random.Random) -> Tensors:
    """The tensors that a program begins with."""
    shapes = [(2, 3), (3,), (2, 3), (3, 2)]
    return Tensors(
        library.tensor(_nested(rng, shape), dtype=library.float64, requires_grad=rng.random() < 0.6)
        for shape in shapes
    )


def _nested(rng: random.Random, shape: tuple[int, ...]) -> Any:
    if not shape:
        return round(rng.uniform(-1, 1), 2)
    return [_nested(rng, shape[1:]) for _ in range(shape[0])]


class Difference(AssertionError):
    """The two libraries did not do the same."""


def run_program(torch: Any, seed: int, length: int = 14) -> None:
    """Run one program; Difference with the program's text at the first step that differs."""
    rng = random.Random(seed)
    ours, theirs = start(gs, random.Random(seed)), start(torch, random.Random(seed))
    text: list[str] = []
    for _ in range(length):
        words, do = make_step(rng, len(ours))
        mine, my_error = _attempt(do, gs, ours)
        other, other_error = _attempt(do, torch, theirs)
        text.append(f"x{len(ours)} = {words}" if other is not None else words)
        if my_error is not other_error:
            raise Difference(f"{_shown(seed, text)}\nraised {my_error}, PyTorch {other_error}")
        if (mine is None) is not (other is None):
            raise Difference(f"{_shown(seed, text)}\nanswered {mine}, PyTorch {other}")
        if mine is not None:
            ours.append(mine)
            theirs.append(other)
        if my_error is not None and ("_(" in words or "] " in words):
            return  # where an in-place op fails half-way is nobody's promise
        for position, pair in enumerate(zip(ours, theirs, strict=True)):
            facts, expected = map(_facts, pair)
            if facts != expected:
                raise Difference(
                    f"{_shown(seed, text)}\nx{position} is {facts}, in PyTorch {expected}"
                )


def _attempt(do: Callable[..., Any], library: Any, tensors: list[Any]) -> tuple[Any, Any]:
    try:
        return do(library, tensors), None
    except Exception as error:
        return None, type(error)


def _shown(seed: int, text: list[str]) -> str:
    return "\n".join([f"program {seed}:", *text])


def _facts(tensor: Any) -> dict[str, Any]:
    """What must be the same about a tensor."""
    try:
        node = tensor.grad_fn
    except RuntimeError:
        return {"stale": True}
    values = np.asarray(tensor.detach().tolist())
    grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    return {
        "values": _rounded(values),
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "inference": tensor.is_inference(),
        "version": None if tensor.is_leaf else tensor._version,
        "grad": None if grad is None else _rounded(np.asarray(grad.detach().tolist())),
        "grad_fn": "" if node is None else SAME_NODE.get(name := type(node).__name__, name),
    }


def _rounded(values: Any) -> Any:
    """Values without what rounding errors and the sign of zero make of them."""
    with np.errstate(all="ignore"):
        return np.vectorize(lambda v: f"{v + 0:.5g}", otypes=[str])(values.round(9)).tolist()


def main() -> int:
    """Run many programs and print the first few that differ."""
    import torch

    warnings.simplefilter("ignore")
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = 0
    for seed in range(first, first + count):
        try:
            run_program(torch, seed)
        except Difference as difference:
            found += 1
            if found <= 30:
                print(difference, "\n")
    print(f"{found} of {count} programs differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
