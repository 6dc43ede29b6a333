"""What programs written for older versions of PyTorch use, does as in PyTorch."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import pytest

from ..behaviours import Behaviour, assert_same, attempt

pytestmark = pytest.mark.oracle


def linear(library: Any) -> Any:
    module = library.nn.Linear(2, 2, dtype=library.float64)
    with library.no_grad():
        module.weight.copy_(library.arange(4).view(2, 2) / 3)
        module.bias.fill_(0.5)
    return module


def rows(library: Any) -> Any:
    return library.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=library.float64, requires_grad=True)


def of_the_last_op(library: Any) -> Any:
    module, seen = linear(library), []
    handle = module.register_backward_hook(
        lambda m, before, after: seen.append([grad.clone() for grad in (*before, *after)])
    )
    x = rows(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (module(x) ** 2).sum().backward()
    handle.remove()
    module(x).sum().backward()
    return [*seen, len(module._backward_hooks)]


def changing_a_gradient(library: Any) -> Any:
    module = library.nn.ReLU()
    module.register_backward_hook(lambda m, before, after: (before[0] * 10,))
    x = rows(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module(x).sum().backward()
    return x.grad


def both_kinds(library: Any) -> Any:
    module = linear(library)
    module.register_full_backward_hook(lambda *_: None)
    return attempt(lambda: module.register_backward_hook(lambda *_: None))


def hooks_by_number(library: Any) -> Any:
    module, x = linear(library), rows(library)
    first = module.register_forward_hook(lambda m, args, out: out * 2)
    module.register_forward_hook(lambda m, args, out: out + 1)
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    doubled = module(x)
    counts = [len(module._forward_hooks), len(module._forward_pre_hooks)]
    assert module._forward_hooks[first.id](module, (), 3) == 6
    module._forward_pre_hooks.clear()
    del module._forward_hooks[first.id]
    added = module(x)
    module._forward_hooks = OrderedDict()
    return [doubled, counts, added, module(x)]


def called_after_errors(library: Any) -> Any:
    module, seen = linear(library), []
    module.register_forward_hook(lambda m, args, kwargs, out: seen.append(1), with_kwargs=True)
    module.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    failed = attempt(lambda: module(library.ones(3)))
    return [failed, seen]


def stateless(library: Any) -> Any:
    from importlib import import_module

    module, x = linear(library), rows(library)
    weight = library.eye(2, dtype=library.float64).requires_grad_()
    call = import_module(f"{library.__name__}.nn.utils.stateless").functional_call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = call(module, {"weight": weight}, (x,))
        unknown = attempt(lambda: call(module, {"other": weight}, x, strict=True))
    out.sum().backward()
    return [out, weight.grad, module.weight.grad, module(x), unknown]


def reduced(library: Any, name: str, *shapes: tuple[int, ...], **options: Any) -> Any:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        loss = getattr(library.nn, name)(**options)
    tensors = [library.arange(1.0, 7.0).view(shape).sigmoid() for shape in shapes]
    return [loss(*tensors), loss.reduction, [warning.category.__name__ for warning in given]]


def by_position(library: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            library.nn.MSELoss("sum").reduction,
            library.nn.L1Loss(False).reduction,
            library.nn.CrossEntropyLoss(None, None, 3, False).reduction,
            library.nn.PoissonNLLLoss(True, False, False, 1e-3).eps,
            library.nn.HingeEmbeddingLoss(0.5, True, False).reduction,
        ]


def base_classes(library: Any) -> Any:
    from importlib import import_module

    modules = import_module(f"{library.__name__}.nn.modules")
    normal = import_module(f"{library.__name__}.nn.modules.batchnorm")
    losses = import_module(f"{library.__name__}.nn.modules.loss")

    class Scaled(losses._Loss):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return x.mean() if self.reduction == "mean" else x.sum()

    class Smoothed(losses._WeightedLoss):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return (x * self.weight).sum()

    smoothed = Smoothed(library.tensor([1.0, 2.0]), reduction="none")
    weighted = [
        each(weight=library.ones(2))
        for each in (
            library.nn.NLLLoss,
            library.nn.CrossEntropyLoss,
            library.nn.BCELoss,
            library.nn.BCEWithLogitsLoss,
            library.nn.MultiMarginLoss,
            library.nn.MultiLabelSoftMarginLoss,
        )
    ]
    kinds = (library.nn.BatchNorm1d(2), library.nn.BatchNorm3d(2), library.nn.LayerNorm(2))
    return [
        modules.Linear is library.nn.Linear,
        modules.module.Module is library.nn.Module,
        [isinstance(kind, normal._BatchNorm) for kind in kinds],
        Scaled(reduction="sum")(library.arange(4)),
        [smoothed(library.ones(2)), smoothed.reduction, list(smoothed.state_dict())],
        [isinstance(each, losses._WeightedLoss) for each in weighted],
        [(list(each.state_dict()), each.reduction) for each in weighted],
        repr(
            library.optim.SGD(
                [{"params": [library.ones(1)]}, {"params": [library.ones(2)], "lr": 2.0}], lr=1.0
            )
        ),
    ]


OLD = [
    *({"size_average": value} for value in (True, False)),
    *({"reduce": value} for value in (True, False)),
    {"size_average": False, "reduce": False},
]
PAIRS = ("MSELoss", "L1Loss", "SmoothL1Loss", "BCELoss", "BCEWithLogitsLoss", "PoissonNLLLoss")

CASES: dict[str, Behaviour] = {
    "a hook of the last op": of_the_last_op,
    "a hook that changes a gradient": changing_a_gradient,
    "hooks of both kinds": both_kinds,
    "hooks by their numbers": hooks_by_number,
    "hooks after errors": called_after_errors,
    "stateless": stateless,
    "losses by position": by_position,
    "base classes": base_classes,
    **{
        f"{name} {options}": lambda g, name=name, options=options: reduced(
            g, name, (2, 3), (2, 3), **options
        )
        for name in PAIRS
        for options in OLD
    },
    **{
        f"TripletMarginLoss {options}": lambda g, options=options: reduced(
            g, "TripletMarginLoss", (2, 3), (2, 3), (2, 3), **options
        )
        for options in OLD
    },
}


@pytest.mark.parametrize("name", CASES)
def test_same(torch: Any, name: str) -> None:
    assert_same(CASES[name], torch)
