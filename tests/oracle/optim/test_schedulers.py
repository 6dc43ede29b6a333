"""Learning rate schedulers give PyTorch's learning rates, and go on where they were saved."""

from __future__ import annotations

import io
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle


class Root:
    """A callable object, whose attributes are saved."""

    def __init__(self, power: float) -> None:
        self.power = power

    def __call__(self, epoch: float) -> float:
        return (1 + epoch) ** -self.power


Make = Callable[[Any, Any], Any]

SCHEDULERS: dict[str, Make] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [Root(0.5), lambda epoch: 1 / (epoch + 1)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 1 - 0.01 * epoch),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.3),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.8, total_iters=7),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=8, power=1.7),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=6, eta_min=0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01),
    "restarts of one length": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, step_size_up=3, step_size_down=4),
    "cyclic, halved": lambda s, o: s.CyclicLR(o, [0.01, 0.02], 0.2, 3, mode="triangular2"),
    "cyclic, shrinking": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.9),
    "cyclic, own scale": lambda s, o: s.CyclicLR(
        o, 0.01, 0.2, 3, scale_fn=Root(1.0), scale_mode="iterations", cycle_momentum=False
    ),
    "one cycle": lambda s, o: s.OneCycleLR(o, max_lr=0.3, total_steps=25),
    "one cycle, three phases": lambda s, o: s.OneCycleLR(
        o, [0.3, 0.2], epochs=5, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"
    ),
    "sequential": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 10), s.ExponentialLR(o, 0.5)],
        milestones=[4, 12],
    ),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9)], optimizer=o
    ),
    "sequential of chained": lambda s, o: s.SequentialLR(
        o,
        [
            s.ChainedScheduler([s.LinearLR(o, 0.5), s.StepLR(o, 2)]),
            s.PolynomialLR(o, 10),
        ],
        milestones=[5],
    ),
}

STEPS = 24


def optimizer_of(library: Any, algorithm: str = "SGD", **options: Any) -> Any:
    """Two groups with learning rates of their own."""
    options = {"momentum": 0.9} if algorithm == "SGD" else options
    groups = [{"params": library.ones(2)}, {"params": library.ones(3), "lr": 0.05}]
    return getattr(library.optim, algorithm)(groups, lr=0.1, **options)


def settings(optimizer: Any) -> list[Any]:
    """Read the settings of each group that schedulers change."""
    return [
        value
        for group in optimizer.param_groups
        for value in (float(group["lr"]), group.get("momentum", 0), *group.get("betas", ()))
    ]


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("algorithm", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_rates(torch, name, algorithm):
    traces = []
    for library in (gs, torch):
        optimizer = optimizer_of(library, algorithm)
        scheduler = SCHEDULERS[name](library.optim.lr_scheduler, optimizer)
        trace = [settings(optimizer) + scheduler.get_last_lr()]
        for _ in range(STEPS):
            optimizer.step()
            scheduler.step()
            trace.append(settings(optimizer) + scheduler.get_last_lr())
        traces.append(trace)
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-12, atol=1e-15)


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("name", SCHEDULERS)
def test_saved_in_pytorch_loaded_here(torch, name):
    """Nine steps there; the state is loaded here, and the rest is as if nothing had happened."""
    theirs = optimizer_of(torch)
    scheduler = SCHEDULERS[name](torch.optim.lr_scheduler, theirs)
    ours = optimizer_of(gs)
    own = SCHEDULERS[name](gs.optim.lr_scheduler, ours)
    for step in range(STEPS):
        theirs.step()
        scheduler.step()
        if step == 8:
            saved = scheduler.state_dict()
            assert saved.keys() == own.state_dict().keys() | {"_step_count"} & saved.keys()
            own.load_state_dict(saved)
            ours.load_state_dict({"state": {}, "param_groups": theirs.state_dict()["param_groups"]})
        elif step > 8:
            ours.step()
            own.step()
            np.testing.assert_allclose(settings(ours), settings(theirs), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("algorithm", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_states_through_files(torch, name, algorithm):
    """States have PyTorch's entries in its order, and go through files that are loaded safely."""
    found = []
    for library in (gs, torch):
        optimizer = optimizer_of(library, algorithm)
        scheduler = SCHEDULERS[name](library.optim.lr_scheduler, optimizer)
        for _ in range(5):
            optimizer.step()
            scheduler.step()
        file = io.BytesIO()
        library.save([scheduler.state_dict(), optimizer.state_dict()], file)
        file.seek(0)
        of_scheduler, of_optimizer = library.load(file, weights_only=True)
        entries = list(of_scheduler)
        optimizer = optimizer_of(library, algorithm)
        scheduler = SCHEDULERS[name](library.optim.lr_scheduler, optimizer)
        optimizer.load_state_dict(of_optimizer)
        scheduler.load_state_dict(of_scheduler)
        trace = []
        for _ in range(5):
            optimizer.step()
            scheduler.step()
            trace += settings(optimizer)
        found.append((entries, list(scheduler.state_dict()), trace))
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2, "factor": 0.5},
        {"patience": 1, "mode": "max", "threshold": 0.1, "threshold_mode": "abs", "cooldown": 2},
        {"patience": 0, "mode": "max", "min_lr": [0.02, 0.001], "eps": 1e-3},
        {"patience": 1, "threshold": 0.5, "threshold_mode": "abs", "min_lr": 0.01},
    ],
    ids=str,
)
def test_plateaus(torch, options):
    metrics = np.abs(np.random.default_rng(0).normal(size=40)).cumsum() % 3
    traces = []
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        trace = []
        for number, metric in enumerate(metrics):
            scheduler.step(library.tensor(metric) if number % 2 else metric)
            if number == 20:
                state = scheduler.state_dict()
                scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
                scheduler.load_state_dict(state)
            trace.append([*settings(optimizer), scheduler.num_bad_epochs, scheduler.best])
        traces.append((trace, sorted(scheduler.state_dict())))
    assert traces[0][1] == traces[1][1]
    np.testing.assert_allclose(traces[0][0], traces[1][0], rtol=1e-12)


