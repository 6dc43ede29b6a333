"""Fit a Gaussian process and a logistic regression with SciPy's optimizers.

    python examples/scipy_fits.py

The functions are written with NumPy and take arrays; gradients and products with the Hessian come
from `gradspec.func`. The process learns its kernel from 25 noisy points by L-BFGS; the regression
reads handwritten digits, by Newton's method with conjugate gradients.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec.func import grad, grad_and_value, jvp

OUTPUT = Path("demo-output")
REQUIRED_ACCURACY = 0.95
CLASSES = 10


def kernel(log_sizes: Any, a: Any, b: Any) -> Any:
    """Compute a squared-exponential kernel plus a periodic one, both of learned sizes."""
    height, length, wave, period, smooth = gs.as_tensor(log_sizes).exp().unbind()
    distance = gs.as_tensor(a)[:, None] - gs.as_tensor(b)[None, :]
    trend = height * gs.exp(-((distance / length) ** 2) / 2)
    return trend + wave * gs.exp(-2 * (gs.sin(np.pi * distance / period) / smooth) ** 2)


def surprise(log_sizes: Any, x: Any, y: Any) -> Any:
    """Compute minus the logarithm of the marginal likelihood; the last size is the noise's."""
    noise = gs.exp(2 * log_sizes[-1]) + 1e-8
    covariance = kernel(log_sizes[:-1], x, x) + noise * gs.eye(len(x), dtype=gs.float64)
    factor = gs.linalg.cholesky(covariance)
    z = gs.linalg.solve_triangular(factor, gs.as_tensor(y)[:, None], upper=False)
    return (z**2).sum() / 2 + factor.diagonal().log().sum()


def predict(log_sizes: Any, x: Any, y: Any, points: Any) -> tuple[Any, Any]:
    """Compute the mean and the deviation of the process at other points."""
    sizes, noise = log_sizes[:-1], np.exp(2 * log_sizes[-1]) + 1e-8
    covariance = kernel(sizes, x, x).numpy() + noise * np.eye(len(x))
    across = kernel(sizes, x, points).numpy()
    solved = np.linalg.solve(covariance, np.column_stack([y, across]))
    variance = np.diag(kernel(sizes, points, points).numpy() - across.T @ solved[:, 1:])
    return across.T @ solved[:, 0], np.sqrt(np.maximum(variance, 0))


def loss(flat: Any, x: Any, y: Any) -> Any:
    """Compute the cross entropy of a linear model, and a penalty."""
    weights = flat.reshape(x.shape[1], CLASSES)
    penalty = 0.5e-3 * (weights**2).sum()
    return gs.nn.functional.cross_entropy(gs.as_tensor(x) @ weights, gs.as_tensor(y)) + penalty


def fit_process(progress: Progress) -> tuple[Any, Any, Any, Any]:
    """Fit the kernel to noisy points with a gap; return it, the points, and the surprises."""
    random = np.random.default_rng(4)
    x = np.sort(np.concatenate([random.uniform(0, 4, 14), random.uniform(6, 10, 11)]))
    y = np.sin(2 * np.pi * x / 2.5) + 0.3 * x - 1.5 + 0.1 * random.standard_normal(len(x))
    task = progress.add_task("Gaussian process", total=None)
    with_value = grad_and_value(lambda sizes: surprise(sizes, x, y))
    values = []

    def value_and_gradient(sizes: Any) -> tuple[Any, Any]:
        gradient, value = with_value(sizes)
        values.append(value)
        progress.update(task, advance=1)
        return value, gradient

    start = np.log([1.0, 2.0, 0.5, 2.0, 1.0, 0.3])
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B")
    progress.update(task, total=len(values))
    return found.x, x, y, values


def fit_regression(progress: Progress) -> tuple[Any, float]:
    """Fit the digits; return the weights and the part of the held-out images read right."""
    digits: Any = load_digits()
    images = np.column_stack([digits.data / 16, np.ones(len(digits.data))])
    parts = train_test_split(images, digits.target, test_size=0.25, random_state=0)
    x, test_x, y, test_y = parts
    task = progress.add_task("logistic regression", total=None)
    gradient = grad(lambda w: loss(w, x, y))

    def product(w: Any, direction: Any) -> Any:
        progress.update(task, advance=1)
        return jvp(gradient, (w,), (direction,))[1]

    found = minimize(
        lambda w: loss(gs.as_tensor(w), x, y).item(),
        np.zeros(x.shape[1] * CLASSES),
        jac=gradient,
        hessp=product,
        method="trust-ncg",
        options={"gtol": 1e-4},
    )
    progress.update(task, total=max(1, int(progress.tasks[task].completed)))
    weights = found.x.reshape(x.shape[1], CLASSES)
    return weights, float(((test_x @ weights).argmax(1) == test_y).mean())


def plot(process: tuple[Any, Any, Any, Any], weights: Any, accuracy: float, path: Path) -> None:
    """Plot the process with its uncertainty, and the weights of two classes as images."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes, x, y, values = process
    points = np.linspace(-1, 11, 300)
    mean, deviation = predict(sizes, x, y, points)
    figure, axes = pyplot.subplots(
        1, 4, figsize=(15, 3.6), layout="constrained", width_ratios=(3, 1.6, 1, 1)
    )
    axes[0].fill_between(points, mean - 2 * deviation, mean + 2 * deviation, alpha=0.2)
    axes[0].plot(points, mean)
    axes[0].plot(x, y, "o", color="#e8590c")
    axes[0].set(title=f"Gaussian process: the period found is {np.exp(sizes[3]):.2f}", xlabel="x")
    axes[1].plot(np.minimum.accumulate(values))
    axes[1].set(title="Least surprise so far", xlabel="call of L-BFGS")
    for axis, digit in zip(axes[2:], (0, 3), strict=True):
        image = weights[:-1, digit].reshape(8, 8)
        bound = np.abs(image).max()
        axis.imshow(image, cmap="RdBu_r", vmin=-bound, vmax=bound)
        axis.set(title=f"Weights of {digit}", xticks=[], yticks=[])
    axes[2].set_xlabel(f"{accuracy:.1%} of all are read right")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Fit both, draw; return 1 if the regression is worse than it should be."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    with threadpool_limits(1), Progress(console=console) as progress:
        process = fit_process(progress)
        weights, accuracy = fit_regression(progress)
    plot(process, weights, accuracy, OUTPUT / "scipy_fits.png")
    console.print(f"  written: {OUTPUT / 'scipy_fits.png'}")
    period = np.exp(process[0][3])
    console.print(
        f"[bold]period {period:.2f}[/] (2.50 is true); [bold]{accuracy:.1%}[/] of the held-out "
        "digits are read right"
    )
    return int(accuracy < REQUIRED_ACCURACY or abs(period - 2.5) > 0.1)


if __name__ == "__main__":
    sys.exit(main())
