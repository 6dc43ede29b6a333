"""A graph in Graphviz' DOT language."""

from __future__ import annotations

from .style import FONT, FONT_SIZE, LINKS, VERTICES
from .trace import Link, Trace, Vertex


def dot_source(graph: Trace) -> str:
    """The text that the `dot` program draws."""
    lines = [
        "digraph backward {",
        "  rankdir=TB;",
        f'  node [style=filled, fontname="{FONT}", fontsize={FONT_SIZE}];',
        f'  edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
        *map(_vertex, graph.vertices),
        *map(_link, graph.links),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _vertex(vertex: Vertex) -> str:
    style = VERTICES[vertex.kind]
    rounded = ', style="rounded,filled"' if vertex.kind == "output" else ""
    return (
        f"  {vertex.key} [label={_quoted(*vertex.lines)}, shape={style.shape}{rounded}, "
        f'fillcolor="{style.fill}", color="{style.stroke}", fontcolor="{style.text}", '
        f"tooltip={_quoted(vertex.tooltip)}];"
    )


def _link(link: Link) -> str:
    style = LINKS[link.kind]
    label = f"label={_quoted(' ' + link.label)}, " if link.label else ""
    return (
        f'  {link.source} -> {link.target} [{label}color="{style.color}", style={style.pattern}, '
        f"tooltip={_quoted(link.tooltip)}];"
    )


def _quoted(*lines: str) -> str:
    """A DOT string of several lines; backslashes and quotes in names are kept as they are."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
