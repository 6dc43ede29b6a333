"""`nn.utils` clips, flattens and reparametrises as PyTorch does."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

SHAPES = {"weight": (3, 2), "bias": (3,)}


def linear(library: Any, **shapes: Any) -> Any:
    """A layer of known weights, in float64."""
    layer = library.nn.Linear(2, 3).double()
    rng = np.random.default_rng(0)
    with library.no_grad():
        for param in (layer.weight, layer.bias):
            param.copy_(library.tensor(rng.normal(size=tuple(param.shape))))
    return layer


def convolution(library: Any) -> Any:
    layer = library.nn.ConvTranspose1d(2, 3, 2).double()
    with library.no_grad():
        layer.weight.copy_(library.tensor(np.random.default_rng(1).normal(size=(2, 3, 2))))
        layer.bias.zero_()
    return layer


def inputs(library: Any, layer: Any) -> Any:
    shape = (4, 2) if isinstance(layer, library.nn.Linear) else (4, 2, 5)
    return library.tensor(np.random.default_rng(2).normal(size=shape))


def results(library: Any, layer: Any) -> dict[str, Any]:
    """The output of a layer and the gradients of its parameters, in order of their names."""
    layer.zero_grad()
    out = layer(inputs(library, layer))
    (out * out).sum().backward()
    found = {"out": out.detach().numpy()}
    for name, param in sorted(layer.named_parameters()):
        found[name] = param.grad.numpy()
    return found


def assert_close(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("norm_type", [2.0, 1, 3.5, float("inf"), -1.0, 0])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping_by_norm(torch, norm_type, max_norm):
    found = []
    for library in (gs, torch):
        layer = linear(library)
        layer.register_parameter("unused", library.nn.Parameter(library.ones(2)))
        (layer(inputs(library, layer)) ** 2).sum().backward()
        total = library.nn.utils.clip_grad_norm_(layer.parameters(), max_norm, norm_type)
        alone = library.nn.utils.get_total_norm([layer.weight.grad], norm_type)
        one = library.nn.utils.clip_grad_norm_(layer.bias, 0.1, norm_type, foreach=False)
        found.append([total, alone, one, layer.weight.grad, layer.bias.grad])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-10)


def test_clipping_in_other_cases(torch):
    def behaviour(library: Any) -> Any:
        x = library.tensor([1.0, -5.0, 3.0], requires_grad=True)
        y = library.tensor([1 + 2j], requires_grad=True)
        x.grad, y.grad = library.tensor([3.0, -4.0, 0.1]), library.tensor([3 + 4j])
        utils = library.nn.utils
        norm = utils.clip_grad_norm_([x, y], 1.0)
        grad = x.grad
        utils.clip_grad_value_(x, 0.3)
        x.grad = library.tensor([float("nan"), 1.0, 2.0])
        return [
            norm,
            y.grad,
            grad,
            attempt(lambda: utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)),
            utils.clip_grad_norm_([], 1.0),
            utils.get_total_norm([]),
            utils.clip_grad_norm_((p for p in ()), 1.0),
        ]

    assert_same(behaviour, torch)


def test_vectors_of_parameters(torch):
    def behaviour(library: Any) -> Any:
        layer = linear(library)
        vector = library.nn.utils.parameters_to_vector(layer.parameters())
        library.nn.utils.vector_to_parameters(vector * 2, layer.parameters())
        shapes = [list(param.shape) for param in layer.parameters()]
        return vector, layer.weight, layer.bias, shapes

    assert_same(behaviour, torch)


@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.parametrize("make", [linear, convolution])
def test_weight_norm_by_a_hook(torch, make, dim):
    found = []
    for library in (gs, torch):
        layer = make(library)
        with warnings_ignored():
            library.nn.utils.weight_norm(layer, dim=dim)
        shapes = [list(param.shape) for param in layer.parameters()]
        result = results(library, layer)
        library.nn.utils.remove_weight_norm(layer)
        found.append((shapes, result, results(library, layer)))
        with pytest.raises(ValueError, match="not found"):
            library.nn.utils.remove_weight_norm(layer)
    assert found[0][0] == found[1][0]
    assert_close(found[0][1], found[1][1])
    assert_close(found[0][2], found[1][2])


@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.parametrize("make", [linear, convolution])
def test_weight_norm(torch, make, dim):
    found = []
    for library in (gs, torch):
        layer = make(library)
        library.nn.utils.parametrizations.weight_norm(layer, dim=dim)
        names = [name for name, _ in layer.named_parameters()]
        result = results(library, layer)
        with library.no_grad():
            layer.weight = layer.weight * 3
        tripled = results(library, layer)
        library.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        found.append((names, result, tripled, results(library, layer), type(layer).__name__))
    assert (found[0][0], found[0][4]) == (found[1][0], found[1][4])
    for index in (1, 2, 3):
        assert_close(found[0][index], found[1][index])


def test_states_of_the_former_weight_norm(torch):
    for library in (gs, torch):
        old, new = linear(library), linear(library)
        with warnings_ignored():
            library.nn.utils.weight_norm(old)
        library.nn.utils.parametrizations.weight_norm(new)
        with library.no_grad():
            old.weight_g.mul_(2)
        new.load_state_dict(old.state_dict())
        x = inputs(library, old)
        np.testing.assert_allclose(new(x).detach().numpy(), old(x).detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("make", [linear, convolution])
@pytest.mark.parametrize("is_hook", [False, True])
def test_spectral_norm(torch, make, is_hook):
    layers = []
    for library in (gs, torch):
        layer = make(library)
        home = library.nn.utils if is_hook else library.nn.utils.parametrizations
        with warnings_ignored():
            home.spectral_norm(layer, n_power_iterations=2)
        layers.append(layer)
    mine, theirs = layers
    state = {name: gs.tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    mine.load_state_dict(state)
    for train in (True, False):
        mine.train(train)
        theirs.train(train)
        assert_close(results(gs, mine), results(torch, theirs))
    if is_hook:
        gs.nn.utils.remove_spectral_norm(mine)
        torch.nn.utils.remove_spectral_norm(theirs)
        assert_close(results(gs, mine), results(torch, theirs))


def test_spectral_norm_finds_the_largest_singular_value():
    layer = linear(gs)
    largest = np.linalg.svd(layer.weight.detach().numpy(), compute_uv=False)[0]
    original = layer.weight.detach().numpy().copy()
    gs.nn.utils.parametrizations.spectral_norm(layer).eval()
    np.testing.assert_allclose(layer.weight.detach().numpy(), original / largest, rtol=1e-6)


@pytest.mark.parametrize("name", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal(torch, name, shape):
    layers = []
    for library in (gs, torch):
        layer = library.nn.Linear(shape[1], shape[0], bias=False).double()
        library.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=name)
        layers.append(layer)
    mine, theirs = layers
    assert dict(mine.state_dict()).keys() == dict(theirs.state_dict()).keys()
    rng = np.random.default_rng(4)
    for key in ("original", "0.base"):
        full = f"parametrizations.weight.{key}"
        value = theirs.state_dict()[full]
        if key == "original":
            value = value + torch.tensor(rng.normal(size=tuple(value.shape)))
            if name == "householder" or (name is None and shape[0] != shape[1]):
                value = value.mT if shape[0] < shape[1] else value
                value.diagonal().fill_(-1.0)
                value = value.mT if shape[0] < shape[1] else value
        for library, layer in ((torch, theirs), (gs, mine)):
            given = library.tensor(value.numpy().copy())
            layer.load_state_dict({**layer.state_dict(), full: given})
    np.testing.assert_allclose(
        mine.weight.detach().numpy(), theirs.weight.detach().numpy(), rtol=1e-9, atol=1e-11
    )
    grads = []
    for library, layer in ((gs, mine), (torch, theirs)):
        (layer.weight * library.arange(np.prod(shape)).reshape(*shape)).sum().backward()
        grads.append(layer.parametrizations.weight.original.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-8, atol=1e-10)


def test_an_orthogonal_weight_can_be_assigned():
    layer = gs.nn.Linear(4, 4, bias=False).double()
    gs.nn.utils.parametrizations.orthogonal(layer)
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    layer.weight = gs.tensor(q)
    np.testing.assert_allclose(layer.weight.detach().numpy(), q, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (1, 3), (3, 1)])
def test_reflections_make_the_weight_without_trivialization(torch, shape):
    weight = np.random.default_rng(7).normal(size=shape)
    found = []
    for library in (gs, torch):
        layer = library.nn.Linear(shape[1], shape[0], bias=False).double()
        layer.weight = library.nn.Parameter(library.tensor(weight))
        library.nn.utils.parametrizations.orthogonal(
            layer, orthogonal_map="householder", use_trivialization=False
        )
        original = layer.parametrizations.weight.original
        found.append((layer.weight.detach().numpy(), original.detach().numpy()))
        q, _ = np.linalg.qr(weight if shape[0] >= shape[1] else weight.T)
        q = q if shape[0] >= shape[1] else q.T
        layer.weight = library.tensor(-q)
        np.testing.assert_allclose(layer.weight.detach().numpy(), -q, atol=1e-12)
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


class warnings_ignored:
    """Leave out PyTorch's deprecations."""

    def __enter__(self) -> None:
        import warnings

        self.block = warnings.catch_warnings()
        self.block.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, *error: Any) -> None:
        self.block.__exit__(*error)


