"""Pictures of the backward graph: DOT, SVG and text.

gs.viz.make_dot(loss, params=model.named_parameters()).render("graph.svg")
gs.viz.print_graph(loss)
gs.viz.derivative(lambda x: x.sin() * x, 1.0)
"""

from .derivative import Derivative as Derivative
from .derivative import derivative as derivative
from .graph import Graph as Graph
from .graph import make_dot as make_dot
from .text import graph_text as graph_text
from .text import print_graph as print_graph

__all__ = ["Derivative", "Graph", "derivative", "graph_text", "make_dot", "print_graph"]
