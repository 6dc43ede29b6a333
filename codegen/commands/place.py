"""The files that a command reads and writes, by its options and the project's settings."""

from __future__ import annotations

import keyword
import os
import shlex
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click

from ..diagnostics import Diagnostic, Span, SpecError
from ..project import Project, find_project
from ..render.context import GENERATED_PACKAGE
from ..target import NUMPY, Target, builtin_spec, plain
from .options import fail

_NO_SPEC = (
    "There is no spec here. Name one, as in `gradspec codegen my_ops.yaml --out my_ops`, "
    "or set `spec` and `out` under [tool.gradspec] in pyproject.toml."
)

_TAKEN = sys.stdlib_module_names | {
    *("gradspec", "gradspec_codegen", "numpy", "scipy", "torch", "jax", "jaxlib")
}
"""Packages that a generated one would hide, or be hidden by."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Value of an option, or of a setting of the project, with its origin."""

    text: str
    place: Span


def target_of(
    spec: Path | None,
    out: str | None = None,
    package: str | None = None,
    kernels: Path | None = None,
    *,
    framework: str = NUMPY,
    writes: bool = False,
    as_json: bool = False,
) -> Target:
    """Return the target of a run; exit, with a message, where options contradict each other.

    Without a spec it is the project's, or gradspec's own for a command that only reads.
    """
    said = {"--out": out or "", "--package": package or ""}
    try:
        return _target(spec, out, package, kernels, framework, writes)
    except SpecError as error:
        fail(error, as_json=as_json, texts=said)
    except OSError as error:
        message = f"this cannot be a folder: {error.strerror or error}"
        place = Span("--out", 1, 1, max(1, len(said["--out"])))
        fail(SpecError([Diagnostic("GS080", place, message)]), as_json=as_json, texts=said)


def spec_of_project() -> Path:
    """Return the spec of the project around the current folder. Exits if there is none."""
    try:
        spec = _file_of(find_project(Path.cwd()), "spec")
    except SpecError as error:
        fail(error)
    if spec is None:
        raise click.UsageError(_NO_SPEC)
    return spec


def _target(
    spec: Path | None,
    out: str | None,
    package: str | None,
    kernels: Path | None,
    framework: str,
    writes: bool,
) -> Target:
    project = find_project(Path.cwd())
    spec = spec or _file_of(project, "spec")
    if spec is None:
        if writes:
            raise click.UsageError(_NO_SPEC)
        spec = builtin_spec()
    if project is not None and not _is_same(_file_of(project, "spec"), spec):
        project = None  # it speaks of another spec
    kernels = kernels or _file_of(project, "kernels")
    if framework != NUMPY and out is None:
        raise click.UsageError(f"Say with --out where the package for {framework} goes.")
    folder = _told(project, "out", out)
    name = _told(project, "package", package)
    if folder is None:
        return _only_read(spec, name, kernels, writes)
    path = _folder(folder, project if out is None else None)
    named = _package(path, name if framework == NUMPY or package else None, folder)
    command = _command(spec, path, package, kernels, project, named)
    if framework != NUMPY:
        if named == GENERATED_PACKAGE:
            _refuse("GS080", folder, "this is the place of gradspec's own ops", "")
        command = f"{command} --target {framework}"
    return Target(
        spec, path, named, kernels, command, folder.place, folder.text, framework=framework
    )


def _only_read(spec: Path, name: _Told | None, kernels: Path | None, writes: bool) -> Target:
    if writes:
        help = "`--out NAME` makes the package NAME; or set `out` under [tool.gradspec]"
        message = "this spec is no project's: say where its package goes"
        raise SpecError([Diagnostic("GS080", Span(str(spec), 1, 1), message, help)])
    if _is_same(spec, builtin_spec()):
        return Target(spec)
    return Target(spec, None, name.text if name else spec.stem, kernels, "gradspec codegen")


