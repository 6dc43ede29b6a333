"""Proofs on any backend that joblib has: threads, other processes, the machines of a cluster.

A backend's worker may be a thread, a process that may have no children of its own, or stand on
another machine. So it only starts `batch` as a program, hands it the package and some ops, and
waits.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import BACKENDS

from ..diagnostics import Diagnostic, Span, SpecError
from .pool import OPS_PER_WORKER, Answer, Item, Work
from .sources import prover_digest

BATCHES_PER_WORKER = 4
"""Number of batches per worker, so that none waits long for the last."""

FEWEST = 8
"""A batch of fewer ops takes longer to start than to prove."""


def _failure(message: str, help: str = "") -> SpecError:
    return SpecError([Diagnostic("GS086", Span("--backend", 1, 1), message, help)])


def _register_ray() -> None:
    import_module("ray.util.joblib").register_ray()


def _register_spark() -> None:
    import_module("joblibspark").register_spark()


def _start_dask() -> None:
    """Connect to the cluster that dask's settings name; without one dask starts its own."""
    import_module("distributed").Client()


_OPTIONAL: dict[str, tuple[str, str, Callable[[], None]]] = {
    "dask": ("distributed", "dask[distributed]", _start_dask),
    "ray": ("ray", "ray[default]", _register_ray),
    "spark": ("joblibspark", "joblibspark", _register_spark),
}
"""Backends of other packages: the module, what to install, what has to be called first."""


def check_backend(name: str) -> None:
    """Raise SpecError for a backend that is unknown, or whose package is not installed."""
    if name in _OPTIONAL:
        module, package, _ = _OPTIONAL[name]
        if find_spec(module) is None:
            message = f"the backend `{name}` needs the package {module}, which is not installed"
            raise _failure(message, f"pip install '{package}'")
    elif name not in BACKENDS:
        known = ", ".join(sorted(BACKENDS.keys() | _OPTIONAL.keys()))
        raise _failure(f"joblib has no backend `{name}`", f"it has {known}")


class BackendPool:
    """Workers of a backend, each of which starts programs that have imported one package."""

    def __init__(self, staged: Path, package: str, jobs: int, backend: str) -> None:
        self._staged = staged
        self._package = package
        self._jobs = jobs
        self._backend = backend

    def each(
        self,
        work: Work[Item, Answer],
        items: Sequence[Item],
        crashed: Callable[[Item, str], Answer],
    ) -> Iterator[tuple[int, Answer]]:
        """The answers with the numbers of their items, as they come."""
        if not items:
            return
        files = {path.name: path.read_bytes() for path in self._staged.iterdir() if path.is_file()}
        numbered = list(enumerate(items))
        size = math.ceil(len(items) / (BATCHES_PER_WORKER * self._jobs))
        size = min(max(size, FEWEST), OPS_PER_WORKER)
        count = math.ceil(len(items) / size)
        tasks = [
            pickle.dumps((prover_digest(), files, self._package, work, numbered[n::count], crashed))
            for n in range(count)
        ]
        for answers in self._run(tasks):
            yield from pickle.loads(answers)

    def _run(self, tasks: Sequence[bytes]) -> Iterator[bytes]:
        with _named_failure(self._backend):
            if self._backend in _OPTIONAL:
                _OPTIONAL[self._backend][2]()
            with parallel_config(backend=self._backend, n_jobs=self._jobs):
                yield from _parallel()(delayed(run_batch)(task) for task in tasks)


def _parallel() -> Any:
    """Answers as they come, if the backend can; else all at the end."""
    try:
        return Parallel(return_as="generator_unordered", batch_size=1)
    except ValueError:
        return Parallel(batch_size=1)


@contextmanager
def _named_failure(backend: str) -> Iterator[None]:
    """Name a failure after the backend: its packages have exceptions of their own."""
    try:
        yield
    except SpecError:
        raise
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise _failure(f"the backend `{backend}` has failed: {reason[0]}") from error


def run_batch(task: bytes) -> bytes:
    """Run a batch as a program on the machine of the worker."""
    command = [sys.executable, "-m", "gradspec_codegen.prove.batch"]
    done = subprocess.run(command, input=task, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"a worker ended with {done.returncode}")
    return done.stdout
