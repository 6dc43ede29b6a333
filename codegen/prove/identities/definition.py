"""Evaluate the definition of an op that a kernel computes, to compare the two.

The definition is read as Python on tensors, each call as that of the op of the table, with the
kernel that this has: that one is proved by itself. Primitives are called on the arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ...ir import nodes as ir
from ...render.base import ATOM, PythonRenderer
from ...spec.model import OpSpec, spelled
from ...spec.vocabulary import CONSTANT_FUNCTIONS, CONSTANTS
from ..symbolic.decisions import ProofError

_CALL = "call__"
"""A name that no formula can have."""


class _DefinitionRenderer(PythonRenderer):
    """A formula with its calls looked up at run time."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        words = [repr(node.function), *map(self.render, node.args)]
        words += [f"{name}={self.render(value)}" for name, value in node.kwargs]
        return f"{_CALL}({', '.join(words)})", ATOM


def evaluate_definition(spec: OpSpec, values: dict[str, Any]) -> dict[str, Any]:
    """Compute the outputs by name, as arrays, from arrays and other arguments."""
    from gradspec.core.modes import no_grad
    from gradspec.core.tensor import Tensor

    assert spec.forward is not None
    function = _compiled(spec.forward.block, tuple(p.name for p in spec.signature.params))
    with no_grad():
        result = function(**{name: _wrapped(value) for name, value in values.items()})
    outputs = [output.name for output in spec.signature.outputs]
    if len(outputs) == 1 and isinstance(result, tuple | list):
        outputs = [f"{outputs[0]}[{number}]" for number in range(len(result))]
    found = result if isinstance(result, tuple | list) else (result,)
    if len(found) != len(outputs):
        raise ProofError(f"the definition gives {len(found)} results, not {len(outputs)}")
    return {
        name: value.array if isinstance(value, Tensor) else np.asanyarray(value)
        for name, value in zip(outputs, found, strict=True)
    }


@functools.cache
def _compiled(block: ir.Block, params: tuple[str, ...]) -> Callable[..., Any]:
    lines = _DefinitionRenderer().statements(block, "return {}")
    source = "\n    ".join([f"def definition({', '.join(params)}):", *lines])
    constants = import_module("gradspec.core.constants")
    names = {name: getattr(constants, name) for name in CONSTANTS} | {_CALL: _call}
    exec(compile(source, "<definition>", "exec"), names)
    compiled: Callable[..., Any] = names["definition"]
    return compiled


def _call(function: str, /, *args: Any, **options: Any) -> Any:
    """Call a helper, a primitive, a function of constants or an op of the table."""
    from gradspec.core.tensor import Tensor
    from gradspec.dispatch.overloads import public_function
    from gradspec.dispatch.registry import table_op

    if function in _HELPERS:
        return _HELPERS[function](*args)
    if "." in function:
        return _wrapped(_primitive(function)(*map(_array, args), **options))
    is_constant = not any(isinstance(arg, Tensor | list | tuple) for arg in args)
    if is_constant and function in CONSTANT_FUNCTIONS:
        return getattr(import_module("gradspec.core.constants"), function)(*args)
    if is_constant and function == "conj":
        return args[0].conjugate()
    op = public_function(table_op(function))
    return op(*args, **{spelled(name): value for name, value in options.items()})


_HELPERS: dict[str, Callable[..., Any]] = {
    "len": len,
    "tuple": tuple,
    "float": float,
    "int": int,
    "is_complex": lambda tensor: tensor.is_complex(),
}


def _primitive(function: str) -> Callable[..., Any]:
    root, *path = function.split(".")
    module = import_module({"np": "numpy", "sp": "scipy.special"}[root])
    found: Callable[..., Any] = functools.reduce(getattr, path, module)
    return found


def _wrapped(value: Any) -> Any:
    """Tensors for arrays, also in a list; anything else as it is."""
    from gradspec.core.tensor import wrap

    if isinstance(value, list | tuple):
        return type(value)(map(_wrapped, value))
    return wrap(value) if isinstance(value, np.ndarray | np.generic) else value


def _array(value: Any) -> Any:
    """Arrays for tensors, also in a list; anything else as it is."""
    from gradspec.core.tensor import Tensor

    if isinstance(value, list | tuple):
        return type(value)(map(_array, value))
    return value.array if isinstance(value, Tensor) else value
