"""Steps to operations: which steps have C, and which call their function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ..program import Program, Step, Value, walk
from ..steps import IMPURE, seen
from . import composed, convolutions, indices, products, triangles, windows
from .composed import Composition
from .expand import expanded
from .layout import Access, access, dims_of, root_of
from .operations import Call, Map, Operand, Operation, PythonCall, Reduce
from .scalars import (
    C_TYPES,
    REDUCTIONS,
    UFUNC_ALIASES,
    DType,
    erf_family,
    formula,
    is_known,
    literal,
    loop_dtypes,
)

Lowered = list[Operation] | None
LowersLoop = Callable[[Step], tuple[Operation, dict[Value, Any]] | None]
_BOOL: Final = np.dtype(np.bool_)


class Lowering:
    """The operations of a program, in order, and the numbers that constants stand for."""

    def __init__(self, program: Program, lowered_loop: LowersLoop) -> None:
        self._lowered_loop = lowered_loop
        self.numbers = uniform(program.constants)
        self.constants: list[tuple[Value, Any]] = []
        """Constants that the lowering has added to those of the program."""
        self.operations: list[Operation] = []
        for step in program.steps:
            self.operations += self._lowered(step)
        self.outputs = self._own_outputs(program)
        """Those that lie on constants, or on inputs that are written to, are copies."""
        self._write(program)
        self.operations = _needed(self.operations, {*map(root_of, self.outputs)}, program)

    def _own_outputs(self, program: Program) -> tuple[Value, ...]:
        shared = {value for value, _ in program.constants} | {x for x, _ in program.writes}
        copies: dict[Value, Value] = {}
        for value in program.outputs:
            if root_of(value) in shared and value not in copies:
                copies[value] = self._copied(value, f"{value.name}_copy")
        return tuple(copies.get(value, value) for value in program.outputs)

    def _write(self, program: Program) -> None:
        """Copy new values into inputs, first those that lie on inputs themselves."""
        inputs = {*program.inputs}
        news = [
            self._copied(new, f"{new.name}_new") if root_of(new) in inputs else new
            for _, new in program.writes
        ]
        for (value, _), new in zip(program.writes, news, strict=True):
            self.operations += self._copy(new, value)

    def _copied(self, value: Value, name: str) -> Value:
        strides = np.empty(value.shape, value.dtype).strides
        made = Value(name, value.shape, value.dtype, strides)
        self.operations += self._copy(value, made)
        return made

    def _copy(self, source: Value, target: Value) -> list[Operation]:
        step = Step("array.copy", (source,), {}, (target,))
        if target.size and _has_c(source) and _has_c(target):
            found = self.map(step, "{0}", (source,), (source.dtype, source.dtype))
            if found is not None:
                return found
        if not target.size:
            return []
        raise UnsupportedError(f"a result of dtype {source.dtype}")

    def _lowered(self, step: Step) -> list[Operation]:
        if step.outputs and all(value.base is not None for value in step.outputs):
            return []  # views: they are read where they lie
        values = (*step.inputs, *step.outputs)
        if step.function in ("np.matmul", "np.dot"):  # may sum nothing
            values = tuple(value for value in values if value.size)
        rule = COMPOSED.get(step.function.removeprefix("kernels."))
        if rule is not None and all(map(_has_c, values)):
            found = self._composed(step, rule)
            if found is not None:
                return found
        is_one = len(step.outputs) == 1 or step.function in _OF_SEVERAL
        if is_one and step.outputs[0].size and all(map(_has_c, values)):
            found = self._in_c(step)
            if found is not None:
                return found
        if step.function == "array.loop" and all(map(_has_c, values)):
            loop = self._lowered_loop(step)
            if loop is not None:
                self.constants += loop[1].items()
                return [loop[0]]
        if step.function.startswith("kernels.") and all(map(_has_c, values)):
            found = self._expanded(step)
            if found is not None:
                return found
        made = tuple(value for value in step.outputs if value.base is None)
        obstacle = next((value for value in values if not _has_c(value)), None)
        return [PythonCall(step, made[0] if made else _NOTHING, made, step.inputs, obstacle)]

    def _in_c(self, step: Step) -> Lowered:
        kind, _, name = step.function.partition(".")
        if kind == "np":
            if name in _NUMPY:
                return _NUMPY[name](self, step)
            if name.endswith(".reduce"):
                return self._reduction(step, name.removesuffix(".reduce"))
            found = getattr(np, UFUNC_ALIASES.get(name, name), None)
            return self._ufunc(step, found) if isinstance(found, np.ufunc) else None
        if kind == "array" and name in _ARRAY:
            return _ARRAY[name](self, step)
        if kind == "kernels" and name in _KERNELS:
            return _KERNELS[name](self, step)
        if kind == "kernels" and len(step.args) == 1 and not step.kwargs:
            return self._special(step, name)
        return None

    def _expanded(self, step: Step) -> Lowered:
        """Return the operations of a kernel's own steps, if there is C for each of them."""
        found = expanded(step)
        if found is None:
            return None
        steps, constants = found
        self.numbers |= uniform(constants.items())
        operations = [made for each in steps for made in self._lowered(each)]
        if any(isinstance(each, PythonCall) for each in operations):
            return None
        read = {value for each in operations for value in each.reads}
        self.constants += [pair for pair in constants.items() if pair[0] in read]
        return operations

    def _composed(self, step: Step, compose: Callable[[Composition], bool]) -> Lowered:
        """Return the operations of a kernel that `composed` tells as steps."""
        found = Composition(step)
        if not compose(found):
            return None
        self.constants += found.constants
        self.numbers |= uniform(found.constants)
        return [made for each in found.steps for made in self._lowered(each)]

    def _requirement(self, step: Step) -> Lowered:
        condition, message, *_ = step.args
        (out,) = step.outputs
        assert isinstance(condition, Value)
        text = message.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%")
        text = text.replace("{", "{{").replace("}", "}}")
        lines = ['if (!*(const uint8_t *)({0})) return "I' + text + '";']
        return [Call(step, out, (condition,), lines)]

    # ---- operands

    def operand(self, given: Any, shape: Sequence[int], loop_dtype: DType) -> Operand | None:
        """Return an argument, broadcast to a shape; None if it is neither array nor number."""
        if not isinstance(given, Value):
            if not isinstance(given, bool | int | float):
                return None
            return Operand(None, loop_dtype, loop_dtype, literal(given, loop_dtype))
        number = self.numbers.get(root_of(given))
        if number is not None and given.dtype == number.dtype:
            text = literal(number.astype(loop_dtype), loop_dtype)
            return Operand(None, loop_dtype, loop_dtype, text)
        return Operand(access(given, shape), given.dtype, loop_dtype)

    def map(
        self,
        step: Step,
        formula_: str,
        given: Sequence[Any],
        dtypes: Sequence[DType],
        *,
        region: Value | None = None,
    ) -> Lowered:
        """Return a map over a step's result, or over a region of it: a view."""
        (out,) = step.outputs
        target = out if region is None else region
        operands = [
            self.operand(each, target.shape, dtype)
            for each, dtype in zip(given, dtypes, strict=False)
        ]
        if None in operands or not _is_whole(target):
            return None
        known = [each for each in operands if each is not None]
        place = access(target, target.shape)
        whole = Access(out, place.offset, place.strides)
        return [
            Map(
                *(step, out, dims_of(target.shape), known, formula_, dtypes[-1], whole),
                is_region=target.size != out.size,
            )
        ]

    def _copy_into(self, step: Step, argument: Value, loop: DType) -> Lowered:
        """Return a copy of the elements in order, between shapes that differ."""
        (out,) = step.outputs
        strides = _restrided(out, argument.shape)
        if strides is None:
            return None
        region = Value(out.name, argument.shape, out.dtype, strides, out)
        return self.map(step, "{0}", (argument,), (loop, loop), region=region)

    def _reshape(self, step: Step) -> Lowered:
        argument = step.args[0]
        return self._copy_into(step, argument, argument.dtype)

    # ---- functions

    def _ufunc(self, step: Step, ufunc: np.ufunc) -> Lowered:
        wanted = step.kwargs.get("dtype")
        if set(step.kwargs) - {"dtype", "order"} or ufunc.nout != 1 or len(step.args) != ufunc.nin:
            return None
        out_dtype = None if wanted is None else np.dtype(wanted)
        dtypes = loop_dtypes(ufunc, list(map(_kind_of, step.args)), out_dtype)
        if dtypes is None or not all(map(is_known, dtypes)) or len({*dtypes[:-1]}) != 1:
            return None
        exponent = None
        if ufunc.__name__ in ("power", "float_power"):
            exponent = self._number(step.args[1])
        text = formula(ufunc.__name__, dtypes[0], exponent)
        return text and self.map(step, text, step.args, dtypes)  # type: ignore[return-value]

    def _number(self, given: Any) -> float | None:
        if isinstance(given, Value):
            found = self.numbers.get(root_of(given))
            return None if found is None or found.dtype.kind == "c" else float(found)
        return float(given)

    def _special(self, step: Step, name: str) -> Lowered:
        (argument,) = step.args
        dtype = step.outputs[0].dtype
        if not isinstance(argument, Value) or argument.dtype != dtype or dtype.kind != "f":
            return None
        text = erf_family(name, dtype)
        return text and self.map(step, text, (argument,), (dtype, dtype))  # type: ignore[return-value]

    def _gaussian(self, step: Step) -> Lowered:
        given, rate = step.args
        (out,) = step.outputs
        if not isinstance(given, Value) or isinstance(rate, Value) or given.dtype != out.dtype:
            return None
        if out.dtype.kind != "f":
            return None
        if out.dtype == np.float64:
            text = f"gs_exp({{0}} * {{0}} * {literal(-rate, out.dtype)})"
        elif rate in (0.5, 1):
            text = f"gs_bellf({{0}}, {float(rate)})"
        else:
            return None
        return self.map(step, text, (given,), (out.dtype, out.dtype))

    def _reduction(self, step: Step, function: str) -> Lowered:
        (out,) = step.outputs
        argument = step.args[0] if step.args else None
        options = {**dict(zip(("axis", "dtype"), step.args[1:], strict=False)), **step.kwargs}
        if not isinstance(argument, Value) or function not in REDUCTIONS:
            return None
        if set(options) - {"axis", "dtype", "keepdims"} or not argument.size:
            return None
        axes = options.get("axis", 0)
        if axes is None:
            axes = tuple(range(len(argument.shape)))
        axes = {axis % len(argument.shape) for axis in _tuple(axes)} if argument.shape else set()
        reduced = tuple(axis in axes for axis, length in enumerate(argument.shape) if length != 1)
        loop = _BOOL if function.startswith("logical") else out.dtype
        operand = self.operand(argument, argument.shape, loop)
        if operand is None or not _is_whole(out):
            return None
        dims = dims_of(argument.shape)
        if not any(reduced):
            return self._copy_into(step, argument, loop)
        kept = iter(access(out, out.shape).strides)
        strides = tuple(0 if gone else next(kept) for gone in reduced)
        return [Reduce(step, out, dims, reduced, operand, function, Access(out, 0, strides))]

    def _where(self, step: Step) -> Lowered:
        if len(step.args) != 3 or step.kwargs:
            return None
        dtype = step.outputs[0].dtype
        return self.map(step, "({0} ? {1} : {2})", step.args, (_BOOL, dtype, dtype, dtype))

    def _clip(self, step: Step) -> Lowered:
        names = ("a", "a_min", "a_max")
        given = {**dict(zip(names, step.args, strict=False)), **step.kwargs}
        given = {{"min": "a_min", "max": "a_max"}.get(key, key): v for key, v in given.items()}
        if set(given) - {*names}:
            return None
        given = {key: value for key, value in given.items() if value is not None}
        dtypes = [_kind_of(value) for value in given.values()]
        if len(dtypes) < 2 or (common := _common(dtypes)) != step.outputs[0].dtype:
            return None
        text, ordered = "{0}", [given["a"]]
        for key, function in (("a_min", "maximum"), ("a_max", "minimum")):
            if key in given:
                text = f"gs_{function}_{common.name}({text}, {{{len(ordered)}}})"
                ordered.append(given[key])
        return self.map(step, text, ordered, [common] * (len(ordered) + 1))

    def _cast(self, step: Step) -> Lowered:
        (out,) = step.outputs
        argument = step.args[0]
        if not isinstance(argument, Value) or argument.shape != out.shape:
            return None
        return self.map(step, "{0}", (argument,), (argument.dtype, argument.dtype))

    def _fill(self, step: Step) -> Lowered:
        (out,) = step.outputs
        values = step.args[1]
        dtype = values.dtype if isinstance(values, Value) else out.dtype
        if isinstance(values, Value) and len(values.shape) > len(out.shape):
            return None
        return self.map(step, "{0}", (values,), (dtype, dtype))

    def _overwrite(self, step: Step) -> Lowered:
        (out,) = step.outputs
        before, views, index, values = step.args
        if any(isinstance(each, Value) for each in walk((views, index))):
            return None
        region = region_of(out, views, index)
        if region is None or not isinstance(values, Value | int | float | bool):
            return None
        if isinstance(values, Value) and len(values.shape) > len(region.shape):
            return None
        dtype = values.dtype if isinstance(values, Value) else out.dtype
        copied = self.map(step, "{0}", (before,), (before.dtype, before.dtype))
        written = self.map(step, "{0}", (values,), (dtype, dtype), region=region)
        return None if copied is None or written is None else copied + written

    def _concatenate(self, step: Step) -> Lowered:
        (out,) = step.outputs
        options = {**dict(zip(("arrays", "axis"), step.args, strict=False)), **step.kwargs}
        if set(options) - {"arrays", "axis"} or not isinstance(options["arrays"], tuple | list):
            return None
        axis = options.get("axis", 0)
        if axis is None or not all(isinstance(each, Value) for each in options["arrays"]):
            return None
        found: list[Operation] = []
        start = 0
        index: list[slice | int] = [slice(None)] * len(out.shape)
        for part in options["arrays"]:
            stacked = step.function == "np.stack"
            length = 1 if stacked else part.shape[axis]
            index[axis] = start if stacked else slice(start, start + length)
            start += length
            region = region_of(out, (), tuple(index))
            lowered = region and self.map(
                step, "{0}", (part,), (part.dtype, part.dtype), region=region
            )
            if not lowered:
                return None
            found += lowered
        return found

    def _slice_backward(self, step: Step) -> Lowered:
        grad, _, dim, start, end, stride = step.args
        index = (*(slice(None),) * (dim % len(step.outputs[0].shape)), slice(start, end, stride))
        return self._placed(step, grad, index)

    def _place(self, step: Step) -> Lowered:
        return self._placed(step, *step.args)

    def _spread(self, step: Step) -> Lowered:
        """Return windows (batch, channels, kernel, places) that are added up where they overlap."""
        (out,) = step.outputs
        parts, dilation, stride = step.args
        spatial = len(dilation)
        steps = out.strides[2:]
        spans = [*dilation, *stride]
        strides = (*out.strides[:2], *(s * f for s, f in zip(2 * steps, spans, strict=True)))
        kept = [nr for nr, length in enumerate(parts.shape) if length != 1]
        reduced = tuple(2 <= nr < 2 + spatial for nr in kept)
        target = Access(out, 0, tuple(strides[nr] for nr in kept))
        operand = Operand(access(parts, parts.shape), parts.dtype, out.dtype)
        return [Reduce(step, out, dims_of(parts.shape), reduced, operand, "add", target)]

    def _add_by_index(self, step: Step) -> Lowered:
        (out,) = step.outputs
        grad, indices, planes, image = step.args
        ctype = C_TYPES[out.dtype]
        count = grad.size // planes
        lines = [
            "{{",
            f"const {ctype} *given = (const {ctype} *)({{0}});",
            "const int64_t *places = (const int64_t *)({1});",
            f"{ctype} *sums = ({ctype} *)({{out}});",
            f"for (long i = 0; i < {planes * image}; i++) sums[i] = 0;",
            f"for (long i = 0; i < {planes}; i++)",
            f"    for (long j = i * {count}; j < (i + 1) * {count}; j++) {{{{",
            f'        if ((uint64_t)places[j] >= {image}) return "IAn index is out of bounds.";',
            f"        sums[i * {image} + places[j]] += given[j];",
            "    }}",
            "}}",
        ]
        return [Call(step, out, (grad, indices), lines, 2.0 * out.size)]

    def _select_backward(self, step: Step) -> Lowered:
        grad, _, dim, index = step.args
        return self._placed(
            step, grad, (*(slice(None),) * (dim % len(step.outputs[0].shape)), index)
        )

    def _placed(self, step: Step, values: Value, index: Any, number: Any = 0) -> Lowered:
        """Return a number everywhere, but values at an index."""
        (out,) = step.outputs
        region = region_of(out, (), index)
        if region is None or region.shape != values.shape or values.dtype != out.dtype:
            return None
        zeros = self.map(step, "{0}", (number,), (out.dtype, out.dtype))
        placed = self.map(step, "{0}", (values,), (out.dtype, out.dtype), region=region)
        return None if zeros is None or placed is None else zeros + placed

    def _product(self, step: Step) -> Lowered:
        return None if step.kwargs else products.lowered(step)


