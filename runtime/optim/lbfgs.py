"""L-BFGS: a quasi-Newton method with limited memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.modes import enable_grad
from ..core.tensor import Tensor, wrap
from ..inplace.allowed_mutation import keep_saved
from ..inplace.ops import mark_written
from .line_search import Array, Point, strong_wolfe
from .optimizer import Optimizer, Parameters, State, as_real, check_options, number


class LBFGS(Optimizer):
    """Limited-memory BFGS, by PyTorch's choices: Nocedal & Wright, algorithm 7.4.

    A step makes up to `max_iter` iterations, and calls the closure up to `max_eval` times (None:
    5/4 of `max_iter`). `line_search_fn` is None, for steps of `lr`, or "strong_wolfe". There is one
    group of parameters.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_options(lr=lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise the loss that `closure` computes, with gradients; return the first loss."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss, loss, grad = self._evaluate(closure)
        evaluations = 1
        state["func_evals"] += 1
        if np.abs(grad).max() <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = _direction(state, grad, group["history_size"])
            state["prev_flat_grad"] = wrap(grad.copy())
            step = lr = number(group["lr"])
            if state["n_iter"] == 1:
                step = 1.0 / max(1.0, float(np.abs(grad).sum())) * lr
            state["d"], state["t"], state["prev_loss"] = wrap(direction), step, loss
            slope = float(grad @ direction)
            if slope > -group["tolerance_change"]:
                break
            before = loss
            if group["line_search_fn"]:
                point, used = self._search(
                    closure, Point(0, loss, grad, slope), step, direction, evaluations
                )
                loss, grad = point.loss, point.grad
                state["t"] = step = point.step
                self._move(step, direction)
            else:
                self._move(step, direction)
                used = 0
                if iteration != group["max_iter"]:
                    _, loss, grad = self._evaluate(closure)
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or np.abs(grad).max() <= group["tolerance_grad"]
                or np.abs(direction * step).max() <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _search(
        self,
        closure: Callable[[], Any],
        start: Point,
        step: float,
        direction: Array,
        evaluations: int,
    ) -> tuple[Point, int]:
        group = self.param_groups[0]
        values = [param.array.copy() for param in group["params"]]

        def objective(step: float) -> tuple[float, Array]:
            self._move(step, direction)
            _, loss, grad = self._evaluate(closure)
            for param, value in zip(group["params"], values, strict=True):
                keep_saved(param)
                param.array[...] = value
                mark_written(param)
            return loss, grad

        most = group["max_eval"] - evaluations
        return strong_wolfe(objective, start, step, direction, group["tolerance_change"], most)

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[Any, float, Array]:
        """Call the closure; return the loss, also as a number, and all gradients in one array."""
        with enable_grad():
            loss = closure()
        parts = []
        for param in self.param_groups[0]["params"]:
            like = as_real(param.array)
            grad = np.zeros_like(like) if param.grad is None else as_real(param.grad.array)
            parts.append(grad.reshape(-1))
        return loss, float(number(loss)), np.concatenate(parts)

    def _move(self, step: float, direction: Array) -> None:
        offset = 0
        for param in self.param_groups[0]["params"]:
            keep_saved(param)
            values = as_real(param.array)
            part = direction[offset : offset + values.size]
            values += step * part.reshape(values.shape)
            mark_written(param)
            offset += values.size


def _direction(state: State, grad: Array, history_size: int) -> Array:
    """Multiply the negative gradient by the estimated inverse Hessian, by two loops."""
    if state["n_iter"] == 1:
        state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
        return -grad
    changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    change = grad - state["prev_flat_grad"].array
    step = state["d"].array * number(state["t"])
    curvature = float(change @ step)
    if curvature > 1e-10:
        if len(changes) == history_size:
            for history in (changes, steps, inverses):
                del history[0]
        changes.append(wrap(change))
        steps.append(wrap(step))
        inverses.append(_scalar(1.0 / curvature, grad))
        state["H_diag"] = _scalar(curvature / float(change @ change), grad)
    found = -grad
    pairs = [
        (before.array, after.array, number(inverse))
        for before, after, inverse in zip(changes, steps, inverses, strict=True)
    ]
    weights = state.setdefault("al", [None] * history_size)  # kept, as in PyTorch's files
    for place, (before, after, inverse) in reversed(list(enumerate(pairs))):
        weights[place] = _scalar(float(after @ found) * inverse, grad)
        found -= number(weights[place]) * before
    found *= number(state["H_diag"])
    for (before, after, inverse), weight in zip(pairs, weights, strict=False):
        found += (number(weight) - float(before @ found) * inverse) * after
    return found


def _scalar(value: float, like: Array) -> Tensor:
    return wrap(np.asarray(value, like.dtype))
