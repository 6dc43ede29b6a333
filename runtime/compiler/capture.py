"""Capture: a function is called on recorders, once, and what it does becomes a program."""

from __future__ import annotations

import builtins
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import numpy as np

from .. import kernels
from ..core.accumulate_grad import AccumulateGrad
from ..core.lazy import lazy_attributes
from ..core.random_generator import Generator, recording_draws
from ..core.tensor import Tensor
from .errors import is_users_frame, refusal
from .recorder import Recorder, unknown_shape
from .tape import Tape, recorders_of

Array: TypeAlias = np.ndarray[Any, Any]
Resize: TypeAlias = Callable[[Array], Array]
"""Answers the array that a capture runs on in place of an input."""

capturing: Final = threading.RLock()
"""One capture at a time: it replaces kernels, and the arrays of tensors."""


class _Thread(threading.local):
    """State of a thread."""

    tape: Tape | None = None


thread: Final = _Thread()
"""The tape of the capture of this thread: while it has one, compiled functions run as they are."""

_INLINE_MODULES: Final = {
    "elementwise.masking": "choice where",
    "elementwise.checks": "refuse_bools same_dtype",
    "linalg.products": (
        "addbmm addcdiv addmm addmv addr baddbmm bmm broadcast_matmul cross dot lerp "
        "lerp_tensor mm mv vdot"
    ),
    "elementwise.arithmetic": "times pow_scalar clamp rsub_scalar",
    "shape.views": (
        "alias cat expand flip permute permute_backward squeeze stack "
        "t transpose unbind unsqueeze view cloned copied to_copy sum_to_size"
    ),
    "shape.layout": "diagonal split split_with_sizes",
    "indexing.slices": "select slice_view",
    "reductions.sums": "mean sum unreduce",
    "nn.losses": "reduced unreduced mse_loss same_ndim",
    "nn.activations": "softmax softmax_backward log_softmax log_softmax_backward",
}

_INLINE: Final = frozenset(name for names in _INLINE_MODULES.values() for name in names.split())
"""Kernels that are recorded as the functions of NumPy's that they call, so that these fuse."""

_DATA_DEPENDENT: Final = frozenset(
    ("nonzero", "unique", "unique_consecutive", "unique_dim", "masked_select", "bincount")
)
"""Kernels whose results have a shape that depends on the elements of their arguments."""

_PLACES: Final = ("_view_base", "_view_kind")


class Lent:
    """A tensor whose array is a recorder while a capture runs, and what it was before."""

    __slots__ = ("array", "before", "recorder", "tensor")

    def __init__(self, tensor: Tensor, tape: Tape, resized: Resize) -> None:
        self.tensor = tensor
        self.array = tensor.array
        self.before = {
            slot: getattr(tensor, slot)
            for slot in ("array", "grad_node", "alias", "_grad", *_PLACES)
            if hasattr(tensor, slot)
        }
        self.recorder = tape.input(resized(tensor.array))
        tensor.array = self.recorder
        tensor.alias = None
        for slot in _PLACES:
            if slot in self.before:
                delattr(tensor, slot)
        if tensor.grad_node is not None and not tensor.grad_node.is_leaf:
            tensor.grad_node = AccumulateGrad(tensor)

    def give_back(self) -> None:
        """Let the tensor be what it was."""
        for slot, value in self.before.items():
            setattr(self.tensor, slot, value)
        if "_grad" not in self.before and hasattr(self.tensor, "_grad"):
            del self.tensor._grad


@contextmanager
def lending(tensors: Sequence[Tensor], tape: Tape, resized: Resize) -> Iterator[list[Lent]]:
    """Put recorders into tensors, each an input of the tape, and take them out again."""
    lent: list[Lent] = []
    try:
        for tensor in tensors:
            lent.append(Lent(tensor, tape, resized))
        yield lent
    finally:
        for each in reversed(lent):
            each.give_back()


@contextmanager
def recording(tape: Tape) -> Iterator[None]:
    """Record kernels and draws of random numbers; one capture at a time."""
    draws = functools.partial(_Draws, tape)
    with capturing, _recorded_kernels(), _refused_prints(), recording_draws(draws):
        thread.tape = tape
        try:
            yield
        finally:
            thread.tape = None


@contextmanager
def _refused_prints() -> Iterator[None]:
    """Refuse that the function which is captured prints: its program would not."""
    known = builtins.print

    @functools.wraps(known)
    def refusing(*args: Any, **kwargs: Any) -> None:
        if thread.tape is not None and is_users_frame(sys._getframe(1)):
            raise refusal(
                "print is called, which a program would not do again",
                "Return what is to be printed, or compile with fullgraph=False",
            )
        known(*args, **kwargs)

    builtins.print = refusing
    try:
        yield
    finally:
        builtins.print = known


class _Draws:
    """A generator whose numbers are drawn by the program: a capture leaves its state alone."""

    def __init__(self, tape: Tape, generator: Generator) -> None:
        self._tape = tape
        self._generator = generator

    def __getattr__(self, method: str) -> Any:
        if method == "bit_generator":
            raise refusal(
                "the state of a random generator is asked for", "Seed outside of the function"
            )

        def draw(*args: Any, **kwargs: Any) -> Any:
            state = self._generator.get_state()
            try:
                return self._tape.draw(self._generator, method, args, kwargs)
            finally:
                self._generator._go_on_from(state)

        return draw


# ---- kernels


@contextmanager
def _recorded_kernels() -> Iterator[None]:
    """Let kernels be single steps; those of `_INLINE` are recorded as what they compute."""
    namespace = vars(kernels)
    before = {name: namespace[name] for name in dir(kernels) if name in namespace}
    array_method = Tensor.__array__
    try:
        for name in _KERNELS:
            namespace[name] = _recorded(name, before.get(name))
        Tensor.__array__ = _refuse_recorders(array_method)  # type: ignore[method-assign]
        yield
    finally:
        Tensor.__array__ = array_method  # type: ignore[method-assign]
        for name in _KERNELS:
            namespace.pop(name, None)
            if name in before:
                namespace[name] = before[name]


_KERNELS: Final = tuple(name for names in kernels._NAMES.values() for name in names.split())


def _recorded(name: str, known: Callable[..., Any] | None) -> Callable[..., Any]:
    """A kernel that is recorded where one of its arguments is.

    In one that is recorded as what it computes all arrays are recorders: a method of a plain one
    would not be seen.
    """

    def load() -> Callable[..., Any]:
        return known or _loaded.get(name) or kernel_by_name(name)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        found = recorders_of((args, kwargs))
        if not found:
            return load()(*args, **kwargs)
        if name in _DATA_DEPENDENT:
            raise unknown_shape(f"{name}()")
        found[0].storage  # noqa: B018 - finds the tape
        tape = found[0].tape
        if name in _INLINE:
            return load()(*tape.recorded(args), **tape.recorded(kwargs))
        return tape.call(f"kernels.{name}", args, kwargs)

    kernel.original = load  # type: ignore[attr-defined]
    return kernel


_loaded: dict[str, Any] = {"__name__": kernels.__name__, "__package__": kernels.__package__}
kernel_by_name: Final = lazy_attributes(
    _loaded,
    {
        name: (f".{module}", name)
        for module, names in kernels._NAMES.items()
        for name in names.split()
    },
)[0]
"""The kernel of a name, whatever stands for it while a capture runs."""


def _refuse_recorders(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def array(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.array, Recorder):
            raise refusal(
                "a tensor is turned into an array (np.asarray), which is not recorded",
                "Compute with the tensor itself",
            )
        return method(self, *args, **kwargs)

    return array
