"""Base class of learning rate schedulers."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ...core.user_warnings import warn
from ..optimizer import Group, Optimizer, note_steps, notes_steps, number

Rate: TypeAlias = Any
"""A learning rate: a number, or a tensor of one element, which is then written in place."""

EPOCH_DEPRECATION_WARNING: Final = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler."
)
"""Warning of `step` where it is given an epoch; tests filter by it."""

_SEE: Final = "See https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """Base class of schedulers: `get_lr` returns the next learning rate of each group.

    It is called by the constructor, with `last_epoch` 0, and by each `step`. With a `last_epoch`
    other than -1 a schedule resumes: the groups then need an `initial_lr`.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked_optimizer(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", _copied(group["lr"]))
        else:
            for index, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{index}] when "
                        "resuming scheduler with last_epoch >= 0: load the state of the optimizer "
                        "first"
                    )
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Rate]:
        """Compute the learning rates of `last_epoch`; defined by subclasses, called by `step`."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr")

    def get_last_lr(self) -> list[Rate]:
        """Return the learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch, or of a given one (deprecated by PyTorch)."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        """Warn where the optimizer has made no step, or none that it can observe."""
        if not notes_steps(self.optimizer):
            warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                f"initialization: call it before `lr_scheduler.step()`. {_SEE}"
            )
        elif not self.optimizer._opt_called:
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in "
                "the opposite order, or the first learning rate of the schedule is skipped. "
                f"{_SEE}"
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._in_step():
            closed_form = getattr(self, "_get_closed_form_lr", None)
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            values = self.get_lr() if epoch is None or closed_form is None else closed_form()
        self._set_rates(values)

    def _set_rates(self, values: list[Rate]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", value)
        self._last_lr = group_values(self.optimizer, "lr")

    @contextmanager
    def _in_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )

    def _group_rates(self) -> list[Rate]:
        """Return the present learning rates of the groups."""
        return group_values(self.optimizer, "lr")

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        vars(self).update(state_dict)


def checked_optimizer(optimizer: Any) -> Optimizer:
    """Return an optimizer; TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def group_values(optimizer: Optimizer, key: str) -> list[Any]:
    """Return an option of each group; tensors are copied."""
    return [_copied(group[key]) for group in optimizer.param_groups]


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return an option for each group, given for each in a list, or once for all."""
    groups = optimizer.param_groups
    if not isinstance(value, list | tuple):
        return [_copied(value) for _ in groups]
    if len(value) != len(groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
            f"values, param_groups has {len(groups)}."
        )
    return [_copied(item) for item in value]


def set_value(group: Group, key: str, value: Any) -> None:
    """Set an option of a group; in place where it is a tensor."""
    if isinstance(group[key], Tensor):
        with no_grad():
            group[key].fill_(number(value))
    else:
        group[key] = value


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def warn_of_epoch() -> None:
    """Warn where `step` is given an epoch."""
    warn(EPOCH_DEPRECATION_WARNING)


# ---- schedulers that hold functions or other schedulers


def replaced_last(state: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a state with another value of an entry, which comes last, as in PyTorch."""
    del state[name]
    return {**state, name: value}


def state_of(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    """Return the attributes of a callable object; None for a function, which is not saved."""
    if function is None or isinstance(function, types.FunctionType | types.BuiltinFunctionType):
        return None
    return dict(getattr(function, "__dict__", {}))


class FunctionScheduler(LRScheduler):
    """Base of schedulers with a function for each group; only callable objects are saved."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(checked_optimizer(optimizer).param_groups)
        given = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * count
        if len(given) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
        for function in given:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        self.lr_lambdas = given
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer, and of callable objects their attributes."""
        functions = [state_of(each) for each in self.lr_lambdas]
        return replaced_last(super().state_dict(), "lr_lambdas", functions)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; the functions themselves stay."""
        vars(self).update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, state in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if state is not None:
                vars(function).update(state)
