"""Line search by the strong Wolfe conditions, for L-BFGS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Objective: TypeAlias = Callable[[float], tuple[float, Array]]

SUFFICIENT_DECREASE = 1e-4
CURVATURE = 0.9


@dataclass(frozen=True)
class Point:
    """Point on the line: the step to it, the loss and gradient there, and the slope of the line."""

    step: float
    loss: float
    grad: Array
    slope: float


def strong_wolfe(
    objective: Objective,
    start: Point,
    step: float,
    direction: Array,
    smallest_change: float,
    max_evaluations: int,
) -> tuple[Point, int]:
    """Find a step that meets the strong Wolfe conditions; return it and the evaluations used.

    Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6, with cubic interpolation.
    If no such step is found in time, it is the best one seen.
    """

    def evaluate(step: float) -> Point:
        loss, grad = objective(step)
        return Point(step, loss, grad.copy(), float(grad @ direction))

    bracket, count, is_found = _bracket(evaluate, start, step, max_evaluations)
    if is_found:
        return bracket[0], count
    return _zoom(evaluate, start, bracket, direction, smallest_change, max_evaluations, count)


def _decreases(point: Point, start: Point) -> bool:
    return not point.loss > start.loss + SUFFICIENT_DECREASE * point.step * start.slope


def _is_flat(point: Point, start: Point) -> bool:
    return abs(point.slope) <= -CURVATURE * start.slope


def _bracket(
    evaluate: Callable[[float], Point], start: Point, step: float, max_evaluations: int
) -> tuple[list[Point], int, bool]:
    """Go further until the interval between the last two points holds a good step."""
    before, point = start, evaluate(step)
    for iteration in range(max_evaluations):
        if not _decreases(point, start) or (iteration > 1 and point.loss >= before.loss):
            return [before, point], iteration + 1, False
        if _is_flat(point, start):
            return [point], iteration + 1, True
        if point.slope >= 0:
            return [before, point], iteration + 1, False
        bounds = point.step + 0.01 * (point.step - before.step), point.step * 10
        further = cubic_minimum(before, point, bounds)
        before, point = point, evaluate(further)
    return [start, point], max_evaluations + 1, False


def _zoom(
    evaluate: Callable[[float], Point],
    start: Point,
    bracket: list[Point],
    direction: Array,
    smallest_change: float,
    max_evaluations: int,
    count: int,
) -> tuple[Point, int]:
    """Shrink the interval until it is small or its better end is good enough."""
    extent = float(np.abs(direction).max())
    is_stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while count <= max_evaluations:
        first, last = sorted(point.step for point in bracket)
        if (last - first) * extent < smallest_change:
            break
        step = cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (last - first)
        if min(last - step, step - first) < margin:
            if is_stuck or step >= last or step <= first:
                is_nearer_to_last = abs(step - last) < abs(step - first)
                step = last - margin if is_nearer_to_last else first + margin
                is_stuck = False
            else:
                is_stuck = True
        else:
            is_stuck = False
        point = evaluate(step)
        count += 1
        if not _decreases(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        is_done = _is_flat(point, start)
        if not is_done and point.slope * (bracket[high].step - bracket[low].step) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if is_done:
            break
    return replace(bracket[low]), count


def cubic_minimum(first: Point, second: Point, bounds: tuple[float, float] | None = None) -> float:
    """Return where the cubic through two points and slopes is smallest, within `bounds`."""
    if first.step > second.step:
        first, second = second, first
    low, high = bounds or (first.step, second.step)
    width = second.step - first.step
    mean = first.slope + second.slope - 3 * (second.loss - first.loss) / width
    square = mean * mean - first.slope * second.slope
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    divisor = second.slope - first.slope + 2 * root
    if divisor == 0:
        return (low + high) / 2
    found = second.step - width * ((second.slope + root - mean) / divisor)
    return min(max(found, low), high)
