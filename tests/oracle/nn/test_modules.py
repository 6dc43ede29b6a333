"""Modules call hooks, find their parts, and load and save states as PyTorch's do."""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

BEHAVIOURS: dict[str, Any] = {}


def behaviour(function: Any) -> Any:
    """Collect a function that takes the library and returns facts."""
    BEHAVIOURS[function.__name__] = function
    return function


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_behaviour(torch, name):
    assert_same(BEHAVIOURS[name], torch)


def linear(library: Any, inputs: int = 2, outputs: int = 2) -> Any:
    """A linear layer of known weights."""
    layer = library.nn.Linear(inputs, outputs).double()
    with library.no_grad():
        layer.weight.copy_(library.arange(inputs * outputs).reshape(outputs, inputs) / 4)
        layer.bias.copy_(library.arange(outputs) - 1)
    return layer


def leaf(library: Any) -> Any:
    return library.tensor([[1.0, -2.0]], dtype=library.float64, requires_grad=True)


class Recorder:
    """Notes what hooks see."""

    def __init__(self) -> None:
        self.trace: list[Any] = []

    def __call__(self, name: str, returned: Any = None) -> Any:
        def hook(module: Any, *args: Any) -> Any:
            self.trace.append([name, *_plain(args)])
            return returned(*args) if callable(returned) else returned

        return hook


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


@behaviour
def hooks_around_forward(library):
    layer, note = linear(library), Recorder()
    layer.register_forward_pre_hook(note("pre 1"))
    layer.register_forward_pre_hook(note("pre 0", lambda args: args[0] * 2), prepend=True)
    layer.register_forward_hook(note("post 1"))
    layer.register_forward_hook(note("post 0", lambda args, out: out + 1), prepend=True)
    handle = layer.register_forward_hook(note("removed"))
    handle.remove()
    return layer(leaf(library)), note.trace


@behaviour
def hooks_with_keywords(library):
    class Scale(library.nn.Module):
        def forward(self, x, *, factor=1.0):
            return x * factor

    module, note = Scale(), Recorder()
    module.register_forward_pre_hook(
        note("pre", lambda args, kwargs: (args, {"factor": kwargs["factor"] + 1})), with_kwargs=True
    )
    module.register_forward_hook(note("post"), with_kwargs=True)
    found = module(leaf(library), factor=2.0)
    module.register_forward_pre_hook(note("wrong", 3), with_kwargs=True)
    return found, attempt(lambda: module(leaf(library), factor=2.0)), note.trace


