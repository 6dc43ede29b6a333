"""The marginal likelihood of a Gaussian process, and its gradient, by a Cholesky factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Run, Workload
from .dialects import is_jax


class GaussianProcess(Workload):
    """A squared-exponential kernel: parameters are the logarithms of length, scale and noise."""

    absent: ClassVar = {"mygrad": "has no linear algebra"}
    tolerance = 1e-7

    def __init__(self, points: int) -> None:
        self.name = f"gaussian-process-{points}"
        self.title = f"Gaussian process of {points}"
        self.doc = f"gradient of a Gaussian process's marginal likelihood, {points} points, float64"
        self.points = points

    def create_data(self) -> None:
        rng = np.random.default_rng(9)
        places = np.sort(rng.uniform(0, 10, self.points))
        self.squares = (places[:, None] - places[None, :]) ** 2
        self.y = np.sin(places) + 0.3 * rng.standard_normal(self.points)
        self.unit = np.eye(self.points)
        self.params = [np.array(0.1), np.array(-0.2), np.array(-1.0)]

    def by_hand(self) -> Run:
        squares, y, unit = self.squares, self.y, self.unit

        def run() -> Sequence[Any]:
            length, scale, noise = (np.exp(param) for param in self.params)
            smooth = scale * np.exp(squares * (-0.5 / length**2))
            factor = np.linalg.cholesky(smooth + noise * unit)
            half = np.linalg.solve(factor, unit)
            inverse = half.T @ half
            weights = inverse @ y
            (0.5 * (y @ weights) + np.log(np.diagonal(factor)).sum())
            slope = 0.5 * (inverse - np.outer(weights, weights))
            by_smooth = slope * smooth
            by_length = (by_smooth * squares).sum() / length**2
            return [by_length, by_smooth.sum(), noise * np.trace(slope)]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        squares, y, unit = (lib.tensor(each) for each in (self.squares, self.y, self.unit))

        def run() -> Sequence[Any]:
            for param in params:
                param.grad = None
            length, scale, noise = (param.exp() for param in params)
            kernel = scale * (squares * (-0.5 / length**2)).exp() + noise * unit
            factor = lib.linalg.cholesky(kernel)
            whitened = lib.linalg.solve_triangular(factor, y[:, None], upper=False)
            loss = 0.5 * (whitened * whitened).sum() + factor.diagonal().log().sum()
            loss.backward()
            return [param.grad for param in params]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        length, scale, noise = (np.exp(param) for param in params)
        kernel = scale * np.exp(self.squares * (-0.5 / length**2)) + noise * self.unit
        factor = np.linalg.cholesky(kernel)
        if is_jax(np):
            from jax.scipy.linalg import solve_triangular

            whitened = solve_triangular(factor, self.y, lower=True)
        else:
            whitened = np.linalg.solve(factor, self.y)
        return 0.5 * np.sum(whitened * whitened) + np.sum(
            np.log(np.sum(factor * self.unit, axis=0))
        )


WORKLOADS: tuple[Workload, ...] = (GaussianProcess(200),)
SMALL: tuple[Workload, ...] = (GaussianProcess(6),)
