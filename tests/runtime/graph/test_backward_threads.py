"""Several threads, deep nesting, long chains, flat memory."""

import gc
import threading

import pytest

import gradspec as gs


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


@pytest.mark.parametrize(("length", "passes"), [(4, 500), (100_000, 20)])
def test_shared_leaves_lose_no_update(length, passes):
    shared = gs.zeros(length, dtype=gs.float64, requires_grad=True)

    def work():
        for _ in range(passes):
            (shared * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.grad.array.min() == shared.grad.array.max() == 8 * passes


class Nested(gs.autograd.Function):
    """Runs a backward pass inside its backward, `levels` deep."""

    @staticmethod
    def forward(ctx, x, levels):
        ctx.levels = levels
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        if not ctx.levels:
            return grad, None
        with gs.enable_grad():
            inner = leaf(1)
            Nested.apply(inner, ctx.levels - 1).backward()
        return grad * inner.grad * 1.01, None


def test_passes_nest_hundreds_deep():
    x = leaf(1)
    Nested.apply(x, 400).backward()
    assert x.grad.item() == pytest.approx(1.01**400)


def test_an_error_comes_out_of_a_deep_nest():
    def fail(grad):
        raise KeyError("deep down")

    def nest(levels):
        with gs.enable_grad():
            y = leaf(1) * 1
            y.register_hook(fail if not levels else lambda grad: nest(levels - 1))
            y.backward()

    with pytest.raises(KeyError, match="deep down"):
        nest(50)
    assert gs.is_grad_enabled()


def test_a_chain_of_a_million_nodes():
    x = leaf(1)
    y = x
    for _ in range(1_000_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y


def test_memory_is_flat_without_the_collector():
    def step():
        x = leaf(1, 2, 3, 4)
        y = gs.exp(x * 2)
        part = (x * 3).view(2, 2)
        part[0].mul_(2)
        y.register_hook(lambda grad: grad * 1)
        (y.sum() + part.sum()).backward()
        (grad,) = gs.autograd.grad((x**3).sum(), x, create_graph=True)
        grad.sum().backward()

    gc.collect()
    gc.disable()
    try:
        for _ in range(100):
            step()
        before = len(gc.get_objects())
        for _ in range(1000):
            step()
        assert len(gc.get_objects()) <= before + 10
    finally:
        gc.enable()
