"""Messages of failing backward passes, with and without anomaly mode."""

import threading

import numpy as np
import pytest

import gradspec as gs


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


class Fails(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ZeroDivisionError("on purpose")


def test_an_error_names_the_node_and_its_op():
    x = leaf(1)
    y = gs.exp(x)
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert caught.value.__notes__ == ["in the gradient of the op 'exp' (ExpBackward0)"]
    with pytest.raises(ZeroDivisionError) as custom:
        Fails.apply(x).backward()
    (note,) = custom.value.__notes__
    assert "FailsBackward" in note


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled:UserWarning")
def test_anomaly_mode_shows_the_forward_call():
    x = leaf(1)
    with gs.autograd.detect_anomaly():
        y = gs.exp(x)  # the line that is shown
        y.add_(1)
        with (
            pytest.warns(UserWarning, match=r"(?s)ExpBackward0.*the line that is shown"),
            pytest.raises(RuntimeError, match="modified by an inplace"),
        ):
            y.backward()
    assert not gs.is_anomaly_enabled()


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled:UserWarning")
def test_nan_is_found_where_it_is_made():
    x = leaf(0.0)
    with np.errstate(all="ignore"), gs.autograd.detect_anomaly():
        y = gs.sqrt(x) * 0
        with (
            pytest.warns(UserWarning, match="SqrtBackward0"),
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th"),
        ):
            y.backward()
    with np.errstate(all="ignore"), gs.autograd.detect_anomaly(check_nan=False):
        (gs.sqrt(x) * 0).backward()
    assert x.grad.isnan().all()


def test_detect_anomaly_warns_that_it_is_slow():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        gs.autograd.detect_anomaly()


def test_set_detect_anomaly():
    with gs.autograd.set_detect_anomaly(True, check_nan=False):
        assert gs.is_anomaly_enabled()
        assert gs.is_anomaly_enabled()
        assert not gs.is_anomaly_check_nan_enabled()
        assert not gs.is_anomaly_check_nan_enabled()
        y = leaf(1) * 2
        assert "traceback_" in y.grad_fn.metadata
    assert not gs.is_anomaly_enabled()
    assert "traceback_" not in (leaf(1) * 2).grad_fn.metadata


def test_forward_calls_of_all_threads_are_remembered():
    nodes = {}

    def forward(name):
        nodes[name] = gs.ones(2, requires_grad=True).sin().grad_fn

    with gs.autograd.set_detect_anomaly(True):
        threads = [threading.Thread(target=forward, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(nodes) == 4
    for node in nodes.values():
        assert "in forward" in "".join(node.metadata["traceback_"])


def test_a_thread_may_switch_off_what_another_has_switched_on():
    gs.autograd.set_detect_anomaly(True)
    thread = threading.Thread(target=lambda: gs.autograd.set_detect_anomaly(False))
    thread.start()
    thread.join()
    assert "traceback_" not in gs.ones(2, requires_grad=True).sin().grad_fn.metadata
