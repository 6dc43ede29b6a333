"""Hooks that are not full, of all modules, before loading, and their handles, as in PyTorch."""

from __future__ import annotations

import gc
import pickle
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def _forgotten(torch: Any) -> Iterator[None]:
    """PyTorch remembers for ever of what kind backward hooks of all modules were."""
    torch.nn.modules.module._global_is_full_backward_hook = None
    yield
    torch.nn.modules.module._global_is_full_backward_hook = None


def noted(log: list[Any], word: Any) -> Any:
    def hook(*_: Any) -> None:
        log.append(word)

    return hook


def test_hooks_of_all_modules_that_are_not_full(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        modules = library.nn.modules.module
        module = library.nn.Sigmoid()
        x = library.tensor([0.5, -1.0], requires_grad=True)
        log: list[Any] = []
        handles = [
            modules.register_module_backward_hook(noted(log, "all")),
            module.register_backward_hook(noted(log, "one")),
            modules.register_module_backward_hook(lambda m, gi, go: tuple(2 * g for g in gi)),
        ]
        module(x).sum().backward()
        first = x.grad.clone()
        refused = attempt(lambda: modules.register_module_full_backward_hook(noted(log, "full")))
        for handle in handles:
            handle.remove()
        module(x).sum().backward()
        return [log, first, x.grad, refused]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("count", [0, 2])
def test_gradients_that_do_not_fit(torch: Any, count: int) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sigmoid()
        x = library.ones(2, requires_grad=True)
        register = library.nn.modules.module.register_module_backward_hook
        with register(lambda m, gi, go: (go[0],) * count):
            return attempt(lambda: module(x).sum().backward())

    assert_same(behaviour, torch)


def test_handles(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sigmoid()
        first = module.register_forward_hook(lambda *a: None, with_kwargs=True)
        second = module.register_forward_hook(lambda *a: None)
        third = module.register_forward_pre_hook(lambda *a: None, with_kwargs=True)
        found = [len(second.hooks_dict_ref()), second.id in first.hooks_dict_ref()]
        found += [first.id in module._forward_hooks_with_kwargs]
        found += [second.id in module._forward_hooks_with_kwargs]
        found += [third.id in module._forward_pre_hooks_with_kwargs]
        first.remove()
        found += [first.id in module._forward_hooks_with_kwargs, len(first.hooks_dict_ref())]
        return found

    assert_same(behaviour, torch)


def test_outputs_that_no_backward_hook_can_see(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class InDict(library.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return {"x": x * 2}

        module = InDict()
        log: list[Any] = []
        module.register_full_backward_hook(noted(log, "backward"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(library.ones(2, requires_grad=True))["x"].sum().backward()
        return [log, ["should be a Tensor or a tuple of Tensors" in str(w.message) for w in caught]]

    assert_same(behaviour, torch)


def test_hooks_before_loading(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sequential(library.nn.Linear(2, 2))
        inner = module[0]
        log: list[Any] = []

        def without(state: Any, prefix: Any, local: Any, strict: Any, *lists: Any) -> None:
            log.append(["without", sorted(state), prefix, strict, list(lists)])

        def with_module(given: Any, state: Any, prefix: Any, *rest: Any) -> None:
            log.append(["with", given is inner, prefix])

        inner._register_load_state_dict_pre_hook(without)
        inner._register_load_state_dict_pre_hook(with_module, True)
        module.load_state_dict(module.state_dict())
        return log

    assert_same(behaviour, torch)


def kept(*_: Any) -> None:
    """Do nothing; it can be pickled."""


def test_modules_with_hooks_before_loading_are_pickled_and_forgotten(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        gc.disable()
        try:
            module = library.nn.Linear(2, 2)
            module._register_load_state_dict_pre_hook(kept, True)
            copy = pickle.loads(pickle.dumps(module))
            reference = weakref.ref(module)
            del module
            return [type(copy).__name__, reference() is None]
        finally:
            gc.enable()

    assert_same(behaviour, torch)


def test_names_for_initialization(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        init = library.nn.init
        weight = library.empty(4, 3, 2, 2)
        kinds = ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "selu", "tanh")
        return [
            list(init._calculate_fan_in_and_fan_out(weight)),
            [init._calculate_correct_fan(weight, mode) for mode in ("fan_in", "FAN_OUT")],
            attempt(lambda: init._calculate_correct_fan(weight, "fan")),
            [init.calculate_gain(kind) for kind in kinds],
            [attempt(lambda p=p: init.calculate_gain("leaky_relu", p)) for p in (True, [1], 10)],
        ]

    assert_same(behaviour, torch)