def symmetric(library: Any, right_inverse: bool = False) -> Any:
    """A parametrization by the upper triangle."""

    class Symmetric(library.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

    if right_inverse:
        Symmetric.right_inverse = lambda self, a: a.triu()
    return Symmetric()


def test_parametrizations(torch):
    def behaviour(library: Any) -> Any:
        parametrize = library.nn.utils.parametrize
        layer = library.nn.Linear(3, 3).double()
        with library.no_grad():
            layer.weight.copy_(library.arange(9).reshape(3, 3))
            layer.bias.zero_()
        parametrize.register_parametrization(layer, "weight", symmetric(library, True))
        facts = [
            layer.weight,
            layer(library.ones(1, 3).double()),
            type(layer).__name__,
            parametrize.type_before_parametrizations(layer).__name__,
            [name for name, _ in layer.named_parameters()],
            list(layer.state_dict()),
            parametrize.is_parametrized(layer),
            parametrize.is_parametrized(layer, "bias"),
            layer.parametrizations.weight.original,
        ]
        with library.no_grad():
            layer.weight = library.ones(3, 3).double()
        twin = copy.deepcopy(layer)
        with parametrize.cached():
            facts.append(layer.weight is layer.weight)
        facts += [layer.weight is layer.weight, twin.weight, layer.weight]
        other = library.nn.Linear(3, 3).double()
        parametrize.transfer_parametrizations_and_params(layer, other)
        facts.append(other.weight)
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
        facts += [layer.weight, type(layer).__name__, list(layer.state_dict())]
        return facts

    assert_same(behaviour, torch)


def test_wrong_parametrizations(torch):
    def behaviour(library: Any) -> Any:
        parametrize, nn = library.nn.utils.parametrize, library.nn

        class Flat(nn.Module):
            def forward(self, x: Any) -> Any:
                return x.reshape(-1)

        class Wide(nn.Module):
            def forward(self, x: Any) -> Any:
                return x.double()

        class Text(nn.Module):
            def forward(self, x: Any) -> Any:
                return "text"

        layer = nn.Linear(3, 3)
        plain = symmetric(library)
        return [
            attempt(lambda: parametrize.register_parametrization(layer, "gain", plain)),
            attempt(lambda: parametrize.register_parametrization(layer, "weight", Flat())),
            attempt(lambda: parametrize.register_parametrization(layer, "weight", Wide())),
            attempt(lambda: parametrize.register_parametrization(layer, "weight", Text())),
            attempt(lambda: parametrize.remove_parametrizations(layer, "weight")),
            attempt(lambda: nn.utils.parametrizations.orthogonal(layer, "bias")),
            attempt(lambda: nn.utils.parametrizations.orthogonal(layer, orthogonal_map="x")),
            attempt(lambda: nn.utils.parametrizations.spectral_norm(layer, "gain")),
            attempt(lambda: nn.utils.parametrizations.spectral_norm(layer, dim=5)),
            attempt(
                lambda: setattr(parametrized(parametrize, layer, plain), "weight", layer.weight * 2)
            ),
            attempt(lambda: parametrize.register_parametrization(layer, "weight", Flat())),
        ]

    def parametrized(parametrize: Any, layer: Any, module: Any) -> Any:
        return parametrize.register_parametrization(layer, "weight", module)

    assert_same(behaviour, torch)


@pytest.mark.parametrize("returned", ["none", "pair", "mixed", "bool", "shorter"])
def test_wrong_right_inverses_say_what_is_wrong(torch, returned):
    texts = {
        "none": ["must return a Tensor or a Sequence of", "right_inverse must return a tensor"],
        "pair": ["positional argument", "right_inverse must return a tensor"],
        "mixed": ["of the sequence with type", "right_inverse must return a tensor"],
        "bool": ["it may not change the dtype", "must have the same dtype"],
        "shorter": ["may not change the shape", "must have the same shape"],
    }
    inverses = {
        "none": lambda x: None,
        "pair": lambda x: (x, x),
        "mixed": lambda x: (None, x),
        "bool": lambda x: x.bool(),
        "shorter": lambda x: x[:-1],
    }
    for library in (gs, torch):
        parametrize = library.nn.utils.parametrize

        class Wrong(library.nn.Module):
            def forward(self, x: Any) -> Any:
                return x

            def right_inverse(self, x: Any) -> Any:
                return inverses[returned](x)

        layer = library.nn.Linear(2, 2)
        with pytest.raises((ValueError, TypeError), match=texts[returned][0]):
            parametrize.register_parametrization(layer, "weight", Wrong())
        layer = library.nn.Linear(2, 2)  # the first may have been changed already
        parametrize.register_parametrization(layer, "weight", symmetric(library))
        with pytest.raises(ValueError, match=texts[returned][1]):
            parametrize.register_parametrization(layer, "weight", Wrong())


def test_vectors_of_the_wrong_length(torch):
    def behaviour(library: Any) -> Any:
        parameters = [library.nn.Parameter(library.ones(2))]
        fill = library.nn.utils.vector_to_parameters
        return [attempt(partial(fill, library.ones(n), parameters)) for n in (1, 2, 3)]

    assert_same(behaviour, torch)


def test_modules_without_initial_values():
    layer = gs.nn.utils.skip_init(gs.nn.Linear, 2, 3, bias=False)
    assert layer.weight.shape == (3, 2)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        gs.nn.utils.skip_init(list)


def test_the_norm_of_nothing_has_the_default_dtype(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        library.set_default_dtype(library.float64)
        try:
            param = library.ones(1, requires_grad=True)
            utils = library.nn.utils
            return [utils.get_total_norm([]), utils.clip_grad_norm_([param], 1.0)]
        finally:
            library.set_default_dtype(library.float32)

    assert_same(behaviour, torch)
