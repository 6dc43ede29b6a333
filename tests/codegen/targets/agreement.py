"""Values and derivatives of an op as gradspec computes them, to compare frameworks with.

The cotangents, the tangents and the weights of second derivatives are numbers drawn once for a
case, so every library answers the same questions.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gradspec as gs
from gradspec.core.tensor import Tensor, wrap
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.render.context import function_name
from gradspec_codegen.render.resolve import Resolver
from gradspec_codegen.spec.model import OpSpec, Table
from tests.ops.cases import Arguments, Case, _is_complex, _is_of_symmetric_matrices, variables

TOLERANCE = 1e-9


@dataclass
class Answers:
    """All that is asked of one call. Nothing stands for a derivative that is not there."""

    values: list[Any]
    gradients: list[Any] = field(default_factory=list)
    tangents: list[Any] = field(default_factory=list)
    second: list[Any] = field(default_factory=list)


def cases_of(op: OpSpec) -> Iterator[Case]:
    """The examples of the proof of an op, on real numbers."""
    for number, example in enumerate(examples_of(op)):
        if not _is_complex(op, example):
            yield Case(op, example, number)


def numbers_like(array: Any, word: str) -> Any:
    """Numbers for each element of an array, drawn by a word and its shape."""
    rng = np.random.default_rng(zlib.crc32(f"{word} {array.shape}".encode()))
    return np.asarray(rng.uniform(0.5, 1.5, array.shape) * rng.choice([-1.0, 1.0], array.shape))


def is_float(array: Any) -> bool:
    return np.asarray(array).dtype.kind == "f"


def differentiable(op: OpSpec, values: list[Any]) -> list[int]:
    """The positions of outputs that have a gradient."""
    if op.composite is not None or op.signature.outputs[0].type.is_list:
        return [i for i, value in enumerate(values) if is_float(value)]
    names = {output.name for output in op.differentiable_outputs}
    outputs = op.signature.outputs
    return [i for i, v in enumerate(values) if is_float(v) and outputs[i].name in names]


def positional(op: OpSpec, arguments: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call of the function of an op."""
    if _is_of_symmetric_matrices(op):
        matrix = arguments["self"]
        arguments = {**arguments, "self": (matrix + matrix.mT) / 2}
    args, keywords = [], {}
    for param in op.signature.params:
        value = arguments.get(param.name, param.default)
        if param.keyword_only:
            keywords[param.public] = value
        else:
            args.append(value)
    return args, keywords


def own_answers(op: OpSpec, table: Table, arguments: Arguments) -> Answers:
    """Compute gradspec's answers through the library that was generated and proved."""
    module = importlib.import_module(f"gradspec.generated.{op.family}")
    function = getattr(module, function_name(op, Resolver(table)))
    places = variables(op, arguments)

    def run(*leaves: Any) -> list[Any]:
        given = placed(arguments, places, list(leaves), wrap)
        args, keywords = positional(op, given)
        out = function(*args, **keywords)
        return list(out) if isinstance(out, tuple) else [out]

    leaves = [wrap(a).requires_grad_() for a in taken(arguments, places)]
    values = run(*leaves)
    answers = Answers([value.numpy() for value in map(_plain, values)])
    wanted = differentiable(op, answers.values)
    if not leaves or not wanted or not any(values[i].requires_grad for i in wanted):
        return answers
    cotangents = [wrap(numbers_like(answers.values[i], "cotangent")) for i in wanted]
    chosen = [(values[i], c) for i, c in zip(wanted, cotangents, strict=True)]
    chosen = [(v, c) for v, c in chosen if v.requires_grad]
    found = gs.autograd.grad(
        [v for v, _ in chosen], leaves, [c for _, c in chosen], create_graph=True, allow_unused=True
    )
    answers.gradients = [None if g is None else _plain(g).numpy() for g in found]
    tangents = tuple(wrap(numbers_like(np.asarray(_plain(x).numpy()), "tangent")) for x in leaves)
    _, moved = gs.func.jvp(
        lambda *xs: tuple(run(*xs)[i] for i in wanted), tuple(map(_plain, leaves)), tangents
    )
    answers.tangents = [_plain(t).numpy() for t in moved]
    answers.second = _second(found, leaves)
    return answers


def _second(found: Any, leaves: list[Tensor]) -> list[Any]:
    total = None
    for gradient in found:
        if gradient is not None and gradient.requires_grad:
            weights = wrap(numbers_like(_plain(gradient).numpy(), "second"))
            term = (gradient * weights).sum()
            total = term if total is None else total + term
    if total is None:
        return [None] * len(leaves)
    again = gs.autograd.grad(total, leaves, allow_unused=True)
    return [None if g is None else _plain(g).numpy() for g in again]


def _plain(tensor: Tensor) -> Tensor:
    return tensor.detach()


def taken(arguments: Arguments, places: list[tuple[str, int | None]]) -> list[Any]:
    """The arrays at some places, as copies."""
    return [
        np.array(arguments[name] if position is None else arguments[name][position])
        for name, position in places
    ]


def placed(
    arguments: Arguments, places: list[tuple[str, int | None]], values: list[Any], convert: Any
) -> Arguments:
    """The arguments with these values at some places, and the other arrays converted."""

    def item(value: Any) -> Any:
        return convert(value) if isinstance(value, np.ndarray) else value

    found = {
        name: [item(each) for each in value] if isinstance(value, list) else item(value)
        for name, value in arguments.items()
    }
    for (name, position), value in zip(places, values, strict=True):
        if position is None:
            found[name] = value
        else:
            found[name][position] = value
    return found


def differences(expected: Answers, found: Answers) -> list[str]:
    """Say where two libraries answer differently; a derivative that is absent is zero."""
    told = []
    for what in ("values", "gradients", "tangents", "second"):
        ours, theirs = getattr(expected, what), getattr(found, what)
        if not ours or not theirs:  # no gradient can be needed, or all are zero
            ours, theirs = ours or [None] * len(theirs), theirs or [None] * len(ours)
        if len(ours) != len(theirs):
            told.append(f"{what}: {len(theirs)} instead of {len(ours)}")
            continue
        for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if not _alike(a, b):
                told.append(f"{what}[{number}]: {b!r} instead of {a!r}")
    return told


def _alike(a: Any, b: Any) -> bool:
    if a is None or b is None:
        present = b if a is None else a
        return present is None or not np.any(present)
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
