"""Lazy modules become what they are at their first call; a few layers that stand alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

MODULES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "LazyLinear": (lambda nn: nn.LazyLinear(4), (2, 3)),
    "LazyLinear, no bias": (lambda nn: nn.LazyLinear(4, bias=False), (2, 5, 3)),
    "LazyConv1d": (lambda nn: nn.LazyConv1d(4, 2), (2, 3, 6)),
    "LazyConv2d": (lambda nn: nn.LazyConv2d(4, 2, stride=2, groups=2), (2, 6, 6, 6)),
    "LazyConv2d, no batch": (lambda nn: nn.LazyConv2d(4, 2), (3, 6, 6)),
    "LazyConv3d": (lambda nn: nn.LazyConv3d(4, 2, bias=False), (2, 3, 3, 3, 3)),
    "LazyConvTranspose1d": (lambda nn: nn.LazyConvTranspose1d(4, 2), (2, 3, 6)),
    "LazyConvTranspose2d": (lambda nn: nn.LazyConvTranspose2d(4, 2), (2, 3, 4, 4)),
    "LazyConvTranspose3d": (lambda nn: nn.LazyConvTranspose3d(2, 2), (2, 3, 3, 3, 3)),
    "LazyBatchNorm1d": (lambda nn: nn.LazyBatchNorm1d(eps=1e-3), (4, 3)),
    "LazyBatchNorm2d": (lambda nn: nn.LazyBatchNorm2d(), (2, 3, 4, 4)),
    "LazyBatchNorm3d": (lambda nn: nn.LazyBatchNorm3d(affine=False), (2, 3, 3, 3, 3)),
    "LazyInstanceNorm1d": (lambda nn: nn.LazyInstanceNorm1d(), (2, 3, 6)),
    "LazyInstanceNorm2d": (
        lambda nn: nn.LazyInstanceNorm2d(track_running_stats=True),
        (2, 3, 4, 4),
    ),
    "LazyInstanceNorm3d": (lambda nn: nn.LazyInstanceNorm3d(affine=False), (2, 3, 4, 4, 4)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_become_what_they_are(torch, name):
    make, shape = MODULES[name]

    def behaviour(library: Any) -> Any:
        module = make(library.nn)
        before = [
            type(module).__name__,
            [key for key, _ in module.named_parameters()],
            [isinstance(p, library.nn.UninitializedParameter) for p in module.parameters()],
            [isinstance(p, library.nn.Parameter) for p in module.parameters()],
            repr(module),
            module.has_uninitialized_params(),
            list(module.state_dict()),
        ]
        identities = {key: id(param) for key, param in module.named_parameters()}
        out = module(library.ones(*shape))
        return [
            before,
            list(out.shape),
            type(module).__name__,
            repr(module),
            [(key, list(param.shape)) for key, param in module.named_parameters()],
            [(key, list(buffer.shape)) for key, buffer in module.named_buffers()],
            [isinstance(p, library.nn.UninitializedParameter) for p in module.parameters()],
            identities == {key: id(param) for key, param in module.named_parameters()},
        ]

    assert_same(behaviour, torch)


def test_states_are_loaded_before_the_first_call(torch):
    def behaviour(library: Any) -> Any:
        full, lazy = library.nn.Linear(3, 2), library.nn.LazyLinear(2)
        lazy.load_state_dict(full.state_dict())
        facts = [lazy.has_uninitialized_params(), list(lazy.weight.shape)]
        x = library.ones(1, 3)
        return [*facts, (lazy(x) == full(x)).all().item(), lazy.in_features]

    assert_same(behaviour, torch)


def test_lazy_modules_are_trained():
    model = gs.nn.Sequential(gs.nn.LazyLinear(8), gs.nn.Tanh(), gs.nn.LazyLinear(1))
    optimizer = gs.optim.Adam(model.parameters(), lr=0.05)
    x = gs.tensor(np.random.default_rng(0).normal(size=(32, 2)).astype(np.float32))
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((model(x)[:, 0] - x[:, 0] * x[:, 1]) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3


def test_wrong_inputs_of_lazy_modules(torch):
    def behaviour(library: Any) -> Any:
        return [
            attempt(lambda: library.nn.LazyConv2d(2, 2)(library.ones(2, 2))),
            attempt(lambda: library.nn.LazyBatchNorm2d()(library.ones(2, 2))),
        ]

    assert_same(behaviour, torch)


def adaptive(library: Any, **options: Any) -> Any:
    module = library.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, **options).double()
    rng = np.random.default_rng(0)
    with library.no_grad():
        for param in module.parameters():
            param.copy_(library.tensor(rng.normal(size=tuple(param.shape))))
    return module


@pytest.mark.parametrize("bias", [False, True])
def test_adaptive_softmax(torch, bias):
    def behaviour(library: Any) -> Any:
        module = adaptive(library, head_bias=bias)
        rng = np.random.default_rng(1)
        x = library.tensor(rng.normal(size=(9, 8)), requires_grad=True)
        target = library.tensor([0, 2, 3, 6, 7, 11, 5, 1, 8])
        output, loss = module(x, target)
        loss.backward()
        single = module(x[4], target[4])
        near = module(x[:2], target[:2])
        return [
            output.detach(),
            loss.detach(),
            x.grad,
            [param.grad for param in module.parameters()],
            [key for key, _ in module.named_parameters()],
            single.output.detach(),
            near.loss.detach(),
            module.log_prob(x).detach(),
            module.predict(x),
            module.predict(x[:1]),
        ]

    assert_same(behaviour, torch)


def test_wrong_adaptive_softmax(torch):
    def behaviour(library: Any) -> Any:
        make, module = library.nn.AdaptiveLogSoftmaxWithLoss, adaptive(library)
        x, y = library.ones(2, 8).double(), library.tensor([1, 2])
        return [
            attempt(lambda: make(8, 12, [])),
            attempt(lambda: make(8, 12, [5, 3])),
            attempt(lambda: make(8, 12, [12])),
            attempt(lambda: make(8, 12, [3, 3])),
            attempt(lambda: module(x, y[:1])),
            attempt(lambda: module(x[0], y)),
            attempt(lambda: module(x, y[0])),
            attempt(lambda: module(x, y[None])),
            attempt(lambda: module(x, y + 11)),
        ]

    assert_same(behaviour, torch)


def test_layers_for_images(torch):
    def behaviour(library: Any) -> Any:
        x = library.tensor(np.random.default_rng(0).normal(size=(2, 5, 3, 3)), requires_grad=True)
        channels = library.nn.Softmax2d()(x)
        (channels * channels).sum().backward()
        return [
            channels.detach(),
            x.grad,
            library.nn.Softmax2d()(x[0]).detach(),
            attempt(lambda: library.nn.Softmax2d()(x[0, 0])),
            repr(library.nn.Softmax2d()),
        ]

    assert_same(behaviour, torch)


def _scaled(library: Any, become: bool) -> Any:
    """A lazy module of one's own, which multiplies by as many numbers as the input has columns."""

    class Scaled(library.nn.Module):
        def __init__(self, columns: int) -> None:
            super().__init__()
            self.weight = library.nn.Parameter(library.ones(columns))

        def forward(self, x: Any) -> Any:
            return x * self.weight

    class LazyScaled(library.nn.modules.lazy.LazyModuleMixin, Scaled):
        cls_to_become = Scaled if become else None

        def __init__(self) -> None:
            super().__init__(0)
            self.weight = library.nn.UninitializedParameter()

        def initialize_parameters(self, x: Any) -> None:
            if self.has_uninitialized_params():
                with library.no_grad():
                    self.weight.materialize((x.shape[-1],))
                    self.weight.fill_(2.0)

    return LazyScaled()


