"""Schedulers of the learning rate and, against it, the momentum: in cycles, or in one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ..optimizer import Group, Optimizer
from .scheduler import (
    LRScheduler,
    Rate,
    checked_optimizer,
    for_each_group,
    replaced_last,
    set_value,
    state_of,
)


class _WithMomentum(LRScheduler):
    """Base of schedulers that also set `momentum`, or the first of `betas`."""

    cycle_momentum: bool
    use_beta1: bool

    def _start_momentum(
        self, optimizer: Optimizer, base: Any, largest: Any, last_epoch: int
    ) -> tuple[list[Any], list[Any]]:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        bases = for_each_group("base_momentum", optimizer, base)
        maxima = for_each_group("max_momentum", optimizer, largest)
        if last_epoch == -1:
            for low, high, group in zip(bases, maxima, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return bases, maxima

    def _set_momentum(self, group: Group, value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


def _constant(_: float) -> float:
    return 1.0


def _halving(cycle: float) -> float:
    return float(1 / 2.0 ** (cycle - 1))


class CyclicLR(_WithMomentum):
    """Learning rates up and down between two bounds, Smith (2017).

    `mode` scales the height of a cycle: "triangular" not at all, "triangular2" by half each time,
    "exp_range" by `gamma` to the power of the iteration. `scale_fn` takes its place: a function of
    the cycle or the iteration, as `scale_mode` says.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        base_lrs = for_each_group("base_lr", checked_optimizer(optimizer), base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._start_momentum(
                optimizer, base_momentum, max_momentum, last_epoch
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return the factor of the height of a cycle, or of an iteration."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self.gamma**x
        return _halving(x) if self.mode == "triangular2" else _constant(x)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`, and set the momenta."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True
            ):
                self._set_momentum(group, high - (high - low) * height)
        return [
            low + (high - low) * height
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer; of a callable object, its attributes."""
        function = state_of(self._scale_fn_custom)
        return replaced_last(super().state_dict(), "_scale_fn_custom", function)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; the function itself stays."""
        vars(self).update({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        state = state_dict["_scale_fn_custom"]
        if state is not None:
            vars(self._scale_fn_custom).update(state)


_UP: Final = {
    "start_lr": "initial_lr",
    "end_lr": "max_lr",
    "start_momentum": "max_momentum",
    "end_momentum": "base_momentum",
}
_DOWN: Final = {
    "start_lr": "max_lr",
    "end_lr": "initial_lr",
    "start_momentum": "base_momentum",
    "end_momentum": "max_momentum",
}
_OUT: Final = {
    "start_lr": "initial_lr",
    "end_lr": "min_lr",
    "start_momentum": "max_momentum",
    "end_momentum": "max_momentum",
}


class OneCycleLR(_WithMomentum):
    """Learning rates up to `max_lr` and down to almost nothing, Smith & Topin (2018).

    They begin at `max_lr / div_factor`, rise for the part `pct_start` of the steps and end at that
    divided by `final_div_factor`. With `three_phase` they fall as long as they rose, and then on.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        checked_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        top = pct_start * self.total_steps
        last = self.total_steps - 1
        self._schedule_phases: list[dict[str, Any]]
        if three_phase:
            self._schedule_phases = [
                {"end_step": float(top) - 1, **_UP},
                {"end_step": float(2 * top) - 2, **_DOWN},
                {"end_step": last, **_OUT},
            ]
        else:
            self._schedule_phases = [
                {"end_step": float(top) - 1, **_UP},
                {"end_step": last, **_DOWN, "end_lr": "min_lr"},
            ]
        self._anneal_func_type = anneal_strategy
        rates = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`, and set the momenta.

        ValueError after `total_steps`.
        """
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start, phase = 0.0, self._schedule_phases[0]
        for following in self._schedule_phases[1:]:
            if step <= phase["end_step"]:
                break
            start, phase = phase["end_step"], following
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, part))
        return rates


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    product = 1
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        product *= value
    return product
