"""Evaluate the definition of an op that a kernel computes, to compare the two.

The definition is read as Python on arrays: operators and primitives are NumPy's, and an op of the
table is called as users call it, with the kernel that it has: that one is proved by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ...ir import nodes as ir
from ...render.base import ATOM, PythonRenderer
from ...spec.model import OpSpec, Param, spelled
from ...spec.primitives import code_facts
from ...spec.vocabulary import CONSTANT_FUNCTIONS, CONSTANTS, HELPERS
from ..symbolic.decisions import ProofError

CALL = "call__"
"""A name that no formula can have."""

_ROOTS = {"np": "numpy", "sp": "scipy.special", "kernels": "gradspec.kernels"}
"""The modules of what formulas call."""


class DefinitionRenderer(PythonRenderer):
    """A formula with its calls looked up at run time."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        words = [repr(node.function), *map(self.render, node.args)]
        words += [f"{name}={self.render(value)}" for name, value in node.kwargs]
        return f"{CALL}({', '.join(words)})", ATOM


def evaluate_definition(spec: OpSpec, values: dict[str, Any]) -> dict[str, Any]:
    """Compute the outputs by name, as arrays, from arrays and other arguments.

    What a list of numbers is given for is a tuple in the definition, also where it is one number.
    """
    assert spec.forward is not None
    result = evaluate_on_arguments(spec, spec.forward.block, values)
    outputs = [output.name for output in spec.signature.outputs]
    if len(outputs) == 1 and isinstance(result, tuple | list):
        outputs = [f"{outputs[0]}[{number}]" for number in range(len(result))]
    found = result if isinstance(result, tuple | list) else (result,)
    if len(found) != len(outputs):
        raise ProofError(f"the definition gives {len(found)} results, not {len(outputs)}")
    return dict(zip(outputs, map(np.asanyarray, found), strict=True))


def evaluate_on_arguments(spec: OpSpec, block: ir.Block, values: dict[str, Any]) -> Any:
    """Compute a formula that reads the arguments of an op only."""
    from gradspec.core.modes import no_grad

    params = spec.signature.params
    function = _compiled(block, tuple(param.name for param in params))
    with no_grad():
        return function(*(given(param, values[param.name]) for param in params))


def given(param: Param, value: Any) -> Any:
    """The value of an argument as a definition reads it."""
    is_numbers = param.type.is_list and param.type.base != "Tensor" and value is not None
    if not is_numbers:
        return value
    return tuple(value) if isinstance(value, list | tuple) else (value,)


@functools.cache
def _compiled(block: ir.Block, params: tuple[str, ...]) -> Callable[..., Any]:
    return compile_formula(DefinitionRenderer(), block, params, {})


def compile_formula(
    renderer: DefinitionRenderer,
    block: ir.Block,
    params: Iterable[str],
    names: Mapping[str, Any],
) -> Callable[..., Any]:
    """A formula as a function; `names` has what its renderer calls besides."""
    lines = renderer.statements(block, "return {}")
    source = "\n    ".join([f"def formula({', '.join(params)}):", *lines])
    constants = import_module("gradspec.core.constants")
    scope: dict[str, Any] = {name: getattr(constants, name) for name in CONSTANTS}
    scope |= {CALL: call_by_name, **names}
    exec(compile(source, "<formula>", "exec"), scope)
    compiled: Callable[..., Any] = scope["formula"]
    return compiled


def call_by_name(function: str, /, *args: Any, **options: Any) -> Any:
    """Call a helper, a primitive, a function of constants or an op of the table."""
    from gradspec.core import constants
    from gradspec.dispatch.overloads import public_function
    from gradspec.dispatch.registry import table_op

    if function in HELPERS:
        return _helper(function)(*args)
    if (member := code_facts().members.get(function)) and isinstance(args[0], np.ndarray):
        value = getattr(args[0], member.removesuffix("()"))
        return value() if member.endswith("()") else value
    if "." in function:
        return _primitive(function)(*args, **options)
    is_constant = not any(isinstance(arg, np.ndarray | np.generic | list | tuple) for arg in args)
    if is_constant and function in CONSTANT_FUNCTIONS:
        return getattr(constants, function)(*args)
    if is_constant and function == "conj":
        return args[0].conjugate()
    op = public_function(table_op(function))
    named = {spelled(name): _for_users(value, args) for name, value in options.items()}
    return _array(op(*map(_wrapped, args), **named))


def _helper(function: str) -> Callable[..., Any]:
    from gradspec.core.numel import numel
    from gradspec.dtypes.promotion import is_complex

    known: dict[str, Callable[..., Any]] = {"len": len, "tuple": tuple, "float": float, "int": int}
    return (known | {"numel": numel, "is_complex": is_complex})[function]


def _primitive(function: str) -> Callable[..., Any]:
    root, *path = function.split(".")
    module: Any = import_module(_ROOTS[root])
    for name in path:
        module = getattr(module, name)
    return module


def _wrapped(value: Any) -> Any:
    """Tensors for arrays, also in a list; anything else as it is."""
    from gradspec.core.tensor import wrap

    if isinstance(value, list | tuple):
        return type(value)(map(_wrapped, value))
    return wrap(np.asanyarray(value)) if isinstance(value, np.ndarray | np.generic) else value


def _for_users(value: Any, args: tuple[Any, ...]) -> Any:
    """A value that is given by name; users give no dtype of symbols, which stand for floats."""
    if not isinstance(value, np.dtype) or value.kind != "O":
        return _wrapped(value)
    is_whole = isinstance(args[0], np.ndarray | np.generic) and args[0].dtype.kind in "biu"
    return np.dtype(np.float64) if is_whole else None


def _array(value: Any) -> Any:
    """Arrays for tensors, also in a list; anything else as it is."""
    from gradspec.core.tensor import Tensor

    if isinstance(value, list | tuple):
        return tuple(map(_array, value))
    return value.array if isinstance(value, Tensor) else value