_NUMPY: Final[dict[str, Callable[[Lowering, Step], Lowered]]] = {
    "where": Lowering._where,
    "clip": Lowering._clip,
    "concatenate": Lowering._concatenate,
    "stack": Lowering._concatenate,
    "matmul": Lowering._product,
    "dot": Lowering._product,
}
_ARRAY: Final[dict[str, Callable[[Lowering, Step], Lowered]]] = {
    "astype": Lowering._cast,
    "copy": Lowering._cast,
    "number": Lowering._cast,
    "fill": Lowering._fill,
    "overwrite": Lowering._overwrite,
    "reshape": Lowering._reshape,
    "check_index": Lowering._requirement,
    "placed": Lowering._place,
    "spread": Lowering._spread,
    "add_by_index": Lowering._add_by_index,
    "convolved": lambda _, step: windows.convolved(step),
    "correlated": lambda _, step: windows.correlated(step),
    "spread_products": lambda _, step: windows.spread(step),
}


def _by_positions(_: Lowering, step: Step, rule: Callable[[Step], Lowered]) -> Lowered:
    """Lower a step by a rule of `indices`, which reads arguments by position alone."""
    return None if step.kwargs else rule(step)


_KERNELS: Final[dict[str, Callable[[Lowering, Step], Lowered]]] = {
    "slice_backward": Lowering._slice_backward,
    "select_backward": Lowering._select_backward,
    "solve_triangular": lambda _, step: triangles.lowered(step),
    "cholesky_ex": lambda _, step: triangles.factor(step),
    "gaussian": Lowering._gaussian,
    "tril": lambda _, step: triangles.part(step, lower=True),
    "triu": lambda _, step: triangles.part(step, lower=False),
    **{name: partial(_by_positions, rule=rule) for name, rule in indices.RULES.items()},
}
_OF_SEVERAL: Final = frozenset({"kernels.cholesky_ex"})
"""Those with several results."""
COMPOSED: Final = {**composed.RULES, **convolutions.RULES}
_NOTHING: Final = Value("nothing", (0,), np.dtype(np.float64), (8,))


