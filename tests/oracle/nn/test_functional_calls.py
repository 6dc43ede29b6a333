"""Calls of modules with other tensors: which names lead where, and what is written back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

CALLS: dict[str, Callable[[Any], Any]] = {
    "func": lambda library: library.func.functional_call,
    "stateless": lambda library: library.nn.utils.stateless.functional_call,
}


def tied(library: Any) -> Any:
    """A module that has one tensor under two names, and one as a plain attribute."""
    nn = library.nn

    class Tied(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(1, 1)
            with library.no_grad():
                self.a.weight.fill_(2.0)
                self.a.bias.fill_(1.0)
            self.bias = self.a.bias
            self.plain = library.ones(1)
            self.note = "text"

        def forward(self, x: Any) -> Any:
            return self.a(x) + 10 * self.bias + 100 * self.plain

    return Tied()


@pytest.mark.parametrize("call", CALLS)
def test_where_names_lead(torch: Any, call: str) -> None:
    def behaviour(library: Any) -> Any:
        function, module = CALLS[call](library), tied(library)
        x, three, five = (library.full((1, 1), value) for value in (1.0, 3.0, 5.0))

        def run(tensors: dict[str, Any], **options: Any) -> Any:
            return attempt(lambda: function(module, tensors, x, **options))

        results = [
            run({"plain": three}),
            run({"bias": three[0]}),
            run({"bias": three[0]}, tie_weights=False),
            run({"bias": three[0], "a.bias": three[0]}),
            run({"bias": three[0], "a.bias": five[0]}),
            run({"bias": three[0], "a.bias": five[0]}, tie_weights=False),
            run({"other": three}),
            run({"other": three}, strict=True),
            run({"a.weight": three}, strict=True),
            run({"a.weight": three, "bias": five[0]}, strict=True),
            run({"a.weight": three, "bias": five[0]}, strict=True, tie_weights=False),
            run({"none.weight": three}),
            run({"note": three}),
            run({"a.weight": 3}),
        ]
        return [*results, module.plain, module.note, module(x), hasattr(module, "other")]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("call", CALLS)
def test_modules_in_a_circle(torch: Any, call: str) -> None:
    def behaviour(library: Any) -> Any:
        module = tied(library)
        module.a.above = module
        x, three = library.ones(1, 1), library.full((1, 1), 3.0)
        names = {"a.above.a.weight": three, "a.above.plain": three[0]}
        found = CALLS[call](library)(module, names, x, tie_weights=False)
        return [found, module(x)]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("call", CALLS)
def test_one_module_under_two_names(torch: Any, call: str) -> None:
    def behaviour(library: Any) -> Any:
        layer = library.nn.Linear(1, 1, bias=False)
        module = library.nn.Sequential(layer, layer)
        with library.no_grad():
            layer.weight.fill_(2.0)
        x, three = library.ones(1, 1), library.full((1, 1), 3.0)
        return CALLS[call](library)(module, {"1.weight": three}, x)

    assert_same(behaviour, torch)


@pytest.mark.parametrize("call", CALLS)
def test_what_a_call_sets_is_written_back(torch: Any, call: str) -> None:
    def behaviour(library: Any) -> Any:
        class Counting(library.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("count", library.zeros(1))
                self.plain = library.zeros(1)

            def forward(self, x: Any) -> Any:
                self.count = self.count + 1
                self.plain = self.plain + 2
                return x + self.count

        module = Counting()
        given = {"count": library.full((1,), 7.0), "plain": library.full((1,), 7.0)}
        before = dict(given)
        found = CALLS[call](library)(module, given, library.zeros(1))
        return [found, given, before, module.count, module.plain]

    assert_same(behaviour, torch)


def test_what_are_no_dicts(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        layer, x = library.nn.Linear(1, 1), library.ones(1, 1)
        call = library.func.functional_call
        return [attempt(lambda: call(layer, 3, x)), attempt(lambda: call(layer, [3], x))]

    assert_same(behaviour, torch)
