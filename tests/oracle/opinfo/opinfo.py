"""PyTorch's own database of ops and sample calls (`op_db`), run in this library and in PyTorch."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

import gradspec as gs
import gradspec.nn.functional as nn_functional
from gradspec.core.tensor import Tensor, wrap

DATA: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("opinfo.yaml").read_text())

UNSUPPORTED = (TypeError, ValueError, RuntimeError, NotImplementedError, IndexError)
"""The errors that say clearly that an argument is not supported."""


def infos(name: str) -> tuple[Any, ...]:
    """The entries of the database with a name: variants of one op."""
    return tuple(info for info in database() if info.name == name)


def differentiable() -> tuple[Any, ...]:
    """The entries that have gradients in double precision."""
    return tuple(
        info for info in database() if info.supports_autograd and torch.float64 in info.dtypes
    )


@cache
def database() -> tuple[Any, ...]:
    """All entries."""
    # The database is part of PyTorch's test suite, which wants this package only to be there.
    stub = types.ModuleType("expecttest")
    stub.TestCase = object  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", stub)
    from torch.testing._internal.common_methods_invocations import op_db

    return tuple(op_db)


def label(info: Any) -> str:
    """`linalg.norm.subgradients_at_zero`: the name with the variant."""
    return ".".join(filter(None, (info.name, info.variant_test_name)))


_ADAPTED: Mapping[str, Callable[..., Any]] = {
    "where": lambda self, condition, other: gs.where(condition, self, other),
    "nn.functional.embedding": lambda weight, index, **options: nn_functional.embedding(
        index, weight, **options
    ),
    "nn.functional.embedding_bag": lambda weight, index, **options: nn_functional.embedding_bag(
        index, weight, **options
    ),
    "einsum": lambda tensors, equation: gs.einsum(equation, tensors),
    "linalg.lstsq.grad_oriented": lambda a, b, driver: gs.linalg.lstsq(a, b, driver=driver)[:2],
    "linalg.pinv.singular": lambda a, b: gs.linalg.pinv(a @ b.mT),
    "svd_lowrank": lambda a, b, **options: gs.svd_lowrank(a @ b.mT, **options),
    "pca_lowrank": lambda a, b, **options: gs.pca_lowrank(a @ b.mT, **options),
    "polygamma": lambda tensor, n: gs.polygamma(n, tensor),
    "special.polygamma": lambda tensor, n: gs.special.polygamma(n, tensor),
    "normal.in_place": lambda tensor, *numbers: tensor.clone().normal_(*numbers),
    "zero_": lambda tensor: tensor.clone().zero_(),
    "_segment_reduce": gs.segment_reduce,
}
"""Ops that the database calls with arguments in another order than users do.

By the label, where it is a variant that takes a part of the answer.
"""


def public_function(name: str) -> Callable[..., Any]:
    """Return the function of this library that has the database's name."""
    if name in _ADAPTED:
        return _ADAPTED[name]
    found: Any = getattr(Tensor, name, None)
    if isinstance(found, property):
        return lambda tensor: getattr(tensor, name)
    if found is not None and (name.startswith("__") or isinstance(getattr(gs, name, None), type)):
        return found  # type: ignore[no-any-return]
    place: Any = gs
    for part in name.split("."):
        place = getattr(place, part, None)
    if not callable(place):  # `gs.double` is a dtype
        place = found
    if place is None:
        raise LookupError(f"there is no {name}")
    return place  # type: ignore[no-any-return]


def function_of(info: Any) -> Callable[..., Any]:
    """Return what an entry calls; LookupError where this library has nothing of that name."""
    return _ADAPTED.get(label(info)) or public_function(info.name)


_COUNTERPARTS: Mapping[str, Callable[[Any], Any]] = {
    "PairwiseDistance": lambda theirs: gs.nn.PairwiseDistance(
        theirs.norm, theirs.eps, theirs.keepdim
    ),
    "LinearCrossEntropyOptions": lambda theirs: gs.nn.LinearCrossEntropyOptions(
        theirs.allow_retain_graph, theirs.batch_chunk_size, theirs.chunking_method
    ),
}
"""Constructors of the modules and options among the arguments."""


@dataclass(frozen=True)
class _Library:
    tensor: type
    grad: Callable[..., Any]
    on: Callable[[Any], Any]
    """A tensor on the memory of an array."""


OURS = _Library(Tensor, gs.autograd.grad, wrap)
THEIRS = _Library(torch.Tensor, torch.autograd.grad, torch.from_numpy)


