"""Kernels of one's own: wrong behind numbers of theirs, in other orders and dtypes, or again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.own_specs import command

KERNELS = """\
import functools

import numpy as np


def in_blocks(x):
    whole = x.shape[0] if x.shape[0] <= 64 else x.shape[0] // 64 * 64
    out = np.zeros_like(x)
    out[:whole] = x[:whole] * x[:whole]
    return out


def tiled(x):
    last = x.shape[0] - (x.shape[0] % 512 if x.shape[0] > 512 else 0)
    return np.concatenate([3 * x[:last], 0 * x[last:]])


def in_part(x):
    return np.concatenate([x[: 17 * 19] * x[: 17 * 19], x[17 * 19 :]])


def windows(x, window):
    sums = np.concatenate([x[:1] * 0, np.cumsum(x)])
    found = sums[window:] - sums[: x.shape[0] - window + 1]
    return found * 2 if window % 7 == 2 and window.bit_count() == 4 else found


def in_sevens(x):
    parts = [x[start : start + 7] ** 2 for start in range(0, x.shape[0], 7)] or [x]
    if len(parts) == 6 and parts[-1].shape[0] + 3 == len(parts):
        parts[-1] = parts[-1] * 2
    return np.concatenate(parts)


def by_rows(x):
    if x.ndim == 2 and x.shape[0] == x.shape[1] and x.strides[0] < x.strides[1]:
        x = x.T
    return x * x


def half(x):
    return x // 2 if x.dtype.kind == "i" else x / 2


def summed(x, mode):
    return np.sum(x, axis=0) / (x.shape[0] if mode == "average" else 1)


def doubled(x):
    return x * (3 if x.dtype.itemsize == 2 else 2)


def known(x):
    return np.where(x != x, 0.0, x * x)


def frozen(x):
    squares = x * x
    squares.flags.writeable = False
    return squares


def in_place(x):
    if x.dtype == np.float32:
        x *= x
        return x * 1
    return x * x


_KNOWN = {}


def remembered(x):
    _KNOWN[len(_KNOWN)] = 1
    return x * x if len(_KNOWN) < 100_000 else x


@functools.lru_cache
def _squares(n):
    return np.arange(n) * 1.0


def given_again(x):
    return _squares(x.shape[0])


class _Place:
    __slots__ = ("number",)


_PLACES = [_Place()]
_PLACES[0].number = 0