@behaviour
def hooks_that_are_always_called(library):
    class Fails(library.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    module, note = Fails(), Recorder()
    module.register_forward_hook(note("not called"))
    module.register_forward_hook(note("called"), always_call=True)
    module.register_forward_hook(note("called, with kwargs"), always_call=True, with_kwargs=True)

    def fails(*args):
        raise KeyError

    module.register_forward_hook(fails, always_call=True)
    return attempt(lambda: module(3)), note.trace


@behaviour
def global_forward_hooks(library):
    functions = import_module(f"{library.__name__}.nn.modules.module")
    model, note = library.nn.Sequential(linear(library), library.nn.Tanh()), Recorder()
    handles = [
        functions.register_module_forward_pre_hook(note("pre")),
        functions.register_module_forward_hook(note("post", lambda args, out: out * 2)),
        functions.register_module_forward_hook(note("kwargs"), with_kwargs=True, always_call=True),
        functions.register_module_full_backward_pre_hook(note("backward pre")),
        functions.register_module_full_backward_hook(note("backward")),
    ]
    model[0].register_forward_hook(note("own"))
    x = leaf(library)
    model(x).sum().backward()
    for handle in handles:
        handle.remove()
    count = len(note.trace)
    model(x)
    return note.trace, len(note.trace) - count, x.grad


@behaviour
def registration_hooks(library):
    functions = import_module(f"{library.__name__}.nn.modules.module")
    trace: list[Any] = []

    def note(kind):
        return lambda module, name, value: trace.append((kind, type(module).__name__, name))

    handles = [
        functions.register_module_parameter_registration_hook(note("parameter")),
        functions.register_module_buffer_registration_hook(note("buffer")),
        functions.register_module_module_registration_hook(note("module")),
        functions.register_module_buffer_registration_hook(
            lambda m, n, b: None if b is None else b + 1
        ),
    ]
    module = library.nn.Module()
    module.weight = library.nn.Parameter(library.ones(1))
    module.register_buffer("mean", library.zeros(1))
    module.inside = library.nn.ReLU()
    module.add_module("other", library.nn.Tanh())
    for handle in handles:
        handle.remove()
    module.register_buffer("more", library.zeros(1))
    return trace, module.mean, module.more


@behaviour
def backward_hooks(library):
    layer, note = linear(library), Recorder()
    layer.register_full_backward_hook(note("backward 1"))
    layer.register_full_backward_hook(note("backward 0"), prepend=True)
    layer.register_full_backward_pre_hook(note("pre"))
    x = leaf(library)
    out = layer(x)
    names = [out.grad_fn.name()]
    (out * library.tensor([[1.0, 3.0]], dtype=library.float64)).sum().backward()
    return note.trace, x.grad, layer.weight.grad, layer.bias.grad, names


@behaviour
def backward_hooks_that_change_gradients(library):
    layer, note = linear(library), Recorder()
    layer.register_full_backward_pre_hook(note("pre", lambda grads: (grads[0] * 2,)))
    layer.register_full_backward_hook(note("after", lambda grads, out: (grads[0] + 10,)))
    x = leaf(library)
    layer(x).sum().backward()
    return note.trace, x.grad, layer.bias.grad


@behaviour
def backward_hooks_of_several_tensors(library):
    class Both(library.nn.Module):
        def forward(self, x, flag, y):
            return x * y, "text", x.detach(), (x + y).sum()

    module, note = Both(), Recorder()
    module.register_full_backward_hook(note("backward"))
    x, y = leaf(library), leaf(library)
    found = module(x, True, y)
    (found[0].sum() + found[3]).backward()
    kinds = [found[1], found[2].requires_grad]
    z = leaf(library)
    module(z, True, library.ones(1, 2).double())[3].backward()
    return note.trace, x.grad, y.grad, z.grad, kinds


@behaviour
def backward_hooks_without_inputs_that_require_grad(library):
    layer, note = linear(library), Recorder()
    layer.register_full_backward_hook(note("backward"))
    layer(leaf(library).detach()).sum().backward()
    with library.no_grad():
        layer(leaf(library))
    return note.trace, layer.bias.grad


@behaviour
def wrong_backward_hooks(library):
    first, second, third = (linear(library) for _ in range(3))
    first.register_full_backward_hook(lambda m, i, o: (i[0], i[0]))
    second.register_full_backward_pre_hook(lambda m, o: (o[0], o[0]))
    third.register_full_backward_hook(lambda m, i, o: (o[0],))
    return [
        attempt(lambda: first(leaf(library)).sum().backward()),
        attempt(lambda: second(leaf(library)).sum().backward()),
        attempt(lambda: third(leaf(library).detach()).sum().backward()),
    ]


@behaviour
def outputs_under_hooks_cannot_be_written_to(library):
    layer = linear(library)
    layer.register_full_backward_hook(lambda *args: None)
    return attempt(lambda: layer(leaf(library)).mul_(2))


@behaviour
def parts_by_name(library):
    model = library.nn.Sequential(
        OrderedDict(a=library.nn.Sequential(linear(library)), b=library.nn.BatchNorm1d(2))
    )
    found = [type(model.get_submodule(name)).__name__ for name in ("", "a", "a.0", "b")] + [
        list(model.get_parameter("a.0.weight").shape),
        list(model.get_buffer("b.running_mean").shape),
    ]
    model.set_submodule("a.0", library.nn.ReLU())
    model.set_submodule("a.1", library.nn.Tanh())
    wrong = [
        attempt(lambda: model.get_submodule("a.9")),
        attempt(lambda: model.get_submodule("a.training")),
        attempt(lambda: model.get_parameter("b.running_mean")),
        attempt(lambda: model.get_parameter("b.nothing")),
        attempt(lambda: model.get_buffer("b.weight")),
        attempt(lambda: model.set_submodule("", linear(library))),
        attempt(lambda: model.set_submodule("a.7", linear(library), strict=True)),
        attempt(lambda: model.set_submodule("b.eps", linear(library))),
    ]
    return found, wrong, [name for name, _ in model.named_modules()]


@behaviour
def names_with_repetitions(library):
    shared = linear(library)
    model = library.nn.Sequential(shared, library.nn.ReLU(), shared)
    return [
        [name for name, _ in model.named_modules(remove_duplicate=False)],
        [name for name, _ in model.named_parameters(remove_duplicate=False)],
        [name for name, _ in model.named_parameters(prefix="p")],
        [name for name, _ in model.named_modules(prefix="m")],
        list(model.state_dict()),
        list(model.state_dict(prefix="x.")),
    ]


@behaviour
def states(library):
    layer = linear(library)
    state = layer.state_dict(keep_vars=True)
    mine: dict[str, Any] = {}
    layer.state_dict(destination=mine, prefix="a.")
    return [
        state["weight"] is layer.weight,
        sorted(mine),
        dict(layer.state_dict()._metadata),
        type(layer.state_dict()).__mro__[1].__name__ in ("OrderedDict", "dict"),
    ]


@behaviour
def state_hooks(library):
    model = library.nn.Sequential(linear(library), library.nn.Tanh())
    trace: list[Any] = []
    model[0].register_state_dict_pre_hook(lambda m, prefix, keep: trace.append((prefix, keep)))

    def rename(module, state, prefix, metadata):
        trace.append((sorted(state), prefix, sorted(metadata)))
        state[prefix + "gain"] = state.pop(prefix + "bias")

    model[0].register_state_dict_post_hook(rename)
    state = model.state_dict()

    def name_back(module, state, prefix, metadata, strict, missing, unexpected, errors):
        trace.append((sorted(state), prefix, strict, missing, unexpected, errors))
        state[prefix + "bias"] = state.pop(prefix + "gain") + 1

    model[0].register_load_state_dict_pre_hook(name_back)
    model.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.clear())
    model.load_state_dict({**state, "9.x": state["0.gain"]})
    model.register_load_state_dict_post_hook(lambda m, keys: keys)
    return trace, list(state), model[0].bias, attempt(lambda: model.load_state_dict(dict(state)))


