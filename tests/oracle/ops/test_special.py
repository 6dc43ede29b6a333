"""The namespace `special` beside PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

ARGUMENTS = {"softmax": (0,), "log_softmax": (0,), "logsumexp": (0,)}
"""The arguments after the tensor."""

OF_TWO = ("xlogy", "xlog1py", "gammainc", "gammaincc", "zeta")
"""Functions of two tensors; PyTorch differentiates the last ones by the second alone."""

LESS_EXACT = {
    **dict.fromkeys(("digamma", "polygamma", "psi", "gammaln"), 1e-8),
    **dict.fromkeys(("bessel_j0", "bessel_y0", "bessel_y1"), 2e-12),
}
"""PyTorch's series for these end early."""


def torch_differentiates(name: str) -> bool:
    """Return whether PyTorch has a derivative of a function."""
    return not any(part in name for part in ("bessel", "airy", "polynomial"))


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
        elif name in OF_TWO:
            y = function(library.tensor(array + 1), x)
        elif name == "polygamma":
            y = function(1, x)
        elif name == "multigammaln":
            y = function(x + 1, 2)
        elif name.split("_")[-2:-1] == ["polynomial"]:
            y = function(x, 3)
        else:
            y = function(x, *ARGUMENTS.get(name, ()))
        # Of functions that PyTorch has no derivative of, test_special_functions compares slopes.
        gradient = None
        if torch_differentiates(name):
            y.sum().backward()
            gradient = x.grad.numpy()
        answers.append([y.detach().numpy(), *([] if gradient is None else [gradient])])
    for mine, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=LESS_EXACT.get(name, 1e-12))
