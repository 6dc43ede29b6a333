"""Kernels as what they compute: recorded, so that it is put into the loops around it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..program import Program, Step, Value, rewrite
from ..recorder import Recorder
from ..steps import function_of
from ..tape import Tape
from .layout import extent, root_of

EXPANDED: Final = frozenset(
    name
    for names in (
        "div_rounded fill fill_with fmod fmod_scalar frac heaviside logaddexp logaddexp2 pow",
        "pow_backward pow_of_scalar pow_scalar remainder remainder_scalar times times_log",
        "sgn sign over_cosh choice where gelu_slope normal_cdf masked_fill",
        "select_backward select_scatter slice_backward slice_scatter narrow_copy",
        "diagonal_scatter diagonal_backward trace trace_backward",
        "celu gelu glu hardtanh softshrink threshold clamp",
        "huber_loss smooth_l1_loss soft_margin_loss binary_cross_entropy_with_logits variance",
        "batch_norm group_norm layer_norm mean_to_size over_count channel_sum per_channel",
        "over_freedom std var sum unmean unreduce all any amax amin logsumexp vector_norm",
        "cat_backward stack_backward constant_pad_nd constant_unpad_nd",
        "tril triu flip roll repeat repeat_backward mse_loss reduced unreduced xlog1py",
        "pixel_shuffle pixel_unshuffle channel_shuffle channel_unshuffle logit sinc",
    )
    for name in names.split()
)
"""Kernels that compute by few functions of NumPy's, and draw no random numbers."""
MAX_STEPS: Final = 80


Constants = dict[Value, Any]


def expanded(step: Step) -> tuple[list[Step], Constants] | None:
    """Return the steps of a kernel, and the constants among their arguments.

    The result is None if the kernel looks at data, or has too many steps. It is recorded twice, on
    different constants: what it takes from them without being seen shows in constants that differ.
    """
    name = step.function.removeprefix("kernels.")
    if name not in EXPANDED:
        return None
    first, second = (_recorded(step, fill) for fill in (0, 1))
    if first is None or second is None or len(first.steps) > MAX_STEPS:
        return None
    if len(first.constants) != len(second.constants):
        return None
    for (_, one), (_, other) in zip(first.constants, second.constants, strict=True):
        first_bytes = one.reshape(-1)[:1].tobytes()
        if one.dtype != other.dtype or {one.tobytes(), other.tobytes()} != {first_bytes * one.size}:
            return None
    return _renamed(step, first)


def _recorded(step: Step, fill: int) -> Program | None:
    tape = Tape()
    recorders = {value: tape.input(_array(value, fill)) for value in dict.fromkeys(step.inputs)}
    args, kwargs = (rewrite(each, recorders) for each in (step.args, dict(step.kwargs)))
    try:
        with np.errstate(all="ignore"):
            found = function_of(step.function)(*args, **kwargs)
    except Exception:
        return None
    results = list(found) if step.is_tuple else [found]
    if len(results) != len(step.outputs) or not all(isinstance(r, Recorder) for r in results):
        return None
    program = tape.program(results)
    return None if program.writes else program


def _array(value: Value, fill: int) -> Any:
    before, size = extent(value)
    memory = np.full(max(size, 1) // value.dtype.itemsize + 1, fill, value.dtype)
    return np.ndarray(value.shape, value.dtype, memory.data, before, value.strides)


def _renamed(step: Step, program: Program) -> tuple[list[Step], Constants] | None:
    """Return the steps on the values of the program that they are put into."""
    prefix = step.outputs[0].name
    values: dict[Value, Any] = dict(zip(program.inputs, dict.fromkeys(step.inputs), strict=True))
    constants: Constants = {}
    for value, array in program.constants:
        values[value] = Value(f"{prefix}_{value.name}", value.shape, value.dtype, value.strides)
        constants[values[value]] = array
    finals: dict[Value, Value] = {}
    made = {value for each in program.steps for value in each.outputs}
    for ours, wanted in zip(program.outputs, step.outputs, strict=True):
        is_same = ours.shape == wanted.shape and ours.dtype == wanted.dtype
        if not is_same:
            return None
        if ours in made and ours.base is None and ours.strides == wanted.strides:
            finals.setdefault(ours, wanted)
    steps = []
    for inner in program.steps:
        for value in inner.outputs:
            values[value] = finals.get(value) or _moved(value, f"{prefix}_{value.name}", values)
        args, kwargs = (rewrite(each, values) for each in (inner.args, dict(inner.kwargs)))
        outputs = tuple(values[value] for value in inner.outputs)
        steps.append(Step(inner.function, args, kwargs, outputs, inner.is_tuple, step.place))
    for ours, wanted in zip(program.outputs, step.outputs, strict=True):
        if finals.get(ours) is not wanted:
            copied = values.get(ours)
            if not isinstance(copied, Value):
                return None
            steps.append(Step("array.copy", (copied,), {}, (wanted,), False, step.place))
    return steps, constants


def _moved(value: Value, name: str, values: dict[Value, Any]) -> Value:
    if value.base is None:
        return Value(name, value.shape, value.dtype, value.strides)
    base = values[value.base]
    offset = value.offset + base.offset
    return Value(name, value.shape, value.dtype, value.strides, root_of(base), offset)