def _told(project: Project | None, key: str, given: str | None) -> _Told | None:
    if given is not None:
        return _Told(given, Span(f"--{key}", 1, 1, max(1, len(given))))
    if project is not None and key in project.values:
        return _Told(project.values[key], project.places[key])
    return None


def _file_of(project: Project | None, key: str) -> Path | None:
    """Return a file that the project names. Raises SpecError if it does not exist."""
    path = project.path(key) if project else None
    if project and path and not (_has_no_control(str(path)) and path.is_file()):
        message = f"there is no file `{project.values[key]}`"
        raise SpecError([Diagnostic("GS083", project.places[key], message)])
    return path


def _is_same(first: Path | None, second: Path) -> bool:
    return first is not None and first.resolve() == second.resolve()


def _folder(told: _Told, project: Project | None) -> Path:
    """Return the folder of the package; symbolic links above it are resolved."""
    if not told.text.strip():
        _refuse("GS080", told, "this names no folder", "`.` and above are refused as well")
    if not _has_no_control(told.text):
        _refuse("GS080", told, "a folder's name has no such characters", "")
    beside = project.file.parent if project else Path.cwd()
    path = Path(os.path.normpath(beside / told.text))
    try:
        return path.parent.resolve() / path.name
    except (OSError, RuntimeError) as error:
        _refuse("GS080", told, f"this cannot be a folder: {error}", "")


def _package(path: Path, told: _Told | None, folder: _Told) -> str:
    """Return the import name of the package in a folder. Raises SpecError if there can be none."""
    found = told or _Told(path.name, folder.place)
    if told is not None and told.text.rpartition(".")[2] != path.name:
        message = f"`{told.text}` would be imported from a folder `{told.text.rpartition('.')[2]}`"
        _refuse("GS081", told, message, f"`--out` is `{path.name}`: let the names agree")
    for word in found.text.split(".") if told else [path.name]:
        if not _is_module_name(word):
            help = "letters, digits and _, and no word of Python: `my_ops`"
            _refuse("GS081", found, f"`{word}` cannot be the name of a package", help)
    if found.text == GENERATED_PACKAGE:
        return GENERATED_PACKAGE
    if told is None:
        found = _Told(".".join([*_packages_above(path.parent), path.name]), found.place)
    first = found.text.partition(".")[0]
    if first in _TAKEN:
        _refuse("GS081", found, f"`{first}` is a package already", "take a name of your own")
    return found.text


def _packages_above(folder: Path) -> list[str]:
    """Return the packages that contain a folder, the outermost first."""
    found: list[str] = []
    while (folder / "__init__.py").is_file() and _is_module_name(folder.name):
        found.insert(0, folder.name)
        folder = folder.parent
    return found


def _is_module_name(word: str) -> bool:
    return (
        word.isidentifier()
        and not keyword.iskeyword(word)
        and not word.startswith("__")
        and unicodedata.normalize("NFKC", word) == word
    )


def _has_no_control(text: str) -> bool:
    return text.isprintable()


def _command(
    spec: Path,
    out: Path,
    package: str | None,
    kernels: Path | None,
    project: Project | None,
    named: str,
) -> str:
    """Return the command that generates the package again: the same in every working folder."""
    if named == GENERATED_PACKAGE:
        return "make codegen"
    if project is not None:
        told = (project.path("out"), project.path("kernels"), project.values.get("package"))
        theirs = [path and Path(os.path.realpath(path)) for path in told[:2]]
        ours = [Path(os.path.realpath(out)), kernels and Path(os.path.realpath(kernels))]
        if theirs == ours and package in (None, told[2]):
            return "gradspec codegen"
    words = ["gradspec", "codegen", spec.name, "--out", _seen_from(spec, out)]
    if package is not None:
        words += ["--package", package]
    if kernels is not None:
        words += ["--kernels", _seen_from(spec, kernels)]
    return plain(shlex.join(words))


def _seen_from(spec: Path, path: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(spec.parent))


def _refuse(code: str, told: _Told, message: str, help: str) -> NoReturn:
    raise SpecError([Diagnostic(code, told.place, message, help)])
