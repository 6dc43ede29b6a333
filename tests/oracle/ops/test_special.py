"""The namespace `special` beside PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

ARGUMENTS = {"softmax": (0,), "log_softmax": (0,), "logsumexp": (0,)}
"""The arguments after the tensor."""

LESS_EXACT = dict.fromkeys(("digamma", "polygamma", "psi", "gammaln"), 1e-8)
"""PyTorch's series for these end early."""


@pytest.mark.parametrize("name", gs.special.__all__)
def test_same_name_same_values(name: str) -> None:
    import torch

    array = np.array([0.3, 1.7, 2.5])
    answers = []
    for library in (gs, torch):
        function = getattr(library.special, name)
        x = library.tensor(array, requires_grad=True)
        if name in ("xlogy", "xlog1py"):
            y = function(x, x + 1)
        elif name == "polygamma":
            y = function(1, x)
        else:
            y = function(x, *ARGUMENTS.get(name, ()))
        y.sum().backward()
        answers.append((y.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=LESS_EXACT.get(name, 1e-12))