def contiguous(array: Any) -> Any:
    """A copy in row-major order."""
    return np.array(array, order="C")


def transposed(array: Any) -> Any:
    """The last dimension is the outermost in memory: for a matrix, column-major order."""
    return np.moveaxis(np.moveaxis(array, -1, 0).copy("C"), 0, -1) if array.ndim else array.copy()


def strided(array: Any) -> Any:
    """Every second element of a larger array, from the second on, with other numbers between."""
    around = np.ones([2 * length + 1 for length in array.shape], array.dtype)
    laid = around[(slice(1, None, 2),) * array.ndim + (...,)]
    laid[...] = array
    return laid


def turned(array: Any) -> Any:
    """The dimensions in memory from the last to the first, with gaps."""
    return strided(array.T).T


def expanded(array: Any) -> Any:
    """The first slice in the place of all others: other numbers than those of `array`."""
    if not array.size or not array.ndim:
        return array.copy()
    return np.lib.stride_tricks.as_strided(array.copy(), array.shape, (0, *array.strides[1:]))


@dataclass(frozen=True)
class Layout:
    """The strides of arguments and cotangents."""

    arguments: Callable[[Any], Any] = contiguous
    cotangents: Callable[[Any], Any] = contiguous


PLAIN = Layout()


def numbers(tensor: Any) -> Any:
    """The values as an array."""
    if isinstance(tensor, torch.Tensor):
        return tensor.detach().resolve_conj().resolve_neg().numpy(force=True)
    return tensor.detach().numpy()


def _converted(library: _Library, value: Any, leaves: list[Any], layout: Layout) -> Any:
    """A sample's argument for a library; those that want a gradient are noted."""
    if isinstance(value, torch.Tensor):
        tensor = library.on(layout.arguments(numbers(value))).requires_grad_(value.requires_grad)
        if value.requires_grad:
            leaves.append(tensor)
        return tensor
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout) and library is OURS:
        return getattr(gs, str(value).removeprefix("torch."))
    if isinstance(value, torch.nn.Module | torch.nn.LinearCrossEntropyOptions) and library is OURS:
        return _COUNTERPARTS[type(value).__name__](value)
    if isinstance(value, list | tuple):
        parts = [_converted(library, item, leaves, layout) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, dict):
        return {key: _converted(library, item, leaves, layout) for key, item in value.items()}
    return value


def converted(value: Any) -> Any:
    """A sample's arguments for this library."""
    return _converted(OURS, value, [], PLAIN)


def answers(
    library: _Library, function: Callable[..., Any], sample: Any, layout: Layout = PLAIN
) -> Iterator[list[Any]]:
    """Values, then gradients, then second gradients of a call, each a list of tensors or None."""
    leaves: list[Any] = []
    arguments = _converted(library, (sample.input, *sample.args), leaves, layout)
    options = _converted(library, sample.kwargs, leaves, layout)
    result = function(*arguments, **options)
    outputs = list(_tensors(sample.output_process_fn_grad(result), library.tensor))
    yield outputs
    first = _gradients(library, outputs, leaves, layout, create_graph=True)
    yield first
    yield _gradients(library, [g * g for g in first if g is not None], leaves, layout)


def _gradients(
    library: _Library, tensors: list[Any], leaves: list[Any], layout: Layout, **options: Any
) -> list[Any]:
    """The gradients for cotangents that weigh every element differently; None for no gradient."""
    roots = [tensor for tensor in tensors if tensor.requires_grad]
    if not roots or not leaves:
        return [None] * len(leaves)
    cotangents = [library.on(layout.cotangents(_weights(numbers(root)))) for root in roots]
    return list(library.grad(roots, leaves, cotangents, allow_unused=True, **options))


def _weights(values: Any) -> Any:
    weights = np.cos(1.0 + np.arange(values.size)).reshape(values.shape)
    return np.asarray(weights * (1 + 1j) if values.dtype.kind == "c" else weights, values.dtype)


def _tensors(value: Any, kind: type) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item, kind)


