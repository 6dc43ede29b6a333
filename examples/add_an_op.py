"""Add an op to the table: a few lines of YAML, no derivative written by hand.

    python examples/add_an_op.py

Works on a scratch copy, so the library itself stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax

ROOT = Path(__file__).resolve().parent.parent

ENTRY = """\
- family: activation

- name: softsign(Tensor self) -> Tensor
  doc: A smooth step between -1 and 1.
  forward: self / (1 + abs(self))
  self: auto
  result: auto_element_wise
  variants: function, method
"""

USE = """\
import gradspec as gs

x = gs.tensor([-2.0, -0.5, 0.0, 1.0], requires_grad=True)
y = x.softsign()
y.backward(gs.ones(4))
print(y)
print("gradient:          ", x.grad)
print("1 / (1 + |x|)**2:  ", 1 / (1 + x.detach().abs()) ** 2)
"""


def main() -> int:
    """Copy, append, generate, use; return 0 if all of it worked."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=100)
    console.rule("Add an op: softsign")
    with tempfile.TemporaryDirectory(prefix="gradspec-") as name:
        scratch = Path(name)
        generated = add_to_copy(scratch, console)
        if generated is None:
            return 1
        console.print("\nThe node that was generated:")
        source = generated.read_text(encoding="utf-8")
        show(console, class_source(source, "SoftsignBackward0"), "python")
        console.print("\nUse it:")
        show(console, USE, "python")
        # The copy of the library, with the new op, comes before the installed one.
        environment = os.environ | {"PYTHONPATH": str(scratch)}
        return subprocess.run([sys.executable, "-c", USE], env=environment, check=False).returncode


def add_to_copy(scratch: Path, console: Console) -> Path | None:
    """Copy the tree with the new entry, prove and generate it; return the new module."""
    shutil.copytree(ROOT / "specs", scratch / "specs")
    shutil.copytree(ROOT / "runtime", scratch / "gradspec")
    spec = scratch / "specs" / "derivatives.yaml"
    console.print("Appended to a copy of specs/derivatives.yaml:")
    show(console, ENTRY, "yaml")
    with spec.open("a", encoding="utf-8") as file:
        file.write("\n" + ENTRY)
    out = scratch / "gradspec" / "generated"
    command = [sys.executable, "-m", "gradspec_codegen", "codegen", str(spec)]
    options = ["--out", str(out), "--package", "gradspec.generated"]
    console.print("\nProve and generate:")
    done = subprocess.run([*command, *options], check=False)
    return out / "activation.py" if done.returncode == 0 else None


def class_source(module: str, name: str) -> str:
    """Return the text of one class of a module, as it was generated."""
    start = module.index(f"class {name}(")
    return module[start:].split("\n\n\n")[0]


def show(console: Console, text: str, language: str) -> None:
    """Print source with colours."""
    source = Syntax(text.rstrip(), language, background_color="default", word_wrap=True)
    console.print(Padding(source, (0, 0, 0, 2)))


if __name__ == "__main__":
    sys.exit(main())