class UnsupportedError(NotImplementedError):
    """A program cannot be built for C as a whole."""


def _needed(operations: list[Operation], roots: set[Value], program: Program) -> list[Operation]:
    """Drop the operations whose results are unused."""
    wanted = roots | {value for value, _ in program.writes}
    found = []
    for operation in reversed(operations):
        impure = operation.step.function in IMPURE or operation.step.function == "array.check_index"
        if impure or not wanted.isdisjoint(operation.outs):
            found.append(operation)
            wanted.update(operation.reads)
    return found[::-1]


def uniform(constants: Iterable[tuple[Value, Any]]) -> dict[Value, Any]:
    """Find the constants whose elements are all the same bits, each with that number."""
    found = {}
    for value, array in constants:
        if array.size and is_known(array.dtype):
            first = array.reshape(-1)[:1]
            if first.tobytes() * array.size == array.tobytes():
                found[value] = first[0]
    return found


def region_of(out: Value, views: Sequence[Any], index: Any) -> Value | None:
    """Return the view of a value that `index` chooses, of a view of it; None for a copy."""
    memory = np.lib.stride_tricks.as_strided(
        np.empty(1, out.dtype), out.shape, out.strides, writeable=False
    )
    try:
        view = seen(memory, tuple(views))[index]
    except (IndexError, TypeError, ValueError):
        return None
    start = memory.__array_interface__["data"][0]
    if not isinstance(view, np.ndarray) or view.base is None or view.dtype != out.dtype:
        return None
    offset = view.__array_interface__["data"][0] - start
    return Value(f"{out.name}_part", view.shape, view.dtype, view.strides, out, offset)


def _has_c(value: Value) -> bool:
    """Return whether C reads a value: not where its bytes are those of another dtype."""
    aligned = all(stride % value.dtype.itemsize == 0 for stride in value.strides)
    return (
        is_known(value.dtype)
        and root_of(value).dtype == value.dtype
        and value.size > 0
        and aligned
        and not (value.offset % value.dtype.itemsize)
    )


def _is_whole(out: Value) -> bool:
    """Return whether each element of a result has a place of its own."""
    return all(
        stride != 0 for stride, length in zip(out.strides, out.shape, strict=True) if length > 1
    )


def _kind_of(given: Any) -> Any:
    return given.dtype if isinstance(given, Value) else type(given)


def _common(kinds: list[Any]) -> DType:
    examples = [{bool: True, int: 1, float: 1.0}.get(k, k) for k in kinds]
    return np.result_type(*examples)


def _tuple(axes: Any) -> tuple[int, ...]:
    return tuple(axes) if isinstance(axes, tuple | list) else (axes,)


def _restrided(value: Value, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    memory = np.lib.stride_tricks.as_strided(
        np.empty(1, value.dtype), value.shape, value.strides, writeable=False
    )
    try:
        return np.reshape(memory, shape, copy=False).strides
    except ValueError:
        return None
