"""Call an op on all examples at once, by one rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ...spec.model import OpSpec
from ...spec.vocabulary import FORMULA
from ..identities.run import Call, runtime_op
from .cases import Case


def has_formula(spec: OpSpec) -> bool:
    """Return whether the generated package has a rule for an op that calls other ops."""
    return spec.name in _formulas(spec)


def _formulas(spec: OpSpec) -> dict[str, Any]:
    """The rules of the generated package that call other ops."""
    package = runtime_op(spec).function.__module__.rpartition(".")[0]
    try:
        formulas: dict[str, Any] = import_module(f"{package}.batching").FORMULAS
    except ModuleNotFoundError:
        return {}  # a package that is made to try something out
    return formulas


def run_batched(text: str, case: Case, physical: dict[str, Any] | None = None) -> dict[str, Any]:
    """Call the op on all examples by one rule; the outputs by name, as physical tensors.

    `physical` has tensors, or lists of them, to be used for the arguments. Raises NoFit.
    """
    from gradspec.batching.batched import batch, mapped
    from gradspec.batching.call import by_rule
    from gradspec.batching.rules import read
    from gradspec.core.tensor import wrap

    op = runtime_op(case.spec)
    rule = _formulas(case.spec)[op.name] if text == FORMULA else read(text)
    call = Call(case.spec, case.rows[0], [])
    with batch_level(len(case.rows)) as level:
        given = {name: case.stacked(name, wrap) for name in case.batched} | (physical or {})
        for name, value in given.items():
            is_batched = name in case.batched
            call.values[name] = mapped(lambda t: batch(t, level), value) if is_batched else value
        params = zip(op.params, case.spec.signature.params, strict=True)
        values = {known.name: call.values[param.name] for known, param in params}
        result = by_rule(rule, op, values, level)
        return dict(_named(case.spec, mapped(lambda t: _physical(t, level), result)))


def _physical(tensor: Any, level: Any) -> Any:
    from gradspec.batching.batched import physical

    return physical(tensor, level)


def _named(spec: OpSpec, result: Any) -> Iterator[tuple[str, Any]]:
    outputs = spec.signature.outputs
    if len(outputs) > 1:
        yield from zip((output.name for output in outputs), result, strict=True)
    elif isinstance(result, tuple | list):
        yield from ((f"{outputs[0].name}[{n}]", tensor) for n, tensor in enumerate(result))
    else:
        yield outputs[0].name, result


@contextmanager
def batch_level(size: int) -> Iterator[Any]:
    """A level of `vmap` over `size` examples."""
    from gradspec.batching.batched import Level
    from gradspec.core import levels

    level = Level(size)
    levels.enter(level)
    try:
        yield level
    finally:
        levels.leave(level)
