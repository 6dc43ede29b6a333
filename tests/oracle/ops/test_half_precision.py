"""float16 is computed in single precision and rounded: PyTorch's values and gradients.

The functions are those of PyTorch's namespaces that take one tensor, or that and another, or
a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

VALUES = [0.1, 0.3, 0.7, 0.45]

RANDOM = """
dropout alpha_dropout feature_dropout feature_alpha_dropout native_dropout dropout1d dropout2d
dropout3d rand_like randn_like randint_like empty_like bernoulli poisson normal rrelu multinomial
gumbel_softmax resize_as_
"""

# At the top level PyTorch does not reduce these unless it is told to.
REDUCED = "binary_cross_entropy_with_logits hinge_embedding_loss kl_div"

OTHERS = {
    "complex": "NumPy has no complex numbers of half the width",
    "searchsorted": "the values are not sorted",
}

LEFT_OUT = {*RANDOM.split(), *REDUCED.split(), *OTHERS}

FEWEST = {"": 100, "special": 15, "nn.functional": 20, "linalg": 1}
"""Namespaces, and how many functions of one tensor they have at least."""


def names(space: str) -> Iterator[tuple[str, Any, Any]]:
    """The functions of a namespace: name, PyTorch's and ours."""
    import torch

    theirs, ours = torch, gs
    for part in filter(None, space.split(".")):
        theirs, ours = getattr(theirs, part), getattr(ours, part)
    for name in dir(theirs):
        function, own = getattr(theirs, name), getattr(ours, name, None)
        is_function = callable(function) and not isinstance(function, type)
        sets = name.startswith("set_")  # what holds for all that follows, such as how to print
        if name[0] != "_" and not sets and name not in LEFT_OUT and is_function and own is not None:
            yield name, function, own


def half(lib: Any, values: list[float]) -> Any:
    return lib.tensor(values, dtype=lib.float16)


@pytest.mark.parametrize("space", FEWEST)
@pytest.mark.parametrize("other", [None, "tensor", "number"])
def test_functions_of_halves(space: str, other: str | None) -> None:
    import torch

    compared = 0
    for name, theirs, ours in names(space):
        more = {None: [], "tensor": [VALUES[::-1]], "number": [2]}[other]
        x = half(torch, VALUES).requires_grad_()
        try:
            expected = theirs(x, *(half(torch, y) if other == "tensor" else y for y in more))
        except Exception:
            continue  # it is no function of these
        if not isinstance(expected, torch.Tensor):
            continue
        own = half(gs, VALUES).requires_grad_()
        found = ours(own, *(half(gs, y) if other == "tensor" else y for y in more))
        assert str(found.dtype) == str(expected.dtype).removeprefix("torch."), name
        _compare(found, expected, 4e-3, name)
        compared += 1
        slope = _slope(expected, x) if expected.dtype == torch.float16 else None
        if slope is not None:
            (own_slope,) = gs.autograd.grad(found.sum(), own)
            assert own_slope.dtype == gs.float16, name
            _compare(own_slope, slope, 1e-2, f"gradient of {name}")
    assert compared >= (FEWEST[space] if other is None else 1)


LARGE: dict[str, Any] = {
    "mean": lambda lib, x: x.mean(),
    "mean of rows": lambda lib, x: x.view(2, 2).mean(1),
    "norm": lambda lib, x: x.norm(),
    "norm of rows": lambda lib, x: lib.linalg.vector_norm(x.view(2, 2), 3, dim=1),
    "lerp": lambda lib, x: lib.lerp(x, -x, 0.25),
    "lerp by a tensor": lambda lib, x: lib.lerp(x, -x, half(lib, [0.0, 0.25, 0.75, 1.0])),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_is_finite_though_its_steps_are_not(name: str) -> None:
    import torch

    values = [30000.0, 40000.0, 20000.0, 25000.0]
    found = LARGE[name](gs, half(gs, values))
    expected = LARGE[name](torch, half(torch, values))
    assert np.isfinite(found.numpy()).all()
    assert found.dtype == gs.float16
    _compare(found, expected, 1e-3, name)


def _slope(result: Any, x: Any) -> Any:
    """PyTorch's gradient, None where it has none."""
    import torch

    try:
        return torch.autograd.grad(result.sum(), x)[0] if result.requires_grad else None
    except RuntimeError:
        return None


def _compare(found: Any, expected: Any, rtol: float, label: str) -> None:
    """The sum makes memory for PyTorch's zeros that have none."""
    values = (expected.detach().resolve_conj() + (expected.dtype.is_floating_point and 0)).numpy()
    np.testing.assert_allclose(
        found.detach().numpy().astype(complex), values.astype(complex), rtol, 4e-3, err_msg=label
    )
