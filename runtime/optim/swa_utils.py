"""Averages of the weights of a model over training: SWA and EMA."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.modes import no_grad
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..inplace.ops import write
from ..nn.layers import BatchNorm
from ..nn.module import Module
from .lr_scheduler.scheduler import LRScheduler, Rate, checked_optimizer, for_each_group
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

__getattr__ = _explaining(__name__)

Average: TypeAlias = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the function of an exponential moving average, for one parameter."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """Return the function of an equally weighted average, for one parameter."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """Return the function of an exponential moving average, for lists of parameters."""
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> MultiAverage:
    """Return the function of an equally weighted average, for lists of parameters."""
    return _for_lists(get_swa_avg_fn())


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _for_lists(average: Average) -> MultiAverage:
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        for target, new in zip(averaged, current, strict=True):
            write(target, average(target, new, num_averaged).array)

    return update


class AveragedModel(Module):
    """Copy of a model with averaged parameters: SWA, Izmailov et al. (2018), or what is given.

    `avg_fn(averaged, current, count)` returns the new average of a parameter,
    `multi_avg_fn(averaged, current, count)` changes lists of them in place. Buffers are copied;
    with `use_buffers` they are averaged too. `device` is accepted; there is one, the CPU.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device)
        self.register_buffer("n_averaged", wrap(np.array(0)))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the average; the first time they are copied."""
        own, other = list(self.module.parameters()), list(model.parameters())
        buffers = list(self.module.buffers()), list(model.buffers())
        if self.use_buffers:
            own, other = own + buffers[0], other + buffers[1]
        else:
            for target, source in zip(*buffers, strict=True):
                write(target, source.array)
        averaged = [tensor.detach() for tensor in own]
        current = [tensor.detach() for tensor in other]
        if self.n_averaged.item() == 0:
            for target, source in zip(averaged, current, strict=True):
                write(target, source.array)
        elif self.avg_fn is None:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            with no_grad():
                for kind in _by_dtype(averaged):
                    update([averaged[i] for i in kind], [current[i] for i in kind], self.n_averaged)
        else:
            for target, source in zip(averaged, current, strict=True):
                write(target, self.avg_fn(target, source, self.n_averaged).array)
        write(self.n_averaged, self.n_averaged.array + 1)


def _by_dtype(tensors: list[Tensor]) -> list[list[int]]:
    kinds: dict[Any, list[int]] = {}
    for index, tensor in enumerate(tensors):
        kinds.setdefault(tensor.dtype, []).append(index)
    return list(kinds.values())


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch normalisations over the batches of a loader.

    A batch is the input of the model, or a list or tuple that begins with it.
    """
    norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
    if not norms:
        return
    was_training, momenta = model.training, [norm.momentum for norm in norms]
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        input = batch[0] if isinstance(batch, list | tuple) else batch
        model(input if device is None else input.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Learning rates that go to `swa_lr` in `anneal_epochs` epochs and stay there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_each_group("swa_lr", checked_optimizer(optimizer), swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, step: int) -> float:
        part = max(0, min(1, step / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of the next step from the present ones."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, weight = self._weight(step - 1), self._weight(step)
        rates = []
        for group in self.optimizer.param_groups:
            final = group["swa_lr"]
            start = final if before == 1 else (group["lr"] - before * final) / (1 - before)
            rates.append(final * weight + start * (1 - weight))
        return rates
