"""Types that a checker sees in a program that uses the installed library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .typecheck import plant

TENSORS = (
    # Methods and operators of one op.
    *("x.reshape(-1)", "x.permute(1, 0)", "x.view(6)", "x.expand(2, 2, 3)", "x.flatten()"),
    *("x.unsqueeze(0)", "x.transpose(0, 1)", "x.repeat(2, 1)", "x.flip(0, 1)", "x.t()", "x.T"),
    *("x + 1", "2 - x", "x @ x.t()", "-x", "x == x", "x > 0", "x[0]", "x[:, None]"),
    *("x.exp()", "x.softmax(dim=1)", "x.cumsum(0)", "x.argmax()", "x.norm()", "x.clone()"),
    *("x.detach()", "x.to(gs.float64)", "x.float()", "x.new_zeros(2)", "x.gather(0, index)"),
    # Those that several ops share.
    *("x.sum()", "x.sum(0)", "x.sum(dim=(0, 1), keepdim=True)", "x.sum(dtype=gs.float64)"),
    *("x.mean()", "x.mean(0, True)", "x.prod()", "x.prod(1)", "x.all()", "x.any(0)"),
    *("x.var()", "x.std(0)", "x.std(0, unbiased=False)", "x.max()", "x.min()", "x.max(x)"),
    *("x.max(0).values", "x.min(1).indices", "x.median()", "x.median(0).values"),
    *("x.sort().values", "x.sort(descending=True)[1]", "x.sort(stable=True).indices"),
    *("x.pow(2)", "x ** 2", "2 ** x", "x ** x", "x / 2", "x // 2", "x % 2", "x.clamp(0, 1)"),
    *("x.clamp(min=x)", "x.squeeze()", "x.squeeze(0)", "x.round()", "x.quantile(0.5)"),
    *("x.masked_fill(x > 0, 0.0)", "x.lerp(x, 0.5)", "x.argsort()", "x.topk(2).values"),
    *("x.unique()", "x.unique(dim=0)", "x.unique_consecutive()"),
    # In place.
    *("x.add_(1)", "x.mul_(x)", "x.pow_(2)", "x.clamp_(0, 1)", "x.zero_()", "x.requires_grad_()"),
    # Functions.
    *("gs.sum(x)", "gs.sum(input=x, dim=0)", "gs.max(x)", "gs.max(x, dim=0)[0]", "gs.unique(x)"),
    *("gs.where(x > 0, x, 0)", "gs.cat([x, x])", "gs.stack([x, x])", "gs.einsum('ij->i', x)"),
    *("gs.matmul(x, x.t())", "gs.pow(2, x)", "gs.div(x, 2, rounding_mode='floor')"),
    *("gs.linalg.det(x)", "gs.linalg.svd(x).S", "gs.linalg.norm(x)", "gs.fft.fft(x)"),
    *("gs.special.erf(x)", "gs.special.xlog1py(x, 2)", "gs.randn(2)", "gs.arange(3)"),
    *("F.relu(x)", "F.mse_loss(x, x)", "F.cross_entropy(x, index)", "F.linear(x, x)"),
    *("F.conv1d(x, x[None], padding='same')", "gs.nn.Linear(2, 3).weight"),
)

OTHERS = {
    "x.size(0)": "int",
    "x.size()": "gs.Size",
    "x.shape": "gs.Size",
    "x.shape[0]": "int",
    "x.numel()": "int",
    "x.grad": "gs.Tensor | None",
    "x.is_leaf": "bool",
    "x.split(1)": "tuple[gs.Tensor, ...]",
    "gs.split(x, [1, 1])": "tuple[gs.Tensor, ...]",
    "x.chunk(2)": "tuple[gs.Tensor, ...]",
    "gs.where(x > 0)": "tuple[gs.Tensor, ...]",
    "gs.autograd.grad(x.sum(), x)": "tuple[gs.Tensor | None, ...]",
    "x.backward()": "None",
}

REFUSED = (
    "x.sum('all')",
    "x.sum(axes=0)",
    "x.max(0, 'keep')",
    "x.max().values",
    "x.pow()",
    "x.clamp('a')",
    "gs.mean(x, keepdims=True)",
    "x.squeeze(0.5)",
)

BEGIN = """
from typing import assert_type

import gradspec as gs
import gradspec.nn.functional as F

x = gs.ones(2, 3, requires_grad=True)
index = gs.tensor([[0, 1, 1]])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages as a wheel lays them."""
    folder = tmp_path_factory.mktemp("types")
    plant(folder / "site")
    return folder


def check(folder: Path, program: str) -> str:
    """Run mypy as a user does; what it says."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-pretty"]
    cache = ["--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*mypy, *cache, "program.py"],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(folder / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout


def test_methods_and_functions_have_types(site: Path) -> None:
    expected = dict.fromkeys(TENSORS, "gs.Tensor") | OTHERS
    asserted = [f"assert_type({call}, {type_})\n" for call, type_ in expected.items()]
    found = check(site, BEGIN + "".join(asserted))
    assert found == "Success: no issues found in 1 source file\n"


def test_calls_that_no_overload_takes_are_refused(site: Path) -> None:
    found = check(site, BEGIN + "".join(f"{call}\n" for call in REFUSED))
    first = BEGIN.count("\n") + 1
    lines = {line.split(":")[1] for line in found.splitlines() if ": error:" in line}
    assert lines == {str(first + n) for n in range(len(REFUSED))}, found
