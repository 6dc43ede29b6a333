"""A layered layout of a directed acyclic graph, for machines without Graphviz.

The usual method in three steps: every vertex goes to the layer given by the longest path that
leads to it, links over several layers get a waypoint in each, neighbours are put side by side by
sweeping barycentres, and coordinates are averaged with neighbours while keeping their distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 12
_GAP = 26.0
_WAYPOINT_WIDTH = 8.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of vertices, waypoints of links, and the size of the whole."""

    centres: Mapping[str, tuple[float, float]]
    routes: Sequence[Sequence[tuple[float, float]]]
    width: float
    height: float


def place(
    sizes: Mapping[str, tuple[float, float]], links: Sequence[tuple[str, str]], spacing: float
) -> Layout:
    """Lay out vertices of the given sizes, sources at the top, `spacing` between layers."""
    layer_of = _layers(list(sizes), links)
    routes, chain_links, width_of = _with_waypoints(sizes, links, layer_of)
    rows: list[list[str]] = [[] for _ in range(1 + max(layer_of.values(), default=0))]
    for key, layer in layer_of.items():
        rows[layer].append(key)
    above, below = _neighbours(chain_links)
    _order(rows, above, below)
    x = _coordinates(rows, width_of, above, below)
    y = _heights(rows, sizes, spacing)
    left = min((x[key] - width_of[key] / 2 for key in x), default=0.0)
    centres = {key: (x[key] - left, y[layer_of[key]]) for key in x}
    return Layout(
        {key: centres[key] for key in sizes},
        [[centres[key] for key in route] for route in routes],
        max((centres[key][0] + width_of[key] / 2 for key in x), default=0.0),
        max((centres[key][1] + size[1] / 2 for key, size in sizes.items()), default=0.0),
    )


def _layers(keys: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Compute the length of the longest path to each vertex, in topological order."""
    waiting = dict.fromkeys(keys, 0)
    targets: dict[str, list[str]] = {key: [] for key in keys}
    for source, target in links:
        waiting[target] += 1
        targets[source].append(target)
    layer = dict.fromkeys(keys, 0)
    ready = [key for key in keys if not waiting[key]]
    for key in ready:  # grows while it is read
        for target in targets[key]:
            layer[target] = max(layer[target], layer[key] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layer


def _with_waypoints(
    sizes: Mapping[str, tuple[float, float]],
    links: Sequence[tuple[str, str]],
    layer_of: dict[str, int],
) -> tuple[list[list[str]], list[tuple[str, str]], dict[str, float]]:
    """Route links from layer to layer; waypoints are added to `layer_of`."""
    width_of = {key: size[0] for key, size in sizes.items()}
    routes = []
    for number, (source, target) in enumerate(links):
        route = [source]
        for layer in range(layer_of[source] + 1, layer_of[target]):
            waypoint = f"{number}/{layer}"
            layer_of[waypoint] = layer
            width_of[waypoint] = _WAYPOINT_WIDTH
            route.append(waypoint)
        route.append(target)
        routes.append(route)
    pairs = [pair for route in routes for pair in pairwise(route)]
    return routes, pairs, width_of


def _neighbours(
    links: Sequence[tuple[str, str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for source, target in links:
        below.setdefault(source, []).append(target)
        above.setdefault(target, []).append(source)
    return above, below


def _order(rows: list[list[str]], above: dict[str, list[str]], below: dict[str, list[str]]) -> None:
    """Sort each row by the mean position of its vertices' neighbours, in sweeps down and up."""
    for sweep in range(_SWEEPS):
        neighbours, step = (above, 1) if sweep % 2 == 0 else (below, -1)
        for number, row in list(enumerate(rows))[::step]:
            previous = number - step
            if not 0 <= previous < len(rows):
                continue
            position = {key: i for i, key in enumerate(rows[previous])}
            own = {key: i for i, key in enumerate(row)}

            def barycentre(
                key: str,
                neighbours: dict[str, list[str]] = neighbours,
                position: dict[str, int] = position,
                own: dict[str, int] = own,
            ) -> float:
                found = [position[n] for n in neighbours.get(key, ()) if n in position]
                return _mean(found) if found else float(own[key])

            row.sort(key=barycentre)


def _coordinates(
    rows: Sequence[Sequence[str]],
    width_of: Mapping[str, float],
    above: dict[str, list[str]],
    below: dict[str, list[str]],
) -> dict[str, float]:
    """Pull each vertex towards the mean of its neighbours without changing the order of a row."""
    x: dict[str, float] = {}
    for row in rows:
        _spread(row, dict.fromkeys(row, 0.0), width_of, x)
    for sweep in range(_SWEEPS):
        neighbours, ordered = (above, rows) if sweep % 2 == 0 else (below, rows[::-1])
        for row in ordered:
            wanted = {
                key: _mean([x[n] for n in neighbours.get(key, ())] or [x[key]]) for key in row
            }
            _spread(row, wanted, width_of, x)
    return x


def _spread(
    row: Sequence[str],
    wanted: Mapping[str, float],
    width_of: Mapping[str, float],
    x: dict[str, float],
) -> None:
    """Find the positions nearest to the wanted ones that keep vertices apart.

    Vertices that would overlap are merged into blocks, and a block is placed where the mean of what
    its members want puts it: least squares under a fixed order, in one pass over the row.
    """
    blocks: list[tuple[float, list[float], list[str]]] = []  # mean wanted left end, members
    offset = 0.0
    for key in row:
        target = wanted[key] - offset - width_of[key] / 2
        offset += width_of[key] + _GAP
        mean, targets, members = target, [target], [key]
        while blocks and blocks[-1][0] >= mean:
            _, earlier, keys = blocks.pop()
            targets, members = earlier + targets, keys + members
            mean = _mean(targets)
        blocks.append((mean, targets, members))
    offset = 0.0
    for mean, _, members in blocks:
        for key in members:
            x[key] = mean + offset + width_of[key] / 2
            offset += width_of[key] + _GAP


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _heights(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]], spacing: float
) -> list[float]:
    """Compute the vertical centre of each row."""
    heights = []
    top = 0.0
    for row in rows:
        height = max((sizes[key][1] for key in row if key in sizes), default=0.0)
        heights.append(top + height / 2)
        top += height + spacing
    return heights
