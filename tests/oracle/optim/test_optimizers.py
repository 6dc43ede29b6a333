"""Optimizers go PyTorch's way, step for step, over many options."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"maximize": True, "foreach": True},
        {"fused": True},
    ],
    "Adam": [
        {"lr": 0.05},
        {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True},
        {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
        {"lr": 0.05, "fused": True},
    ],
    "AdamW": [{}, {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True, "foreach": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}],
    "Adafactor": [
        {},
        {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-8, 1e-2), "d": 2.0, "weight_decay": 0.1},
        {"lr": 0.1, "maximize": True},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5},
        {"lr": 0.1, "maximize": True, "foreach": False},
    ],
    "Adamax": [{}, {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}],
    "ASGD": [
        {},
        {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 5, "weight_decay": 0.1},
        {"lr": 0.1, "maximize": True},
    ],
    "NAdam": [
        {},
        {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1, "momentum_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1, "betas": (0.5, 0.6)},
        {"lr": 0.1, "betas": (0.5, 0.5)},
        {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RMSprop": [
        {},
        {"lr": 0.1, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1, "centered": True},
        {"lr": 0.1, "momentum": 0.9, "centered": True, "maximize": True},
    ],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (1e-3, 0.2), "maximize": True}],
}

CASES = [(name, options) for name, several in OPTIONS.items() for options in several]


def parameters(library: Any, dtype: str) -> list[Any]:
    """A matrix, a vector, a number and a block, which require gradients."""
    rng = np.random.default_rng(3)
    arrays = [np.asarray(rng.normal(size=shape)) for shape in ((3, 4), (5,), (), (2, 3, 2))]
    if np.dtype(dtype).kind == "c":
        arrays = [array + 1j * rng.normal(size=array.shape) for array in arrays]
    return [library.tensor(array.astype(dtype), requires_grad=True) for array in arrays]


def loss_of(library: Any, params: list[Any], step: int = 0) -> Any:
    """A function whose gradients change their signs as parameters move, and from step to step.

    So they do not vanish: the quotient of two vanishing numbers is rounding alone.
    """
    total = 0
    rng = np.random.default_rng(step)
    for number, param in enumerate(params):
        noise = rng.normal(size=tuple(param.shape))
        square = (param * param.conj()).real if param.is_complex() else param * param
        real = param.real if param.is_complex() else param
        total = total + square.sum() * (number + 1) / 4 + (2 * real).sin().sum()
        total = total + (real * library.as_tensor(noise, dtype=real.dtype)).sum()
    return total


def trajectory(library: Any, name: str, options: dict[str, Any], dtype: str, steps: int):
    params = parameters(library, dtype)
    optimizer = getattr(library.optim, name)(params, **options)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(library, params, step).backward()
        optimizer.step()
        yield [param.detach().numpy().copy() for param in params]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_a_hundred_steps(torch, name, options):
    ours = trajectory(gs, name, options, "float64", 100)
    theirs = trajectory(torch, name, options, "float64", 100)
    for found, expected in zip(ours, theirs, strict=True):
        for mine, other in zip(found, expected, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("fused", [None, False, True])
def test_the_dtype_of_counted_steps(torch, name, fused):
    dtypes = []
    for library in (gs, torch):
        library.set_default_dtype(library.float64)
        try:
            x = library.ones(2, requires_grad=True)
            optimizer = getattr(library.optim, name)([x], fused=fused)
            x.sum().backward()
            optimizer.step()
            dtypes.append(optimizer.state[x]["step"].numpy().dtype)
        finally:
            library.set_default_dtype(library.float32)
    assert dtypes[0] == dtypes[1]


AS_TENSORS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "fused": True, "capturable": True}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01}),
    ("RMSprop", {"lr": 0.05, "weight_decay": 0.1}),
]


@pytest.mark.parametrize(("name", "options"), AS_TENSORS, ids=str)
def test_options_that_are_tensors(torch, name, options):
    """Half of the steps with a new optimizer that has loaded the state of the first."""

    def values(library: Any) -> list[Any]:
        numbers = {
            key: library.tensor(value, dtype=library.float64)
            for key, value in options.items()
            if key in ("lr", "weight_decay")
        }
        params = parameters(library, "float64")
        optimizer = getattr(library.optim, name)(params, **{**options, **numbers})
        found = []
        for step in range(40):
            optimizer.zero_grad()
            loss_of(library, params, step).backward()
            optimizer.step()
            found.append([param.detach().numpy().copy() for param in params])
            if step == 20:
                state = optimizer.state_dict()
                optimizer = getattr(library.optim, name)(params)
                optimizer.load_state_dict(state)
        return found

    for found, expected in zip(values(gs), values(torch), strict=True):
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "Adafactor"])
def test_complex_parameters(torch, name):
    options = {} if name in ("Rprop",) else {"weight_decay": 0.1}
    ours = trajectory(gs, name, options, "complex128", 20)
    theirs = trajectory(torch, name, options, "complex128", 20)
    for found, expected in zip(ours, theirs, strict=True):
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_states_have_the_same_entries(torch, name):
    options = OPTIONS[name][-1]
    states = []
    for library in (gs, torch):
        params = parameters(library, "float32")
        optimizer = getattr(library.optim, name)(params, **options)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(library, params).backward()
            optimizer.step()
        states.append(optimizer.state_dict())
    mine, theirs = states
    assert [list(group) for group in mine["param_groups"]] == [
        sorted_like(group, other)
        for group, other in zip(theirs["param_groups"], mine["param_groups"], strict=True)
    ]
    assert mine["state"].keys() == theirs["state"].keys()
    for number, expected in theirs["state"].items():
        found = mine["state"][number]
        assert {key for key, value in expected.items() if value is not None} == found.keys()
        for key, value in found.items():
            assert str(expected[key].dtype) == f"torch.{value.dtype}", key
            np.testing.assert_allclose(value.numpy(), expected[key].numpy(), rtol=2e-5, atol=1e-6)


def sorted_like(group: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The keys of a group in the order of another; a key that is only in one stays visible."""
    return [key for key in other if key in group] + [key for key in group if key not in other]