@pytest.mark.parametrize("name", ["step", "linear", "cosine", "polynomial", "milestones"])
def test_epochs_that_are_given(torch, name):
    traces = []
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = SCHEDULERS[name](library.optim.lr_scheduler, optimizer)
        optimizer.step()
        trace = []
        for epoch in (3, 1, 7):
            with pytest.warns(UserWarning, match="epoch parameter"):
                scheduler.step(epoch)
            trace.append(settings(optimizer))
        traces.append(trace)
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-12)


def test_restarts_at_fractions_of_epochs(torch):
    traces = []
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = SCHEDULERS["restarts"](library.optim.lr_scheduler, optimizer)
        trace = []
        for epoch in (0.5, 1.25, 3, 4.5, 9.75, 20):
            scheduler.step(epoch)
            trace.append(settings(optimizer))
        traces.append(trace)
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-12)


def test_rates_that_are_tensors(torch):
    for library in (gs, torch):
        rate = library.tensor(0.5)
        optimizer = library.optim.SGD([library.ones(1)], lr=rate)
        scheduler = library.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        optimizer.step()
        scheduler.step()
        assert optimizer.param_groups[0]["lr"] is rate
        assert rate.item() == 0.25
        assert scheduler.get_last_lr()[0] is not rate


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 5])
def test_swa_rates(torch, strategy, epochs):
    traces = []
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = library.optim.swa_utils.SWALR(
            optimizer, [0.5, 0.01], anneal_epochs=epochs, anneal_strategy=strategy
        )
        trace = []
        for number in range(9):
            optimizer.step()
            scheduler.step()
            trace.append(settings(optimizer))
            if number == 3:
                state = scheduler.state_dict()
                scheduler = library.optim.swa_utils.SWALR(optimizer, [0.5, 0.01])
                scheduler.load_state_dict(state)
                optimizer.param_groups[0]["lr"] = trace[-1][0]
                optimizer.param_groups[1]["lr"] = trace[-1][2]
        traces.append(trace)
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-12)


def repeat_step(scheduler: Any) -> None:
    """Step three times."""
    for _ in range(3):
        scheduler.step()


WRONG: list[tuple[str, Callable[[Any, Any], object]]] = [
    ("no optimizer", lambda s, o: s.StepLR(3, 1)),
    ("lambdas", lambda s, o: s.LambdaLR(o, [lambda epoch: 1.0])),
    ("no function", lambda s, o: s.MultiplicativeLR(o, 3)),
    ("factor", lambda s, o: s.ConstantLR(o, factor=2.0)),
    ("start", lambda s, o: s.LinearLR(o, start_factor=0.0)),
    ("end", lambda s, o: s.LinearLR(o, end_factor=2.0)),
    ("T_0", lambda s, o: s.CosineAnnealingWarmRestarts(o, 0)),
    ("T_mult", lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, T_mult=0)),
    ("before", lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-1)),
    ("lengths", lambda s, o: s.CyclicLR(o, [0.1], 0.2)),
    ("mode", lambda s, o: s.CyclicLR(o, 0.1, 0.2, mode="square")),
    ("no steps", lambda s, o: s.OneCycleLR(o, 0.1)),
    ("steps", lambda s, o: s.OneCycleLR(o, 0.1, total_steps=0)),
    ("epochs", lambda s, o: s.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=2)),
    ("part", lambda s, o: s.OneCycleLR(o, 0.1, total_steps=5, pct_start=2.0)),
    ("strategy", lambda s, o: s.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="sin")),
    ("too far", lambda s, o: repeat_step(s.OneCycleLR(o, 0.1, total_steps=2))),
    ("resumed", lambda s, o: s.StepLR(o, 1, last_epoch=3)),
    ("plateau factor", lambda s, o: s.ReduceLROnPlateau(o, factor=1.0)),
    ("plateau mode", lambda s, o: s.ReduceLROnPlateau(o, mode="mean")),
    ("threshold", lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="none")),
    ("min_lrs", lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1])),
    ("sequence", lambda s, o: s.SequentialLR(o, [], [])),
    ("milestones", lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [3])),
    ("plateau inside", lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], [])),
    ("no scheduler inside", lambda s, o: s.SequentialLR(o, [3], [])),
    ("chain", lambda s, o: s.ChainedScheduler([])),
]


