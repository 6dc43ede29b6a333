"""`signal.windows` gives PyTorch's windows, and its errors."""

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

CALLS = [
    *((name, {}) for name in ("bartlett", "blackman", "cosine", "exponential", "gaussian")),
    *((name, {}) for name in ("general_hamming", "hamming", "hann", "kaiser", "nuttall")),
    ("exponential", {"tau": 3.5}),
    ("exponential", {"center": 1.25, "sym": False}),
    ("exponential", {"center": 1.25}),
    ("exponential", {"tau": 0.0}),
    ("gaussian", {"std": 0.3}),
    ("gaussian", {"std": -1.0}),
    ("general_cosine", {"a": [0.4, 0.3, 0.2, 0.1]}),
    ("general_cosine", {"a": []}),
    ("general_cosine", {"a": 1.0}),
    ("general_hamming", {"alpha": 0.7}),
    ("kaiser", {"beta": 0.0}),
    ("kaiser", {"beta": 40.0}),
    ("kaiser", {"beta": -1.0}),
]


def outcome(lib, name, size, options, dtype):
    """The numbers of a window, or the class and the text of the error."""
    window = getattr(lib.signal.windows, name)
    try:
        return window(size, **options, dtype=getattr(lib, dtype)).numpy()
    except (ValueError, TypeError, RuntimeError) as error:
        return type(error), str(error).replace("torch.", "").replace("gradspec.", "")


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("size", [-1, 0, 1, 2, 3, 8, 51])
@pytest.mark.parametrize(("name", "options"), CALLS)
def test_windows_are_pytorchs(torch, name, options, size, sym):
    given = {"sym": sym} | options
    # PyTorch computes those of float32 in float32: a narrow one is off by 2e-6, and not symmetric.
    for dtype, tolerance in (("float64", 1e-12), ("float32", 4e-6), ("float16", 0)):
        found, expected = (outcome(lib, name, size, given, dtype) for lib in (gs, torch))
        if isinstance(expected, tuple):
            assert found == expected
            continue
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
