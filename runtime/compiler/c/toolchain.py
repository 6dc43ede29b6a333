"""The C compiler, and the shared objects that it builds, which are kept."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import numpy as np

from ..kept import disk_cache

_FORMAT: Final = "1"
"""Increased when files of older versions must not be used any more."""

PROGRAM_FLAGS: Final = (
    "-std=gnu11",
    "-Werror=implicit-function-declaration",
    "-march=native",
    "-mprefer-vector-width=512",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fPIC",
    "-shared",
)
"""Flags that keep every result as IEEE 754 has it: no `-ffast-math`, no fused multiply and add."""
_FLAGS_OF_GCC: Final = ("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic")
"""Flags that are as fast as -O3, the rest of which made no program faster, and took up to half of
the time that gcc needs. One part, -floop-unroll-and-jam, makes gcc 12 compute wrong numbers where
it lets rounds of a loop run together whose inner loop is `omp simd`: gradients of a pseudoinverse's
gradient were wrong by tenths."""
_FLAGS_OF_OTHERS: Final = ("-O3",)
ENTRY_FLAGS: Final = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread")


class NoCompilerError(RuntimeError):
    """Raised where there is no C compiler, or it cannot build programs."""


@cache
def compiler() -> tuple[str, ...]:
    """Return the command of the compiler: $CC, the system's, or that of the wheel `ziglang`."""
    given = os.environ.get("CC")
    if given:
        command = shlex.split(given)
        if shutil.which(command[0]):
            return tuple(command)
        raise NoCompilerError(f"$CC is {given!r}, which is no command.")
    for name in ("gcc", "cc", "clang"):
        found = shutil.which(name)
        if found:
            return (found,)
    if find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "cc")
    raise NoCompilerError(
        "There is no C compiler (gcc, cc or clang). Install one, or the wheel ziglang."
    )


@cache
def identity() -> str:
    """Return what the compiler and the machine are: their programs suit no others."""
    return "\n".join((_FORMAT, *compiler(), _version(), _processor(), sys.platform))


@cache
def _version() -> str:
    """Return what the compiler says it is; it is asked again when its file is another."""
    command = compiler()
    if len(command) > 1:  # what it runs may change while its own file does not
        return _asked(command)
    found = Path(str(shutil.which(command[0]))).resolve()
    status = found.stat()
    parts = ("version", str(found), str(status.st_size), str(status.st_mtime_ns))
    return disk_cache.text(parts, lambda: _asked(command))


def _asked(command: Sequence[str]) -> str:
    import subprocess

    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    if version.returncode:
        raise NoCompilerError(f"{shlex.join(command)} does not run: {version.stderr.strip()}")
    return version.stdout


def _program_flags() -> tuple[str, ...]:
    is_gcc = "Free Software Foundation" in _version()
    return (*PROGRAM_FLAGS, *(_FLAGS_OF_GCC if is_gcc else _FLAGS_OF_OTHERS))


@cache
def _processor() -> str:
    """Return the name and the features of the processor, which `-march=native` looks at."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        import platform

        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(wanted)}))


def program(source: str) -> Path:
    """Return the shared object of a program, with vector math where the system has it."""
    with_vectors = ("-DGS_MVEC", "-lmvec", "-lm")
    if not _has_vector_math():
        return _built(source, _program_flags(), ("-lm",))
    return _built(source, _program_flags(), with_vectors)


@cache
def _has_vector_math() -> bool:
    """Return whether the compiler calls glibc's vector functions, and these are complete."""
    try:
        _built(_PROBE, _program_flags(), ("-DGS_MVEC", "-lmvec", "-lm", "-Wl,-z,defs"))
    except NoCompilerError:
        return False
    return True


_PROBE: Final = """
#define GS(name) __attribute__((simd("notinbranch"), const, nothrow, leaf)) \\
    double gs_##name(double) __asm__(#name); \\
    void apply_##name(double *x, int n) { \\
        _Pragma("omp simd") for (int i = 0; i < n; i++) x[i] = gs_##name(x[i]); }
GS(exp) GS(sin) GS(log1p) GS(tanh) GS(erf) GS(erfc) GS(cbrt)
"""


def entry() -> Path:
    """Return the module that calls programs, which is built once."""
    include = Path(sysconfig.get_paths()["include"])
    if not (include / "Python.h").exists():
        raise NoCompilerError(
            f"The headers of Python are missing ({include}/Python.h): "
            "install them (python3-dev on Debian)."
        )
    text = Path(__file__).with_name("entry.c").read_text(encoding="utf-8")
    folders = (f"-I{include}", f"-I{np.get_include()}")
    text += f"\n/* {sys.version} NumPy {np.__version__} */\n"
    return _built(text, (*ENTRY_FLAGS, *folders), ())


@cache
def begin() -> None:
    """Start to build, in a thread, what all programs need: it is there when the first is written.

    What goes wrong there is met again, and told, by who asks for it.
    """

    def build() -> None:
        with suppress(NoCompilerError, OSError):
            _has_vector_math()
            entry()

    Thread(target=build, name="gs.compile").start()


_builds: Final[dict[int, Lock]] = {}
"""Locks of sources: of threads that ask for the same shared object, one builds it."""
if hasattr(os, "register_at_fork"):  # a child has none of the threads that hold locks
    os.register_at_fork(after_in_child=_builds.clear)


def _built(source: str, flags: Sequence[str], libraries: Sequence[str]) -> Path:
    """Return the shared object of a source, which is kept."""

    def build(made: Path) -> None:
        written = made.with_name("program.c")
        written.write_text(source, encoding="utf-8")
        _compile([*flags, str(written), "-o", str(made), *libraries])

    parts = (identity(), *flags, *libraries, source)
    with _builds.setdefault(hash(parts), Lock()):
        return disk_cache.file(parts, ".so", build)


def _compile(arguments: Sequence[str]) -> None:
    import subprocess

    command = [*compiler(), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoCompilerError(f"The C compiler does not run: {error}.") from error
    if done.returncode:
        raise NoCompilerError(
            f"The C compiler failed ({shlex.join(command)}):\n{done.stderr.strip()[-4000:]}"
        )
