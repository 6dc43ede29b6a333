"""A graph in Graphviz' DOT language."""

from __future__ import annotations

from .style import FONT, FONT_SIZE, LINKS, VERTICES
from .trace import Link, Trace, Vertex

_TENSORS = ("output", "result", "leaf", "stop")


def dot_source(graph: Trace) -> str:
    """Return the text for the `dot` program; the forward pass is a cluster of its own."""
    forward = [link for link in graph.links if link.kind == "forward"]
    inside = _TENSORS if forward else ()
    tensors = [vertex for vertex in graph.vertices if vertex.kind in inside]
    lines = [
        "digraph backward {",
        "  rankdir=TB;",
        f'  node [style=filled, fontname="{FONT}", fontsize={FONT_SIZE}];',
        f'  edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
        *(_cluster(tensors, forward) if forward else ()),
        *(_vertex(vertex) for vertex in graph.vertices if vertex.kind not in inside),
        *(_link(link) for link in graph.links if link.kind != "forward"),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _cluster(tensors: list[Vertex], links: list[Link]) -> list[str]:
    """List the tensors, and dashed arrows from the inputs of each op to its results."""
    frame = f'color="{LINKS["forward"].color}", fontcolor="{LINKS["forward"].color}"'
    return [
        "  subgraph cluster_forward {",
        f'    graph [label="forward pass", style=dashed, fontname="{FONT}", {frame}];',
        *(f"  {line}" for line in map(_vertex, tensors)),
        *(f"  {line}" for line in map(_link, links)),
        "  }",
    ]


def _vertex(vertex: Vertex) -> str:
    style = VERTICES[vertex.kind]
    rounded = ', style="rounded,filled"' if style.shape == "box" else ""
    return (
        f"  {vertex.key} [label={_quoted(*vertex.lines)}, shape={style.shape}{rounded}, "
        f'fillcolor="{style.fill}", color="{style.stroke}", fontcolor="{style.text}", '
        f"tooltip={_quoted(vertex.tooltip)}];"
    )


def _link(link: Link) -> str:
    style = LINKS[link.kind]
    label = f"label={_quoted(' ' + link.label)}, " if link.label else ""
    # The backward pass alone decides the layout: arrows of the two passes have opposite directions.
    free = "constraint=false, " if link.kind == "forward" else ""
    return (
        f'  {link.source} -> {link.target} [{label}color="{style.color}", style={style.pattern}, '
        f"{free}tooltip={_quoted(link.tooltip)}];"
    )


def _quoted(*lines: str) -> str:
    """Quote lines as a DOT string; backslashes and quotes in names are preserved."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
