"""`python -m tests.meta.typecheck`: mypy over the whole tree.

mypy does not follow the import hook that maps `gradspec` to runtime/ and so on in an editable
installation. It gets a folder in which the packages lie as they do in a wheel, made of links.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .source_tree import PACKAGES, ROOT

FARM = ROOT / "build" / "types"
SCRIPTS = ("examples", "benchmarks", "atlas")


def main() -> int:
    """Lay the links and run mypy on both packages, then on the scripts around them."""
    plant(FARM)
    environment = os.environ | {"MYPYPATH": str(FARM)}
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    packages = ["-p", "gradspec", "-p", "gradspec_codegen"]
    found = [path for folder in SCRIPTS for path in sorted((ROOT / folder).glob("**/*.py"))]
    # Tests of an example use methods that its package adds, which no type checker knows; and
    # packages and programs for PyTorch and JAX are made of these, which are not installed here.
    left_out = {"tests", "torch_ops", "jax_ops", "torch_ddp", "jax_shard", "force_field", "emitted"}
    scripts = [str(path) for path in found if not left_out & {*path.relative_to(ROOT).parts}]
    for what in (packages, scripts):
        done = subprocess.run([*mypy, *what], cwd=ROOT, env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


def plant(farm: Path) -> None:
    """`farm/gradspec`, `farm/gradspec_codegen`: real folders, links to what is in them."""
    shutil.rmtree(farm, ignore_errors=True)
    for package, folder in PACKAGES.items():
        place = farm.joinpath(*package.split("."))
        place.mkdir(parents=True, exist_ok=True)
        for entry in folder.iterdir():
            if entry.name != "__pycache__":
                (place / entry.name).symlink_to(entry)


if __name__ == "__main__":
    sys.exit(main())
