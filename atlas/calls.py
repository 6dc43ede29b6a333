"""The examples of an entry as programs that a reader can run, and what they print."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.spec.model import (
    REQUIRED,
    Constant,
    Example,
    NotImplementedYet,
    OpSpec,
    Param,
)
from gradspec_codegen.spec.vocabulary import FACTORIZATIONS

MOST_NUMBERS = 16
"""Elements of an array that is written out; larger ones are drawn."""


@dataclass(frozen=True, slots=True)
class Program:
    """The example of an op as a program, and what running it showed."""

    code: str
    printed: str
    kept: tuple[tuple[str, str, int], ...]
    """The arrays that the node keeps: `(shape, dtype, bytes)`."""
    setup: str
    """The lines of the program that come before the call of the op."""
    call: str
    tensors: tuple[str, ...]
    """Names of the tensors that the call reads."""


def program(op: OpSpec) -> Program | None:
    """The first example of an op that runs; None of an op that only formulas call."""
    if op.is_private:
        return None
    for example in sorted(examples_of(op), key=_size):
        writer = _Writer(op, example)
        try:
            return _ran(writer)
        except Exception:  # an example for symbols, or of symmetric inputs: the next may do
            continue
    return None


def _size(example: Example) -> int:
    """Small calls are read first, but an array of one element shows nothing."""
    sizes = [math.prod(v) for _, v in example.args if isinstance(v, list) and all(_ints(v))]
    most = max(sizes, default=0)
    return most if most > 1 else 1000


def _ints(values: list[Any]) -> Iterator[bool]:
    return (isinstance(value, int) for value in values)


def _ran(writer: _Writer) -> Program:
    """Run a program, once with an eye on what is saved. Raises what the program raises."""
    from gradspec.autograd.graph import saved_tensors_hooks

    kept: list[tuple[str, str, int]] = []

    def pack(tensor: Any) -> Any:
        array = tensor.detach().numpy()
        shape = "×".join(map(str, array.shape)) or "scalar"
        kept.append((shape, str(array.dtype), array.nbytes))
        return tensor

    setup, call = writer.setup(), writer.call()
    before = f"{setup}y = {call}\n"
    printed = io.StringIO()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        space: dict[str, Any] = {}
        with saved_tensors_hooks(pack, lambda tensor: tensor):
            exec(before, space)  # our own text, made of the table's names and numbers
        after = writer.after(space["y"])
        with contextlib.redirect_stdout(printed):
            exec(after, space)
    return Program(
        f"{before}{after}", printed.getvalue(), tuple(kept), setup, call, tuple(writer.made)
    )


class _Writer:
    """Writes the program of one example."""

    def __init__(self, op: OpSpec, example: Example) -> None:
        self.op = op
        self.given = dict(example.args)
        self.rng = np.random.default_rng(zlib.crc32(op.name.encode()))
        self.leaves: list[str] = []
        self.made: list[str] = []
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.drawn = False
        for param in op.signature.params:
            if param.name in self.given and param.type.base == "Tensor":
                self._tensor_argument(param, self.given[param.name])

    def setup(self) -> str:
        """The lines before the call."""
        module = self.op.python_module.replace(" ", "").split(",")
        imports = "import gradspec as gs\n"
        if module == ["nn"]:
            imports += "import gradspec.nn.functional as F\n"
        seed = "gs.manual_seed(0)\n" if self.drawn else ""
        return imports + "\n" + seed + "".join(self.lines)

    def after(self, result: Any) -> str:
        """The lines that print the result, and the gradients."""
        lines = ["print(y)\n"]
        outputs = self.op.differentiable_outputs
        if self.leaves and outputs:
            lines += [self._backward(result), *(f"print({leaf}.grad)\n" for leaf in self.leaves)]
        return "".join(lines)

    def _backward(self, result: Any) -> str:
        outputs = self.op.signature.outputs
        if outputs[0].type.is_list:
            return "sum(part.sum() for part in y).backward()\n"
        if len(outputs) > 1:
            first = next(n for n, o in enumerate(outputs) if o in self.op.differentiable_outputs)
            size = ".abs()" if result[first].is_complex() else ""
            return f"y[{first}]{size}.sum().backward()\n"
        return "y.abs().sum().backward()\n" if result.is_complex() else "y.sum().backward()\n"

    def call(self) -> str:
        """The call of the op; ValueError where the example has no value for an argument."""
        words: list[str] = []
        by_name = False
        for param in self.op.signature.params:
            if param.name not in self.given:
                if param.default is REQUIRED:
                    raise ValueError(f"no value for {param.name}")
                by_name = True
                continue
            text = self.names.get(param.name) or _plain(param, self.given[param.name])
            by_name |= param.keyword_only
            words.append(f"{param.public}={text}" if by_name else text)
        return self._function(words)

    def _function(self, words: list[str]) -> str:
        op, name = self.op, self.op.signature.name
        places = op.python_module.replace(" ", "").split(",")
        if "method" in op.variants and "function" not in op.variants:
            return f"{words[0]}.{name}({', '.join(words[1:])})"
        prefix = "gs"
        if places == ["nn"]:
            prefix = "F"
        elif places[0] in ("linalg", "fft", "special"):
            prefix, name = f"gs.{places[0]}", name.removeprefix(f"{places[0]}_")
        return f"{prefix}.{name}({', '.join(words)})"

    def _tensor_argument(self, param: Param, given: Any) -> None:
        name = "x" if param.name == "self" else param.public
        if name in ("y", "gs", "F"):
            name += "_"
        if given is None:
            self.names[param.name] = "None"
        elif param.type.is_list:
            parts = [self._tensor(f"{name}{n}", item, param) for n, item in enumerate(given)]
            self.names[param.name] = f"[{', '.join(parts)}]"
        else:
            self.names[param.name] = self._tensor(name, given, param)

    def _tensor(self, name: str, given: Any, param: Param) -> str:
        """Write the line that makes a tensor, and return its name."""
        if given is None:
            return "None"
        self.made.append(name)
        kind, shape = next(iter(given.items())) if isinstance(given, dict) else ("real", given)
        if kind in ("int", "bool"):
            self.lines.append(f"{name} = gs.tensor({shape})\n")
            return name
        wants = self._has_gradient(param)
        ending = ", requires_grad=True" if wants else ""
        if wants:
            self.leaves.append(name)
        if kind == "real" and math.prod(shape) > MOST_NUMBERS:
            self.drawn = True
            made = f"gs.rand({', '.join(map(str, shape))}{ending})"
            self.lines.append(f"{name} = {made}\n")
            return name
        values = shape if kind == "float" else self._values(kind, shape, param)
        self.lines.append(f"{name} = gs.tensor({_shown(values)}{ending})\n")
        return name

    def _has_gradient(self, param: Param) -> bool:
        op = self.op
        if op.composite is not None:
            return not op.output_differentiability or any(op.output_differentiability)
        rule = op.rule(param.name)
        return (
            rule is not None
            and not isinstance(rule, NotImplementedYet | Constant)
            and (param.name in op.recorded_params)
        )

    def _values(self, kind: str, shape: list[int], param: Param) -> Any:
        rng = self.rng
        if kind in FACTORIZATIONS:
            matrix = rng.uniform(0.2, 2.0, shape).round(1)
            square = matrix @ matrix.swapaxes(-1, -2)
            return matrix if kind in ("svd", "qr", "lu") else square + np.eye(shape[-1])
        if kind == "complex":
            return rng.uniform(-2, 2, shape).round(1) + 1j * rng.uniform(-2, 2, shape).round(1)
        given = [text for argument, text in self.op.domain if argument == param.name]
        low, high = domain.bounds(param.name, given)
        if np.isinf(low) and np.isinf(high):
            return (rng.uniform(0.2, 2.0, shape) * rng.choice([-1.0, 1.0], shape)).round(2)
        if np.isinf(high):
            return (low + rng.uniform(0.2, 2.0, shape)).round(2)
        if np.isinf(low):
            return (high - rng.uniform(0.2, 2.0, shape)).round(2)
        return (low + (high - low) * rng.uniform(0.1, 0.9, shape)).round(2)


def _shown(values: Any) -> str:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        values = values.round(3)
    return str(values.tolist() if isinstance(values, np.ndarray) else values)


def _plain(param: Param, value: Any) -> str:
    if param.type.base == "ScalarType" and value is not None:
        return f"gs.{value}"
    return repr(value)
