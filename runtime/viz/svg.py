"""A graph drawn as SVG by the built-in layout, in the style of Graphviz' pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

from .layout import place
from .style import FONT, FONT_SIZE, LINKS, MEANINGS, VERTICES
from .trace import Link, Trace, Vertex

_LINE_HEIGHT = 15.0
_CHARACTER = 0.56 * FONT_SIZE
_MARGIN = 16.0
_LAYER_SPACING = 30.0
_CAP = 5.0  # half the height of a cylinder's lid
_DASHES = {
    "solid": "",
    "dotted": ' stroke-dasharray="1.5 4" stroke-linecap="round"',
    "dashed": ' stroke-dasharray="5 4"',
}

_BULGE = 60.0  # how far to the right the arrows of the forward pass go

_CLEARANCE = 14.0

_LEGEND_LINE = 20.0
_LEGEND_WIDTH = 230.0
_SIGN = (24.0, 14.0)

_REACH = 0.75  # of the distance of its control points is the reach of a curve

Point = tuple[float, float]


def svg_source(
    graph: Trace, *, title: str = "backward graph", meanings: Mapping[str, str] = MEANINGS
) -> str:
    """Return the picture as the text of an SVG file; `meanings` are the words of its legend."""
    sizes = {vertex.key: _size(vertex) for vertex in graph.vertices}
    backward = [link for link in graph.links if link.kind != "forward"]
    forward = [link for link in graph.links if link.kind == "forward"]
    layout = place(sizes, [(link.source, link.target) for link in backward], _LAYER_SPACING)
    legend = _legend(graph, meanings, layout.height + _LAYER_SPACING)
    boxes = [(layout.centres[key], size) for key, size in sizes.items()]
    outs = [_out(link, layout.centres, sizes, boxes) for link in forward]
    width = max([layout.width, _LEGEND_WIDTH, *(out - _BULGE / 8 for out in outs)]) + 2 * _MARGIN
    height = layout.height + _LAYER_SPACING + _LEGEND_LINE * len(legend) + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'font-family="{FONT}, Arial, sans-serif" font-size="{FONT_SIZE}">',
        f"<title>{escape(title)}</title>",
        "<defs>",
        *(_arrowhead(kind) for kind in LINKS),
        "</defs>",
        f'<rect x="{-_MARGIN:.0f}" y="{-_MARGIN:.0f}" width="100%" height="100%" fill="white"/>',
    ]
    for link, out in zip(forward, outs, strict=True):
        lines.append(_forward_link(link, layout.centres, sizes, out))
    for link, route in zip(backward, layout.routes, strict=True):
        lines.append(_link(link, route, sizes[link.source][1], sizes[link.target][1]))
    for vertex in graph.vertices:
        lines.append(_vertex(vertex, layout.centres[vertex.key], sizes[vertex.key]))
    return "\n".join([*lines, *legend, "</svg>", ""])


def _legend(graph: Trace, meanings: Mapping[str, str], top: float) -> list[str]:
    """Draw a line for each kind of vertex and arrow that occurs, below the graph."""
    drawn = {vertex.kind for vertex in graph.vertices}
    vertices = [kind for kind in VERTICES if kind in drawn]
    links = [kind for kind in LINKS if kind in {link.kind for link in graph.links} - drawn]
    lines = []
    for position, kind in enumerate((*vertices, *links)):
        y = top + (position + 0.5) * _LEGEND_LINE
        if kind in vertices:
            style = VERTICES[kind]
            paint = f'fill="{style.fill}" stroke="{style.stroke}"'
            sign = _outline(style.shape, (_SIGN[0] / 2, y), _SIGN, paint)
        else:
            arrow = LINKS[kind]
            sign = (
                f'<path d="M0 {y:.1f}H{_SIGN[0]:.1f}" fill="none" stroke="{arrow.color}"'
                f'{_DASHES[arrow.pattern]} marker-end="url(#{kind})"/>'
            )
        lines.append(
            f'<g class="legend">{sign}<text x="{_SIGN[0] + 8:.1f}" y="{y + 4:.1f}" '
            f'font-size="11" fill="#495057">{escape(meanings[kind])}</text></g>'
        )
    return lines


def _size(vertex: Vertex) -> Point:
    """Compute width and height for the text; shapes with slanted sides need more."""
    width = max(map(len, vertex.lines)) * _CHARACTER
    height = len(vertex.lines) * _LINE_HEIGHT
    match VERTICES[vertex.kind].shape:
        case "ellipse":
            return 1.2 * width + 22, height + 17
        case "diamond":
            return 1.45 * width + 36, height + 33
        case "cylinder":
            return width + 26, height + 8 + 3 * _CAP
        case _:
            return width + 24, height + 14


def _arrowhead(kind: str) -> str:
    return (
        f'<marker id="{kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 1 10 5 0 9z" fill="{LINKS[kind].color}"/>'
        "</marker>"
    )


def _link(link: Link, route: Sequence[Point], from_height: float, to_height: float) -> str:
    """Draw a smooth curve that leaves and enters vertically and passes every waypoint."""
    style = LINKS[link.kind]
    (x, y), (end_x, end_y) = route[0], route[-1]
    points = [(x, y + from_height / 2), *route[1:-1], (end_x, end_y - to_height / 2 - 1)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (next_x, next_y) in pairwise(points):
        bend = (next_y - y) / 2
        path += (
            f"C{x:.1f} {y + bend:.1f} {next_x:.1f} {next_y - bend:.1f} {next_x:.1f} {next_y:.1f}"
        )
    title = f"<title>{escape(link.tooltip)}</title>"
    (x, y), (next_x, next_y) = points[:2]
    return (
        f'<path d="{path}" fill="none" stroke="{style.color}" stroke-width="1.3"'
        f'{_DASHES[style.pattern]} marker-end="url(#{link.kind})">{title}</path>'
        + _label(link, ((x + next_x) / 2, (y + next_y) / 2))
    )


def _out(
    link: Link,
    centres: Mapping[str, Point],
    sizes: Mapping[str, Point],
    boxes: Sequence[tuple[Point, Point]],
) -> float:
    """Compute how far right the control points are, so that the curve avoids what is between."""
    ends = [centres[link.source], centres[link.target]]
    edges = [centres[key][0] + sizes[key][0] / 2 for key in (link.source, link.target)]
    low, high = sorted(y for _, y in ends)
    between = [x + width / 2 for (x, y), (width, _) in boxes if low < y < high]
    passing = max([0.0, *between]) + _CLEARANCE
    return max(max(edges) + _BULGE, (passing - sum(edges) * (1 - _REACH) / 2) / _REACH)


def _forward_link(
    link: Link, centres: Mapping[str, Point], sizes: Mapping[str, Point], out: float
) -> str:
    """Draw a curve upwards, from the right side of a tensor to the right side of a result of it."""
    style = LINKS[link.kind]
    (x, y), (end_x, end_y) = (
        (centres[key][0] + sizes[key][0] / 2, centres[key][1]) for key in (link.source, link.target)
    )
    return (
        f'<path d="M{x:.1f} {y:.1f}C{out:.1f} {y:.1f} {out:.1f} {end_y:.1f} {end_x + 1:.1f} '
        f'{end_y:.1f}" fill="none" stroke="{style.color}" stroke-width="1"'
        f'{_DASHES[style.pattern]} marker-end="url(#{link.kind})">'
        f"<title>{escape(link.tooltip)}</title></path>"
        + _label(link, (_REACH * out + (1 - _REACH) * (x + end_x) / 2, (y + end_y) / 2))
    )


def _label(link: Link, at: Point) -> str:
    if not link.label:
        return ""
    return (
        f'<text x="{at[0] + 4:.1f}" y="{at[1] + 3:.1f}" font-size="10" '
        f'fill="{LINKS[link.kind].color}">{escape(link.label)}</text>'
    )


def _vertex(vertex: Vertex, centre: Point, size: Point) -> str:
    style = VERTICES[vertex.kind]
    paint = f'fill="{style.fill}" stroke="{style.stroke}"'
    x, y = centre
    if style.shape == "cylinder":
        y += _CAP / 2  # the text sits below the lid
    first = y - (len(vertex.lines) - 1) * _LINE_HEIGHT / 2 + FONT_SIZE * 0.35
    text = "".join(
        f'<text x="{x:.1f}" y="{first + i * _LINE_HEIGHT:.1f}" text-anchor="middle" '
        f'fill="{style.text}">{escape(line)}</text>'
        for i, line in enumerate(vertex.lines)
    )
    title = f"<title>{escape(vertex.tooltip)}</title>"
    return f"<g>{title}{_outline(style.shape, centre, size, paint)}{text}</g>"


def _outline(shape: str, centre: Point, size: Point, paint: str) -> str:
    x, y = centre
    half, tall = size[0] / 2, size[1] / 2
    match shape:
        case "ellipse":
            return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{half:.1f}" ry="{tall:.1f}" {paint}/>'
        case "diamond":
            corners = ((x, y - tall), (x + half, y), (x, y + tall), (x - half, y))
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
            return f'<polygon points="{points}" {paint}/>'
        case "cylinder":
            top, bottom = y - tall + _CAP, y + tall - _CAP
            return (
                f'<path d="M{x - half:.1f} {top:.1f}V{bottom:.1f}A{half:.1f} {_CAP} 0 0 0 '
                f'{x + half:.1f} {bottom:.1f}V{top:.1f}" {paint}/>'
                f'<ellipse cx="{x:.1f}" cy="{top:.1f}" rx="{half:.1f}" ry="{_CAP}" {paint}/>'
            )
        case _:
            return (
                f'<rect x="{x - half:.1f}" y="{y - tall:.1f}" width="{size[0]:.1f}" '
                f'height="{size[1]:.1f}" rx="7" {paint}/>'
            )
