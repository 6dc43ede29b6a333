"""One op compared in a worker: what its emitted code answers, beside the exact values."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..prove.deadline import TimeUp, time_limit
from ..prove.workers import import_once
from ..spec.model import OpSpec

TOLERANCE = 1e-9
"""The largest difference from an exact value, of it or of one where it is smaller."""

SECONDS = 60.0

MOST_TOLD = 3
"""Calls of a function of the user's that are told: one mistake shows at many."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The function of an op in a package that was emitted."""

    framework: str
    folder: Path
    module: str
    function: str
    folders: tuple[Path, ...] = ()
    """Folder of the user's modules, besides Python's path."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The outcome for one op."""

    name: str
    values: int = 0
    """The numbers that were compared, of results and derivatives."""
    problems: tuple[str, ...] = ()
    """Quantity that differs, and the call at which it does."""
    not_compared: str = ""
    """Reason why there is no exact value, if there is none."""


def agree_in_worker(
    item: tuple[OpSpec, Emitted], staged: Path, package: str, run: str
) -> Agreement:
    """Compare one op in a worker; the package of the proof is imported with the first."""
    spec, emitted = item
    if problem := import_once(staged, package, run):
        return Agreement(spec.name, problems=(problem,))
    try:
        with time_limit(SECONDS):
            return _compared(spec, emitted)
    except TimeUp:
        return Agreement(spec.name, not_compared=f"the exact values took more than {SECONDS:g} s")


def _compared(spec: OpSpec, emitted: Emitted) -> Agreement:
    from ..prove.symbolic.decisions import ProofError  # sympy
    from . import on_jax, on_torch
    from .questions import questions

    sys.path += [str(folder) for folder in emitted.folders if str(folder) not in sys.path]
    module = _imported(emitted.folder).get(emitted.module)
    if module is None:
        return Agreement(spec.name, problems=(f"there is no module `{emitted.module}`",))
    function: Callable[..., Any] = getattr(module, emitted.function)
    framework = {"torch": on_torch, "jax": on_jax}[emitted.framework]
    compared, problems = 0, []
    try:
        for question in questions(spec):
            try:
                found = framework.answers(spec, function, question)
            except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
                problems.append(f"{question.call}: raises {type(error).__name__}: {error}")
                continue
            compared += sum(array.size for array in question.expected.values())
            problems += (
                f"{question.call}: {told}" for told in _differences(question.expected, found)
            )
    except (ProofError, ValueError, NotImplementedError, ArithmeticError) as error:
        if not compared:
            return Agreement(spec.name, not_compared=f"{type(error).__name__}: {error}")
    kernel = spec.target_kernel(emitted.framework)
    if kernel is not None and not problems:
        outcomes = list(framework.of_kernel(spec, function))
        compared += outcomes.count("")
        problems += [
            f"{kernel.span}: `{kernel.function}` does not compute {told}"
            for told in itertools.islice(filter(None, outcomes), MOST_TOLD)
        ]
    return Agreement(spec.name, compared, tuple(problems))


def _differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    told = []
    for label, exact in expected.items():
        zeros = np.zeros(np.shape(exact))
        given = np.asarray(found.get(label, zeros))
        if given.shape != np.shape(exact):
            told.append(f"{label} has the shape {list(given.shape)}, not {list(np.shape(exact))}")
        elif not np.allclose(given, exact, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            told.append(f"{label} is {given.tolist()}; exactly, {np.asarray(exact).tolist()}")
    return told


_packages: dict[Path, dict[str, ModuleType]] = {}
"""The modules of the emitted packages that this worker has imported."""


def _imported(folder: Path) -> dict[str, ModuleType]:
    if folder not in _packages:
        name = f"gradspec_emitted_{len(_packages)}"
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
        _packages[folder] = {
            each.stem: importlib.import_module(f"{name}.{each.stem}")
            for each in folder.glob("*.py")
            if each.stem != "__init__"
        }
    return _packages[folder]