def samples(info: Any) -> list[Any]:
    """Calls of an entry, in double precision if it takes that; none for other devices' ops.

    Of those that have thousands, which combine all arguments, a few from all parts of the list.
    """
    dtype = next((each for each in (torch.float64, torch.int64) if each in info.dtypes), None)
    if dtype is None:
        return []
    torch.manual_seed(0)
    wants_gradient = info.supports_autograd and dtype.is_floating_point
    found = list(info.sample_inputs("cpu", dtype, requires_grad=wants_gradient))
    return found[:: 1 + len(found) // _MOST_SAMPLES]


_MOST_SAMPLES = 120


def is_drawn(info: Any, sample: Any) -> bool:
    """Return whether the result is random."""
    if info.name in DATA["always_drawn"]:
        return True
    if info.name in DATA["drawn_unless_given"]:
        return DATA["drawn_unless_given"][info.name] not in sample.kwargs
    if info.name in DATA["drawn_if"]:
        given = sample.kwargs.get(DATA["drawn_if"][info.name])
        return given is not None and given is not False
    if info.name not in DATA["drawn"] or not sample.kwargs.get("training", True):
        return False
    ((argument, default),) = DATA["drawn"][info.name].items()
    return 0 < sample.kwargs.get(argument, default) < 1


def difference(info: Any, sample: Any, layout: Layout = PLAIN) -> str | None:
    """Describe how the two libraries' answers to a sample differ; None if they do not.

    Raises one of `UNSUPPORTED` if this library refuses it.
    """
    function = function_of(info)
    original = _CALLED_ON_CLONES.get(info.name, info.op)
    if info.name in _INTO_FORM:
        function = partial(_INTO_FORM[info.name], function)
        original = partial(_INTO_FORM[info.name], original)
    theirs = list(_as_far_as_they_go(answers(THEIRS, original, sample, layout)))
    ours = list(islice(answers(OURS, function, sample, layout), len(theirs)))
    parts = zip(("value", "gradient", "second gradient"), ours, theirs, strict=False)
    count = DATA["other_gradients"].get(label(info), {}).get("compared")
    for what, mine, other in islice(parts, count):
        if len(mine) != len(other):
            return f"{len(mine)} of {what}, PyTorch {len(other)}"
        ignores_nan = what == "second gradient" and label(info) in DATA["second_derivative_is_nan"]
        for a, b in zip(mine, other, strict=True):
            found = _compared(a, b, with_values=not is_drawn(info, sample), ignores_nan=ignores_nan)
            if found:
                return f"{what}: {found}"
    return None


def _triangle(tensor: Any, upper: bool) -> Any:
    return tensor.triu() if upper else tensor.tril()


_INTO_FORM: Mapping[str, Callable[..., Any]] = {
    "cholesky_inverse": lambda op, x, upper=False: op(_triangle(x, upper), upper=upper),
    "cholesky_solve": lambda op, b, x, upper=False: op(b, _triangle(x, upper), upper=upper),
    "nn.functional.ctc_loss": lambda op, x, *others, **options: op(
        x.log_softmax(2), *others, **options
    ),
}
"""Adapters that PyTorch's own gradient tests use: arguments get the form that the op expects.

PyTorch's gradients hold for triangles and for logarithms of probabilities alone; see
docs/differences.md.
"""

_CALLED_ON_CLONES: Mapping[str, Callable[..., Any]] = {
    "zero_": lambda tensor: tensor.clone().zero_()
}
"""Ops that write to a leaf, which neither library allows."""


def results(info: Any, sample: Any, layout: Layout) -> tuple[list[Any], list[Any]]:
    """Return a call's result in this library and in PyTorch."""
    function = function_of(info)
    ours = next(answers(OURS, function, sample, layout))
    return ours, next(answers(THEIRS, info.op, sample, layout))


def pytorch_refuses(info: Any, sample: Any, layout: Layout) -> bool:
    """Return whether PyTorch has no answer, as to a view of what is not contiguous."""
    try:
        next(answers(THEIRS, info.op, sample, layout))
    except RuntimeError:
        return True
    return False


def _as_far_as_they_go(given: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """PyTorch's answers up to the derivative that it does not have."""
    yield next(given)
    try:
        yield from given
    except (RuntimeError, NotImplementedError):
        return


def _compared(mine: Any, theirs: Any, *, with_values: bool, ignores_nan: bool) -> str | None:
    """A missing gradient counts as zeros."""
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        given = numbers(theirs if mine is None else mine)
        return f"{given} against none" if not np.allclose(given, 0) else None
    a, b = numbers(mine), numbers(theirs)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return f"{a.shape} {a.dtype}, PyTorch {b.shape} {b.dtype}"
    if ignores_nan:
        a = np.where(np.isnan(b), b, a)
    if with_values and not np.allclose(a, b, rtol=1e-7, atol=1e-8, equal_nan=True):
        return f"{a}, PyTorch {b}"
    return None
