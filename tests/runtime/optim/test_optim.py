"""Optimizers take PyTorch's steps."""

import numpy as np
import pytest

from gradspec.core.tensor import wrap
from gradspec.optim import SGD, Adam, AdamW, RAdam
from gradspec.optim.optimizer import Optimizer

ALGORITHMS = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.5, "maximize": True}),
    (Adam, {}),
    (Adam, {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (Adam, {"lr": 0.1, "amsgrad": True}),
    (Adam, {"lr": 0.1, "maximize": True, "weight_decay": 0.1}),
    (AdamW, {}),
    (AdamW, {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}),
]

GRADIENTS = np.random.default_rng(0).normal(size=(8, 2, 3))


def steps(optimizer, param, from_array, dtype):
    """The values after each of several given gradients."""
    for gradient in GRADIENTS:
        param.grad = from_array(gradient.astype(dtype))
        optimizer.step()
        yield param.detach().numpy().copy()


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("algorithm", "options"), ALGORITHMS, ids=str)
def test_steps_are_torchs(torch, algorithm, options, dtype):
    start = np.linspace(-1, 1, 6).reshape(2, 3).astype(dtype)
    ours = wrap(start.copy()).requires_grad_()
    theirs = torch.from_numpy(start.copy()).requires_grad_()
    our_steps = steps(algorithm([ours], **options), ours, wrap, dtype)
    their_optimizer = getattr(torch.optim, algorithm.__name__)([theirs], **options)
    their_steps = steps(their_optimizer, theirs, torch.from_numpy, dtype)
    tolerance = 1e-12 if dtype == "float64" else 2e-6
    for found, expected in zip(our_steps, their_steps, strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize("algorithm", [SGD, Adam])
def test_complex_parameters(torch, algorithm):
    start = np.array([[1 + 2j, -1 + 0.5j]])
    ours = wrap(start.T.copy().T).requires_grad_()
    theirs = torch.from_numpy(start.copy()).requires_grad_()
    optimizers = algorithm([ours], lr=0.1), getattr(torch.optim, algorithm.__name__)([theirs], 0.1)
    for gradient in ([[1 - 1j, 2j]], [[0.5 + 1j, -1 + 1j]]):
        ours.grad, theirs.grad = wrap(np.array(gradient)), torch.tensor(gradient).cdouble()
        for optimizer in optimizers:
            optimizer.step()
        np.testing.assert_allclose(ours.array, theirs.detach().numpy())


def leaf(*values: float):
    return wrap(np.array(values)).requires_grad_()


def test_training_reaches_the_minimum():
    x = leaf(5.0, -3.0)
    optimizer = SGD([x], lr=0.1, momentum=0.5)
    for _ in range(100):
        optimizer.zero_grad()
        ((x - 1) * (x - 1)).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(x.array, [1, 1], atol=1e-6)
    assert x.requires_grad
    assert x.is_leaf


def test_groups_have_their_own_options():
    first, second = leaf(1.0), leaf(1.0)
    optimizer = SGD([{"params": first}, {"params": [second], "lr": 0.5}], lr=0.1)
    first.grad, second.grad = wrap(np.ones(1)), wrap(np.ones(1))
    optimizer.step()
    assert first.tolist() == [0.9]
    assert second.tolist() == [0.5]
    optimizer.add_param_group({"params": leaf(1.0)})
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5, 0.1]


def test_a_parameter_without_gradient_stays():
    x, y = leaf(1.0), leaf(1.0)
    x.grad = wrap(np.ones(1))
    SGD([x, y], lr=0.1).step()
    assert y.tolist() == [1.0]


def test_gradients_are_not_modified():
    for algorithm, options in ALGORITHMS:
        x = leaf(1.0)
        optimizer = algorithm([x], **options)
        for _ in range(2):
            x.grad = wrap(np.ones(1))
            optimizer.step()
            assert x.grad.tolist() == [1.0]


