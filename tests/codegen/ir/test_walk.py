"""Names, calls and substitution on formula trees."""

from __future__ import annotations

import pytest

from gradspec_codegen.ir.nodes import Binary, Const, Name
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.ir.walk import assigned_names, calls, children, free_names, substitute, walk


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("grad * cos(self, dim=n)", {"grad", "self", "n"}),
        ("x.shape[i:] if c else [*y]", {"x", "i", "c", "y"}),
        ("t = a\nreturn t * b", {"a", "b"}),
        ("t = t + 1\nreturn t", {"t"}),
        ("s, t = f(a)\nreturn s + t", {"a"}),
        ("if c:\n  t = a\nreturn t", {"c", "a", "t"}),
        ("if c:\n  t = a\nelse:\n  t = b\nreturn t", {"c", "a", "b"}),
        ("if c:\n  return a\nelse:\n  t = b\nreturn t", {"c", "a", "b"}),
        ("if c:\n  return a\nelse:\n  return b", {"c", "a", "b"}),
        ("if c:\n  t = a\nelif d:\n  return b\nelse:\n  t = 1\nreturn t", {"c", "a", "d", "b"}),
    ],
)
def test_free_names_are_those_read_before_they_are_assigned(text: str, free: set[str]) -> None:
    assert free_names(parse(text)) == free


def test_assigned_names_are_those_of_every_path() -> None:
    assert assigned_names(parse("if c:\n  t = a\nelse:\n  s, u = b\nreturn 1")) == {"s", "t", "u"}


def test_calls_come_outermost_first_in_the_order_of_the_text() -> None:
    block = parse("a = f(g(x), y=h(1))\nreturn np.exp(a) + k(a)")
    assert [call.function for call in calls(block)] == ["f", "g", "h", "np.exp", "k"]


def test_walk_and_children_reach_every_node_once() -> None:
    block = parse("-a + f(b[1:c], k=(d, *e))")
    names = [node.id for node in walk(block) if isinstance(node, Name)]
    assert names == ["a", "b", "c", "d", "e"]
    assert [type(child).__name__ for child in children(block)] == ["Return"]


def test_substitute_replaces_names_everywhere_and_shares_the_rest() -> None:
    tree = parse("f(a, k=[*a, a.shape[a]]) + g(b)").expression
    assert isinstance(tree, Binary)
    changed = substitute(tree, {"a": parse("x * 2").expression or Const(0)})
    expected = parse("f(x * 2, k=[*(x * 2), (x * 2).shape[x * 2]]) + g(b)").expression
    assert changed == expected
    assert isinstance(changed, Binary)
    assert changed.right is tree.right


def test_substitute_does_not_look_into_what_it_inserts() -> None:
    tree = parse("a + b").expression
    assert tree is not None
    changed = substitute(tree, {"a": Name("b"), "b": Name("a")})
    assert changed == parse("b + a").expression