@pytest.mark.parametrize("name", OPTIONS)
def test_a_state_of_pytorch_resumes_here(torch, name):
    """Ten steps in PyTorch; its state loaded, ten steps more, there and here."""
    options = OPTIONS[name][-1]
    params = parameters(torch, "float64")
    optimizer = getattr(torch.optim, name)(params, **options)
    for step in range(10):
        optimizer.zero_grad()
        loss_of(torch, params, step).backward()
        optimizer.step()
    results = []
    for library in (gs, torch):
        copies = [library.tensor(param.detach().numpy(), requires_grad=True) for param in params]
        saved = copy.deepcopy(optimizer.state_dict())
        for entries in saved["state"].values():
            entries.update(
                {k: library.tensor(v.numpy()) for k, v in entries.items() if v is not None}
            )
        other = getattr(library.optim, name)(copies, lr=77.0)
        other.load_state_dict(saved)
        for step in range(10):
            other.zero_grad()
            loss_of(library, copies, step).backward()
            other.step()
        results.append([param.detach().numpy() for param in copies])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


DIFFERENTIABLE = [
    (name, {key: value for key, value in options.items() if key not in ("foreach", "fused")})
    for name, options in CASES
    if name != "Adafactor"
]


@pytest.mark.parametrize(("name", "options"), DIFFERENTIABLE, ids=str)
def test_gradients_through_steps(torch, name, options):
    """By the first parameter and the gradients of three steps, or one where PyTorch refuses more.

    PyTorch counts the steps of Adam and NAdam in float32: `1 - 0.999` is off by 6e-5 of itself.
    """
    try:
        theirs = gradients_through(torch, name, options, 3)
        steps = 3
    except RuntimeError:
        theirs = gradients_through(torch, name, options, 1)
        steps = 1
    rtol, atol = (1e-5, 5e-6) if name in ("Adam", "AdamW", "NAdam") else (1e-9, 1e-11)
    for mine, other in zip(gradients_through(gs, name, options, steps), theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol)


def gradients_through(library: Any, name: str, options: dict[str, Any], steps: int) -> list[Any]:
    rng = np.random.default_rng(5)
    start = library.tensor(rng.normal(size=(2, 3)), requires_grad=True)
    grads = library.tensor(rng.normal(size=(3, 2, 3)), requires_grad=True)
    param = start.clone()
    optimizer = getattr(library.optim, name)([param], **options, differentiable=True)
    for grad in grads[:steps]:
        param.grad = grad
        optimizer.step()
    (param**2).sum().backward()
    return [param.detach().numpy(), start.grad.numpy(), grads.grad.numpy()]


