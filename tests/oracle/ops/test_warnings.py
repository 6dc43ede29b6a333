"""Warnings of probable mistakes where PyTorch warns, at the user's line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.core import user_warnings

pytestmark = pytest.mark.oracle


def _frozen() -> Any:
    array = np.ones(2, np.float32)
    array.flags.writeable = False
    return array


def _loss(name: str) -> Callable[[Any], Any]:
    return lambda t: getattr(t.nn.functional, name)(t.ones(3, 1), t.ones(3))


def _same(name: str) -> Callable[[Any], Any]:
    return lambda t: getattr(t.nn.functional, name)(t.ones(3), t.ones(3))


def _leaf(t: Any) -> Any:
    return t.ones(1, requires_grad=True)


WARNED: dict[str, tuple[Callable[[Any], Any], str]] = {
    **{
        name: (_loss(name), "target size")
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
    },
    "MSELoss": (lambda t: t.nn.MSELoss()(t.ones(3, 1), t.ones(3)), "target size"),
    "kl_div": (lambda t: t.nn.functional.kl_div(t.ones(2, 1), t.ones(2, 1)), "batchmean"),
    "KLDivLoss": (lambda t: t.nn.KLDivLoss()(t.ones(2, 1), t.ones(2, 1)), "batchmean"),
    "tensor of a tensor": (lambda t: t.tensor(t.ones(2)), "copy construct"),
    "new_tensor of a tensor": (lambda t: t.ones(2).new_tensor(t.ones(2)), "copy construct"),
    "float of what requires grad": (lambda t: float(_leaf(t)), "requires_grad=True to a scalar"),
    "complex of what requires grad": (lambda t: complex(_leaf(t)), "requires_grad=True"),
    "tensor of what requires grad": (
        lambda t: t.tensor([t.ones(()), _leaf(t)[0]]),
        "requires_grad=True to a scalar",
    ),
    "istft without a window": (
        lambda t: t.istft(t.ones(5, 9) + 0j, 8),
        "A window was not provided",
    ),
    "stft without a window": (
        lambda t: t.stft(t.ones(32), 8, return_complex=True),
        "A window was not provided",
    ),
    "T of three dimensions": (lambda t: t.ones(2, 2, 2).T, "dimension other than 2"),
    "T of one dimension": (lambda t: t.ones(2).T, "dimension other than 2"),
    "T of none": (lambda t: t.tensor(1.0).T, "deprecated on 0-D"),
    "mT of none": (lambda t: t.tensor(1.0).mT, "deprecated on 0-D"),
    "H of none": (lambda t: t.tensor(1.0).H, "deprecated on 0-D"),
    "softmax without dim": (lambda t: t.nn.functional.softmax(t.ones(2)), "Implicit dimension"),
    "Softmax without dim": (lambda t: t.nn.Softmax()(t.ones(2)), "Implicit dimension"),
    "dropout2d of three": (lambda t: t.nn.functional.dropout2d(t.ones(2, 2, 2)), "dropout1d|1D"),
    "dropout2d of two": (lambda t: t.nn.functional.dropout2d(t.ones(2, 2)), "2-D input"),
    "dropout3d of two": (lambda t: t.nn.functional.dropout3d(t.ones(2, 2)), "2-D input"),
    "grid_sample": (
        lambda t: t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2)),
        "align_corners=False",
    ),
    "affine_grid": (
        lambda t: t.nn.functional.affine_grid(t.ones(1, 2, 3), (1, 1, 2, 2)),
        "align_corners=False",
    ),
    "complex to float": (lambda t: t.tensor([1 + 1j]).float(), "discards the imaginary part"),
    "complex to long": (lambda t: t.tensor([1 + 1j]).long(), "discards the imaginary part"),
    "complex by copy_": (lambda t: t.ones(1).copy_(t.tensor([1j])), "discards the imaginary"),
    "complex by index": (
        lambda t: t.ones(1).__setitem__(0, t.tensor(1j)),
        "discards the imaginary part",
    ),
    "std of one": (lambda t: t.ones(1).std(), "degrees of freedom is <= 0"),
    "var of none": (lambda t: t.ones(0).var(), "degrees of freedom is <= 0"),
    "var_mean of rows of one": (lambda t: t.var_mean(t.ones(2, 1), 1), "degrees of freedom"),
    "index of bytes": (
        lambda t: t.ones(2)[t.tensor([1, 0], dtype=t.uint8)],
        "uint8.* deprecated",
    ),
    "memory that is not writable": (lambda t: t.from_numpy(_frozen()), "not writable"),
    "complex modules": (lambda t: t.nn.Linear(1, 1).to(t.complex64), "Complex modules"),
    "kaiming of nothing": (lambda t: t.nn.init.kaiming_uniform_(t.ones(0, 2)), "zero-element"),
    "InstanceNorm of other channels": (
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(1, 2, 4)),
        "does not match num_features",
    ),
}
SILENT: dict[str, Callable[[Any], Any]] = {
    **{name: _same(name) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")},
    "kl_div": lambda t: t.nn.functional.kl_div(t.ones(2, 1), t.ones(2, 1), reduction="batchmean"),
    "as_tensor of a tensor": lambda t: t.as_tensor(t.ones(2)),
    "item of what requires grad": lambda t: _leaf(t).item(),
    "int of what requires grad": lambda t: int(_leaf(t)),
    "bool of what requires grad": lambda t: bool(_leaf(t)),
    "T of a matrix": lambda t: t.ones(2, 2).T,
    "dropout2d of four": lambda t: t.nn.functional.dropout2d(t.ones(1, 2, 2, 2)),
    "complex to bool": lambda t: t.tensor([1j]).bool(),
    "complex to complex": lambda t: t.tensor([1j]).to(t.complex128),
    "std of two": lambda t: t.ones(2).std(),
    "uncorrected var of one": lambda t: t.ones(1).var(correction=0),
    "index of bools": lambda t: t.ones(2)[t.tensor([True, False])],
}


@pytest.fixture(autouse=True)
def _as_if_nothing_had_been_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(user_warnings, "_given", set())
    torch.set_warn_always(True)  # type: ignore[no-untyped-call]


def _warnings(call: Callable[[Any], Any], library: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(library)
    return caught


@pytest.mark.parametrize("name", WARNED)
def test_both_warn(name: str) -> None:
    import torch

    call, words = WARNED[name]
    for library in (torch, gs):
        found = _warnings(call, library)
        assert [warning.category for warning in found] == [UserWarning]
        with pytest.warns(UserWarning, match=words):
            warnings.warn(found[0].message, stacklevel=1)
    assert found[0].filename == __file__


@pytest.mark.parametrize("name", SILENT)
def test_neither_warns(name: str) -> None:
    import torch

    for library in (torch, gs):
        assert _warnings(SILENT[name], library) == []


def test_what_is_said_once_is_said_once() -> None:
    assert len(_warnings(lambda t: (t.ones(2).T, t.ones(3).T), gs)) == 1
    assert len(_warnings(lambda t: (t.ones(1).std(), t.ones(1).std()), gs)) == 2
