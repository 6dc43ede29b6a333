"""The snippets of "Understanding autograd and grad_fn", with what they print.

Where the text differs from what PyTorch does, it is PyTorch's answer.
"""

import re

import pytest

import gradspec as torch
from gradspec import viz


def addressless(value: object) -> str:
    """The text of a node without its address."""
    return re.sub(r"0x[0-9a-f]+", "0x...", str(value))


def test_simple_example():
    x = torch.tensor([2.0], requires_grad=True)
    y = x**2
    z = y + 3
    assert f"x.grad_fn: {x.grad_fn}" == "x.grad_fn: None"
    assert addressless(y.grad_fn) == "<PowBackward0 object at 0x...>"
    assert addressless(z.grad_fn) == "<AddBackward0 object at 0x...>"


def test_leaf_and_non_leaf_tensors():
    x = torch.tensor([2.0], requires_grad=True)
    assert x.is_leaf
    assert x.grad_fn is None
    y = x * 2
    assert not y.is_leaf
    assert addressless(y.grad_fn) == "<MulBackward0 object at 0x...>"


def test_chains():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 2
    z = y + 3
    assert addressless(z.grad_fn) == "<AddBackward0 object at 0x...>"
    (first, second) = z.grad_fn.next_functions
    assert first == (y.grad_fn, 0)
    assert second == (None, 0)  # the text shows an AccumulateGrad for the constant


def test_custom_grad_fn():
    class MySquare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x

    x = torch.tensor([2.0], requires_grad=True)
    y = MySquare.apply(x)
    assert addressless(y.grad_fn).startswith("<MySquareBackward object at")
    y.backward()
    assert str(x.grad) == "tensor([4.])"


def test_visualizing(tmp_path):
    x = torch.tensor([2.0], requires_grad=True)
    y = x**2
    z = y + 3
    source = viz.make_dot(z, params={"x": x}).source
    for name in ("AddBackward0", "PowBackward0", "AccumulateGrad"):
        assert name in source


def test_manual_inspection(capsys):
    def print_graph(node, indent=0):
        # The text passes nodes to a function that reads `grad_fn`, which nodes do not have.
        print(" " * indent + addressless(node))
        for next_fn, _ in node.next_functions:
            if next_fn is not None:
                print_graph(next_fn, indent + 2)

    x = torch.tensor([2.0], requires_grad=True)
    z = x**2 + 3
    print_graph(z.grad_fn)
    assert capsys.readouterr().out.splitlines() == [
        "<AddBackward0 object at 0x...>",
        "  <PowBackward0 object at 0x...>",
        "    <AccumulateGrad object at 0x...>",
    ]
    viz.print_graph(z)
    assert "PowBackward0" in capsys.readouterr().out


def test_check_if_gradients_are_computed():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 2
    z = y + 3
    assert (x.requires_grad, y.requires_grad, z.requires_grad) == (True, True, True)


def test_retain_gradients():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 2
    z = y + 3
    y.retain_grad()
    z.backward()
    assert str(y.grad) == "tensor([1.])"


def test_detect_in_place_operations():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 2
    y += 1  # the text expects an error: nothing saved y, so there is none
    y.backward()
    assert str(x.grad) == "tensor([2.])"
    y = x * 2
    z = y * y
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_hooks_for_debugging(capsys):
    def hook_fn(grad):
        print(f"Gradient: {grad}")

    x = torch.tensor([2.0], requires_grad=True)
    x.register_hook(hook_fn)
    y = x**2
    y.backward()
    assert capsys.readouterr().out == "Gradient: tensor([4.])\n"


def test_compiled_function_is_just_another_grad_fn():
    class CompiledFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            ctx.save_for_backward(*args)
            return args[0] * args[1]

        @staticmethod
        def backward(ctx, *grad_outputs):
            first, second = ctx.saved_tensors
            return grad_outputs[0] * second, grad_outputs[0] * first

    x = torch.tensor([2.0], requires_grad=True)
    output = CompiledFunction.apply(x, x)
    assert output.grad_fn.name() == "CompiledFunctionBackward"
    output.backward()
    assert str(x.grad) == "tensor([4.])"