@behaviour
def extra_state(library):
    class Counted(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    first, second = Counted(), Counted()
    first.count = 7
    model = library.nn.Sequential(first)
    state = model.state_dict()
    other = library.nn.Sequential(second)
    other.load_state_dict(state)
    keys = other.load_state_dict({}, strict=False)
    return list(state), second.count, keys.missing_keys


@behaviour
def assigned_states(library):
    layer = linear(library)
    weight, bias = library.ones(2, 2), library.nn.Parameter(library.zeros(2))
    layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)
    norm = library.nn.BatchNorm1d(2)
    mean = library.ones(2)
    norm.load_state_dict({**norm.state_dict(), "running_mean": mean}, assign=True)
    return [
        layer.bias is bias,
        str(layer.weight.dtype).removeprefix("torch."),
        layer.weight.requires_grad,
        norm.running_mean is mean,
        attempt(lambda: layer.load_state_dict({"weight": 3, "bias": bias})),
    ]


@behaviour
def overridden_loading(library):
    class Renamed(library.nn.Linear):
        def _load_from_state_dict(self, state, prefix, *rest):
            state[prefix + "weight"] = state.pop(prefix + "kernel")
            super()._load_from_state_dict(state, prefix, *rest)

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "kernel"] = destination.pop(prefix + "weight")

    model = library.nn.Sequential(Renamed(1, 1))
    state = model.state_dict()
    other = library.nn.Sequential(Renamed(1, 1))
    other.load_state_dict(state)
    return list(state), (other[0].weight == model[0].weight).item()


@behaviour
def buffers(library):
    module = library.nn.Module()
    module.mean = library.nn.Buffer(library.ones(2))
    module.scratch = library.nn.Buffer(library.ones(3), persistent=False)
    plain = library.nn.Buffer(library.ones(1))
    return [
        [name for name, _ in module.named_buffers()],
        list(module.state_dict()),
        isinstance(plain, library.nn.Buffer),
        isinstance(plain, library.nn.Parameter),
        isinstance(library.ones(1), library.nn.Buffer),
    ]


