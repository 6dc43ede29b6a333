"""Makes Python import a generated package from a directory of its own, not from the installed tree.

So a proof runs the code that is about to be written, and a broken old tree cannot stop a new one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from .symbolic.exact_constants import install

RUNTIME = "gradspec"


class _StagedFinder(MetaPathFinder):
    """Finds one package in a directory; its submodules follow from where it was found."""

    def __init__(self, directory: Path, package: str) -> None:
        self._directory = directory
        self._package = package

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != self._package:
            return None
        return spec_from_file_location(
            fullname,
            self._directory / "__init__.py",
            submodule_search_locations=[str(self._directory)],
        )


def use_generated(directory: Path, package: str = "gradspec.generated") -> None:
    """Import `package` from `directory` from now on, and the runtime anew, with exact constants.

    Whatever of the runtime was imported before is forgotten: only workers may call this.
    """
    _forget(RUNTIME)
    _forget(package)
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _StagedFinder)]
    sys.meta_path.insert(0, _StagedFinder(directory, package))
    # The directory is compared file by file with the installed tree: leave nothing in it.
    sys.dont_write_bytecode = True
    install()


def _forget(package: str) -> None:
    for name in list(sys.modules):
        if name == package or name.startswith(package + "."):
            del sys.modules[name]
