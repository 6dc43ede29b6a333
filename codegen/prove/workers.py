"""Proofs in worker processes: the parent never imports the runtime, nor the code to be proved.

Workers are joblib's on this machine, or anybody's that joblib has a backend for (`backends`).
"""

from __future__ import annotations

import math
import os
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ..spec.model import Example, OpSpec
from .backends import BackendPool
from .deadline import GRACE_SECONDS, PROOF_SECONDS, hard_limit, limit_memory
from .parent import end_with
from .pool import OPS_PER_WORKER, Answer, Item, Pool, Work
from .recheck.outcome import Recheck
from .report.certificate import record_line
from .report.verdict import OpVerdict, Status

_PRE_DISPATCHED = 2
"""Items sent ahead for each worker, which are lost if it dies."""

MEMORY = 4 * 1024**3
"""The bytes that a worker may take."""


def prove_ops(
    specs: Sequence[OpSpec],
    staged: Path,
    package: str,
    *,
    jobs: int,
    backend: str = "",
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """Prove ops of the package in the directory `staged`; the verdicts come in the given order.

    `progress` hears of each as soon as it is known. An op whose proof ends its worker gets a
    verdict too.
    """
    found: dict[str, OpVerdict] = {}
    pool = pool_of(staged, package, jobs, backend)
    for _, verdict in pool.each(prove_in_worker, _largest_first(specs), crashed_proof):
        found[verdict.name] = verdict
        progress(verdict)
    return [found[spec.name] for spec in specs]


def certify_ops(
    specs: Sequence[OpSpec],
    digests: Mapping[str, str],
    staged: Path,
    package: str,
    *,
    jobs: int,
    backend: str = "",
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[tuple[OpVerdict, str]]:
    """Prove ops as `prove_ops` does; each verdict comes with the op's line of a certificate."""
    found: dict[str, tuple[OpVerdict, str]] = {}
    items = [(spec, digests[spec.name]) for spec in _largest_first(specs)]
    pool = pool_of(staged, package, jobs, backend)
    for _, answer in pool.each(certify_in_worker, items, crashed_record):
        found[answer[0].name] = answer
        progress(answer[0])
    return [found[spec.name] for spec in specs]


def recheck_ops(
    records: Sequence[tuple[OpSpec, Mapping[str, Any], str]],
    staged: Path,
    package: str,
    *,
    jobs: int,
    backend: str = "",
    progress: Callable[[Recheck], None] = lambda outcome: None,
) -> list[Recheck]:
    """Check records of a certificate again, each with its op and a seed; in the given order."""
    found: dict[int, Recheck] = {}
    pool = pool_of(staged, package, jobs, backend)
    for number, outcome in pool.each(recheck_in_worker, records, crashed_recheck):
        found[number] = outcome
        progress(outcome)
    return [found[number] for number in range(len(records))]


def _largest_first(specs: Sequence[OpSpec]) -> list[OpSpec]:
    """No worker is left with a long proof at the end."""
    return sorted(specs, key=_size, reverse=True)


def crashed_proof(spec: OpSpec, reason: str) -> OpVerdict:
    """The verdict on an op whose proof ended its worker."""
    return OpVerdict(spec.name, Status.ERROR, notes=(f"the proof {reason}",))


def crashed_record(item: tuple[OpSpec, str], reason: str) -> tuple[OpVerdict, str]:
    """The same, without a line for it."""
    return crashed_proof(item[0], reason), ""


def crashed_recheck(item: tuple[OpSpec, Mapping[str, Any], str], reason: str) -> Recheck:
    """The outcome for an op whose check ended its worker."""
    return Recheck(item[0].name, f"checking it {reason}")


def find_differences(
    pairs: Sequence[tuple[OpSpec, OpSpec]], staged: Path, package: str, *, jobs: int
) -> list[tuple[str, int]]:
    """For each two ops of the package a call at which they differ, if one is found."""

    def crashed(_: object, reason: str) -> tuple[str, int]:
        return f"a call that {reason}", 0

    answers = dict(LocalPool(staged, package, jobs).each(compare_in_worker, pairs, crashed))
    return [answers[number] for number in range(len(pairs))]


def first_that_holds(
    refuted: OpSpec, versions: Sequence[OpSpec], staged: Path, package: str, *, seconds: float
) -> str:
    """The name of the first version of a refuted op that is proved within the time."""
    item = (refuted, tuple(versions), seconds)
    pool = LocalPool(staged, package, 1)
    return next(answer for _, answer in pool.each(repair_in_worker, [item], lambda *_: ""))


@contextmanager
def spare_worker() -> Iterator[None]:
    """Start a worker that imports the prover meanwhile, and does the work if there is little."""
    spare = ProcessPoolExecutor(max_workers=1)
    sent = [
        spare.submit(end_with, os.getpid(), Path()),
        spare.submit(import_module, f"{__package__}.identities.op"),
    ]
    _spare.append(spare)
    try:
        yield
    finally:
        if spare in _spare:
            _spare.remove(spare)
            _kill(spare, sent, wait=True)


_spare: list[ProcessPoolExecutor] = []
"""The worker that waits for work, if there is one."""


def pool_of(staged: Path, package: str, jobs: int, backend: str = "") -> Pool:
    """The workers of this machine, or those that a backend of joblib finds."""
    if backend in ("", "loky"):
        return LocalPool(staged, package, jobs)
    return BackendPool(staged, package, jobs, backend)


class LocalPool:
    """Processes on this machine."""

    def __init__(self, staged: Path, package: str, jobs: int) -> None:
        self._staged = staged
        self._package = package
        self._jobs = jobs

    def each(
        self,
        work: Work[Item, Answer],
        items: Sequence[Item],
        crashed: Callable[[Item, str], Answer],
    ) -> Iterator[tuple[int, Answer]]:
        """The answers with the numbers of their items, as they come.

        After a crash those that may have caused it are done again, each in a worker of its own.
        """
        left = dict(enumerate(items))
        while left:
            try:
                for number, answer in self._together(work, left):
                    del left[number]
                    yield number, answer
            except TerminatedWorkerError as error:
                if len(left) == 1:
                    ((number, item),) = left.items()
                    yield number, crashed(item, _end(error))
                    return
                for number in list(left)[: _PRE_DISPATCHED * self._jobs]:
                    yield number, self._isolated(work, left.pop(number), crashed)

    def _together(
        self, work: Work[Item, Answer], items: Mapping[int, Item]
    ) -> Iterator[tuple[int, Answer]]:
        run = uuid.uuid4().hex
        workers = min(self._jobs, math.ceil(len(items) / OPS_PER_WORKER))
        if workers == 1:
            yield from self._in_one_worker(work, dict(items), run)
            return
        tasks = (
            delayed(_numbered)(work, number, item, self._staged, self._package, run)
            for number, item in list(items.items())
        )
        yield from Parallel(
            n_jobs=workers,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch=_PRE_DISPATCHED * workers,
            initializer=end_with,
            initargs=(os.getpid(), self._staged),
        )(tasks)

    def _in_one_worker(
        self, work: Work[Item, Answer], items: Mapping[int, Item], run: str
    ) -> Iterator[tuple[int, Answer]]:
        """joblib would do a single job in this very process, which must not import the runtime."""
        executor = _spare.pop() if _spare else ProcessPoolExecutor(max_workers=1)
        executor.submit(end_with, os.getpid(), self._staged)
        futures = (
            executor.submit(_numbered, work, number, item, self._staged, self._package, run)
            for number, item in items.items()
        )
        ahead = deque(islice(futures, _PRE_DISPATCHED))
        try:
            while ahead:
                yield ahead[0].result()
                ahead.popleft()
                ahead.extend(islice(futures, 1))
        finally:
            _kill(executor, ahead, wait=True)

    def _isolated(
        self,
        work: Work[Item, Answer],
        item: Item,
        crashed: Callable[[Item, str], Answer],
    ) -> Answer:
        """One item in a worker of its own, after some item ended a worker that many shared."""
        try:
            return next(self._in_one_worker(work, {0: item}, uuid.uuid4().hex))[1]
        except TerminatedWorkerError as error:
            return crashed(item, _end(error))


def _kill(executor: ProcessPoolExecutor, sent: Collection[Future[Any]], *, wait: bool) -> None:
    """Kill a worker, once it has been handed what was sent.

    Killing drops what was not handed on; the thread that is about to do so would then fail, and
    print a traceback.
    """
    while not all(future.running() or future.done() for future in sent):
        time.sleep(0.001)
    executor.shutdown(wait=wait, kill_workers=True)


def _end(error: TerminatedWorkerError) -> str:
    """Describe the end of a worker."""
    if "SIGXCPU" in str(error):
        seconds = f"{PROOF_SECONDS + GRACE_SECONDS:.0f} s"
        return f"was after {seconds} in a step that nothing can interrupt: are its numbers huge?"
    return f"ended its process ({type(error).__name__})"


def _numbered(
    work: Work[Item, Answer], number: int, item: Item, staged: Path, package: str, run: str
) -> tuple[int, Answer]:
    return number, work(item, staged, package, run)


_imported: dict[str, str] = {}
"""The run whose package this worker has imported, and what went wrong with that, if anything."""


def prove_in_worker(spec: OpSpec, staged: Path, package: str, run: str) -> OpVerdict:
    """Prove one op in a worker; the package is imported with the first."""
    if problem := import_once(staged, package, run):
        return OpVerdict(spec.name, Status.ERROR, notes=(problem,))
    from .identities.op import prove_op

    with hard_limit(PROOF_SECONDS + GRACE_SECONDS):
        return prove_op(spec)


def certify_in_worker(
    item: tuple[OpSpec, str], staged: Path, package: str, run: str
) -> tuple[OpVerdict, str]:
    """Prove one op in a worker, and write down how, under a digest of what that depends on."""
    spec, digest = item
    if problem := import_once(staged, package, run):
        return OpVerdict(spec.name, Status.ERROR, notes=(problem,)), ""
    from .identities.op import prove_op
    from .report.recorder import Recorder

    recorder = Recorder()
    with hard_limit(PROOF_SECONDS + GRACE_SECONDS):
        verdict = prove_op(spec, recorder=recorder)
    return verdict, record_line(verdict, digest, recorder.calls) if verdict.holds else ""


def recheck_in_worker(
    item: tuple[OpSpec, Mapping[str, Any], str], staged: Path, package: str, run: str
) -> Recheck:
    """Check the record of an op again in a worker."""
    if problem := import_once(staged, package, run):
        return Recheck(item[0].name, problem)
    from .recheck.record import recheck_op

    with hard_limit(PROOF_SECONDS + GRACE_SECONDS):
        return recheck_op(*item)


def compare_in_worker(
    pair: tuple[OpSpec, OpSpec], staged: Path, package: str, run: str
) -> tuple[str, int]:
    """Tell two ops apart in a worker."""
    if problem := import_once(staged, package, run):
        raise RuntimeError(problem)
    from .zero.difference import find_difference

    return find_difference(*pair)


def repair_in_worker(
    item: tuple[OpSpec, tuple[OpSpec, ...], float], staged: Path, package: str, run: str
) -> str:
    """Find the version of an op that is right in a worker."""
    if problem := import_once(staged, package, run):
        raise RuntimeError(problem)
    from .report.repair import first_that_holds

    return first_that_holds(*item)


def import_once(staged: Path, package: str, run: str) -> str:
    """Import the package of a run, if this worker has not yet; answers what went wrong."""
    if run not in _imported:
        _imported.clear()
        _imported[run] = _import_staged(staged, package)
    return _imported[run]


def _import_staged(staged: Path, package: str) -> str:
    """Import the package to be proved; answers what went wrong."""
    from .staging import use_generated

    limit_memory(MEMORY)
    # Calls are tried of which users are warned.
    warnings.simplefilter("ignore", UserWarning)
    warnings.simplefilter("ignore", RuntimeWarning)
    try:
        use_generated(staged, package)
        import_module("gradspec")
        import_module(package)
        import_module("gradspec.dispatch.registry").import_all()
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
