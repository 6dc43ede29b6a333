"""Copies that go with views: `copy_doc` makes a second entry of one."""

from __future__ import annotations

from collections.abc import Callable

from gradspec_codegen.emit.names import node_names
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.spec.model import Table

Load = Callable[..., Table]

VIEWS = """\
- name: turned(Tensor(a) self) -> Tensor(a)
  forward: np.transpose(self)
  self: turned(grad)
  result: auto_linear
  variants: function, method
  aliases: flipped
  copy_doc: A turned matrix, copied.
  examples:
    - {self: [2, 3]}
- name: turned.by(Tensor(a) self, int k, *, bool back=False) -> Tensor(a)
  forward: kernels.permute(self, (k, 0))
  self: turned(grad)
  result: auto_linear
  copy_doc: A matrix turned by a number, copied.
  examples:
    - {self: [2, 3], k: 1}
"""


def test_a_view_and_its_copy(load: Load) -> None:
    view, copy, other, other_copy = load(VIEWS).ops
    assert (view.name, copy.name) == ("turned", "turned_copy")
    assert (other.name, other_copy.name) == ("turned.by", "turned_copy.by")
    assert view.signature.view_of == "self"
    assert copy.signature.view_of is None
    assert copy.doc == "A turned matrix, copied."
    assert (copy.variants, copy.aliases) == (("function",), ())
    assert (copy.vjps, copy.jvps, copy.examples) == (view.vjps, view.jvps, view.examples)


def test_the_definition_stays_and_the_kernel_copies(load: Load) -> None:
    view, copy, _, other_copy = load(VIEWS).ops
    assert copy.forward == view.forward
    assert copy.kernel is not None
    assert copy.kernel.block == parse("kernels.copied(np.transpose(self))")
    # What a kernel defines is defined by the view itself.
    assert other_copy.forward is not None
    assert other_copy.kernel is not None
    assert other_copy.forward.block == parse("turned(self, k, back=back)")
    assert other_copy.kernel.block == parse("kernels.copied(kernels.permute(self, (k, 0)))")


def test_nodes_are_numbered_as_those_of_the_views(load: Load) -> None:
    assert node_names(load(VIEWS)) == {
        "turned": "TurnedBackward0",
        "turned_copy": "TurnedBackward0_copy",
        "turned.by": "TurnedBackward1",
        "turned_copy.by": "TurnedBackward1_copy",
    }
