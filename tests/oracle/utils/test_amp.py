"""Mixed precision: scaling of losses, and what is asked for of devices that are not there."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import gradspec as gs

from ..behaviours import Behaviour, assert_same, attempt

pytestmark = pytest.mark.oracle


def trained(lib: Any, *, clip: bool = False, spoilt: int = -1, **options: Any) -> Any:
    """Train a line by scaled losses; the gradient of one step is spoilt."""
    weight = lib.tensor([0.5, -1.0], dtype=lib.float64, requires_grad=True)
    optimizer = lib.optim.SGD([weight], lr=0.1, momentum=0.9)
    scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, **options)
    scales = []
    for step in range(6):
        optimizer.zero_grad()
        loss = (weight * lib.tensor([1.0, 2.0])).pow(2).sum()
        scaler.scale(loss * (float("inf") if step == spoilt else 1.0)).backward()
        if clip:
            scaler.unscale_(optimizer)
            lib.nn.utils.clip_grad_norm_([weight], 0.5)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return [weight.detach(), scales, scaler.state_dict()]


def out_of_order(lib: Any) -> Any:
    weight = lib.ones(2, requires_grad=True)
    optimizer = lib.optim.SGD([weight], lr=0.1)
    scaler = lib.amp.GradScaler("cpu")
    found = [attempt(scaler.update), attempt(lambda: scaler.step(optimizer))]
    scaler = lib.amp.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    found.append(attempt(lambda: scaler.unscale_(optimizer)))
    scaler.step(optimizer)
    found += [attempt(lambda: scaler.step(optimizer)), attempt(lambda: scaler.unscale_(optimizer))]
    scaler.update(4.0)
    return [*found, scaler.get_scale(), attempt(lambda: scaler.load_state_dict({}))]


def several(lib: Any) -> Any:
    scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
    pair = scaler.scale((lib.ones(1), [lib.ones(2)]))
    other = lib.amp.GradScaler("cpu", growth_interval=5)
    other.load_state_dict(scaler.state_dict())
    return [
        pair,
        type(pair).__name__,
        other.get_growth_interval(),
        attempt(lambda: scaler.scale(1)),
    ]


def half(lib: Any) -> Any:
    weight = lib.ones(2, dtype=lib.float16, requires_grad=True)
    scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(weight.sum()).backward()
    optimizer = lib.optim.SGD([weight], lr=0.1)
    return attempt(lambda: scaler.step(optimizer))


def without_device(lib: Any) -> Any:
    from importlib import import_module

    amp = import_module(f"{lib.__name__}.cuda.amp")
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", UserWarning)
        scaler = lib.amp.GradScaler("cuda")
        with lib.autocast("cuda", dtype=lib.float16), lib.amp.autocast("cuda", enabled=False):
            product = lib.ones(2, 2) @ lib.ones(2, 2)
    old = amp.GradScaler(enabled=False)

    @amp.autocast()  # type: ignore[untyped-decorator]
    def added(x: Any) -> Any:
        return x + x

    kinds = [warning.category.__name__ for warning in given]
    facts = [scaler.is_enabled(), scaler.get_scale(), scaler.state_dict(), old.is_enabled()]
    return [product, kinds, facts, scaler.scale(product), added(product)]


CASES: dict[str, Behaviour] = {
    "a scale that grows": trained,
    "a spoilt step": lambda lib: trained(lib, spoilt=3),
    "clipped": lambda lib: trained(lib, clip=True, spoilt=1, backoff_factor=0.25),
    "disabled": lambda lib: trained(lib, enabled=False),
    "out of order": out_of_order,
    "several": several,
    "half": half,
    "without the device": without_device,
    "no factor": lambda lib: attempt(lambda: lib.amp.GradScaler("cpu", growth_factor=1.0)),
    "no such device": lambda lib: attempt(lambda: lib.autocast("gpu")),
    "no text": lambda lib: attempt(lambda: lib.autocast(None)),
    "off": lambda lib: type(lib.autocast("cpu", enabled=False).__enter__()).__name__,
}


@pytest.mark.parametrize("name", CASES)
def test_same(torch: Any, name: str) -> None:
    assert_same(CASES[name], torch)


@pytest.mark.parametrize("dtype", [None, gs.bfloat16, gs.float16])
def test_casting_on_the_cpu_is_refused(dtype: Any) -> None:
    with pytest.raises(RuntimeError, match="enabled=False"):
        gs.autocast("cpu", dtype)
