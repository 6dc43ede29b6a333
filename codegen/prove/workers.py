"""Proofs in worker processes: the parent never imports the runtime, nor the code to be proved.

Workers are joblib's. Another backend, such as a cluster's, can be chosen as for any joblib program,
with `joblib.parallel_config`.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ..spec.model import Example, OpSpec
from .verdict import OpVerdict, Status

OPS_PER_WORKER = 24
"""A worker takes about as long to start as to prove this many ops."""


def prove_ops(
    specs: Sequence[OpSpec],
    staged: Path,
    package: str,
    *,
    jobs: int,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """Prove ops of the package in the directory `staged`; the verdicts come in the given order.

    `progress` hears of each as soon as it is known. An op whose proof ends its worker gets a
    verdict too.
    """
    found: dict[str, OpVerdict] = {}
    try:
        for verdict in _verdicts(specs, staged, package, jobs):
            found[verdict.name] = verdict
            progress(verdict)
    except TerminatedWorkerError:
        for spec in specs:
            if spec.name not in found:
                found[spec.name] = _isolated(spec, staged, package)
                progress(found[spec.name])
    return [found[spec.name] for spec in specs]


def _verdicts(
    specs: Sequence[OpSpec], staged: Path, package: str, jobs: int
) -> Iterator[OpVerdict]:
    """The largest first, so that no worker is left with a long proof at the end."""
    run = uuid.uuid4().hex
    ordered = sorted(specs, key=_size, reverse=True)
    workers = min(jobs, math.ceil(len(specs) / OPS_PER_WORKER))
    if workers == 1:
        yield from _in_one_worker(ordered, staged, package, run)
        return
    tasks = (delayed(prove_in_worker)(spec, staged, package, run) for spec in ordered)
    yield from Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(tasks)


def _in_one_worker(
    specs: Iterable[OpSpec], staged: Path, package: str, run: str
) -> Iterator[OpVerdict]:
    """joblib would do a single job in this very process, which must not import the runtime."""
    executor = ProcessPoolExecutor(max_workers=1)
    try:
        futures = [executor.submit(prove_in_worker, spec, staged, package, run) for spec in specs]
        for future in futures:
            yield future.result()
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def _isolated(spec: OpSpec, staged: Path, package: str) -> OpVerdict:
    """One op in a worker of its own, after some op ended a worker that many shared."""
    try:
        return next(_in_one_worker([spec], staged, package, uuid.uuid4().hex))
    except TerminatedWorkerError as error:
        reason = f"the proof ended its process ({type(error).__name__})"
        return OpVerdict(spec.name, Status.ERROR, notes=(reason,))


_imported: dict[str, str] = {}
"""The run whose package this worker has imported, and what went wrong with that, if anything."""


def prove_in_worker(spec: OpSpec, staged: Path, package: str, run: str) -> OpVerdict:
    """What a worker does for one op; the package is imported with the first."""
    if run not in _imported:
        _imported.clear()
        _imported[run] = _import_staged(staged, package)
    if _imported[run]:
        return OpVerdict(spec.name, Status.ERROR, notes=(_imported[run],))
    from .op import prove_op

    return prove_op(spec)


def _import_staged(staged: Path, package: str) -> str:
    """Import the package to be proved; answers what went wrong."""
    from .staging import use_generated

    try:
        use_generated(staged, package)
        import_module("gradspec")
        import_module(package)
    except Exception as error:
        return f"the generated package cannot be imported: {type(error).__name__}: {error}"
    return ""


def _size(spec: OpSpec) -> int:
    """A guess at how long a proof takes: the elements in the examples."""
    return sum(_elements(example) for example in spec.examples)


def _elements(example: Example) -> int:
    return sum(_count(value) for _, value in example.args)


def _count(value: Any) -> int:
    if isinstance(value, Mapping) or not isinstance(value, list | tuple):
        return 0
    if all(isinstance(item, int) for item in value):
        return math.prod(value)
    return sum(_count(item) for item in value)
