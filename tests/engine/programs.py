"""Random programs of tensors, run on this library and on PyTorch side by side.

Every step does the same in both: an op, a view, an in-place op, a hook, a mode, a backward pass.
After each the values, the graph and the gradients must be the same, and so must the exceptions.
Run at length with `python -m tests.engine.programs COUNT [FIRST_SEED]`.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
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
    kinds = (_op, _op, _view, _view, _in_place, _in_place, _assignment, _mode, _hook, _pass)
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
        return f"x{i}.{name}(x{j})", lambda t, x: _nothing(getattr(x[i], name)(x[j]))
    number = rng.choice([0.5, 2.0, -1.0])
    if kind < 0.9:
        return f"x{i}.mul_({number})", lambda t, x: _nothing(x[i].mul_(number))
    return f"x{i}.add_(0).fill_({number})", lambda t, x: _nothing(x[i].add_(0).fill_(number))


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
            x[i][index(t)] += x[j]

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
            ("retain_grad", lambda x: x.retain_grad()),
            ("node hook", lambda x: x.grad_fn.register_prehook(lambda g: (g[0] * 3,))),
        ]
    )
    return f"x{i}: {words}", lambda t, x: _nothing(do(x[i]))


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


def start(library: Any, rng: random.Random) -> list[Any]:
    """The tensors that a program begins with."""
    shapes = [(2, 3), (3,), (2, 3), (3, 2)]
    return [
        library.tensor(_nested(rng, shape), dtype=library.float64, requires_grad=rng.random() < 0.6)
        for shape in shapes
    ]


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
