"""The examples of the table as calls of the public functions, on numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import gradspec as gs
import gradspec.nn.functional as nn_functional
import gradspec_codegen.specs
from gradspec.core.tensor import Tensor, wrap
from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Constant, Example, NotImplementedYet, OpSpec, Param
from gradspec_codegen.spec.vocabulary import FACTORIZATIONS

TABLE = load_table(Path(gradspec_codegen.specs.__file__).with_name("derivatives.yaml"))

Arguments: TypeAlias = dict[str, Any]
"""Arrays, lists of arrays and plain values, by parameter."""


@dataclass(frozen=True)
class Case:
    """One call of one op. `args` hold arrays, lists of arrays, and plain values, by parameter."""

    op: OpSpec
    example: Example
    number: int

    @property
    def label(self) -> str:
        """`sum.dim_IntList-2`"""
        return f"{self.op.name}-{self.number}"

    def arguments(self) -> Arguments:
        """Every argument that the example gives, with float64 numbers for its shapes."""
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        given = dict(self.example.args)
        params = [p for p in self.op.signature.params if p.name in given]
        return {p.name: _argument(p, given[p.name], self.op, rng) for p in params}


def _argument(param: Param, given: Any, op: OpSpec, rng: np.random.Generator) -> Any:
    if param.type.base == "ScalarType":
        return None if given is None else np.dtype(given)
    if param.type.base != "Tensor" or given is None:
        return given
    if param.type.is_list:
        return [_array(param.name, item, op, rng) for item in given]
    return _array(param.name, given, op, rng)


def _array(name: str, given: Any, op: OpSpec, rng: np.random.Generator) -> Any:
    if given is None:
        return None
    if isinstance(given, dict):
        ((kind, data),) = given.items()
        if kind in FACTORIZATIONS:
            matrix = rng.uniform(-2.0, 2.0, data)
            return matrix if kind in ("svd", "qr", "lu") else matrix @ matrix.swapaxes(-1, -2)
        return np.array(data, {"int": np.int64, "bool": np.bool_, "float": np.float64}[kind])
    return np.asarray(_uniform(name, given, op, rng))


def _uniform(name: str, given: list[int], op: OpSpec, rng: np.random.Generator) -> Any:
    low, high = domain.bounds(name, [text for argument, text in op.domain if argument == name])
    if np.isinf(low) and np.isinf(high):
        # Away from zero, where some ops are not defined.
        return rng.uniform(0.2, 2.0, given) * rng.choice([-1.0, 1.0], given)
    if np.isinf(high):
        return low + rng.uniform(0.2, 2.0, given)
    if np.isinf(low):
        return high - rng.uniform(0.2, 2.0, given)
    return low + (high - low) * rng.uniform(0.1, 0.9, given)


def cases() -> Iterator[Case]:
    """Every example of every op that users can call, with a gradient or without."""
    for op in TABLE.ops:
        if not op.signature.name.startswith("_"):
            for number, example in enumerate(examples_of(op)):
                if not _is_complex(op, example):  # tests/oracle/ops/test_complex.py compares these
                    yield Case(op, example, number)


def _is_complex(op: OpSpec, example: Example) -> bool:
    """Return whether arguments or results are complex."""
    inputs = (isinstance(value, dict) and "complex" in value for _, value in example.args)
    names = ("complex", "polar", "view_as_complex", "view_as_complex_copy")
    return any(inputs) or op.name in names


CASES = list(cases())


def is_differentiable(op: OpSpec) -> bool:
    """Return whether an op has any gradient."""
    if op.composite is not None:
        return all(kind for kind in op.output_differentiability)
    return bool(op.differentiable_params)


def is_variable(op: OpSpec, name: str, value: Any) -> bool:
    """Return whether an argument gets a gradient: floats do, but not the weights of classes."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return False
    if op.composite is None and isinstance(op.rule(name), NotImplementedYet | Constant):
        return False
    return name != "weight" or op.signature.name not in (
        "nll_loss",
        "cross_entropy",
        "binary_cross_entropy",
        "multi_margin_loss",
    )