def test_leaves_are_not_written_to_by_recorded_steps(torch):
    for library in (gs, torch):
        x = library.ones(2, requires_grad=True)
        x.grad = library.ones(2)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            library.optim.SGD([x], lr=0.1, differentiable=True).step()
        with pytest.raises(ValueError, match="non-leaf"):
            library.optim.SGD([x * 2], lr=0.1)
    y = gs.ones(2, requires_grad=True) * 2
    y.grad = gs.ones(2)
    rate = gs.tensor(0.1, requires_grad=True)
    with pytest.raises(NotImplementedError, match="lr must not require grad"):
        gs.optim.SGD([y], lr=rate, differentiable=True).step()


LBFGS_OPTIONS = [
    {},
    {"lr": 0.3, "max_iter": 7, "history_size": 3},
    {"max_iter": 3, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 0.01, "max_iter": 5, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "lr": 50.0, "max_eval": 9},
]


@pytest.mark.parametrize("options", LBFGS_OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_lbfgs(torch, options, dtype):
    results = []
    for library in (gs, torch):
        start = np.array([[-1.2, 1.0, 0.7], [0.3, 2.0, -0.5]], dtype)
        x = library.tensor(start, requires_grad=True)
        optimizer = library.optim.LBFGS([x], **options)

        def closure(x=x, optimizer=optimizer, library=library):
            optimizer.zero_grad()
            y = library.view_as_real(x) if x.is_complex() else x
            loss = ((y[..., 1:] - y[..., :-1]) ** 2).sum() + (y**4).sum() / 4 + y.sin().sum()
            loss.backward()
            return loss

        trace = []
        for _ in range(3):
            loss = optimizer.step(closure)
            trace.append((loss.item(), x.detach().numpy().copy()))
        state = optimizer.state_dict()["state"][0]
        results.append((trace, state["func_evals"], state["n_iter"]))
    (found, *counts), (expected, *their_counts) = results
    assert counts == their_counts
    for (loss, values), (their_loss, their_values) in zip(found, expected, strict=True):
        np.testing.assert_allclose(loss, their_loss, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(values, their_values, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [{}, {"lr": 0.1, "nesterov": False, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3}],
    ids=str,
)
def test_muon_rounds_as_bfloat16_does(torch, options):
    """First steps are PyTorch's, but where sums in another order are rounded to the other side."""
    rng = np.random.default_rng(0)
    differences = []
    for grad in (*rng.normal(size=(100, 4, 6)), *rng.normal(size=(100, 7, 3))):
        changed = []
        for library in (gs, torch):
            x = library.zeros(grad.shape, dtype=library.float64, requires_grad=True)
            x.grad = library.tensor(grad)
            library.optim.Muon([x], **options).step()
            changed.append(x.detach().numpy())
        differences.append(np.abs(changed[0] - changed[1]).max() / np.abs(changed[1]).max())
    assert np.mean(np.array(differences) < 1e-6) > 0.95
    assert max(differences) < 0.02


@pytest.mark.parametrize("name", [*OPTIONS, "LBFGS", "Muon", "SparseAdam"])
def test_reprs(torch, name):
    mine, theirs = (
        repr(getattr(library.optim, name)([library.ones(2, 2)])) for library in (gs, torch)
    )
    assert mine == theirs


WRONG = [
    ("Adadelta", {"rho": 1.5}),
    ("Adadelta", {"lr": -1}),
    ("Adafactor", {"beta2_decay": 0.5}),
    ("Adafactor", {"eps": (-1.0, 1e-3)}),
    ("Adafactor", {"eps": (None, -1.0)}),
    ("Adafactor", {"d": 0.5}),
    ("Adafactor", {"lr": -1.0}),
    ("Adafactor", {"weight_decay": -1.0}),
    ("Adagrad", {"lr_decay": -1}),
    ("Adagrad", {"initial_accumulator_value": -1}),
    ("Adagrad", {"fused": True, "differentiable": True}),
    ("Adam", {"fused": True, "foreach": True}),
    ("Adam", {"fused": True, "differentiable": True}),
    ("Adamax", {"betas": (0.9, 1.0)}),
    ("ASGD", {"weight_decay": -1}),
    ("LBFGS", {"lr": -1}),
    ("Muon", {"lr": -1}),
    ("Muon", {"momentum": -1}),
    ("Muon", {"weight_decay": -1}),
    ("Muon", {"adjust_lr_fn": "none"}),
    ("NAdam", {"momentum_decay": -1}),
    ("RAdam", {"betas": (-0.1, 0.9)}),
    ("RMSprop", {"alpha": -1}),
    ("RMSprop", {"momentum": -1}),
    ("Rprop", {"etas": (1.5, 0.5)}),
    ("SGD", {"fused": True, "foreach": True}),
    ("SparseAdam", {"eps": -1}),
]


TENSORS = [
    *((name, {"lr": [0.1, 0.1]}) for name in sorted({name for name, _ in WRONG})),
    ("Adam", {"betas": (0.9, [0.99])}),
    ("Adam", {"betas": ([0.9], [0.99]), "foreach": True}),
    ("Adam", {"lr": [0.1], "foreach": True}),
]


@pytest.mark.parametrize(("name", "options"), TENSORS, ids=str)
def test_wrong_tensors_for_numbers(torch, name, options):
    def given(library, value):
        if isinstance(value, tuple):
            return tuple(given(library, each) for each in value)
        return library.tensor(value) if isinstance(value, list) else value

    messages = []
    for library in (gs, torch):
        values = {key: given(library, value) for key, value in options.items()}
        with pytest.raises(ValueError, match="Tensor") as caught:
            getattr(library.optim, name)([library.ones(2, 2)], **values)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Rprop", "ASGD"])
def test_a_state_without_options_that_came_later(torch, name):
    found = []
    for library in (gs, torch):
        param = library.tensor([1.5, -2.0], requires_grad=True)
        optimizer = getattr(library.optim, name)([param], lr=0.1)
        state = optimizer.state_dict()
        for group in state["param_groups"]:
            for option in ("foreach", "maximize", "capturable", "differentiable"):
                group.pop(option, None)
        optimizer.load_state_dict(state)
        param.grad = library.tensor([0.5, 0.25])
        optimizer.step()
        found.append([*param.tolist(), sorted(optimizer.param_groups[0])])
    assert found[0][2] == found[1][2]
    np.testing.assert_allclose(found[0][:2], found[1][:2], rtol=1e-6)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_betas_of_several_elements(name):
    with pytest.raises(ValueError, match=r"Tensor betas\[1\] must be 1-element"):
        getattr(gs.optim, name)([gs.ones(2)], betas=(0.9, gs.tensor([0.9, 0.9])))


def test_a_state_that_is_empty(torch):
    for library in (gs, torch):
        param = library.ones(2, requires_grad=True)
        optimizer = library.optim.SGD([param], lr=0.1)
        param.grad = library.ones(2)
        optimizer.step()
        assert dict(optimizer.state) == {}
        optimizer.param_groups[0]["momentum"] = 0.5
        optimizer.step()
        assert list(optimizer.state[param]) == ["momentum_buffer"]


def test_lbfgs_without_a_slope(torch):
    for library in (gs, torch):
        param = library.ones(3)
        optimizer = library.optim.LBFGS([param], tolerance_grad=-1.0)
        assert optimizer.step(lambda: 2.0) == 2.0
        assert param.tolist() == [1.0] * 3


@pytest.mark.parametrize(("name", "options"), WRONG, ids=str)
def test_wrong_options(torch, name, options):
    errors = []
    for library in (gs, torch):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            getattr(library.optim, name)([library.ones(2, 2)], **options)
        errors.append((type(caught.value), str(caught.value).removesuffix(" (lr)")))
    assert errors[0][0] is errors[1][0]
    if name != "SparseAdam":  # whose parameters have names of their own
        assert errors[0][1] == errors[1][1]


def test_wrong_steps(torch):
    for library in (gs, torch):
        x = library.ones(2, requires_grad=True)
        x.grad = library.ones(2)
        with pytest.raises(RuntimeError, match="does not support dense gradients"):
            library.optim.SparseAdam([x]).step()
        with pytest.raises(AssertionError, match="If capturable=True"):
            library.optim.Adam([x], capturable=True).step()
        with pytest.raises(ValueError, match="per-parameter options"):
            library.optim.LBFGS([{"params": [x]}, {"params": [library.ones(1)]}])
        with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
            library.optim.LBFGS([x], line_search_fn="armijo").step(lambda: (x * x).sum())  # noqa: B023
        with pytest.raises(ValueError, match="only supports 2D parameters"):
            library.optim.Muon([x])
        z = library.ones(2, dtype=library.complex64, requires_grad=True)
        z.grad = library.ones(2, dtype=library.complex64)
        with pytest.raises(RuntimeError, match="does not support complex"):
            library.optim.Adafactor([z]).step()


def test_hooks_run_in_the_same_order(torch):
    assert hooks_that_ran(gs) == hooks_that_ran(torch)


def hooks_that_ran(library: Any) -> list[Any]:
    """Return the events that the hooks around steps and states have seen, in order."""
    trace: list[Any] = []
    x = library.ones(1, requires_grad=True)
    x.grad = library.ones(1)
    optimizer = library.optim.SGD([x], lr=0.5)
    module = import_module(f"{library.__name__}.optim.optimizer")
    handles = [
        module.register_optimizer_step_pre_hook(lambda *_: trace.append("global before")),
        module.register_optimizer_step_post_hook(lambda *_: trace.append("global after")),
    ]
    optimizer.register_step_pre_hook(lambda o, a, k: trace.append(("before", x.item(), len(k))))
    optimizer.register_step_post_hook(lambda o, a, k: trace.append(("after", x.item(), len(k))))
    optimizer.register_state_dict_pre_hook(lambda o: trace.append("state 1"))
    optimizer.register_state_dict_pre_hook(lambda o: trace.append("state 0"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "note": 3})
    optimizer.register_load_state_dict_pre_hook(lambda o, s: trace.append(sorted(s)))
    optimizer.register_load_state_dict_post_hook(lambda o: trace.append("loaded"))
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step(closure=lambda: 3)
    state = optimizer.state_dict()
    trace.append(state["note"])
    optimizer.load_state_dict(state)
    return trace


def test_named_parameters(torch):
    groups = []
    for library in (gs, torch):
        model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.Linear(3, 1))
        optimizer = library.optim.SGD(model.named_parameters(), lr=0.1)
        group = optimizer.state_dict()["param_groups"][0]
        optimizer.load_state_dict(optimizer.state_dict())
        groups.append((group["param_names"], group["params"]))
        with pytest.raises(ValueError, match="with/without names"):
            optimizer.add_param_group({"params": library.ones(1)})
        with pytest.raises(TypeError, match="ordered collections"):
            optimizer.add_param_group({"params": {library.ones(1)}})
    assert groups[0] == groups[1]


def test_a_subclass_with_a_step_of_its_own(torch):
    def behaviour(library: Any) -> list[float]:
        class Signs(library.optim.Optimizer):
            def __init__(self, params: Any, lr: float) -> None:
                super().__init__(params, {"lr": lr})

            @library.no_grad()
            def step(self, closure: Any = None) -> None:
                for group in self.param_groups:
                    for param in group["params"]:
                        self.state[param]["count"] = self.state[param].get("count", 0) + 1
                        param.sub_(group["lr"] * param.grad.sign())

        x = library.tensor([1.0, -2.0], requires_grad=True)
        optimizer = Signs([x], lr=0.25)
        seen: list[int] = []
        optimizer.register_step_post_hook(lambda o, a, k: seen.append(len(a)))
        scheduler = library.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(2):
            (x * x).sum().backward()
            optimizer.step()
            scheduler.step()
        return [*x.tolist(), optimizer.state[x]["count"], len(seen)]

    assert behaviour(gs) == behaviour(torch)


@pytest.mark.parametrize("options", [{"history_size": 3, "lr": 0.3}, {"max_iter": 1}], ids=str)
def test_state_of_lbfgs(torch, options):
    def behaviour(library):
        x = library.nn.Parameter(library.tensor([1.0, -2.0, 0.5], dtype=library.float64))
        optimizer = library.optim.LBFGS([x], **options)

        def closure():
            optimizer.zero_grad()
            loss = ((x**2 - 1) ** 2).sum() + x[0] * x[1]
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        state = optimizer.state_dict()["state"][0]
        kinds = {name: type(value).__name__ for name, value in state.items()}
        numbers = {
            name: [None if each is None else each.tolist() for each in state[name]]
            for name in ("al", "ro", "old_dirs", "old_stps")
        }
        return sorted(kinds.items()), numbers, state["H_diag"].tolist()

    ours, theirs = behaviour(gs), behaviour(torch)
    assert ours[0] == theirs[0]
    for name, lists in theirs[1].items():
        assert len(ours[1][name]) == len(lists)
        for found, expected in zip(ours[1][name], lists, strict=True):
            assert (found is None) is (expected is None)
            if expected is not None:
                np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-9)
