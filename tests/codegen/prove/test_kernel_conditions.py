"""Conditions in kernels of one's own: what no call answers is named, and what is guarded is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.own_specs import command

KERNELS = """\
import numpy as np


def by_extents(x):
    return x * (2.0 if x.ndim == 2 and x.shape[0] == 3 * x.shape[1] + 7 else 1.0)


def by_rank(x):
    return x * (2.0 if x.ndim > 7 else 1.0)


def turned(x, dim, scale=None):
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"dim {dim} of {x.ndim}")
    kind = x.dtype.kind
    whole = kind == "i" and x.flags.c_contiguous
    doubled = (x + x if whole else 2 * x) if scale is None else scale * x
    return np.flip(doubled, dim if dim >= 0 else dim + x.ndim).copy()


def marked(x, mask):
    return x * mask if mask.dtype.kind == "b" else x * mask * mask
"""

UNREACHED = {
    "by_extents": "x.shape[0] == 3 * x.shape[1] + 7",
    "by_rank": "x.ndim > 7",
}

GUARDED = """\
- name: own_turned(Tensor x, int dim, float? scale=None) -> Tensor
  requires: x.ndim > 0
  forward: flip(x * (2 if scale is None else scale), [dim])
  kernel: kernels.turned(x, dim, scale)
  examples: [{x: [3], dim: 0}]
"""


def generated(spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *kernels: str) -> str:
    """Run the command on a spec with some of these kernels; return what it prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GRADSPEC_CACHE", str(folder / "cache"))
    first, *functions = KERNELS.split("\n\n\n")
    chosen = [text for text in functions if text.startswith(tuple(f"def {k}(" for k in kernels))]
    (folder / "ops.yaml").write_text(spec, encoding="utf-8")
    (folder / "own.py").write_text("\n\n\n".join([first, *chosen]), encoding="utf-8")
    return command("codegen", "ops.yaml", "--kernels", "own.py", "--out", "package").output


@pytest.mark.parametrize("kernel", UNREACHED)
def test_a_condition_that_no_call_takes_is_named(
    kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = (
        f"- name: own_scaled(Tensor x) -> Tensor\n  forward: x * 1.0\n"
        f"  kernel: kernels.{kernel}(x)\n  x: grad\n  result: x_t\n  examples: [{{x: [3]}}]\n"
    )
    found = generated(spec, tmp_path, monkeypatch, kernel)
    condition = f"the condition `{UNREACHED[kernel]}` of `kernel`"
    assert f"{condition} is true at no call that was found" in found


def test_what_is_guarded_or_asks_for_layouts_owes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "1 op: 1 proved" in generated(GUARDED, tmp_path, monkeypatch, "turned")


def test_what_a_kernel_makes_of_counts_in_the_place_of_flags_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = (
        "- name: own_marked(Tensor x, Tensor mask) -> Tensor\n"
        "  requires: mask.shape == x.shape\n  forward: x * mask\n"
        "  kernel: kernels.marked(x, mask)\n  x: grad * mask\n  mask: non_differentiable\n"
        "  result: x_t * mask\n  examples: [{x: [2], mask: {bool: [true, false]}}]\n"
    )
    found = generated(spec, tmp_path, monkeypatch, "marked")
    assert "kernel of result with counts for mask is wrong in `own_marked(" in found
