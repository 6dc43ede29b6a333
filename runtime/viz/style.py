"""Shapes and colours, the same for Graphviz and for the built-in layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class VertexStyle:
    """Shape, by Graphviz' word, and colours of a vertex."""

    shape: str
    fill: str
    stroke: str = "#495057"
    text: str = "#212529"


@dataclass(frozen=True, slots=True)
class LinkStyle:
    """Colour and pattern, by Graphviz' word, of an arrow."""

    color: str = "#495057"
    pattern: str = "solid"


FONT: Final = "Helvetica"
FONT_SIZE: Final = 12

MEANINGS: Final = {
    "output": "output",
    "result": "tensor that an op computed",
    "op": "op, as the backward pass visits it",
    "accumulate": "adds to the grad of a leaf",
    "leaf": "leaf, with its shape",
    "stop": "no gradient flows here",
    "flow": "gradient",
    "store": "what is kept for the gradient",
    "forward": "forward pass",
}
"""Texts of the legend; `stop` is the same for arrows."""

VERTICES: Final = {
    "output": VertexStyle("box", "#ffc9c9"),
    "result": VertexStyle("box", "#bac8ff"),
    "op": VertexStyle("ellipse", "#a5d8ff"),
    "accumulate": VertexStyle("diamond", "#ffec99"),
    "leaf": VertexStyle("cylinder", "#b2f2bb"),
    "stop": VertexStyle("cylinder", "#f1f3f5", stroke="#adb5bd", text="#868e96"),
}

LINKS: Final = {
    "flow": LinkStyle(),
    "store": LinkStyle(color="#f76707"),
    "stop": LinkStyle(color="#adb5bd", pattern="dotted"),
    "forward": LinkStyle(color="#868e96", pattern="dashed"),
}