@pytest.mark.parametrize(("name", "make"), WRONG, ids=[name for name, _ in WRONG])
def test_wrong_schedulers(torch, name, make):
    kinds = []
    for library in (gs, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((TypeError, ValueError, KeyError)) as caught:
                make(library.optim.lr_scheduler, optimizer_of(library))
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_order_of_steps(torch):
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = library.optim.lr_scheduler.StepLR(optimizer, 1)
        with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
            scheduler.step()
        with pytest.warns(UserWarning, match="use `get_last_lr"):
            scheduler.get_lr()


def twice(step):
    """A step in the place of an optimizer's own, as programs put it there."""
    return types.MethodType(lambda optimizer: (step(), step()), step.__self__)


def test_a_step_that_is_replaced_afterwards(torch):
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        scheduler = library.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.step = twice(optimizer_of(library).step)
        optimizer.step()
        with pytest.warns(UserWarning, match=r"`optimizer.step\(\)` has been overridden"):
            scheduler.step()


def test_a_step_that_is_replaced_before(torch):
    for library in (gs, torch):
        optimizer = optimizer_of(library)
        optimizer.step = twice(optimizer_of(library).step)
        scheduler = library.optim.lr_scheduler.StepLR(optimizer, 1)
        with pytest.warns(UserWarning, match="how-to-adjust-learning-rate"):
            scheduler.step()
        optimizer.step()
        library.optim.lr_scheduler.StepLR(optimizer, 1).step()


def test_the_warning_of_epochs_has_a_name(torch):
    for library in (gs, torch):
        schedulers = library.optim.lr_scheduler
        optimizer = optimizer_of(library)
        scheduler = schedulers.StepLR(optimizer, 1)
        optimizer.step()
        with pytest.warns(UserWarning, match="The epoch parameter") as caught:
            scheduler.step(2)
        assert [str(each.message) for each in caught] == [schedulers.EPOCH_DEPRECATION_WARNING]


def test_averaged_models(torch):
    for options in (
        {},
        {"avg_fn": "get_ema_avg_fn"},
        {"multi_avg_fn": "get_ema_multi_avg_fn", "use_buffers": True},
        {"multi_avg_fn": "get_swa_multi_avg_fn"},
    ):
        assert averages(gs, options) == pytest.approx(averages(torch, options), rel=1e-5, abs=1e-6)


def averages(library: Any, options: dict[str, Any]) -> list[float]:
    """The numbers of an averaged model with batch normalisation, and its output."""
    swa = library.optim.swa_utils
    model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.BatchNorm1d(3))
    rng = np.random.default_rng(0)
    batches = [library.tensor(rng.normal(size=(4, 2)).astype(np.float32)) for _ in range(3)]
    functions = {
        key: value if key == "use_buffers" else getattr(swa, value)(*[0.7] * ("ema" in value))
        for key, value in options.items()
    }
    averaged = swa.AveragedModel(model, **functions)
    for batch in batches:
        for param in model.parameters():
            with library.no_grad():
                values = rng.normal(size=tuple(param.shape)).astype(np.float32)
                param.copy_(library.tensor(values))
        model(batch)
        averaged.update_parameters(model)
    state = [v for t in averaged.state_dict().values() for v in t.reshape(-1).tolist()]
    swa.update_bn([(batch, 3) for batch in batches], averaged)
    averaged.eval()
    after = [v for t in averaged.state_dict().values() for v in t.reshape(-1).tolist()]
    return state + after + averaged(batches[0]).reshape(-1).tolist()


def test_wrong_averages(torch):
    for library in (gs, torch):
        swa, model = library.optim.swa_utils, library.nn.Linear(1, 1)
        with pytest.raises(ValueError, match="Invalid decay value"):
            swa.get_ema_avg_fn(1.5)
        with pytest.raises(AssertionError, match="Only one of"):
            swa.AveragedModel(model, avg_fn=max, multi_avg_fn=max)
        optimizer = library.optim.SGD(model.parameters(), lr=0.1)
        with pytest.raises(ValueError, match="anneal_strategy must be one of"):
            swa.SWALR(optimizer, 0.1, anneal_strategy="sin")
        with pytest.raises(ValueError, match="anneal_epochs must be equal or greater"):
            swa.SWALR(optimizer, 0.1, anneal_epochs=-1)
