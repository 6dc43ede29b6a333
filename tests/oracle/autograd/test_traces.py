"""Tracebacks of nodes, and views made without gradients: as in PyTorch."""

import warnings

import pytest

from tests.oracle.behaviours import assert_same, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def nodes_that_know_where_they_were_made(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with lib.autograd.set_detect_anomaly(True):
        x = leaf(lib, 1.0, 2.0)
        y = x.clone()
        y.fill_(1.0)
        z = x.clone()
        z.copy_(x)
        w = x.clone()
        w[[0]] = x[1]
        v = x.clone()
        v[0].exp_()
        made = [Twice.apply(x), x * 2, y, z, w, v]
    traces = ["".join(each.grad_fn.metadata.get("traceback_", [])) for each in made]
    return ["nodes_that_know" in trace for trace in traces]


def failing_function_in_anomaly_mode(lib):
    class Fails(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("on purpose")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lib.autograd.set_detect_anomaly(True):
            y = Fails.apply(leaf(lib, 1.0, 2.0)).sum()
            try:
                y.backward()
            except ValueError as error:
                message = str(error)
    texts = [str(warning.message) for warning in caught]
    return message, any("Fails.apply(leaf" in text for text in texts)


def stale_view_of_no_grad_mode(lib):
    x = leaf(lib, 1.0, 2.0) * 1
    with lib.no_grad():
        view = x[:1]
    x.mul_(2)
    try:
        return view * 2
    except RuntimeError as error:
        return "A view was created in no_grad mode" in str(error)


@pytest.mark.parametrize(
    "behaviour",
    [
        nodes_that_know_where_they_were_made,
        failing_function_in_anomaly_mode,
        stale_view_of_no_grad_mode,
    ],
)
def test_as_in_pytorch(torch, behaviour):
    assert_same(behaviour, torch)
