"""The libraries measured: gradspec, its peers where installed, and NumPy by hand."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .workload import Array, Run, Workload


@dataclass(frozen=True, slots=True)
class Library:
    """A column of the table."""

    name: str
    """On the command line, in the baseline and in the bounds."""
    title: str
    """In the table."""
    module: str
    """Imported by it; it takes part if that is installed."""
    color: str
    """In the plot."""
    prepare: Callable[[Workload], Run]
    """Prepare the process before the clock runs."""

    needs: tuple[str, ...] = ()
    """Commands, one of which has to be there."""

    @property
    def is_installed(self) -> bool:
        """Return whether its module can be found, and what it needs; nothing is imported."""
        has_command = not self.needs or any(map(shutil.which, self.needs))
        return has_command and importlib.util.find_spec(self.module) is not None


def _gradspec(workload: Workload) -> Run:
    import gradspec
    import gradspec.nn.functional
    import gradspec.optim

    return workload.by_pytorch_api(gradspec)


def _compiled(workload: Workload) -> Run:
    import gradspec
    import gradspec.nn.functional
    import gradspec.optim

    return workload.compiled(gradspec)


def _torch(threads: int) -> Callable[[Workload], Run]:
    def prepare(workload: Workload) -> Run:
        import torch

        torch.set_num_threads(threads)
        return workload.by_pytorch_api(torch)

    return prepare


def _torch_compiled(workload: Workload) -> Run:
    import torch

    torch.set_num_threads(2)
    torch._dynamo.config.trace_autograd_ops = True  # `backward()` is part of the graph
    is_whole = workload.learning_rate is None  # optimizers break the graph
    run: Run = torch.compile(workload.by_pytorch_api(torch), fullgraph=is_whole)
    return run


def _jax(workload: Workload) -> Run:
    """Compiled as a whole; a call ends when the results are there."""
    import jax

    jax.config.update("jax_enable_x64", True)  # the workloads state their dtypes
    compiled = jax.jit(workload.pure(jax.numpy, jax.grad))
    params = [jax.numpy.asarray(param) for param in workload.params]
    return _carried_on(workload, lambda given: jax.block_until_ready(compiled(given)), params)


def _autograd(workload: Workload) -> Run:
    import autograd
    import autograd.numpy

    return _carried_on(workload, workload.pure(autograd.numpy, autograd.grad), workload.params)


def _carried_on(
    workload: Workload, call: Callable[[Sequence[Any]], Sequence[Any]], params: Sequence[Any]
) -> Run:
    """Calls of a pure function; a step of training starts where the last one ended."""
    trains = workload.learning_rate is not None
    current = list(params)

    def run() -> Sequence[Any]:
        results = call(current)
        if trains:
            current[:] = results[len(current) :]
        return results

    return run


def _mygrad(workload: Workload) -> Run:
    import mygrad

    mygrad.turn_memory_guarding_off()  # as its documentation advises for speed
    params: list[Any] = [mygrad.tensor(param.copy()) for param in workload.params]
    rate = workload.learning_rate

    def run() -> Sequence[Any]:
        for param in params:
            param.null_grad()
        workload.loss(mygrad, params).backward()
        grads = [param.grad for param in params]
        if rate is None:
            return grads
        for param, grad in zip(params, grads, strict=True):
            param.data -= rate * grad
        return [*grads, *(param.data for param in params)]

    return run


GRADSPEC = Library("gradspec", "gradspec", "gradspec", "#1971c2", _gradspec)
COMPILED = Library("compiled", "gradspec, compiled", "gradspec", "#0b3d66", _compiled)
BY_HAND = Library("numpy", "NumPy by hand", "numpy", "#adb5bd", lambda load: load.by_hand())
LIBRARIES = {
    library.name: library
    for library in (
        GRADSPEC,
        COMPILED,
        Library("torch-2", "PyTorch, 2 threads", "torch", "#f76707", _torch(2)),
        Library("torch-1", "PyTorch, 1 thread", "torch", "#ffc078", _torch(1)),
        Library(
            *("torch-compile", "torch.compile, 2 threads", "torch", "#d9480f", _torch_compiled),
            needs=("g++", "clang++", "c++"),
        ),
        Library("jax", "JAX (jit)", "jax", "#5c940d", _jax),
        Library("autograd", "autograd", "autograd", "#9c36b5", _autograd),
        Library("mygrad", "MyGrad", "mygrad", "#e599f7", _mygrad),
        BY_HAND,
    )
}


def as_arrays(results: Sequence[Any]) -> list[Array]:
    """Copies, whatever the library's own tensors are: a call may write over the next's."""
    import numpy as np

    return [np.array(result.numpy() if hasattr(result, "numpy") else result) for result in results]


def taking_part(workload: Workload) -> list[Library]:
    """The installed libraries that can run a workload."""
    return [
        library
        for library in LIBRARIES.values()
        if library.is_installed and library.name not in workload.absent
    ]
