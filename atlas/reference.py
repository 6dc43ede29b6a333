"""The reference: a page for each public namespace, from its docstrings; ops are in the atlas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .sources import ROOT


@dataclass(frozen=True, slots=True)
class Namespace:
    """One page: its title, the objects whose docstrings it shows, and what it says first."""

    title: str
    objects: tuple[str, ...]
    about: str


NAMESPACES = {
    "tensor": Namespace(
        "Tensor",
        ("gradspec.core.tensor.Tensor",),
        "The tensor itself; [ops](../atlas/index.md) are its other methods.",
    ),
    "autograd": Namespace(
        "gradspec.autograd",
        (
            *(
                "gradspec.autograd.backward",
                "gradspec.autograd.function",
                "gradspec.autograd.grad_mode",
            ),
            *(
                "gradspec.autograd.gradcheck",
                "gradspec.autograd.functional",
                "gradspec.autograd.graph",
            ),
            *(
                "gradspec.autograd.forward_ad",
                "gradspec.autograd.anomaly_mode",
                "gradspec.autograd.profiler",
            ),
        ),
        "Gradients: the backward pass, modes, custom functions, hooks, checks.",
    ),
    "func": Namespace(
        "gradspec.func",
        (
            "gradspec.func.gradients",
            "gradspec.func.tangents",
            "gradspec.func.jacobians",
            "gradspec.func.vmap",
            "gradspec.func.modules",
        ),
        "Transforms of functions, in any composition.",
    ),
    "optim": Namespace("gradspec.optim", ("gradspec.optim",), "Optimizers and schedules."),
    "viz": Namespace(
        "gradspec.viz",
        ("gradspec.viz.graph", "gradspec.viz.derivative", "gradspec.viz.text"),
        "Pictures.",
    ),
    "serialization": Namespace("gradspec.serialization", ("gradspec.serialization",), "Files."),
}


def stage_reference(target: Path) -> list[str]:
    """Write the pages, and the folder in which the package is found; return the pages' names."""
    packages = target.parent / "packages"
    packages.mkdir(exist_ok=True)
    link = packages / "gradspec"
    if not link.exists():
        link.symlink_to(ROOT / "runtime", target_is_directory=True)
    (target / "reference").mkdir(exist_ok=True)
    for name, namespace in NAMESPACES.items():
        blocks = "\n".join(f"::: {each}\n" for each in namespace.objects)
        text = f"# {namespace.title}\n\n{namespace.about}\n\n{blocks}"
        (target / "reference" / f"{name}.md").write_text(text, encoding="utf-8")
    return [f"reference/{name}.md" for name in NAMESPACES]