@behaviour
def lists_of_modules(library):
    nn = library.nn
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
    layers.insert(1, nn.GELU())
    layers += [nn.Softplus()]
    popped = layers.pop(0)
    layers[0] = nn.ELU()
    del layers[1]
    both = layers + nn.ModuleList([nn.ReLU()])
    wrong = [
        attempt(lambda: layers[9]),
        attempt(lambda: layers.extend(3)),
        attempt(lambda: layers.insert(99, nn.ReLU()) and None),
        attempt(lambda: layers(3)),
    ]
    return [
        type(popped).__name__,
        [(name, type(m).__name__) for name, m in both.named_children()],
        repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.ReLU()), nn.ReLU()])),
        repr(nn.ModuleList()),
        len(layers[:1]),
        wrong,
    ]


@behaviour
def sequences_of_modules(library):
    nn = library.nn
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    model.insert(0, nn.GELU())
    model.extend([nn.ELU()])
    longer = model + nn.Sequential(nn.Sigmoid())
    twice = longer * 2
    del twice[1:3]
    popped = twice.pop(0)
    twice[-1] = nn.SELU()
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    return [
        [(name, type(m).__name__) for name, m in twice.named_children()],
        type(popped).__name__,
        [name for name, _ in named[1:].named_children()],
        [attempt(lambda: model + 3), attempt(lambda: model * 0), attempt(lambda: model * 1.5)],
        attempt(lambda: named[7]),
        len(model),
    ]


@behaviour
def dicts_of_modules(library):
    nn = library.nn
    modules = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    modules["c"] = linear(library)
    modules.update([("d", nn.ELU())])
    popped = modules.pop("a")
    del modules["b"]
    found = [
        type(popped).__name__,
        list(modules),
        len(modules),
        "c" in modules,
        [name for name, _ in modules.named_parameters()],
        [type(module).__name__ for module in modules.values()],
        list(modules.keys()) == [key for key, _ in modules.items()],
        attempt(lambda: modules["z"]),
        attempt(lambda: modules.update(3)),
        attempt(lambda: modules.update([(1, 2, 3)])),
        attempt(lambda: modules({})),
        repr(nn.ModuleDict({"a": nn.ReLU()})),
    ]
    modules.clear()
    return found, len(modules)


@behaviour
def lists_of_parameters(library):
    nn = library.nn
    values = nn.ParameterList([library.ones(2), nn.Parameter(library.zeros(1)), 3])
    values.append(library.ones(1))
    values += [library.ones(2, 2)]
    values[0] = library.zeros(3)
    return [
        len(values),
        [name for name, _ in values.named_parameters()],
        values[0],
        values[2],
        list(values[-1].shape),
        len(values[1:3]),
        list(values.state_dict()),
        attempt(lambda: values[9]),
        attempt(lambda: values.extend(3)),
        attempt(lambda: values(1)),
        repr(values).replace("gradspec", "torch"),
    ]


@behaviour
def dicts_of_parameters(library):
    nn = library.nn
    values = nn.ParameterDict({"b": library.ones(2), "a": 3})
    values["c"] = library.zeros(1)
    values.update(nn.ParameterDict({"d": library.ones(1)}))
    other = values | nn.ParameterDict({"e": library.ones(1)})
    return [
        list(values),
        list(other.keys()),
        list(reversed(values)),
        [name for name, _ in values.named_parameters()],
        values.get("zz", 5),
        values.setdefault("b", 9),
        values.setdefault("f", library.ones(1)),
        values.pop("a"),
        values.popitem()[0],
        "a" in values,
        len(values),
        list(values.fromkeys(["x", "y"], 1)),
        attempt(lambda: values["zz"]),
        attempt(lambda: values.update(3)),
        attempt(lambda: values(1)),
    ]


@behaviour
def replaced_values(library):
    layer = linear(library)
    weight = layer.weight
    layer._apply(lambda t: t * 2)
    return (
        layer.weight is weight,
        layer.weight,
        layer.cpu() is layer,
        str(layer.half().bias.dtype)[-7:],
    )


@behaviour
def states_from_before_batches_were_counted(library: Any) -> Any:
    net = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.BatchNorm1d(2))
    state = {k: v for k, v in net.state_dict().items() if "num_batches" not in k}
    counted = net.state_dict()
    del counted["1.num_batches_tracked"]
    return [
        repr(net.load_state_dict(state)),
        repr(net.load_state_dict({"0.bias": library.ones(2)}, strict=False)),
        attempt(lambda: net.load_state_dict(counted)),
        {key: value["version"] for key, value in counted._metadata.items()},
    ]
