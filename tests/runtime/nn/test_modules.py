"""Modules compute, initialise, store and print as PyTorch's do."""

from collections import OrderedDict

import numpy as np
import pytest

from gradspec import nn
from gradspec.core.tensor import Tensor, wrap
from gradspec.random import manual_seed


@pytest.fixture(autouse=True)
def _seed():
    manual_seed(0)


def network(library):
    """The same small network, of ours or of PyTorch."""
    return library.Sequential(
        library.Linear(4, 8),
        library.Tanh(),
        library.Sequential(library.Linear(8, 8, bias=False), library.GELU()),
        library.Softplus(),
        library.Identity(),
        library.Linear(8, 3),
    )


def share_state(torch, ours: nn.Module, theirs) -> None:
    """Give PyTorch's network the parameters of ours."""
    state = {name: torch.from_numpy(t.array.copy()) for name, t in ours.state_dict().items()}
    theirs.load_state_dict(state)


@pytest.mark.oracle
def test_a_network_computes_what_torchs_does(torch):
    ours, theirs = network(nn), network(torch.nn)
    share_state(torch, ours, theirs)
    batch = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    classes = np.array([0, 2, 1, 1, 0])
    our_loss = nn.CrossEntropyLoss()(ours(wrap(batch)), wrap(classes))
    their_loss = torch.nn.CrossEntropyLoss()(
        theirs(torch.from_numpy(batch)), torch.from_numpy(classes)
    )
    np.testing.assert_allclose(our_loss.item(), their_loss.item(), rtol=1e-6)
    our_loss.backward()
    their_loss.backward()
    for (name, param), (their_name, their_param) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert name == their_name
        np.testing.assert_allclose(param.grad.array, their_param.grad.numpy(), atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", ["ReLU", "Tanh", "Sigmoid", "SiLU", "GELU", "Softplus", "Identity"]
)
def test_activations(torch, name):
    values = np.linspace(-3, 3, 7)
    ours = getattr(nn, name)()(wrap(values))
    theirs = getattr(torch.nn, name)()(torch.from_numpy(values))
    np.testing.assert_allclose(ours.array, theirs.numpy(), rtol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(torch, name, dim):
    values = np.linspace(-3, 3, 6).reshape(2, 3)
    ours = getattr(nn, name)(dim)(wrap(values))
    theirs = getattr(torch.nn, name)(dim)(torch.from_numpy(values))
    np.testing.assert_allclose(ours.array, theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize(("shape", "total"), [((2, 3), 2), ((2, 3, 4), 12), ((3,), 1)])
def test_softmax_without_dim_warns_and_chooses_as_torch_does(shape, total):
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        found = nn.Softmax()(wrap(np.zeros(shape)))
    np.testing.assert_allclose(found.array.sum(), total)


@pytest.mark.oracle
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(torch, reduction):
    rng = np.random.default_rng(0)
    logits, target, weight = rng.normal(size=(4, 3)), rng.uniform(size=(4, 3)), rng.uniform(size=3)
    classes = np.array([0, 2, 1, 2])
    cases = [
        (("MSELoss", {}), (logits, target)),
        (("BCEWithLogitsLoss", {"weight": weight, "pos_weight": weight}), (logits, target)),
        (("NLLLoss", {"weight": weight, "ignore_index": 1}), (logits, classes)),
        (("CrossEntropyLoss", {"weight": weight, "label_smoothing": 0.1}), (logits, classes)),
    ]
    for (name, options), arrays in cases:
        found, expected = (
            getattr(library, name)(
                **{
                    key: convert(value) if isinstance(value, np.ndarray) else value
                    for key, value in options.items()
                },
                reduction=reduction,
            )(*map(convert, arrays))
            for library, convert in ((nn, wrap), (torch.nn, torch.from_numpy))
        )
        np.testing.assert_allclose(found.array, expected.numpy(), rtol=1e-10, err_msg=name)


def test_unknown_reduction():
    with pytest.raises(ValueError, match="max is not a valid value for reduction"):
        nn.MSELoss(reduction="max")


@pytest.mark.oracle
def test_repr_is_torchs(torch):
    assert repr(network(nn)) == repr(network(torch.nn))
    for make in (
        lambda library: library.Sequential(),
        lambda library: library.ReLU(),
        lambda library: library.Flatten(),
        lambda library: library.Softmax(dim=1),
        lambda library: library.CrossEntropyLoss(),
        lambda library: library.ModuleList([library.Linear(1, 2), library.Linear(1, 3)]),
    ):
        assert repr(make(nn)) == repr(make(torch.nn))


# ---- parameters


def test_parameter_is_a_tensor_of_the_fast_path():
    data = wrap(np.ones(3))
    parameter = nn.Parameter(data)
    assert type(parameter) is Tensor
    assert isinstance(parameter, nn.Parameter)
    assert not isinstance(data, nn.Parameter)
    assert not isinstance(parameter * 2, nn.Parameter)
    assert not isinstance(3, nn.Parameter)
    assert parameter.requires_grad
    assert parameter.is_leaf
    assert np.shares_memory(parameter.array, data.array)
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)


@pytest.mark.oracle
def test_parameter_prints_as_torchs(torch):
    array = np.array([1.0, 2.5], np.float32)
    assert repr(nn.Parameter(wrap(array))) == repr(torch.nn.Parameter(torch.from_numpy(array)))


def test_parameter_is_made_from_a_tensor():
    with pytest.raises(TypeError, match="made from a Tensor, not list"):
        nn.Parameter([1.0])


# ---- modules


class Nested(nn.Module):
    """A module with everything inside."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(wrap(np.ones(2, np.float32)))
        self.layer = nn.Linear(2, 2)
        self.shared = self.layer
        self.blocks = nn.ModuleList([nn.Linear(2, 1)])
        self.register_buffer("mean", wrap(np.zeros(2)))
        self.register_buffer("scratch", wrap(np.zeros(1)), persistent=False)
        self.number = 3

    def forward(self, x):
        return self.layer(x * self.weight)


def test_what_is_inside():
    module = Nested()
    names = ["weight", "layer.weight", "layer.bias", "blocks.0.weight", "blocks.0.bias"]
    assert [name for name, _ in module.named_parameters()] == names
    assert [name for name, _ in module.named_parameters(recurse=False)] == ["weight"]
    assert [name for name, _ in module.named_buffers()] == ["mean", "scratch"]
    assert [name for name, _ in module.named_modules()] == ["", "layer", "blocks", "blocks.0"]
    assert [name for name, _ in module.named_children()] == ["layer", "blocks"]
    assert len(list(module.parameters())) == 5
    assert len(list(module.children())) == 2


def test_attributes_change_their_kind():
    module = Nested()
    module.number = nn.Parameter(wrap(np.ones(1)))
    assert "number" in dict(module.named_parameters())
    module.layer = None
    assert module.layer is None
    module.weight = None
    assert "weight" not in dict(module.named_parameters())
    module.mean = wrap(np.ones(2))
    assert module.mean is dict(module.named_buffers())["mean"]
    del module.shared
    with pytest.raises(AttributeError, match="no attribute 'shared'"):
        module.shared  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'shared'"):
        del module.shared


def test_wrong_attributes():
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Forgetful()
    module = Nested()
    with pytest.raises(TypeError, match="as parameter 'weight'"):
        module.weight = wrap(np.ones(2))
    with pytest.raises(TypeError, match="as child module 'layer'"):
        module.layer = 3
    with pytest.raises(TypeError, match="as buffer 'mean'"):
        module.mean = 3
    with pytest.raises(TypeError, match=r"nn.Parameter or None required"):
        module.register_parameter("other", wrap(np.ones(2)))
    with pytest.raises(TypeError, match="object to buffer 'other'"):
        module.register_buffer("other", 3)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        module.add_module("other", 3)
    with pytest.raises(KeyError, match=r"buffer name can.*t contain"):
        module.register_buffer("a.b", None)
    with pytest.raises(KeyError, match=r"parameter name can.*t be empty"):
        module.register_parameter("", None)
    with pytest.raises(TypeError, match=r"module name should be a string. Got int"):
        module.add_module(1, None)
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)


def test_train_and_eval():
    module = Nested()
    assert module.training
    assert module.eval() is module
    assert not any(inside.training for inside in module.modules())
    assert module.train().layer.training
    with pytest.raises(ValueError, match="expected to be boolean"):
        module.train("yes")


def test_zero_grad():
    module = nn.Linear(2, 1)
    module(wrap(np.ones(2, np.float32))).backward()
    gradient = module.weight.grad
    module.zero_grad(set_to_none=False)
    assert gradient.tolist() == [[0.0, 0.0]]
    module.zero_grad()
    assert module.weight.grad is None


def test_requires_grad_and_apply():
    module = Nested().requires_grad_(False)
    assert not any(param.requires_grad for param in module.parameters())
    seen = []
    module.apply(lambda inside: seen.append(type(inside).__name__))
    assert seen == ["Linear", "Linear", "ModuleList", "Nested"]


def test_to_another_dtype():
    module = nn.Linear(2, 1)
    weight = module.weight
    module(wrap(np.ones(2, np.float32))).backward()
    assert module.double() is module
    assert module.weight is weight
    assert weight.dtype == weight.grad.dtype == np.float64
    module(wrap(np.ones(2))).backward()
    assert weight.grad.tolist() == [[2.0, 2.0]]
    with pytest.raises(TypeError, match="only accepts floating point or complex"):
        module.to(np.int64)


def test_state_goes_from_one_module_to_another():
    first, second = Nested(), Nested()
    state = first.state_dict()
    assert "scratch" not in state
    assert {"mean", "shared.weight", "blocks.0.bias"} <= state.keys()
    assert not any(tensor.requires_grad for tensor in state.values())
    loaded = second.load_state_dict(state)
    assert repr(loaded) == "<All keys matched successfully>"
    x = wrap(np.array([1.0, 2.0], np.float32))
    assert first(x).tolist() == second(x).tolist()
    assert not np.shares_memory(first.weight.array, second.weight.array)


@pytest.mark.oracle
def test_errors_of_loading_are_torchs(torch):
    wrong = {"weight": np.ones((2, 2), np.float32), "gain": np.ones(1, np.float32)}
    with pytest.raises(RuntimeError) as expected:
        torch.nn.Linear(2, 1).load_state_dict({k: torch.from_numpy(v) for k, v in wrong.items()})
    with pytest.raises(RuntimeError) as found:
        nn.Linear(2, 1).load_state_dict({key: wrap(value) for key, value in wrong.items()})
    assert str(found.value).replace("gradspec.", "torch.") == str(expected.value)


def test_loading_what_there_is():
    module = nn.Linear(2, 1)
    loaded = module.load_state_dict({"bias": wrap(np.full(1, 7.0)), "x": wrap(np.ones(1))}, False)
    assert loaded.missing_keys == ["weight"]
    assert loaded.unexpected_keys == ["x"]
    assert module.bias.tolist() == [7.0]
    assert module.bias.dtype == np.float32


def test_containers():
    layers = [nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2)]
    chain = nn.Sequential(*layers)
    assert len(chain) == 3
    assert list(chain) == layers
    assert chain[-1] is layers[-1]
    assert list(chain[:2]) == layers[:2]
    named = nn.Sequential(OrderedDict(first=layers[0], second=layers[1]))
    assert named.first is layers[0]
    chain.append(nn.Tanh())
    assert [name for name, _ in chain.named_children()] == ["0", "1", "2", "3"]
    several = nn.ModuleList(layers[:1]).extend(layers[1:])
    assert several[1:][0] is layers[1]
    assert len(several) == 3


def test_flatten():
    assert nn.Flatten()(wrap(np.zeros((2, 3, 4)))).shape == (2, 12)


# ---- initial values


@pytest.mark.parametrize(("inputs", "outputs"), [(100, 400), (25, 1000)])
def test_linear_starts_as_in_torch(inputs, outputs):
    """Uniform of variance 1 / (3 inputs), weights and bias."""
    layer = nn.Linear(inputs, outputs)
    for values in (layer.weight.array, layer.bias.array):
        assert np.abs(values).max() <= 1 / np.sqrt(inputs)
        np.testing.assert_allclose(values.var(), 1 / (3 * inputs), rtol=0.2)
    assert nn.Linear(inputs, outputs, bias=False).bias is None
    assert nn.Linear(0, 2).bias.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("rule", "options", "variance"),
    [
        ("xavier_uniform_", {}, 2 / 500),
        ("xavier_normal_", {"gain": 2.0}, 4 * 2 / 500),
        ("kaiming_uniform_", {}, 2 / 300),
        ("kaiming_uniform_", {"a": 5**0.5}, 1 / 3 / 300),
        ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}, 2 / 200),
        ("kaiming_normal_", {"nonlinearity": "tanh"}, 25 / 9 / 300),
        ("normal_", {"mean": 0.0, "std": 3.0}, 9.0),
        ("uniform_", {"a": -1.0, "b": 1.0}, 1 / 3),
    ],
)
def test_variances(rule, options, variance):
    tensor = nn.Parameter(wrap(np.empty((200, 300))))
    assert getattr(nn.init, rule)(tensor, **options) is tensor
    np.testing.assert_allclose(tensor.array.var(), variance, rtol=0.05)
    assert tensor._version == 1
    assert tensor.requires_grad


def test_constants():
    tensor = wrap(np.empty((2, 2)))
    assert nn.init.ones_(tensor).tolist() == [[1, 1], [1, 1]]
    assert nn.init.zeros_(tensor).tolist() == [[0, 0], [0, 0]]
    assert nn.init.constant_(tensor, 3).tolist() == [[3, 3], [3, 3]]
    assert nn.init.eye_(tensor).tolist() == [[1, 0], [0, 1]]


@pytest.mark.oracle
def test_gains(torch):
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"):
        assert nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain(
        "leaky_relu", 0.3
    )


def test_wrong_initialisations():
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(wrap(np.ones(2)))
    with pytest.raises(ValueError, match="Unsupported nonlinearity step"):
        nn.init.calculate_gain("step")
    with pytest.raises(ValueError, match="Mode fan_middle not supported"):
        nn.init.kaiming_normal_(wrap(np.ones((2, 2))), mode="fan_middle")
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions"):
        nn.init.eye_(wrap(np.ones(2)))


def test_who_has_a_buffer_keeps_it_as_it_was():
    module = nn.BatchNorm1d(1)
    mean, weight = module.running_mean, module.weight
    module.double()
    assert (mean.dtype, module.running_mean.dtype) == (np.float32, np.float64)
    assert weight is module.weight
    assert weight.dtype == np.float64
