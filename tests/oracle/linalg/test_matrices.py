"""Distances, solvers and losses of margins where they are special: the same as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

INF, NAN = float("inf"), float("nan")


def _matrix(lib: Any, *rows: list[float]) -> Any:
    return lib.tensor(list(rows), dtype=lib.float64, requires_grad=True)


def _differentiated(out: Any, *leaves: Any) -> Any:
    """A result, and the gradients of its sum."""
    out.sum().backward()
    return out, [each.grad for each in leaves]


def _cdist(lib: Any, p: float) -> Any:
    x = _matrix(lib, [0.0, 0.0], [1.0, -2.0])
    y = _matrix(lib, [0.0, 0.0], [1.0, 0.0], [1.0, 1.0])
    return _differentiated(lib.cdist(x, y, p=p), x, y)


def _pdist(lib: Any, p: float) -> Any:
    x = _matrix(lib, [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0])
    return _differentiated(lib.pdist(x, p), x)


def _loss(lib: Any, name: str, *inputs: Any, **options: Any) -> Any:
    """A loss of leaves and constants, with the gradients of the leaves."""
    out = getattr(lib.nn.functional, name)(*inputs, **options)
    leaves = [each for each in inputs if getattr(each, "requires_grad", False)]
    return _differentiated(out, *leaves)


def _labels(lib: Any, *values: int) -> Any:
    return lib.tensor(list(values))


CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        f"cdist of order {p}": lambda lib, p=p: _cdist(lib, p)
        for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF)
    },
    **{
        f"pdist of order {p}": lambda lib, p=p: _pdist(lib, p)
        for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF)
    },
    "cdist of nothing": lambda lib: [
        lib.cdist(lib.ones(3, 0), lib.ones(2, 0)),
        lib.cdist(lib.ones(0, 2), lib.ones(2, 2), p=INF),
    ],
    "pdist of few rows": lambda lib: [lib.pdist(lib.ones(1, 2)), lib.pdist(lib.ones(3, 0))],
    "cdist modes": lambda lib: [
        lib.cdist(lib.ones(1, 2), lib.zeros(1, 2), compute_mode=mode)
        for mode in (
            "use_mm_for_euclid_dist",
            "use_mm_for_euclid_dist_if_necessary",
            "donot_use_mm_for_euclid_dist",
        )
    ],
    "pairwise_distance of equal vectors": lambda lib: _loss(
        lib, "pairwise_distance", leaf(lib, 1.0, 2.0), leaf(lib, 1.0, 2.0), eps=0.0
    ),
    "cosine_similarity of a zero vector": lambda lib: _loss(
        lib, "cosine_similarity", leaf(lib, 0.0, 0.0), leaf(lib, 1.0, 2.0), dim=0
    ),
    "normalize of a zero vector": lambda lib: _loss(lib, "normalize", leaf(lib, 0.0, 0.0), dim=0),
    "inner of scalars": lambda lib: lib.inner(leaf(lib, 1.0, 2.0), lib.tensor(2.0).double()),
    "inner without elements": lambda lib: lib.inner(lib.ones(2, 0), lib.ones(3, 0)),
    "kron of different dimensions": lambda lib: lib.kron(
        _matrix(lib, [1.0, 2.0], [3.0, 4.0]), leaf(lib, 1.0, -1.0)
    ),
    "kron of a scalar": lambda lib: lib.tensor([2]).kron(lib.tensor(1.5)),
    "cross along the first three": lambda lib: lib.cross(
        lib.arange(6.0).view(2, 3), lib.ones(2, 3)
    ),
    "chain_matmul": lambda lib: lib.chain_matmul(
        _matrix(lib, [1.0, 2.0]), lib.ones(2, 3).double(), lib.ones(3, 1).double()
    ),
    "chain_matmul of one": lambda lib: lib.chain_matmul(_matrix(lib, [1.0, 2.0])),
    "matrix_power": lambda lib: [
        lib.matrix_power(_matrix(lib, [1.0, 2.0], [0.5, -1.0]), 3),
        lib.ones(2, 2).matrix_power(0),
    ],
    "vander": lambda lib: [
        lib.linalg.vander(leaf(lib, 2.0, 0.0)),
        lib.linalg.vander(lib.tensor([1, 2], dtype=lib.int8), N=3),
    ],
    **{
        f"cond of a singular matrix, {p}": lambda lib, p=p: lib.linalg.cond(lib.ones(2, 2), p)
        for p in ("fro", 1, -1, INF, -INF)
    },
    "cond of zeros on the diagonal": lambda lib: lib.linalg.cond(
        lib.tensor([[2.0, 0.0], [0.0, 0.0]]), -2
    ),
    "cond of nothing": lambda lib: [
        lib.linalg.cond(lib.ones(3, 0, 0)),
        lib.linalg.cond(lib.ones(3, 0, 0), 1),
    ],
    "matrix_rank": lambda lib: [
        lib.linalg.matrix_rank(lib.ones(2, 2)),
        lib.linalg.matrix_rank(lib.ones(3, 0, 2)),
        lib.linalg.matrix_rank(lib.eye(3) * lib.tensor([1, 0.1, 0.01]), tol=0.05),
        lib.linalg.matrix_rank(
            lib.eye(3) * lib.tensor([1, 0.1, 0.01]), atol=lib.tensor([0.05, 0.005])
        ),
        lib.linalg.matrix_rank(-lib.eye(2), hermitian=True, rtol=0.1),
    ],
    "LU of a singular matrix": lambda lib: list(lib.linalg.lu_factor_ex(lib.ones(2, 2))),
    "LU of nothing": lambda lib: list(lib.linalg.lu_factor_ex(lib.ones(2, 0))),
    "LU of singular factors": lambda lib: lib.linalg.lu_solve(
        lib.eye(2) * 0, lib.tensor([1, 2], dtype=lib.int32), lib.ones(2, 1)
    ),
    "LU solutions broadcast": lambda lib: lib.linalg.lu_solve(
        lib.eye(2), lib.tensor([1, 2], dtype=lib.int32), lib.ones(2, 2, 1)
    ),
    **{
        f"lstsq by {driver}": lambda lib, driver=driver: list(
            lib.linalg.lstsq(
                _matrix(lib, [1.0, 2.0], [0.5, -1.0], [0.0, 1.0]),
                leaf(lib, 1.0, 2.0, 4.0),
                driver=driver,
            )[:3]
        )
        for driver in (None, "gels", "gelsy", "gelsd", "gelss")
    },
    "lstsq of low rank": lambda lib: list(
        lib.linalg.lstsq(lib.ones(3, 2), lib.eye(3), driver="gelsd")[:3]
    ),
    "lstsq of nothing": lambda lib: [
        part.shape for part in lib.linalg.lstsq(lib.ones(0, 2), lib.ones(0, 3))
    ],
    "residuals": lambda lib: _residuals(lib),
    "soft_margin_loss": lambda lib: _loss(
        lib,
        "soft_margin_loss",
        leaf(lib, 1000.0, 0.0, INF),
        _labels(lib, 1, -1, 1),
        reduction="none",
    ),
    "hinge_embedding_loss": lambda lib: _loss(
        lib, "hinge_embedding_loss", leaf(lib, 1.0, 1.0, 0.5), _labels(lib, 1, -1, 0)
    ),
    "margin_ranking_loss of equal scores": lambda lib: _loss(
        lib, "margin_ranking_loss", leaf(lib, 1.0, 2.0), leaf(lib, 1.0, 2.0), _labels(lib, 1, -1)
    ),
    "cosine_embedding_loss of zeros": lambda lib: _loss(
        lib,
        "cosine_embedding_loss",
        _matrix(lib, [0.0, 0.0], [1.0, 0.0]),
        _matrix(lib, [0.0, 0.0], [0.0, 1.0]),
        _labels(lib, 1, -1),
    ),
    "triplet_margin_loss": lambda lib: _loss(
        lib, "triplet_margin_loss", leaf(lib, 1.0), leaf(lib, 2.0), leaf(lib, 0.0), swap=True
    ),
    "gaussian_nll_loss of a small variance": lambda lib: _loss(
        lib, "gaussian_nll_loss", leaf(lib, 1.0, 0.5), lib.ones(2) * 3, leaf(lib, 1e-9, 2.0)
    ),
    "gaussian_nll_loss of one variance a row": lambda lib: _loss(
        lib,
        "gaussian_nll_loss",
        _matrix(lib, [1.0, 0.5], [2.0, 1.0]),
        lib.ones(2, 2).double(),
        leaf(lib, 0.5, 2.0),
    ),
    "gaussian_nll_loss of a number": lambda lib: _loss(
        lib, "gaussian_nll_loss", leaf(lib, 1.0, 0.5), leaf(lib, 1.0, 0.0), 2.0
    ),
    "poisson_nll_loss": lambda lib: _loss(
        lib, "poisson_nll_loss", leaf(lib, 0.5, 0.5, 1.0), leaf(lib, 0.0, 1.0, 2.0), full=True
    ),
    **{
        f"multi_margin_loss at its kink, {p}": lambda lib, p=p: _loss(
            lib, "multi_margin_loss", _matrix(lib, [1.0, 0.0, -2.0]), _labels(lib, 0), p=p
        )
        for p in (1, 2)
    },
    "multi_margin_loss of a row": lambda lib: [
        _loss(lib, "multi_margin_loss", leaf(lib, 1.0, 0.5), target, reduction=reduction)
        for target in (lib.tensor(1), lib.tensor([1]))
        for reduction in ("none", "mean")
    ],
}


def _residuals(lib: Any) -> Any:
    A, b = _matrix(lib, [1.0, 2.0], [0.5, -1.0], [0.0, 1.0]), leaf(lib, 1.0, 2.0, 4.0)
    return _differentiated(lib.linalg.lstsq(A, b, driver="gelsd")[1], A, b)


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "cdist of a negative order": lambda lib: lib.cdist(lib.ones(1, 2), lib.ones(1, 2), p=-1.0),
    "cdist of vectors": lambda lib: lib.cdist(lib.ones(2), lib.ones(2)),
    "cdist of integers": lambda lib: lib.cdist(lib.ones(1, 2).long(), lib.ones(1, 2).long()),
    "cdist of other columns": lambda lib: lib.cdist(lib.ones(1, 2), lib.ones(1, 3)),
    "a mode of cdist": lambda lib: lib.cdist(lib.ones(1, 2), lib.ones(1, 2), compute_mode="no"),
    "pdist of a batch": lambda lib: lib.pdist(lib.ones(2, 2, 2)),
    "inner of other lengths": lambda lib: lib.inner(lib.ones(2, 3), lib.ones(2)),
    "cross without three": lambda lib: lib.cross(lib.ones(2, 2), lib.ones(2, 2)),
    "chain_matmul without matrices": lambda lib: lib.chain_matmul(),
    "vander of bools": lambda lib: lib.linalg.vander(lib.ones(2) > 0),
    "vander of one": lambda lib: lib.linalg.vander(lib.ones(1)),
    "cond of order 3": lambda lib: lib.linalg.cond(lib.ones(2, 2), 3),
    "cond of rectangles": lambda lib: lib.linalg.cond(lib.ones(2, 3), "fro"),
    "tensorinv of other sizes": lambda lib: lib.linalg.tensorinv(lib.ones(2, 3)),
    "tensorsolve of other sizes": lambda lib: lib.linalg.tensorsolve(lib.ones(2, 3), lib.ones(2)),
    "cholesky of integers": lambda lib: lib.cholesky(lib.eye(2).long()),
    "lu_factor of a singular matrix": lambda lib: lib.linalg.lu_factor(lib.ones(2, 2)),
    "pivots out of range": lambda lib: lib.linalg.lu_solve(
        lib.eye(2), lib.tensor([1, 5], dtype=lib.int32), lib.ones(2, 1)
    ),
    "a driver": lambda lib: lib.linalg.lstsq(lib.ones(2, 2), lib.ones(2, 2), driver="qr"),
    "a larger right-hand side": lambda lib: lib.linalg.lstsq(lib.ones(2, 2), lib.ones(1, 2, 2)),
    "equations of other lengths": lambda lib: lib.linalg.lstsq(lib.ones(2, 2), lib.ones(3, 2)),
    "labels of other dimensions": lambda lib: lib.nn.functional.margin_ranking_loss(
        lib.ones(2), lib.ones(2), lib.ones(1, 2)
    ),
    "labels of pairs": lambda lib: lib.nn.functional.cosine_embedding_loss(
        lib.ones(2, 2), lib.ones(2, 2), lib.ones(2, 1)
    ),
    "a margin of zero": lambda lib: lib.nn.functional.triplet_margin_loss(
        lib.ones(2), lib.ones(2), lib.ones(2), margin=0.0
    ),
    "triplets of other dimensions": lambda lib: lib.nn.functional.triplet_margin_loss(
        lib.ones(2), lib.ones(1, 2), lib.ones(2)
    ),
    "a negative variance": lambda lib: lib.nn.functional.gaussian_nll_loss(
        lib.ones(2), lib.ones(2), -lib.ones(2)
    ),
    "variances of another shape": lambda lib: lib.nn.functional.gaussian_nll_loss(
        lib.ones(2, 3), lib.ones(2, 3), lib.ones(2, 2)
    ),
    "classes out of range": lambda lib: lib.nn.functional.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([1, 3])
    ),
    "classes of another length": lambda lib: lib.nn.functional.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([1])
    ),
    "an order of 3": lambda lib: lib.nn.functional.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([1, 0]), p=3
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_same_error(text: str) -> None:
    import torch

    with pytest.raises(Exception, match=r".") as expected:
        REFUSED[text](torch)
    with pytest.raises(expected.type, match=r"."):
        REFUSED[text](gs)


X, Y = np.linspace(-1.0, 2.0, 6).reshape(2, 3), np.linspace(1.0, 0.25, 6).reshape(2, 3)
SIGNS = np.array([1, -1])

MODULES: dict[str, tuple[str, dict[str, Any], tuple[Any, ...]]] = {
    "L1Loss": ("L1Loss", {}, (X, Y)),
    "SmoothL1Loss": ("SmoothL1Loss", {"beta": 0.5}, (X, Y)),
    "HuberLoss": ("HuberLoss", {"delta": 0.5}, (X, Y)),
    "KLDivLoss": ("KLDivLoss", {"reduction": "batchmean"}, (X, Y)),
    "KLDivLoss of logarithms": ("KLDivLoss", {"log_target": True}, (X, Y)),
    "BCELoss": ("BCELoss", {"weight": np.array([1.0, 2.0, 0.5])}, (Y, Y)),
    "SoftMarginLoss": ("SoftMarginLoss", {"reduction": "sum"}, (X, np.sign(Y - 0.5))),
    "MarginRankingLoss": ("MarginRankingLoss", {"margin": 0.5}, (X[0], Y[0], np.array([1, -1, 1]))),
    "HingeEmbeddingLoss": ("HingeEmbeddingLoss", {"margin": 0.5}, (X[0], np.array([1, -1, 1]))),
    "CosineEmbeddingLoss": ("CosineEmbeddingLoss", {"margin": 0.1}, (X, Y, SIGNS)),
    "TripletMarginLoss": ("TripletMarginLoss", {"p": 1.0, "swap": True}, (X, Y, X - Y)),
    "GaussianNLLLoss": ("GaussianNLLLoss", {"full": True}, (X, Y, Y)),
    "PoissonNLLLoss": ("PoissonNLLLoss", {"full": True}, (X, 3 * Y)),
    "MultiLabelSoftMarginLoss": (
        "MultiLabelSoftMarginLoss",
        {"weight": np.array([1.0, 2.0, 0.5])},
        (X, np.round(Y)),
    ),
    "MultiMarginLoss": (
        "MultiMarginLoss",
        {"p": 2, "margin": 0.5, "weight": np.array([1.0, 2.0, 0.5])},
        (X, np.array([2, 0])),
    ),
    "CosineSimilarity": ("CosineSimilarity", {"dim": 0}, (X, Y)),
    "PairwiseDistance": ("PairwiseDistance", {"p": 3.0, "keepdim": True}, (X, Y)),
}


@pytest.mark.parametrize("label", MODULES)
def test_modules(label: str) -> None:
    import torch

    name, options, arrays = MODULES[label]

    def answer(lib: Any) -> Any:
        given = {k: lib.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
        module = getattr(lib.nn, name)(**given)
        first = lib.tensor(arrays[0], requires_grad=True)
        out = module(first, *map(lib.tensor, arrays[1:]))
        out.sum().backward()
        return repr(module), list(module.state_dict()), out, first.grad

    assert_same(answer, torch)


def test_modules_refuse_what_pytorchs_refuse() -> None:
    import torch

    for lib in (gs, torch):
        with pytest.raises(ValueError, match="margin"):
            lib.nn.TripletMarginLoss(margin=0.0)
        with pytest.raises(ValueError, match="p == 1"):
            lib.nn.MultiMarginLoss(p=3)
        with pytest.raises((ValueError, AssertionError), match="weight"):
            lib.nn.MultiMarginLoss(weight=lib.ones(1, 2))
