"""Tests that derived gradients of elementwise ops compute once what they say more than once."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gradspec as gs
from tests.codegen.proving import imported

ENTRIES = """
- name: squashed(Tensor self) -> Tensor
  forward: self * tanh(log1p(cosh(self)))
- name: bell(Tensor x, Tensor mean, Tensor width) -> Tensor
  domain: {width: positive}
  forward: exp(-(x - mean) ** 2 / (2 * width ** 2)) / width
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(ENTRIES, tmp_path_factory.mktemp("repeated"), "repeated_parts")


@pytest.mark.parametrize("part", ["def apply(", "def apply_differentiable(", "def squashed_jvp("])
def test_each_function_is_called_once(package: ModuleType, part: str) -> None:
    assert package.__file__ is not None
    text = (Path(package.__file__).parent / "ops.py").read_text(encoding="utf-8")
    start = text.index(part, text.index("class SquashedBackward0"))
    body = re.split(r"\n\s*\n", text[start:])[0]
    assert [len(re.findall(rf"{name}\(", body)) for name in ("tanh", "log1p", "cosh")] == [1, 1, 1]


def test_arguments_share_what_their_gradients_compute(package: ModuleType) -> None:
    """Each is right when it is asked for alone, and beside others."""
    values = [gs.tensor(value, dtype=gs.float64) for value in (0.75, 0.5, 2.0)]
    x, mean, width = (value.item() for value in values)
    height = np.exp(-((x - mean) ** 2) / (2 * width**2)) / width
    steep = height * (x - mean) / width**2
    expected = (-steep, steep, height * (x - mean) ** 2 / width**3 - height / width)
    for wanted in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2]):
        leaves = [v.detach().requires_grad_(n in wanted) for n, v in enumerate(values)]
        found = gs.autograd.grad(package.bell(*leaves), [leaves[n] for n in wanted])
        np.testing.assert_allclose(
            [each.item() for each in found], [expected[n] for n in wanted], rtol=1e-14
        )
