"""Replacement of members in a module, conversions of all members, and prefixes of states."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def test_what_may_take_the_place_of_a_member(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        nn = library.nn
        values = {
            "number": lambda: 3,
            "none": lambda: None,
            "tensor": lambda: library.ones(1),
            "parameter": lambda: nn.Parameter(library.ones(1)),
            "buffer": lambda: nn.Buffer(library.ones(1)),
            "module": lambda: nn.Linear(1, 1),
        }
        results = {}
        for first, make_first in values.items():
            for second, make_second in values.items():
                module = nn.Module()
                module.member = make_first()
                second_value = make_second()
                problem = attempt(partial(setattr, module, "member", second_value))
                results[f"{second} for {first}"] = (
                    problem,
                    [name for name, _ in module.named_parameters()],
                    [name for name, _ in module.named_buffers()],
                    [name for name, _ in module.named_children()],
                )
        return results

    assert_same(behaviour, torch)


def test_names_of_members(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sequential(library.nn.Linear(1, 1), library.nn.BatchNorm1d(1))
        module.scale = library.nn.Parameter(library.ones(1))
        module.first = module[0]
        names = ("scale", "first", "0", "1", "forward", "training")
        return [
            [name in dir(module) for name in names],
            [name in dir(module[1]) for name in ("weight", "running_mean")],
            attempt(lambda: module.register_parameter("a.b", None)),
            attempt(lambda: module.register_buffer("", None)),
            attempt(lambda: module.add_module(None, None)),
        ]

    assert_same(behaviour, torch)


def test_members_that_a_function_finds(torch: Any) -> None:
    """Modules of meta-learning programs look for their parameters so."""

    def behaviour(library: Any) -> Any:
        inner = library.nn.Sequential(library.nn.Linear(1, 1), library.nn.BatchNorm1d(1))
        module = library.nn.Sequential(inner, inner[0])
        found = [
            module._named_members(lambda each: each._parameters.items()),
            module._named_members(
                lambda each: [*each._buffers.items(), ("none", None)], prefix="a", recurse=True
            ),
            inner[0]._named_members(lambda each: each._parameters.items(), "b", False),
            module._named_members(lambda each: each._modules.items(), remove_duplicate=False),
        ]
        return [[name for name, _ in members] for members in found]

    assert_same(behaviour, torch)


def test_before_init_and_beyond_it(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Early(library.nn.Module):  # type: ignore[misc]
            def __init__(self, value: Any) -> None:
                self.early = value
                super().__init__()

        class Mixin:
            def __init__(self, text: str = "") -> None:
                self.text = text

        class Plain(library.nn.Module, Mixin):  # type: ignore[misc]
            pass

        class Passing(library.nn.Module, Mixin):  # type: ignore[misc]
            call_super_init = True

        class OldBuffers(library.nn.Module):  # type: ignore[misc]
            def register_buffer(self, name: str, value: Any) -> None:
                super().register_buffer(name, value)

        old = OldBuffers()
        old.counts = library.nn.Buffer(library.ones(1))
        return [
            Early(3).early,
            attempt(lambda: Early(library.nn.Parameter(library.ones(1)))),
            attempt(lambda: Early(library.nn.Linear(1, 1))),
            attempt(lambda: Early(library.nn.Buffer(library.ones(1)))),
            hasattr(Plain(), "text"),
            Passing(text="words").text,
            Passing("words").text,
            attempt(lambda: Plain("words")),
            attempt(lambda: Plain(text="words")),
            sorted(old.state_dict()),
        ]

    assert_same(behaviour, torch)


def test_conversions(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Cached(library.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.cache = library.ones(2)

            def _apply(self, fn: Any, recurse: bool = True) -> Any:
                super()._apply(fn, recurse)
                self.cache = fn(self.cache)
                return self

        net = library.nn.Sequential(Cached(), library.nn.Linear(2, 2))
        dtypes = [
            str(getattr(net, name)()[0].cache.dtype).removeprefix("torch.")
            for name in ("double", "half", "float", "cpu")
        ]
        net.to(library.float64)
        complex_layer = library.nn.Linear(2, 2, dtype=library.complex64)
        images = library.nn.Conv2d(2, 2, 3).to(memory_format=library.channels_last)
        return [
            dtypes,
            str(net[0].cache.dtype).removeprefix("torch."),
            [
                str(getattr(complex_layer, name)().weight.dtype).removeprefix("torch.")
                for name in ("float", "double", "half")
            ],
            list(images.weight.stride()),
            list(images.bias.stride()),
            attempt(lambda: net.to("cpu", copy=True)),
            attempt(lambda: net.to("cpu", copy=False)),
        ]

    assert_same(behaviour, torch)


def test_functions_that_write_in_place(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        layer = library.nn.Linear(2, 1)
        product = layer.weight * layer.weight
        layer.weight.grad = library.ones(1, 2)
        weight, grad = layer.weight, layer.weight.grad
        versions = weight._version, grad._version
        layer._apply(lambda tensor: tensor.add_(1.0))
        return [
            layer.weight is weight,
            layer.weight.grad is grad,
            grad,
            weight._version - versions[0],
            grad._version - versions[1],
            attempt(lambda: product.sum().backward()),
        ]

    assert_same(behaviour, torch)


def test_hooks_of_states_return_nothing(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        first, second = library.nn.Linear(1, 1), library.nn.Linear(1, 1)
        first.register_state_dict_post_hook(lambda module, state, *rest: {})
        second._register_state_dict_hook(lambda module, state, *rest: {"other": 1})
        return [attempt(first.state_dict), second.state_dict()]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("prefix", ["module.", "module", "0.", "none."])
def test_prefixes_of_states(torch: Any, prefix: str) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sequential(library.nn.Linear(1, 1), library.nn.BatchNorm1d(1))
        wrapper = library.nn.Module()
        wrapper.module = module
        wrapper.other = library.nn.Linear(1, 1)
        results = []
        for net in (module, wrapper):
            state = net.state_dict()
            strip = library.nn.modules.utils.consume_prefix_in_state_dict_if_present
            strip(state, prefix)
            results.append([list(state), list(state._metadata)])
        return results

    assert_same(behaviour, torch)


@pytest.mark.parametrize("assign", [False, True])
def test_numbers_of_old_files(torch: Any, assign: bool) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Module()
        module.scale = library.nn.Parameter(library.tensor(1.0))
        module.register_buffer("count", library.tensor(2))
        state = {"scale": library.full((1,), 3.0), "count": library.tensor([4])}
        longer = {**state, "scale": library.ones(2)}
        return [
            repr(module.load_state_dict(state, assign=assign)),
            module.scale,
            module.count,
            attempt(lambda: module.load_state_dict(longer, assign=assign)),
        ]

    assert_same(behaviour, torch)


def test_operators_of_containers(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        nn = library.nn

        def chain() -> Any:
            return nn.Sequential(nn.ReLU(), nn.Tanh())

        merged = {"a": 1, "b": 2} | nn.ParameterDict({"b": library.ones(1), "c": 3})
        return [
            len(chain().__imul__(2)),
            attempt(lambda: chain().__imul__(0)),
            attempt(lambda: chain().__imul__("2")),
            attempt(lambda: chain().__iadd__(3)),
            attempt(lambda: chain().__iadd__([nn.ReLU()])),
            len(chain().__iadd__(chain())),
            attempt(lambda: chain()["0"]),
            attempt(lambda: nn.ModuleList([nn.ReLU()])[[0]]),
            attempt(lambda: nn.ParameterList([1])["a"]),
            type(merged).__name__,
            list(merged.items()),
        ]

    assert_same(behaviour, torch)


def test_wrong_numbers_of_gradients_are_named(torch: Any) -> None:
    import gradspec as gs

    for library in (gs, torch):
        for kind, what in (("pre_hook", "grad_output"), ("hook", "grad_input")):
            layer = library.nn.Linear(2, 1)
            getattr(layer, f"register_full_backward_{kind}")(lambda *given: (1, 2))
            y = layer(library.ones(1, 2, requires_grad=True)).sum()
            with pytest.raises(RuntimeError, match=f"invalid number of {what}, got 2"):
                y.backward()


def test_which_classes_are_whose_bases(torch: Any) -> None:
    """Programs look for modules by class, as for all that are a `Dropout`."""

    def behaviour(library: Any) -> Any:
        names = [
            *(f"{kind}{ndims}d" for kind in ("BatchNorm", "InstanceNorm") for ndims in (1, 2, 3)),
            *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"),
            *("FeatureAlphaDropout", "Fold", "Unfold", "ZeroPad1d", "ConstantPad1d"),
            *("ZeroPad2d", "ConstantPad2d", "ZeroPad3d", "ConstantPad3d"),
        ]
        modules = library.nn.modules
        classes = {name: getattr(library.nn, name) for name in names}
        classes["_BatchNorm"] = modules.batchnorm._BatchNorm
        classes["_NormBase"] = modules.batchnorm._NormBase
        classes["_InstanceNorm"] = modules.instancenorm._InstanceNorm
        classes["_DropoutNd"] = modules.dropout._DropoutNd
        return [
            (name, other)
            for name, one in classes.items()
            for other, two in classes.items()
            if issubclass(one, two)
        ]

    assert_same(behaviour, torch)


def test_norms_that_check_their_input_otherwise(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Fewer(library.nn.BatchNorm2d):  # type: ignore[misc]
            def forward(self, input: Any) -> Any:
                self._check_input_dim(input)
                return input + 1

        class Any5(library.nn.modules.batchnorm._BatchNorm):  # type: ignore[misc]
            def _check_input_dim(self, input: Any) -> None:
                if input.dim() != 5:
                    raise ValueError("five")

        flat, image = library.ones(2, 3), library.ones(2, 3, 1, 1)
        return [
            attempt(lambda: Fewer(3)(flat)),
            Fewer(3)(image).tolist(),
            attempt(lambda: Any5(3)(image)),
            Any5(3).eval()(image[..., None]).shape == (2, 3, 1, 1, 1),
            [attempt(partial(norm(3), flat[0])) for norm in norms(library)],
        ]

    def norms(library: Any) -> list[Any]:
        return [library.nn.BatchNorm1d, library.nn.BatchNorm3d, library.nn.InstanceNorm2d]

    assert_same(behaviour, torch)


def test_buffers_that_do_not_persist_are_named(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Module()
        module.register_buffer("kept", library.ones(1))
        module.register_buffer("lost", library.ones(1), persistent=False)
        return sorted(module._non_persistent_buffers_set), list(module.state_dict())

    assert_same(behaviour, torch)


def test_conversions_replace_buffers_and_keep_parameters(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        module = library.nn.Sequential(library.nn.BatchNorm1d(2))
        shared = library.ones(1)
        for name in ("one", "other"):
            module.register_buffer(name, shared)
        buffer, weight = module[0].running_mean, module[0].weight
        module.float()
        same = module[0].running_mean is buffer, module.one is module.other
        module.double()
        return [
            same,
            [buffer, module[0].running_mean, module[0].num_batches_tracked],
            [module[0].running_mean is buffer, module[0].weight is weight],
            module.one is module.other,
        ]

    assert_same(behaviour, torch)
