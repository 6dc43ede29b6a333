"""Anomaly mode, views that are refused, multi-grad hooks, mutation of saved tensors, masks."""

import io
import sys
import warnings

import pytest

import gradspec as gs
from gradspec.autograd import Function, detect_anomaly
from tests.oracle.behaviours import assert_same, attempt, leaf


class Broken(Function):
    """A copy whose gradient is NaN."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


class Induces(Function):
    """A copy whose gradient is computed by `Broken`."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Broken.apply(g * x)  # the induced call


def watched(run):
    """The messages of the warnings, and that of the error, of a pass in anomaly mode."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError) as error, detect_anomaly():
            run()
    return [str(warning.message) for warning in told][1:], str(error.value)


def test_the_call_of_a_custom_function_is_shown():
    def run():
        y = Broken.apply(leaf(gs, 1.0))  # this very line
        y.backward()

    (told,), error = watched(run)
    assert "Function 'BrokenBackward' returned nan values in its 0th output." in error
    assert "y = Broken.apply(leaf(gs, 1.0))  # this very line" in told


def test_what_induced_a_node_is_shown():
    def run():
        x = leaf(gs, 2.0)
        y = Induces.apply(x)  # the first call
        (gradient,) = gs.autograd.grad(y, x, create_graph=True)
        gradient.backward()

    (first, second), _ = watched(run)
    assert "Broken.apply(g * x)  # the induced call" in first
    assert "Previous calculation was induced by InducesBackward" in second
    assert "Induces.apply(x)  # the first call" in second


def test_where_warnings_are_errors_the_error_is_still_raised(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    x = leaf(gs, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anomaly = detect_anomaly()
    with anomaly:
        y = Broken.apply(x)
        with pytest.raises(RuntimeError, match="returned nan values"):
            y.backward()
    assert "Error detected in BrokenBackward" in sys.stderr.getvalue()


def restricted(lib, kind, then):
    base = leaf(lib, 1.0, 2.0) * 1
    if kind == "custom":
        methods = {
            "forward": staticmethod(lambda ctx, x: x[:]),
            "backward": staticmethod(lambda ctx, g: g),
        }
        view = type("View", (lib.autograd.Function,), methods).apply(base)
    elif kind == "several":
        view = base.unbind()[0]
    else:
        with lib.no_grad() if kind.startswith("no_grad") else lib.inference_mode():
            view = base.unbind()[0] if kind.endswith("several") else base[:]
    if then == "write":
        return view.add_(1)
    base.add_(1)
    return view * 2


WORDS = {
    "no_grad": "created in no_grad mode",
    "no_grad, several": "created in no_grad mode",
    "inference": "created in inference mode",
    "several": "This view is the output of a function that returns multiple views",
    "custom": "This view was created inside a custom Function",
}


@pytest.mark.oracle
@pytest.mark.parametrize("then", ["write", "use"])
@pytest.mark.parametrize("kind", WORDS)
def test_views_are_refused_in_the_same_words(torch, kind, then):
    for library in (gs, torch):
        with pytest.raises(RuntimeError, match=WORDS[kind]):
            restricted(library, kind, then)
    base_first = {
        "write": "is being modified inplace",
        "use": "its base or another view of its base",
    }
    with pytest.raises(RuntimeError, match=base_first[then]):
        restricted(gs, kind, then)


def hook_for_all(lib):
    graph, seen = lib.autograd.graph, []
    a, b, c = (leaf(lib, 1.0, 2.0) * 1 for _ in range(3))
    graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append([g is None for g in grads]))
    out = (b * c).sum()
    for inputs in ((b, c), (a,), (a, c), (a, b, c)):
        out.backward(inputs=inputs, retain_graph=True)
    return seen


def mutated(lib, inside):
    graph = lib.autograd.graph
    with graph.allow_mutation_on_saved_tensors():
        x = leaf(lib, 1.0, 2.0)
        y = x * 1
        z = (y * y).sum()
        y.zero_()
        if inside:
            z.backward()
            return x.grad
    z.backward()
    return x.grad


def mutated_in_another_block(lib):
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = (leaf(lib, 1.0) ** 2).sum()
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        return attempt(y.backward)


def masked_write(lib, values, *index, accumulate=False):
    mask = lib.tensor([1, 0, 1], dtype=lib.uint8)
    written = lib.zeros(3, 2)
    written.index_put_((mask, *index), values, accumulate)
    copied = lib.zeros(3, 2).index_put((mask, *index), values, accumulate)
    return written, copied


BEHAVIOURS = {
    "hook for all": hook_for_all,
    "mutation inside": lambda lib: mutated(lib, True),
    "mutation outside": lambda lib: mutated(lib, False),
    "mutation in another block": mutated_in_another_block,
    "uint8 mask": lambda lib: masked_write(lib, lib.tensor([[1.0, 2.0], [3.0, 4.0]])),
    "uint8 mask, added": lambda lib: masked_write(lib, lib.tensor([1.0, 2.0]), accumulate=True),
    "uint8 mask, positions": lambda lib: masked_write(
        lib, lib.tensor([5.0, 6.0]), lib.tensor([1, 0])
    ),
    "int8 positions": lambda lib: lib.zeros(3).index_put_(
        (lib.tensor([1, 0], dtype=lib.int8),), lib.tensor(1.0)
    ),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)


def test_an_event_can_be_entered_twice_and_decorate():
    from gradspec.autograd.profiler import profile, record_function

    event = record_function("mine")

    @record_function("decorated")
    def add(a, b):
        return a + b

    with profile() as running:
        with event, event:
            pass
        assert add(1, 2) == 3
    assert [recorded.name for recorded in running.events] == ["mine", "mine", "decorated"]