@pytest.mark.parametrize("become", [True, False])
def test_lazy_modules_of_ones_own(torch, become):
    def behaviour(library: Any) -> Any:
        module, other = _scaled(library, become), _scaled(library, become)
        weight = module.weight
        is_lazy = library.nn.parameter.is_lazy
        before = [type(module).__name__, is_lazy(weight), module.has_uninitialized_params()]
        out = module(library.ones(2, 3))
        out.sum().backward()
        other.load_state_dict(module.state_dict())
        return [
            before,
            type(module).__name__,
            out.tolist(),
            module.weight is weight,
            is_lazy(weight),
            isinstance(weight, library.nn.Parameter),
            weight.grad.tolist(),
            hasattr(weight, "materialize"),
            other.weight.tolist(),
            module(library.ones(1, 3)).tolist(),
            isinstance(library.nn.LazyLinear(2), library.nn.modules.lazy.LazyModuleMixin),
        ]

    assert_same(behaviour, torch)


def test_lazy_modules_of_ones_own_that_stay_lazy(torch):
    def behaviour(library: Any) -> Any:
        mixin = library.nn.modules.lazy.LazyModuleMixin

        class Undefined(mixin, library.nn.Module):
            pass

        class Idle(Undefined):
            def __init__(self) -> None:
                super().__init__()
                self.weight = library.nn.UninitializedParameter()

            def initialize_parameters(self, x: Any) -> None:
                pass

        x = library.ones(2)
        return [attempt(lambda: Undefined()(x)), attempt(lambda: Idle()(x))]

    assert_same(behaviour, torch)


def test_initialize_parameters_gives_shapes_alone(torch):
    def behaviour(library: Any) -> Any:
        module = library.nn.LazyLinear(2)
        module.initialize_parameters(library.ones(4, 3))
        shapes = [list(each.shape) for each in module.parameters()]
        named = [type(module).__name__, shapes, module.has_uninitialized_params()]
        module(library.ones(4, 3))
        return [*named, type(module).__name__]

    assert_same(behaviour, torch)
