"""Workers that are forked from a process that has imported the prover: each begins a second sooner.

A command that a user runs starts one worker at most, for which this would not pay.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
from pathlib import Path

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend.context import get_context

from gradspec_codegen.prove import parent

PRELOADED = ["gradspec_codegen.prove.identities.op", "joblib.externals.loky"]


def executor() -> functools.partial[ProcessPoolExecutor]:
    """The executor whose workers are forked."""
    multiprocessing.set_forkserver_preload(PRELOADED)
    return functools.partial(ProcessPoolExecutor, context=get_context("forkserver"))


def end_with(_: int, staged: Path) -> None:
    """End this worker with the process that it was forked from, which ends with the tests."""
    parent.end_with(os.getppid(), staged)