WITHOUT_DERIVATIVE_IN_PYTORCH = ("floor_divide",)
"""Ops of which only the values can be compared."""

WITHOUT_SECOND_DERIVATIVE_IN_PYTORCH = (
    *("cdist", "hardsigmoid", "multi_margin_loss", "multilabel_margin_loss", "pdist"),
)
"""Ops of which values and gradients can be compared, but not the gradients of these."""


def variables(op: OpSpec, arguments: Arguments) -> list[tuple[str, int | None]]:
    """List the arrays that get a gradient: name, and position in a list."""
    found: list[tuple[str, int | None]] = []
    if op.name in WITHOUT_DERIVATIVE_IN_PYTORCH:
        return found
    for name, value in arguments.items():
        for position, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if is_variable(op, name, item):
                found.append((name, position))
    return found


def at(arguments: Arguments, places: list[tuple[str, int | None]]) -> list[Any]:
    """The arguments at some places."""
    return [
        arguments[name] if position is None else arguments[name][position]
        for name, position in places
    ]


def convert(
    op: OpSpec,
    arguments: Arguments,
    convert_array: Callable[[Any, bool], Any],
    is_wanted: Callable[[OpSpec, str], bool] = lambda op, name: True,
) -> Arguments:
    """The arguments with `convert_array(array, requires_grad)` in the place of every array.

    Those by which no gradient `is_wanted` require none.
    """

    def item(name: str, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return convert_array(value, is_wanted(op, name) and is_variable(op, name, value))

    return {
        name: [item(name, each) for each in value] if isinstance(value, list) else item(name, value)
        for name, value in arguments.items()
    }


def leaf(array: Any, requires_grad: bool) -> Tensor:
    """A tensor on the memory of an array."""
    return wrap(array).requires_grad_(requires_grad)


def _is_of_symmetric_matrices(op: OpSpec) -> bool:
    given = [value for example in op.examples for _, value in example.args]
    return any(isinstance(value, dict) and value.keys() & {"cholesky", "eigh"} for value in given)


def call(op: OpSpec, arguments: Arguments, module: Any, functional: Any) -> Any:
    """Call an op by its public name: a function of one of the modules, or a method.

    What is defined for symmetric matrices is given the symmetric part of its argument.
    """
    if _is_of_symmetric_matrices(op):
        matrix = arguments["self"]
        arguments = {**arguments, "self": (matrix + matrix.mT) / 2}
    positional, keywords = [], {}
    for param in op.signature.params:
        if param.name in arguments and not param.keyword_only and not keywords:
            positional.append(arguments[param.name])
        elif param.name in arguments:
            keywords[param.name] = arguments[param.name]
        elif not param.keyword_only:
            positional.append(param.default)
    if "memory_format" in keywords:  # which entries know by name
        keywords["memory_format"] = getattr(module, keywords["memory_format"])
    places = op.python_module.replace(" ", "").split(",")
    name = op.signature.name
    if places == ["nn"]:
        return getattr(functional, name)(*positional, **keywords)
    if "method" in op.variants and "function" not in op.variants:
        return getattr(positional[0], name)(*positional[1:], **keywords)
    if places[0] in ("linalg", "fft", "special"):
        namespace = getattr(module, places[0])
        return getattr(namespace, name.removeprefix(f"{places[0]}_"))(*positional, **keywords)
    return getattr(module, name)(*positional, **keywords)


def call_gradspec(op: OpSpec, arguments: Arguments) -> Any:
    """Call an op of this library."""
    return call(op, arguments, gs, nn_functional)


def outputs(op: OpSpec, result: Any) -> list[Any]:
    """The outputs that have a gradient."""
    if not isinstance(result, tuple | list):
        return [result]
    flags = op.output_differentiability or (True,) * len(result)
    if op.signature.outputs[0].type.is_list:
        flags = (all(flags),) * len(result)
    return [item for item, flag in zip(result, flags, strict=True) if flag]
