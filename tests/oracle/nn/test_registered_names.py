"""Names in modules: what is registered twice, what is asked for, and what a call replaces."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def layer(library: Any) -> Any:
    """A linear layer of known numbers."""
    made = library.nn.Linear(2, 2)
    with library.no_grad():
        for param in made.parameters():
            param.copy_(library.arange(float(param.numel())).reshape(param.shape))
    return made


def test_names_that_something_else_has(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = layer(library)
        one = library.ones(2)
        module.note = "text"
        module.register_buffer("buffer", one)
        module.register_buffer("buffer", one * 2, persistent=False)
        facts = [
            attempt(lambda: module.register_buffer("weight", None)),
            attempt(lambda: module.register_buffer("forward", None)),
            attempt(lambda: module.register_parameter("note", None)),
            attempt(lambda: module.register_parameter("buffer", None)),
            attempt(lambda: module.add_module("bias", None)),
            attempt(lambda: module.register_parameter("weight", None)),
            sorted(module.state_dict()),
        ]
        module.note = library.nn.Parameter(one)
        module.buffer = library.nn.ReLU()
        return [*facts, sorted(module.state_dict()), [n for n, _ in module.named_children()]]

    assert_same(behaviour, torch)


def test_older_hooks_of_states(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = layer(library)
        module._register_state_dict_hook(lambda m, state, prefix, local: state.pop("bias"))
        attention = library.nn.MultiheadAttention(4, 2)
        lists = library.nn.ParameterList([library.ones(1)])
        dicts = library.nn.ParameterDict({"a": library.ones(2, 3), "b": library.ones(1)})
        return [list(module.state_dict()), repr(attention), len(repr(lists)) > 0, repr(dicts)]

    assert_same(behaviour, torch)


def test_calls_with_other_tensors(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        func = import_module(f"{library.__name__}.func")
        module, x = layer(library), library.ones(1, 2)
        bias = {"bias": library.zeros(2)}
        norms = library.nn.Sequential(library.nn.BatchNorm1d(2), module)
        replaced = func.replace_all_batch_norm_modules_(norms)
        return [
            func.functional_call(module, bias, x),
            func.functional_call(module, {"other": x, **bias}, x),
            attempt(lambda: func.functional_call(module, {"other": x}, x, strict=True)),
            attempt(lambda: func.functional_call(module, bias, x, strict=True)),
            attempt(lambda: func.functional_call(module, (bias, bias), x)),
            [replaced is norms, norms[0].track_running_stats, norms[0].running_mean],
            func.vmap(norms)(library.arange(12.0).reshape(2, 3, 2).cos()).shape,
        ]

    assert_same(behaviour, torch)
