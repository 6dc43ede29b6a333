"""Logistic regression: a tall matrix, where the arithmetic is all there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..workload import Run, Workload


class LogisticRegression(Workload):
    """The mean negative log-likelihood of labels 0 and 1; gradients of weights and intercept."""

    def __init__(self, rows: int, columns: int) -> None:
        self.name = f"logistic-{rows}-{columns}"
        many = f"{rows:,}".replace(",", "\N{NO-BREAK SPACE}")
        self.title = f"logistic {many}×{columns}"
        self.doc = f"logistic regression, {many} rows, {columns} columns, float64"
        self.rows, self.columns = rows, columns

    def create_data(self) -> None:
        rng = np.random.default_rng(5)
        self.x = rng.standard_normal((self.rows, self.columns))
        self.labels = rng.integers(0, 2, self.rows).astype(np.float64)
        self.params = [rng.standard_normal(self.columns), rng.standard_normal(())]

    def by_hand(self) -> Run:
        weights, intercept = self.params
        x, labels = self.x, self.labels

        def run() -> Sequence[Any]:
            z = x @ weights + intercept
            small = np.exp(-np.abs(z))
            (np.maximum(z, 0) - z * labels + np.log1p(small)).mean()
            grad = np.where(z >= 0, 1, small) / (1 + small)
            grad -= labels
            grad /= len(labels)
            return [x.T @ grad, np.asarray(grad.sum())]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        weights, intercept = params
        x, labels = lib.tensor(self.x), lib.tensor(self.labels)
        loss = lib.nn.functional.binary_cross_entropy_with_logits

        def run() -> Sequence[Any]:
            for param in params:
                param.grad = None
            loss(x @ weights + intercept, labels).backward()
            return [param.grad for param in params]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        weights, intercept = params
        z = np.matmul(self.x, weights) + intercept
        return np.mean(np.logaddexp(0.0, z) - z * self.labels)


WORKLOADS: tuple[Workload, ...] = (LogisticRegression(100_000, 50),)
SMALL: tuple[Workload, ...] = (LogisticRegression(7, 3),)
