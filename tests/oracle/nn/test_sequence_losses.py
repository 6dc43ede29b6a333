"""CTC, losses with a distance, a layer or a number of their own, and top-level losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import attempt

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:reduction")]

RNG = np.random.default_rng(3)
LOGITS = RNG.normal(size=(6, 3, 4))
LABELS = RNG.integers(1, 4, size=(3, 3))
ROWS = [RNG.normal(size=(3, 4)) for _ in range(3)]
SIGNS = np.array([1, -1, 1])
REDUCTIONS = ("none", "mean", "sum")


def _ctc(lib: Any, x: Any, *rest: Any, **options: Any) -> Any:
    given = (lib.tensor(item) if isinstance(item, np.ndarray) else item for item in rest)
    return lib.nn.functional.ctc_loss(x.log_softmax(-1), *given, **options)


CTC: dict[str, Callable[[Any, Any], Any]] = {
    **{
        reduction: lambda lib, x, reduction=reduction: _ctc(
            lib, x, LABELS, [6, 5, 4], [3, 2, 1], reduction=reduction
        )
        for reduction in REDUCTIONS
    },
    "lengths as tensors": lambda lib, x: _ctc(
        lib, x, LABELS, np.array([6, 5, 4]), np.array([3, 2, 1])
    ),
    "labels in a row": lambda lib, x: _ctc(
        lib, x, np.array([1, 1, 3, 2]), [6, 4, 5], [3, 0, 1], reduction="none"
    ),
    "another blank": lambda lib, x: _ctc(
        lib, x, np.array([[0, 1], [1, 1], [3, 0]]), [6, 6, 6], [2, 2, 2], blank=2
    ),
    "too long": lambda lib, x: _ctc(
        lib, x, np.array([1, 1, 1, 2, 3]), [4, 6, 6], [3, 1, 1], zero_infinity=True
    ),
    "nothing to say": lambda lib, x: _ctc(lib, x, np.array([2]), [6, 3, 2], [0, 1, 0]),
    "without a batch": lambda lib, x: _ctc(lib, x[:, 0], np.array([1, 2]), [6], [2]),
}


@pytest.mark.parametrize("text", CTC)
def test_ctc_loss(text: str) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x = lib.tensor(LOGITS).requires_grad_()
        loss = CTC[text](lib, x)
        (grad,) = lib.autograd.grad((loss * loss).sum(), x)
        results.append([loss.detach().numpy(), grad.numpy()])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_infinite_ctc_losses() -> None:
    import torch

    targets, frames, labels = np.array([[1, 1], [1, 2], [3, 3]]), [2, 2, 0], [2, 2, 1]
    mine, theirs = (
        _ctc(lib, lib.tensor(LOGITS), targets, frames, labels, reduction="none").numpy()
        for lib in (gs, torch)
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert np.isinf(mine[[0, 2]]).all()


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "too many frames": lambda lib, x: _ctc(lib, x, LABELS, [7, 5, 4], [3, 2, 1]),
    "too many labels": lambda lib, x: _ctc(lib, x, LABELS, [6, 5, 4], [4, 2, 1]),
    "no class for the blank": lambda lib, x: _ctc(lib, x, LABELS, [6, 5, 4], [3, 2, 1], blank=4),
    "a length too few": lambda lib, x: _ctc(lib, x, LABELS, [6, 5], [3, 2, 1]),
    "a label too few": lambda lib, x: _ctc(lib, x, np.array([1, 2]), [6, 5, 4], [1, 1, 1]),
}


@pytest.mark.parametrize("text", WRONG)
def test_refused_ctc_losses(text: str) -> None:
    import torch

    for lib in (gs, torch):
        with pytest.raises(RuntimeError):
            WRONG[text](lib, lib.tensor(LOGITS))


def _linear(lib: Any, x: Any, weight: Any, target: Any, **options: Any) -> Any:
    return lib.nn.functional.linear_cross_entropy(
        x, lib.tensor(weight), lib.tensor(target), **options
    )


NATIVE: dict[str, Callable[[Any, int], Any]] = {
    "binary_cross_entropy_with_logits": lambda lib, n: lib.binary_cross_entropy_with_logits(
        *_rows(lib)[:2], None, None, n
    ),
    "cosine_embedding_loss": lambda lib, n: lib.cosine_embedding_loss(
        *_rows(lib)[:2], lib.tensor(SIGNS), 0.1, n
    ),
    "hinge_embedding_loss": lambda lib, n: lib.hinge_embedding_loss(
        _rows(lib)[0], lib.sign(_rows(lib)[1]), 1.0, n
    ),
    "kl_div": lambda lib, n: lib.kl_div(*_rows(lib)[:2], n, log_target=True),
    "margin_ranking_loss": lambda lib, n: lib.margin_ranking_loss(
        *_rows(lib)[:2], lib.sign(_rows(lib)[2]), 0.2, n
    ),
    "poisson_nll_loss": lambda lib, n: lib.poisson_nll_loss(
        _rows(lib)[0], lib.exp(_rows(lib)[1]), True, True, 1e-8, n
    ),
    "triplet_margin_loss": lambda lib, n: lib.triplet_margin_loss(
        *_rows(lib), 1.0, 2.0, 1e-6, True, n
    ),
    "ctc_loss": lambda lib, n: lib.ctc_loss(
        lib.tensor(LOGITS).log_softmax(2), lib.tensor(LABELS), [6, 5, 4], [3, 2, 1], 0, n
    ),
}


def _rows(lib: Any) -> list[Any]:
    return [lib.tensor(row) for row in ROWS]


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", NATIVE)
def test_reduction_by_number(name: str, reduction: int) -> None:
    import torch

    mine, theirs = (NATIVE[name](lib, reduction).numpy() for lib in (gs, torch))
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


OTHERS: dict[str, Callable[[Any, Any, str], Any]] = {
    "triplets": lambda lib, x, r: lib.nn.functional.triplet_margin_with_distance_loss(
        x, *_rows(lib)[1:], reduction=r
    ),
    "triplets, swapped": lambda lib, x, r: lib.nn.functional.triplet_margin_with_distance_loss(
        x,
        *_rows(lib)[1:],
        distance_function=lambda a, b: (a - b).abs().sum(-1),
        margin=0.5,
        swap=True,
        reduction=r,
    ),
    "linear": lambda lib, x, r: _linear(
        lib, x, ROWS[1], np.array([0, 2, 2]), reduction=r, label_smoothing=0.1
    ),
    "linear with a bias": lambda lib, x, r: _linear(
        lib, x, ROWS[1], np.array([0, -100, 2]), linear_bias=lib.tensor(ROWS[2][0, :3]), reduction=r
    ),
    "linear of several outputs": lambda lib, x, r: _linear(
        lib, x, LOGITS[:5, :2], np.array([[0, 4], [2, 1], [1, 1]]), reduction=r
    ),
    "linear without a batch": lambda lib, x, r: _linear(lib, x[0], ROWS[1], np.array(2)),
    "several labels": lambda lib, x, r: lib.nn.functional.multilabel_margin_loss(
        x, lib.tensor(np.array([[3, 0, -1, 1], [-1, 1, 2, 3], [2, 1, 0, 3]])), reduction=r
    ),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", OTHERS)
def test_other_losses(name: str, reduction: str) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x = lib.tensor(ROWS[0]).requires_grad_()
        loss = OTHERS[name](lib, x, reduction)
        (grad,) = lib.autograd.grad((loss * loss).sum(), x)
        results.append([loss.detach().numpy(), grad.numpy()])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-13)


MODULES: dict[str, Callable[[Any], Any]] = {
    "ctc": lambda nn: nn.CTCLoss(1, "sum", True),
    "triplets": lambda nn: nn.TripletMarginWithDistanceLoss(margin=0.5),
    "labels": lambda nn: nn.MultiLabelMarginLoss(reduction="sum"),
    "rrelu": lambda nn: nn.RReLU(0.1, 0.2, True),
    "linear": lambda nn: nn.LinearCrossEntropyLoss(3, 4, bias=True),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_print_alike(name: str) -> None:
    import torch

    found, wanted = repr(MODULES[name](gs.nn)), repr(MODULES[name](torch.nn))
    assert found.replace(", ", ",") == wanted.replace(", ", ",")


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a margin of zero": lambda lib: lib.nn.functional.triplet_margin_with_distance_loss(
        *_rows(lib), margin=0
    ),
    "labels out of range": lambda lib: lib.nn.functional.multilabel_margin_loss(
        lib.ones(2), lib.tensor([2, -1])
    ),
    "labels of floats": lambda lib: lib.nn.functional.multilabel_margin_loss(
        lib.ones(2), lib.ones(2)
    ),
    "weights that do not fit": lambda lib: lib.nn.LinearCrossEntropyLoss(2, 3, weight=lib.ones(2)),
    "smoothing beyond one": lambda lib: lib.nn.LinearCrossEntropyLoss(2, 3, label_smoothing=2.0),
    "bounds in a wrong order": lambda lib: lib.rrelu(lib.ones(2), 0.5, 0.1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    import torch

    mine, theirs = (attempt(lambda lib=lib: REFUSED[name](lib)) for lib in (gs, torch))
    assert mine == theirs
    assert str(mine).startswith("raises")
