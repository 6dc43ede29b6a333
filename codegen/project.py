"""Settings of a project for its generated package: `[tool.gradspec]` in `pyproject.toml`.

    [tool.gradspec]
    spec = "ops.yaml"
    out = "src/acme/ops"
    kernels = "kernels.py"

Paths are relative to that file. In the project `gradspec codegen` needs no arguments then.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .diagnostics import Report, Span, did_you_mean

KEYS = ("spec", "out", "package", "kernels")

_HEADER = re.compile(r"\s*\[\s*tool\s*\.\s*gradspec\s*\]")


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of one `pyproject.toml`, each with its place."""

    file: Path
    values: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Span] = field(default_factory=dict)

    def path(self, key: str) -> Path | None:
        """A setting that is a path; None if it is not there."""
        return self.file.parent / self.values[key] if key in self.values else None


def find_project(start: Path) -> Project | None:
    """The settings of the nearest `pyproject.toml` that has some, in `start` or above it.

    Raises SpecError for settings that are not known, or not texts.
    """
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "gradspec" in text and (project := _read(file, text)) is not None:
            return project
    return None


def _read(file: Path, text: str) -> Project | None:
    report = Report()
    lines = text.splitlines()
    header = next((number for number, line in enumerate(lines, 1) if _HEADER.match(line)), 0)
    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        if header:
            found = re.search(r"at line (\d+), column (\d+)", str(error))
            line, column = (int(found[1]), int(found[2])) if found else (header, 1)
            report.error("GS083", Span(str(file), line, column), f"this is not TOML: {error}")
        report.raise_if_any()
        return None
    settings = tool.get("gradspec") if isinstance(tool, dict) else None
    if settings is None:
        return None
    if not isinstance(settings, dict):
        report.error("GS083", Span(str(file), header or 1, 1), "`tool.gradspec` is no table")
        settings = {}
    places = {key: _place(file, lines, header, key) for key in settings}
    for key, value in settings.items():
        if key not in KEYS:
            help = did_you_mean(key, KEYS) or f"known are {', '.join(KEYS)}"
            report.error("GS083", places[key], f"`{key}` is not known to [tool.gradspec]", help)
        elif not isinstance(value, str):
            report.error("GS083", places[key], f"`{key}` must be a text")
    report.raise_if_any()
    return Project(file, settings, places)


def _place(file: Path, lines: list[str], header: int, key: str) -> Span:
    """Locate a setting, or the table where that is written in another way."""
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=\s*(?P<value>.+?)\s*""")
    for number, line in enumerate(lines[header:], header + 1):
        if line.lstrip().startswith("["):
            break
        if found := pattern.fullmatch(line):
            width = found.end("value") - found.start("value")
            return Span(str(file), number, found.start("value") + 1, width)
    return Span(str(file), header or 1, 1)
