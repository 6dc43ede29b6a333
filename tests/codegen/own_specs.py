"""A spec of one's own, with kernels, and the command as a user runs it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from gradspec_codegen.cli import main

SPEC = """\
- family: arithmetic

- name: tripled(Tensor self) -> Tensor
  doc: Three times each element.
  forward: self * 3
  self: grad * 3
  result: auto_linear
  variants: function, method
  inplace: true
  examples: [{self: [2]}]

- family: squares

- name: squared(Tensor self) -> Tensor
  doc: Each element times itself, by a kernel.
  forward: kernels.square(self)
  self: twice_product(grad, self)
  result: auto_element_wise
  variants: method
  examples: [{self: [2]}]

- name: twice_product(Tensor self, Tensor other) -> Tensor
  doc: Twice the product, of families of one name here and in gradspec.
  forward: self * other * 2
  self: mul(grad, other) * 2
  other: mul(grad, self) * 2
  result: auto_element_wise
  promotes: self, other

- name: sixfold(Tensor self) -> Tensor
  doc: Twice the triple.
  composite: tripled(self) + tripled(self)
  inplace: true
  examples: [{self: [2]}]
"""

KERNELS = """\
from fractions import Fraction

def square(x):
    return _product(x, x)

def _product(a, b):
    return a * b
"""


def command(*words: str) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])
