"""Names that are not here: PyTorch's are called so, and nothing internal is suggested."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import gradspec as gs
from gradspec.core import missing

PYTORCHS: dict[str, Callable[[], Any]] = {
    "torch.quantize_per_tensor": lambda: gs.quantize_per_tensor,
    "torch.nn.SyncBatchNorm": lambda: gs.nn.SyncBatchNorm,
    "torch.nn.functional.scaled_mm": lambda: gs.nn.functional.scaled_mm,
    "torch.optim.swap_in_optimizer_params_and_state": (
        lambda: gs.optim.swap_in_optimizer_params_and_state
    ),
    "torch.autograd.NestedIOFunction": lambda: gs.autograd.NestedIOFunction,
    "torch.Tensor.sparse_mask": lambda: gs.ones(1).sparse_mask,
}
"""Names that no plan of this library has."""


@pytest.mark.parametrize("name", PYTORCHS)
def test_a_name_of_pytorchs_is_called_so(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} of PyTorch is not in gradspec yet"):
        PYTORCHS[name]()


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        (lambda: gs.tesnor, "gs.tensor"),
        (lambda: gs.relu6, "gs.nn.functional.relu6"),
        (lambda: gs.nn.Conv2D, "gs.nn.Conv2d"),
        (lambda: gs.optim.Adm, "gs.optim.Adam"),
        (lambda: gs.fft.hffft, "gs.fft.hfft"),
        (lambda: gs.autograd.Functoin, "gs.autograd.Function"),
        (lambda: gs.nn.functional.tanhh, "gs.nn.functional.tanh"),
    ],
)
def test_a_slip_of_the_pen_is_told_the_public_name(wanted: Callable[[], Any], near: str) -> None:
    with pytest.raises(AttributeError, match=rf"has no attribute '\w+'\. Did you mean: '{near}'\?"):
        wanted()


def test_a_name_of_pytorchs_that_was_added_is_not_called_missing() -> None:
    for name in dir(gs.Tensor):
        assert type(vars(gs.Tensor).get(name)) is not missing.MissingMethod or not hasattr(
            gs.Tensor, name
        )
    assert not hasattr(gs.ones(1), "sparse_mask")
    assert gs.ones(1).stride() == (1,)


def test_python_suggests_no_internal_module() -> None:
    code = "import gradspec as gs\ngs.registryy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == "AttributeError: module 'gradspec' has no attribute 'registryy'"


def test_methods_of_further_modules_are_found() -> None:
    """They are imported when they are first asked for."""
    for name in vars(gs.Tensor):
        with suppress(AttributeError):  # which is what names of PyTorch's that are not here raise
            getattr(gs.Tensor, name)
