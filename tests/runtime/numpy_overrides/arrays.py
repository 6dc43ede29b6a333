"""The arrays that NumPy's functions are called on, and what a call is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any], Any]
"""A function of one array, or of a tensor in its place."""

A = np.array([[0.2, 0.5, -0.3], [0.7, -0.1, 0.4]])
B = np.array([[0.9, -0.6, 0.35], [1.2, 0.25, -0.8]])
V = np.array([0.35, -0.6, 1.1, 0.8])
W = np.array([1.5, 0.4, -0.7])
S = np.array([[2.0, 0.5, 0.1], [0.25, 1.0, -0.3], [0.6, -0.2, 1.6]])
P = S @ S.T + np.eye(3)
N = np.array([[0.2, np.nan, -0.3], [0.7, -0.1, np.nan]])
T = np.arange(24.0).reshape(2, 3, 4) ** 0.5 - 1.7
C = np.array([0.3 - 0.2j, 1.1 + 0.4j, -0.7 + 0.9j])
TURN = np.array([[0.8, -1.1], [0.9, 0.5]])
R = np.array([3.0, 0.2, 6.9, 0.4])


def many(name: str, values: Any, *calls: Call) -> dict[str, tuple[Call, Any]]:
    """Return several calls of one function on the same values, told apart by numbers."""
    return {f"{name} {number}" if number else name: (c, values) for number, c in enumerate(calls)}
