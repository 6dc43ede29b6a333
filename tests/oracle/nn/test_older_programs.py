"""Names that programs for older versions of PyTorch use do as in PyTorch."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from copy import deepcopy
from importlib import import_module
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


def test_parameters_of_a_class_of_ones_own(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        nn, tensor = library.nn, library.Tensor

        class Noted(nn.Parameter):  # type: ignore[misc]
            def __new__(cls, data: Any, note: str) -> Any:
                made = super().__new__(cls, data)
                made.note = note
                return made

        class Quantized(nn.Parameter):  # type: ignore[misc]
            def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
                return tensor._make_subclass(cls, data, requires_grad)

        made = [Noted(library.ones(2), "a"), Quantized(library.ones(3)), nn.Parameter()]
        module = nn.Module()
        module.noted, module.quantized, module.plain = made
        classes = (Noted, Quantized, nn.Parameter, tensor)
        return [
            [isinstance(one, kind) for one in (*made, library.ones(1)) for kind in classes],
            [name for name, _ in module.named_parameters()],
            made[0].note,
            [made[1].requires_grad, made[1].is_leaf, made[1].tolist()],
        ]

    assert_same(behaviour, torch)


def test_tensors_of_a_class_of_ones_own(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Tagged(library.Tensor):  # type: ignore[misc]
            def __new__(cls, data: Any, tag: str) -> Any:
                return library.Tensor._make_subclass(cls, data)

            def __init__(self, data: Any, tag: str) -> None:
                self.tag = tag

        data = library.ones(2)
        tagged = Tagged(data, "a")
        leaf = library.Tensor._make_subclass(Tagged, library.ones(2), True)
        data[0] = 5
        return [
            [type(tagged).__name__, type(tagged + 1).__name__, tagged.tag, tagged.tolist()],
            [tagged.requires_grad, leaf.requires_grad, leaf.is_leaf],
        ]

    assert_same(behaviour, torch)


def test_modules_that_extend_how_they_are_unpickled(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Older(library.nn.Linear):  # type: ignore[misc]
            def __setstate__(self, state: Any) -> None:
                state.setdefault("activation", "relu")
                super().__setstate__(state)

        copied = deepcopy(Older(2, 2))
        return [copied.activation, list(copied.state_dict())]

    assert_same(behaviour, torch)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_functions_for_mixed_precision(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        amp = import_module(f"{library.__name__}.amp")
        older = import_module(f"{library.__name__}.cuda.amp")

        class Square(library.autograd.Function):  # type: ignore[misc]
            @staticmethod
            @amp.custom_fwd(device_type="cuda")
            def forward(ctx: Any, x: Any) -> Any:
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            @amp.custom_bwd(device_type="cuda")
            def backward(ctx: Any, grad: Any) -> Any:
                return 2 * ctx.saved_tensors[0] * grad

        class Older(Square):
            forward = staticmethod(older.custom_fwd(Square.forward))
            backward = staticmethod(older.custom_bwd(Square.backward))

        x = library.tensor([3.0], requires_grad=True)
        (Square.apply(x) + Older.apply(x)).backward()
        return x.grad

    assert_same(behaviour, torch)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_older_names(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        x = library.ones(4, requires_grad=True)
        x.sum().backward()
        norm = library.nn.utils.clip_grad_norm([x], 0.5)
        normal = library.distributions.Normal(library.zeros(2), 1.0)
        version = import_module(f"{library.__name__}.version")
        return [norm, x.grad, list(normal.sample_n(3).shape), version.cuda]

    assert_same(behaviour, torch)