def test_a_step_counts_as_an_in_place_write():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    SGD([x], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_zero_grad():
    x = leaf(1.0)
    optimizer = SGD([x], lr=0.1)
    (x * 3).sum().backward()
    gradient = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0.0]
    assert gradient.tolist() == [0.0]
    optimizer.zero_grad()
    assert x.grad is None


def test_closure():
    x = leaf(2.0)
    optimizer = SGD([x], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 4.0
    np.testing.assert_allclose(x.array, [1.6])


@pytest.mark.parametrize(("algorithm", "options"), ALGORITHMS, ids=str)
def test_state_can_be_resumed(algorithm, options):
    values = []
    for resumes in (False, True):
        x = leaf(1.0, 2.0)
        optimizer = algorithm([x], **options)
        for number in range(6):
            if resumes and number == 3:
                state = optimizer.state_dict()
                optimizer = algorithm([x], lr=123.0)
                optimizer.load_state_dict(state)
            x.grad = wrap(np.array([1.0, -2.0]) * number)
            optimizer.step()
        values.append(x.tolist())
    assert values[0] == values[1]


def test_state_dict_numbers_the_parameters():
    x, y = leaf(1.0), leaf(2.0)
    optimizer = SGD([{"params": [x]}, {"params": [y]}], lr=0.1, momentum=0.9)
    y.grad = wrap(np.array([3.0]))
    optimizer.step()
    state = optimizer.state_dict()
    assert [group["params"] for group in state["param_groups"]] == [[0], [1]]
    assert list(state["state"]) == [1]
    assert state["state"][1]["momentum_buffer"].tolist() == [3.0]


@pytest.mark.oracle
def test_repr_is_torchs(torch):
    ours = repr(SGD([leaf(1.0)], lr=0.1))
    assert ours == repr(torch.optim.SGD([torch.ones(1)], lr=0.1))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "options",
    [
        {"lr": -1},
        {"lr": 1, "momentum": -1},
        {"lr": 1, "weight_decay": -1},
        {"lr": 1, "nesterov": True},
        {"lr": 1, "betas": (1.0, 0.9)},
        {"lr": 1, "eps": -1},
    ],
    ids=str,
)
def test_wrong_options(torch, options):
    name = "Adam" if {"betas", "eps"} & options.keys() else "SGD"
    with pytest.raises(ValueError, match=r".") as expected:
        getattr(torch.optim, name)([torch.ones(1)], **options)
    with pytest.raises(ValueError, match=r".") as found:
        {"Adam": Adam, "SGD": SGD}[name]([leaf(1.0)], **options)
    assert str(found.value) == str(expected.value)


def test_wrong_parameters():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="empty parameter list"):
        SGD([], lr=0.1)
    with pytest.raises(TypeError, match="iterable of Tensors"):
        SGD(x, lr=0.1)
    with pytest.raises(TypeError, match="one of the params is int"):
        SGD([1], lr=0.1)
    with pytest.raises(ValueError, match="non-leaf"):
        SGD([x * 2], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        SGD([{"params": [x]}, {"params": [x]}], lr=0.1)
    with pytest.raises(TypeError, match="must be a dict"):
        SGD([x], lr=0.1).add_param_group([x])
    with pytest.raises(ValueError, match="doesn't match the size"):
        SGD([x], lr=0.1).load_state_dict(SGD([leaf(1.0), leaf(2.0)], lr=0.1).state_dict())
    x.grad = wrap(np.ones(1))
    with pytest.raises(NotImplementedError, match="does not define update"):
        Optimizer([x], {}).step()


def test_radam_with_a_short_average() -> None:
    x = wrap(np.array([4.0])).requires_grad_()
    optimizer = RAdam([x], lr=0.5, betas=(0.0, 0.6))
    for expected in (3.0, 2.0):
        optimizer.zero_grad()
        (2 * x).sum().backward()
        optimizer.step()
        assert abs(x.item() - expected) < 1e-12
