"""The CTC loss beside the sum over all alignments, one by one."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest

import gradspec as gs

TIME, CLASSES = 4, 3
LOGITS = np.random.default_rng(2).normal(size=(TIME, 2, CLASSES))


def _said(alignment: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """The labels of an alignment: what is repeated counts once, and blanks do not."""
    return tuple(label for label, _ in groupby(alignment) if label != blank)


def _expected(log_probs: Any, target: tuple[int, ...], frames: int, blank: int) -> float:
    total = sum(
        np.exp(sum(log_probs[t, label] for t, label in enumerate(alignment)))
        for alignment in product(range(CLASSES), repeat=frames)
        if _said(alignment, blank) == target
    )
    return -float(np.log(total))


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("frames", [3, 4])
@pytest.mark.parametrize("length", [1, 2])
def test_it_is_the_sum_over_alignments(length: int, frames: int, blank: int) -> None:
    labels = [(1, 1), (1, 0 if blank else 2)]
    log_probs = gs.tensor(LOGITS).log_softmax(2)
    targets = gs.tensor([list(pair) for pair in labels])
    found = gs.nn.functional.ctc_loss(
        log_probs, targets, [frames] * 2, [length] * 2, blank, reduction="none"
    )
    expected = [
        _expected(log_probs.numpy()[:, n], pair[:length], frames, blank)
        for n, pair in enumerate(labels)
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_first_and_second_derivatives() -> None:
    def loss(x: Any) -> Any:
        return gs.nn.functional.ctc_loss(
            x.log_softmax(2), gs.tensor([[1, 1], [2, 1]]), [4, 3], [2, 1]
        )

    x = gs.tensor(LOGITS, requires_grad=True)
    assert gs.autograd.gradcheck(loss, x)
    assert gs.autograd.gradgradcheck(loss, x)


def test_what_is_impossible_has_no_gradient() -> None:
    x = gs.tensor(LOGITS, requires_grad=True)
    loss = gs.nn.functional.ctc_loss(
        x.log_softmax(2), gs.tensor([[1, 1], [2, 1]]), [2, 3], [2, 2], zero_infinity=True
    )
    loss.backward()
    assert (x.grad[:, 0] == 0).all()
    assert (x.grad[:3, 1] != 0).any()