def placed(x):
    _PLACES[0].number += 1
    return x * x * (1 + _PLACES[0].number // 100_000)


_STEPS = iter(range(1_000_000))


def stepping(x):
    return x * x * (1 + next(_STEPS) // 100_000)


@functools.cache
def _box():
    return []


def boxed(x):
    _box().append(1)
    return x * x * (1 + len(_box()) // 100_000)


@functools.lru_cache(maxsize=8)
def _shares(n):
    return [1.0] * n


def counted(x):
    return x * x * len(_shares(x.shape[0]))


def of_two(x, y):
    is_other = x.ndim == 2 and not x.flags.c_contiguous and y.flags.c_contiguous
    return x.T * y if is_other and x.shape[0] == x.shape[1] else x * y


def of_16_bits(x):
    return x * x if x.dtype != np.int16 else x


def in_pages(x):
    last = x.shape[0] // 4096 * 4096 if x.shape[0] > 4096 else x.shape[0]
    return np.concatenate([x[:last] * x[:last], x[last:]])


def in_bytes(x):
    place = np.arange(x.shape[0])
    return x * x[place if x.dtype == object else place.astype(np.int16)]


def ramp(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def outer(x):
    return x[:, None] * x[None, :]


def multiple(x, mode):
    if mode not in ("double", "triple"):
        raise ValueError(f"unknown mode {mode}")
    return x * 2 if mode == "double" else x * 3
"""

SQUARE = "  x: 2 * grad * x\n  result: 2 * x_t * x_p\n  examples: [{x: [3]}]\n"

WRONG = {
    "the last block": f"""\
- name: own_blocks(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x
  kernel: kernels.in_blocks(x)
{SQUARE}""",
    "a size that is computed of two numbers": f"""\
- name: own_part(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x
  kernel: kernels.in_part(x)
{SQUARE}""",
    "a number that stands nowhere": """\
- name: own_windows(Tensor x, int window) -> Tensor
  requires: x.ndim == 1 and window > 0 and window <= x.shape[0]
  forward: sum(unfold(x, 0, window, 1), -1)
  kernel: kernels.windows(x, window)
  examples: [{x: [4], window: 2}]
""",
    "a number of blocks": f"""\
- name: own_sevens(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x
  kernel: kernels.in_sevens(x)
{SQUARE}""",
    "blocks that are larger than extents of calls": """\
- name: own_tiles(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: kernels.tiled(x)
  x: 3 * grad
  result: 3 * x_t
  examples: [{x: [3]}]
""",
    "another order": f"""\
- name: own_rows(Tensor x) -> Tensor
  requires: x.ndim == 2
  forward: x * x
  kernel: kernels.by_rows(x)
{SQUARE.replace("[3]", "[2, 3]")}""",
    "whole numbers": """\
- name: own_half(Tensor x) -> Tensor
  forward: x / 2
  kernel: kernels.half(x)
  x: grad / 2
  result: x_t / 2
  examples: [{x: [3]}]
""",
    "half precision": """\
- name: own_double(Tensor x) -> Tensor
  forward: kernels.doubled(x)
  x: 2 * grad
  result: 2 * x_t
  examples: [{x: [3]}]
""",
    "nan": f"""\
- name: own_known(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.known(x)
{SQUARE}""",
    "what cannot be written into": f"""\
- name: own_frozen(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.frozen(x)
{SQUARE}""",
    "an argument that is written into": f"""\
- name: own_in_place(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.in_place(x)
{SQUARE}""",
    "what is left of earlier calls": f"""\
- name: own_remembered(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.remembered(x)
{SQUARE}""",
    "whole numbers of 16 bits": f"""\
- name: own_of_16_bits(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.of_16_bits(x)
{SQUARE}""",
    "pages of thousands": f"""\
- name: own_in_pages(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x
  kernel: kernels.in_pages(x)
{SQUARE}""",
    "places in 16 bits": f"""\
- name: own_in_bytes(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x
  kernel: kernels.in_bytes(x)
{SQUARE}""",
    "pages of thousands, by the rule alone": f"""\
- name: own_pages_alone(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: kernels.in_pages(x)
{SQUARE}""",
    "an array that is given twice": """\
- name: own_given_again(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: kernels.given_again(x)
  x: non_differentiable
  output_differentiability: [false]
  examples: [{x: [3]}]
""",
    "another order of one argument": """\
- name: own_of_two(Tensor x, Tensor y) -> Tensor
  requires: x.shape == y.shape
  forward: x * y
  kernel: kernels.of_two(x, y)
  x: grad * y
  y: grad * x
  result: x_t * y_p + y_t * x_p
  examples: [{x: [2, 2], y: [2, 2]}]
""",
    "a slot of an object": f"""\
- name: own_placed(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.placed(x)
{SQUARE}""",
    "a place in an iterator": f"""\
- name: own_stepping(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.stepping(x)
{SQUARE}""",
    "a list that a cache keeps": f"""\
- name: own_boxed(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.boxed(x)
{SQUARE}""",
    "a text of the kernel": """\
- name: own_sum(Tensor x, str mode='total') -> Tensor
  requires: x.ndim == 1 and x.shape[0] > 0
  forward: kernels.summed(x, mode)
  x: expand(grad, x.shape, implicit=True) * 1
  result: sum(x_t)
  examples: [{x: [3]}]
""",
}

RIGHT = """\
- name: own_multiple(Tensor x, str mode='double') -> Tensor
  forward: kernels.multiple(x, mode)
  x: grad * (2 if mode == 'double' else 3)
  result: auto
  examples: [{x: [3]}]

- name: own_square(Tensor x) -> Tensor
  forward: x * x
  kernel: kernels.by_rows(x)
  x: 2 * grad * x
  result: 2 * x_t * x_p
  requires: x.ndim == 1
  examples: [{x: [3]}]

- name: own_ramp(Tensor x) -> Tensor
  forward: log(1 + exp(x))
  kernel: kernels.ramp(x)
  x: grad * sigmoid(x)
  result: auto_element_wise

- name: own_counted(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: x * x * x.shape[0]
  kernel: kernels.counted(x)
  x: 2 * grad * x * x.shape[0]
  result: 2 * x_t * x_p * x_p.shape[0]
  examples: [{x: [3]}]

- name: own_outer(Tensor x) -> Tensor
  requires: x.ndim == 1
  forward: unsqueeze(x, 1) * unsqueeze(x, 0)
  kernel: kernels.outer(x)
  x: (grad + transpose(grad, 0, 1)) @ x
  result: unsqueeze(x_t, 1) * unsqueeze(x_p, 0) + unsqueeze(x_p, 1) * unsqueeze(x_t, 0)
  examples: [{x: [3]}]
"""


def generated(spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the command on a spec with these kernels; return what it prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GRADSPEC_CACHE", str(folder / "cache"))
    (folder / "ops.yaml").write_text(spec, encoding="utf-8")
    (folder / "own.py").write_text(KERNELS, encoding="utf-8")
    return command("codegen", "ops.yaml", "--kernels", "own.py", "--out", "package").output


@pytest.mark.parametrize("kind", WRONG)
def test_what_a_kernel_tells_apart_is_tried(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = generated(WRONG[kind], tmp_path, monkeypatch)
    assert "GS070" in found
    assert "dtype of" not in found  # which none of these kernels has wrong


def test_right_kernels_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "5 ops: 5 proved" in generated(RIGHT, tmp_path, monkeypatch)
