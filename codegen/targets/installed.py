"""The version of a framework that is installed here, if any."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ..diagnostics import Diagnostic, Span, SpecError
from .frameworks import Framework


def check_installed(framework: Framework) -> None:
    """Raise SpecError where a framework is absent, or older than the code was tested with."""
    wanted = f"`pip install '{framework.name}>={framework.version}'`"
    found = _version(framework)
    if not found:
        message = f"{framework.title} is not installed here, and the emitted code is to be run"
        raise SpecError([Diagnostic("GS088", _place(framework), message, wanted)])
    if _numbers(found) < _numbers(framework.version):
        message = f"{framework.title} {found} is older than {framework.version}"
        raise SpecError([Diagnostic("GS088", _place(framework), message, wanted)])


def too_old(framework: Framework) -> Diagnostic | None:
    """Say that a framework which is installed lacks what emitted code uses; None if it may not."""
    found = _version(framework)
    if not found or _numbers(found) >= framework.oldest:
        return None
    oldest = ".".join(map(str, framework.oldest))
    message = f"{framework.title} {found} is installed here, and emitted code needs {oldest}"
    help = f"`pip install '{framework.name}>={framework.version}'`, with which it is tested"
    return Diagnostic("GS088", _place(framework), message, help)


def _version(framework: Framework) -> str:
    try:
        return version(framework.name)
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def _place(framework: Framework) -> Span:
    return Span("--target", 1, 1, len(framework.name))
