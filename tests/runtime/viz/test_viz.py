"""Pictures of the backward graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradspec as gs
from gradspec import viz
from gradspec.core.node import Node, next_sequence_nr
from gradspec.core.tensor import Tensor, wrap
from gradspec.viz.layout import place


def node(name: str, *inputs: Tensor) -> Tensor:
    """A tensor made by an op called `name`."""
    kind = type(name, (Node,), {"__slots__": ()})
    made: Any = kind()
    made.next_nodes = tuple(tensor.grad_node for tensor in inputs)
    made.hooks = None
    made.sequence_nr = next_sequence_nr()
    out = wrap(np.zeros((2, 3)))
    out.grad_node = made
    return out


def leaf(*shape: int) -> Tensor:
    return wrap(np.zeros(shape)).requires_grad_()


@pytest.fixture
def weights() -> dict[str, Tensor]:
    return {"w": leaf(2, 3), 'odd"name': leaf(4)}


@pytest.fixture
def shared(weights: dict[str, Tensor]) -> Tensor:
    """w and another leaf, one op used twice, and one input without a gradient."""
    inner = node("InnerBackward0", *weights.values())
    return node("OuterBackward0", inner, inner, wrap(np.zeros(5)))


@pytest.mark.parametrize("y", [None, [], [None], 3.0])
def test_what_is_no_tensor_cannot_be_drawn(y: Any) -> None:
    with pytest.raises(TypeError, match="make_dot: expected a tensor"):
        gs.viz.make_dot(y)


def test_dot_has_every_vertex_once_and_every_edge(
    shared: Tensor, weights: dict[str, Tensor]
) -> None:
    source = viz.make_dot(shared, weights, forward=False).source
    assert source.count('label="InnerBackward0", shape=ellipse') == 1
    assert source.count('label="AccumulateGrad", shape=diamond') == 2
    assert r'label="w\n2 × 3", shape=cylinder' in source
    assert r'label="odd\"name\n4"' in source
    outer, inner = "n0", "n1"
    assert source.count(f"{outer} -> {inner} ") == 2
    assert source.count("style=dotted") == 1


def test_the_forward_pass_is_a_dashed_cluster() -> None:
    w, x = gs.ones(5, 3, requires_grad=True), gs.ones(1, 5)
    y = x @ w
    z = y.mean()
    source = viz.make_dot(z, {"w": w, "y": y, "z": z}).source
    cluster = source[source.index("cluster_forward") : source.index("  }\n")]
    tensors = dict(re.findall(r'(\w+) \[label="(\w+)', cluster))
    assert sorted(tensors.values()) == ["forward", "input", "w", "y", "z"]
    dashed = re.findall(r'(\w+) -> (\w+) \[label=" (\w+)", .*style=dashed', cluster)
    assert sorted((tensors[a], tensors[b], op) for a, b, op in dashed) == [
        ("input", "y", "mm"),
        ("w", "y", "mm"),
        ("y", "z", "mean"),
    ]
    # The gradient goes through the same tensors: z, mean, y, mm, and there to the leaf.
    names = tensors | dict(re.findall(r'(\w+) \[label="(\w+)', source))
    solid = re.findall(r"(\w+) -> (\w+) \[.*style=solid", source)
    assert {(names[a], names[b]) for a, b in solid} == {
        ("z", "MeanBackward0"),
        ("MeanBackward0", "y"),
        ("y", "MmBackward0"),
        ("MmBackward0", "AccumulateGrad"),
        ("AccumulateGrad", "w"),
    }


def test_each_result_of_an_op_is_a_tensor_of_its_own() -> None:
    x = gs.ones(2, 3, requires_grad=True)
    first, second = x.unbind()
    source = viz.make_dot((first * second).sum(), {"second": second}).source
    results = re.findall(r'(n\d+_result\d) \[label="(\w+)"', source)
    assert [name for _, name in results if name != "mul"] == ["unbind", "second"]
    leaf = re.search(r"(n\d+_leaf)", source)
    assert leaf is not None
    assert source.count(f"{leaf[1]} -> ") == 2


def without_legend(root: ElementTree.Element) -> ElementTree.Element:
    """A picture without the lines that explain it."""
    for line in [element for element in root if element.get("class") == "legend"]:
        root.remove(line)
    return root


def legend(svg: str) -> list[str]:
    """Return the legend of a picture."""
    lines = re.findall(r'<g class="legend">.*?>([^<>]+)</text></g>', svg)
    return [str(line) for line in lines]


def test_the_legend_explains_what_is_drawn(shared: Tensor, weights: dict[str, Tensor]) -> None:
    backward = [
        "output",
        "op, as the backward pass visits it",
        "adds to the grad of a leaf",
        "leaf, with its shape",
        "no gradient flows here",
        "gradient",
        "what is kept for the gradient",
    ]
    assert legend(viz.make_dot(shared, weights, forward=False).svg) == backward
    with_tensors = legend(viz.make_dot(shared, weights).svg)
    assert set(with_tensors) > {"output", "forward pass", "tensor that an op computed"}
    assert len(with_tensors) == len(set(with_tensors))


def test_no_dashed_line_runs_behind_what_lies_between_its_ends() -> None:
    gs.manual_seed(0)
    model = gs.nn.Sequential(gs.nn.Linear(64, 32), gs.nn.ReLU(), gs.nn.Linear(32, 10))
    loss = gs.nn.functional.cross_entropy(model(gs.randn(4, 64)), gs.tensor([0, 1, 2, 3]))
    svg = viz.make_dot(loss, {"loss": loss} | dict(model.named_parameters())).svg
    drawn, _, _ = svg.partition('<g class="legend">')
    curves = re.findall(
        r'd="M([-\d.]+) ([-\d.]+)C([-\d. ]+)"[^>]*marker-end="url\(#forward\)', drawn
    )
    ellipses = re.findall(r'<ellipse cx="([\d.]+)" cy="([\d.]+)" rx="([\d.]+)"', drawn)
    rects = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', drawn)
    middles = [(float(y), float(x) + float(r)) for x, y, r in ellipses]
    middles += [(float(y) + float(h) / 2, float(x) + float(w)) for x, y, w, h in rects]
    assert len(curves) >= 5
    for x, y, rest in curves:
        out, _, _, _, end_x, end_y = map(float, rest.split())
        farthest = (float(x) + 6 * out + end_x) / 8  # the curve's middle
        low, high = sorted((float(y), end_y))
        between = [grad_node for middle, grad_node in middles if low + 20 < middle < high - 20]
        assert all(grad_node < farthest for grad_node in between)


def test_the_picture_has_the_arrows_of_both_passes(
    shared: Tensor, weights: dict[str, Tensor]
) -> None:
    graph = viz.make_dot(shared, weights)
    root = without_legend(ElementTree.fromstring(graph.svg))
    arrows = [e.get("marker-end") for e in root.iter() if "marker-end" in e.attrib]
    assert arrows.count("url(#forward)") == 5  # two leaves, one result twice, one other input
    assert len(arrows) == graph.source.count("->")
    width = float(root.get("width", "0"))
    numbers = re.findall(r'd="M[^"]*?([\d.]+) [\d.]+ [\d.]+ [\d.]+" fill="none"', graph.svg)
    assert numbers
    assert max(map(float, numbers)) < width


def test_svg_is_well_formed_and_shows_every_name(
    shared: Tensor, weights: dict[str, Tensor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no `dot` there
    graph = viz.make_dot(shared, weights, forward=False)
    path = graph.render(tmp_path / "graph.svg")
    drawn = without_legend(ElementTree.parse(path).getroot())
    texts = [element.text for element in drawn.iter() if "text" in element.tag]
    assert sorted(filter(None, texts)) == sorted(
        ["output", "2 × 3", "OuterBackward0", "InnerBackward0", "input 2", "w", "2 × 3"]
        + ["AccumulateGrad"] * 2
        + ['odd"name', "4"]
    )


def test_png_without_graphviz_says_what_to_do(
    shared: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="Install Graphviz"):
        viz.make_dot(shared).render(tmp_path / "graph.png")


def test_a_program_called_dot_is_used_when_there(
    shared: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\n{ echo "$1"; /bin/cat; } > "$3"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    graph = viz.make_dot(shared)
    written = graph.render(tmp_path / "graph.png").read_text(encoding="utf-8")
    assert written == "-Tpng\n" + graph.source


def test_text_draws_a_shared_node_once(shared: Tensor, weights: dict[str, Tensor]) -> None:
    assert viz.graph_text(shared, weights).splitlines() == [
        "OuterBackward0",
        "├─ InnerBackward0 #1",
        "│  ├─ w [2 × 3] AccumulateGrad",
        '│  └─ odd"name [4] AccumulateGrad',
        "├─ InnerBackward0 #1, see above",
        "└─ (no gradient)",
    ]


def test_a_tensor_without_a_graph() -> None:
    plain = wrap(np.zeros(3))
    assert "does not require a gradient" in viz.graph_text(plain)
    assert "->" not in viz.make_dot(plain).source


def test_a_leaf_alone() -> None:
    assert viz.graph_text(leaf(3)) == "leaf [3] AccumulateGrad"


def test_deep_graphs_need_no_recursion() -> None:
    tensor = leaf(2)
    for _ in range(5_000):
        tensor = node("LinkBackward0", tensor)
    assert viz.graph_text(tensor).count("\n") == 5_000
    graph = viz.make_dot(tensor, forward=False)
    assert graph.source.count("->") == 5_002
    assert graph.svg.count("<ellipse") == 5_001 + 2  # the signs of ops and leaves in the legend


@st.composite
def dags(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    size = draw(st.integers(1, 12))
    pairs = [(a, b) for b in range(size) for a in range(b)]
    return size, draw(st.lists(st.sampled_from(pairs), max_size=25)) if pairs else []


@given(dags(), st.lists(st.floats(10, 200), min_size=12, max_size=12))
def test_layout_keeps_vertices_apart_and_arrows_pointing_down(
    dag: tuple[int, Sequence[tuple[int, int]]], widths: list[float]
) -> None:
    size, pairs = dag
    sizes = {str(i): (widths[i], 20.0) for i in range(size)}
    layout = place(sizes, [(str(a), str(b)) for a, b in pairs], spacing=30.0)
    centres = layout.centres
    for (a, b), route in zip(pairs, layout.routes, strict=True):
        assert route[0] == centres[str(a)]
        assert route[-1] == centres[str(b)]
        assert all(y < next_y for (_, y), (_, next_y) in pairwise(route))
    for a in range(size):
        half = widths[a] / 2
        x, y = centres[str(a)]
        assert half - 1e-6 <= x <= layout.width - half + 1e-6
        assert y + 10 <= layout.height + 1e-6
        for b in range(a):
            other_x, other_y = centres[str(b)]
            apart = half + widths[b] / 2 - 1e-6
            assert abs(y - other_y) >= 20 or abs(x - other_x) >= apart
