"""Derives the rules of elementwise entries of the table anew, and compares their gradients.

`python -m tests.codegen.differentiate.table` does so for every public op of tensors alone whose
definition is a formula: it drops the hand-written VJPs and JVPs, derives them again, and says by
how many units in the last place the gradients differ at random points of the domain.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import gradspec as gs
from gradspec.dispatch.overloads import public_function
from gradspec.dispatch.registry import ops
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.ir.walk import calls
from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.spec.elementwise import is_elementwise_definition
from gradspec_codegen.spec.model import Formula, OpSpec
from tests.codegen.proving import imported, own_table, read_table

POINTS = 500

WRITTEN_IS_BETTER = {
    "acos": "1 - self * self cancels near 1, (1 - self) * (1 + self) does not",
    "acosh": "self * self - 1 cancels near 1",
    "asin": "1 - self * self cancels near 1",
    "atanh": "1 - self * self cancels near 1",
    "expm1": "result + 1 cancels where the result is near -1",
    "sigmoid": "1 - result cancels near 1",
    "tanh": "1 - result ** 2 cancels for large arguments",
    "logaddexp": "a quotient of exponentials overflows, the share of the difference does not",
    "logaddexp2": "a quotient of powers overflows, the share of the difference does not",
    "rsqrt": "the cube of the result needs no power; it is 3.4 units off at most, that 1.2",
    "mish": "the derivative crosses zero, where neither keeps its digits",
    "silu": "the derivative crosses zero, where neither keeps its digits",
    "sinc": "the derivative crosses zero, where neither keeps its digits",
}
"""Ops whose derived gradients differ by more than four units, and why."""


def candidates() -> list[OpSpec]:
    """The public elementwise ops of tensors alone with VJPs written by hand."""
    return [op for op in own_table().ops if _is_candidate(op)]


def _is_candidate(op: OpSpec) -> bool:
    params = op.signature.params
    if op.forward is None or op.is_private or op.signature.overload not in ("", "Tensor"):
        return False
    if any(call.function.startswith("kernels.") for call in calls(op.forward.block)):
        return False
    is_plain = all(p.type.is_tensor and not p.type.is_optional for p in params)
    is_written = all(isinstance(op.rule(p.name), Formula) for p in params)
    return is_plain and is_written and is_elementwise_definition(op, own_table())


def entry_without_rules(op: OpSpec) -> str:
    """The entry of an op, under another name, with its definition alone."""
    assert op.forward is not None
    params = ", ".join(f"Tensor {p.name}" for p in op.signature.params)
    lines = "".join(f"    {line}\n" for line in op.forward.text.strip().splitlines())
    limits = "".join(f"    {name}: {condition}\n" for name, condition in op.domain)
    head = f"- name: derived_{op.signature.name}({params}) -> Tensor\n"
    body = lines if "return " in lines else lines.replace("    ", "    return ", 1)
    return f"{head}  forward: |\n{body}" + (f"  domain:\n{limits}" if limits else "")


def differences(chosen: Iterable[OpSpec], folder: Path) -> dict[str, float | str]:
    """By op, the largest difference in units in the last place, or why there is no rule."""
    found: dict[str, float | str] = {}
    texts: list[str] = []
    derivable: list[OpSpec] = []
    for op in chosen:
        text = entry_without_rules(op)
        (folder / "one.yaml").write_text(text, encoding="utf-8")
        try:
            read_table(folder / "one.yaml")
        except SpecError as error:
            found[op.name] = error.diagnostics[0].message
        else:
            texts.append(text)
            derivable.append(op)
    package = imported("".join(texts), folder, f"derived_of_{len(texts)}")
    for op in derivable:
        derived = getattr(package, f"derived_{op.signature.name}")
        found[op.name] = _difference(op, derived)
    return found


def _difference(op: OpSpec, derived: object) -> float:
    written = public_function(getattr(ops, op.signature.name))
    random = np.random.default_rng(0)
    points = []
    for param in op.signature.params:
        low, high = domain.bounds(param.name, [c for name, c in op.domain if name == param.name])
        points.append(random.uniform(max(low, -4.0), min(high, 4.0), POINTS))
    hand, again = (_gradients(function, points) for function in (written, derived))
    ulps = [np.abs(a - b) / np.spacing(np.abs(a)) for a, b in zip(hand, again, strict=True)]
    return float(np.nanmax(np.stack(ulps)))


def _gradients(function: object, points: list[np.ndarray]) -> list[np.ndarray]:
    assert callable(function)
    tensors = [gs.tensor(values, requires_grad=True) for values in points]
    result = function(*tensors).sum()
    if not result.requires_grad:  # no gradient stands for zero
        return [np.zeros(POINTS) for _ in tensors]
    found = gs.autograd.grad(result, tensors, allow_unused=True)
    return [np.zeros(POINTS) if gradient is None else gradient.numpy() for gradient in found]


if __name__ == "__main__":
    wanted = [op for op in candidates() if not sys.argv[1:] or op.name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as name:
        for op_name, difference in sorted(differences(wanted, Path(name)).items()):
            print(f"{op_name:24} {difference} {WRITTEN_IS_BETTER.get(op_name, '')}")
