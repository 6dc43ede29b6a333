"""The answers of an op that was emitted for PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gradspec_codegen.spec.model import OpSpec
from tests.codegen.targets.agreement import (
    Answers,
    differentiable,
    numbers_like,
    placed,
    positional,
    taken,
)
from tests.ops.cases import Arguments, variables


def _value(value: Any) -> Any:
    return getattr(torch, value.name) if isinstance(value, np.dtype) else value


def torch_answers(op: OpSpec, function: Any, arguments: Arguments) -> Answers:
    """Call the emitted function on float64."""
    arguments = {name: _value(value) for name, value in arguments.items()}
    places = variables(op, arguments)

    def run(*leaves: Any) -> list[Any]:
        given = placed(arguments, places, list(leaves), torch.from_numpy)
        args, keywords = positional(op, given)
        out = function(*args, **keywords)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    leaves = [torch.from_numpy(a).requires_grad_() for a in taken(arguments, places)]
    values = run(*leaves)
    answers = Answers([value.detach().numpy(force=True) for value in values])
    wanted = differentiable(op, answers.values)
    chosen = [i for i in wanted if values[i].requires_grad]
    if not leaves or not chosen:
        return answers
    cotangents = [torch.from_numpy(numbers_like(answers.values[i], "cotangent")) for i in chosen]
    found = torch.autograd.grad(
        [values[i] for i in chosen], leaves, cotangents, create_graph=True, allow_unused=True
    )
    answers.gradients = [None if g is None else g.detach().numpy(force=True) for g in found]
    plain = tuple(x.detach() for x in leaves)
    tangents = tuple(torch.from_numpy(numbers_like(x.numpy(), "tangent")) for x in plain)
    _, moved = torch.func.jvp(lambda *xs: tuple(run(*xs)[i] for i in wanted), plain, tangents)
    answers.tangents = [t.detach().numpy(force=True) for t in moved]
    total = None
    for gradient in found:
        if gradient is not None and gradient.requires_grad:
            weights = torch.from_numpy(numbers_like(gradient.detach().numpy(force=True), "second"))
            term = (gradient * weights).sum()
            total = term if total is None else total + term
    if total is None:
        answers.second = [None] * len(leaves)
    else:
        again = torch.autograd.grad(total, leaves, allow_unused=True)
        answers.second = [None if g is None else g.detach().numpy(force=True) for g in again]
    return answers
