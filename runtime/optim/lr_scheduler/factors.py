"""Schedulers that multiply the learning rates by factors."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from ..optimizer import Optimizer
from .scheduler import FunctionScheduler, LRScheduler, Rate


class LambdaLR(FunctionScheduler):
    """Initial learning rates times a function of the epoch."""

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(FunctionScheduler):
    """Learning rates that are multiplied, at each step, by a function of the epoch."""

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial:
            return self._group_rates()
        return [
            rate * function(self.last_epoch)
            for function, rate in zip(self.lr_lambdas, self._group_rates(), strict=True)
        ]


class StepLR(LRScheduler):
    """Learning rates that are multiplied by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._group_rates()
        return [rate * self.gamma for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Learning rates that are multiplied by `gamma` at each of the `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._group_rates()
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Learning rates multiplied by `factor` for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._group_rates()]
        if self.last_epoch != self.total_iters:
            return self._group_rates()
        return [rate * (1.0 / self.factor) for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Learning rates times a factor that goes from a number to another in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._group_rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._group_rates()
        change = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        return [rate * (1.0 + change / before) for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        change = self.end_factor - self.start_factor
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + change * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Learning rates that are multiplied by `gamma` at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial:
            return self._group_rates()
        return [rate * self.gamma for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Initial learning rates times `(1 - epoch / total_iters) ** power`, then 0."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._group_rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (now / before) ** self.power for rate in self._group_rates()]

    def _get_closed_form_lr(self) -> list[Rate]:
        part = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * part**self.power for base in self.base_lrs]
