"""`make_dot`: the backward graph of a tensor as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from ..core.tensor import Tensor
from .dot import dot_source
from .live import live_notes
from .svg import svg_source
from .trace import Named, Trace, trace


class Graph:
    """Drawn graph: `source` is its DOT text, `svg` a picture, `render` writes a file."""

    __slots__ = ("_trace",)

    def __init__(self, traced: Trace) -> None:
        self._trace = traced

    @property
    def source(self) -> str:
        """Return the graph in Graphviz' DOT language."""
        return dot_source(self._trace)

    @property
    def svg(self) -> str:
        """Return the graph as SVG text, by the built-in layout."""
        return svg_source(self._trace)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the DOT text and return its path."""
        target = Path(path)
        target.write_text(self.source, encoding="utf-8")
        return target

    def render(self, path: str | PathLike[str], format: str | None = None) -> Path:
        """Write a picture and return its path.

        `format` is anything Graphviz can write; it is the suffix of `path` if left out. Graphviz'
        `dot` does the layout where it is installed. Without it `svg` still works, by the built-in
        layout; another format raises RuntimeError.
        """
        import shutil
        import subprocess

        target = Path(path)
        format = format or target.suffix.removeprefix(".") or "svg"
        program = shutil.which("dot")
        if program is not None:
            command = [program, f"-T{format}", "-o", str(target)]
            subprocess.run(command, input=self.source, text=True, encoding="utf-8", check=True)
        elif format == "svg":
            target.write_text(self.svg, encoding="utf-8")
        else:
            raise RuntimeError(
                f"cannot write {target}: the format {format!r} needs Graphviz, and its program "
                "`dot` is not on the PATH. Install Graphviz (https://graphviz.org/download), or "
                "render to SVG, which works without it."
            )
        return target

    def _repr_svg_(self) -> str:
        """Show the picture in notebooks."""
        return self.svg


def make_dot(
    y: Tensor | Sequence[Tensor],
    params: Named | None = None,
    *,
    forward: bool = True,
    gradients: bool = False,
) -> Graph:
    """Draw the backward graph of one output or several.

    `params` names leaves and results: a dictionary, or `model.named_parameters()`. With `forward`
    the tensors are drawn between the nodes, and dashed arrows lead from the inputs of each op to
    its results; without it the picture is half as high.

    With `gradients` each node also shows its formula and the size of the gradient that arrives, as
    the largest element. For this the pass is run, from ones; no `.grad` changes, and the graph is
    retained. Raises RuntimeError where a pass would.
    """
    outputs = [y] if isinstance(y, Tensor) else list(y) if isinstance(y, Iterable) else []
    if not outputs or not all(isinstance(output, Tensor) for output in outputs):
        raise TypeError(f"make_dot: expected a tensor, or several, not {type(y).__name__}")
    notes = live_notes(outputs) if gradients else {}
    return Graph(trace(outputs, params, forward=forward, notes=notes))
