"""The snippets about `backward()`: what it does, its architecture, the training loop."""

import pytest

import gradspec as torch


def test_a_backward_function_is_one_link_of_the_chain():
    x = torch.tensor([2.0], requires_grad=True)
    y = torch.tensor([3.0], requires_grad=True)
    product = x * y
    loss = product.sum()
    assert loss.grad_fn.name() == "SumBackward0"
    grad = loss.grad_fn(torch.tensor(1.0))  # of a node with one input, as in PyTorch
    assert grad.tolist() == [1]
    assert [g.tolist() for g in product.grad_fn.backward(grad)] == [[3], [2]]
    loss.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3], [2])


def test_grad_fn_and_its_next_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    assert type(y.grad_fn).__name__ == "MulBackward0"
    ((leaf, number), constant) = y.grad_fn.next_functions
    assert type(leaf).__name__ == "AccumulateGrad"
    assert number == 0
    assert constant == (None, 0)


def test_the_chain_rule_example():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    z = y + 5
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    z.backward()
    assert x.grad.tolist() == [3]


def test_my_function():
    class MyFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            grad_x = grad_output * y
            grad_y = grad_output * x
            return grad_x, grad_y

    x = torch.tensor([2.0], requires_grad=True)
    y = torch.tensor([5.0], requires_grad=True)
    MyFunction.apply(x, y).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([5], [2])


def test_the_engine_under_its_private_names():
    engine = torch.autograd.variable.Variable._execution_engine
    x = torch.tensor([2.0], requires_grad=True)
    for run_backward in (engine.run_backward, torch.autograd.graph._engine_run_backward):
        run_backward(
            (x * x,), (None,), False, False, (), allow_unreachable=True, accumulate_grad=True
        )
    assert x.grad.tolist() == [8]


def test_retained_and_freed_graphs():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_the_example_of_the_engine():
    w = torch.randn(5, 3, requires_grad=True)
    x = torch.randn(1, 5)
    y = x @ w
    z = y.mean()
    z.backward()
    assert str(w.grad.shape) == "gradspec.Size([5, 3])"
    assert x.grad is None
    assert "<MmBackward0 object at 0x" in f"y originated from: {y.grad_fn}"
    assert "<MeanBackward0 object at 0x" in f"z originated from: {z.grad_fn}"
    assert f"w.grad_fn: {w.grad_fn}" == "w.grad_fn: None"
    assert f"x.grad_fn: {x.grad_fn}" == "x.grad_fn: None"


def test_the_gradient_of_a_non_scalar():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        y.backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        y.backward(torch.ones(3))
    y.backward(gradient=torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2, 40]


def test_the_training_loop():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    assert all(parameter.requires_grad for parameter in model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    targets = torch.tensor([[1.0], [2.0], [3.0]])
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = ((outputs - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]


def test_micro_batches_accumulate():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    batches = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
    for batch in batches:
        (w * batch).sum().backward()
    assert w.grad.tolist() == [4, 6]


def test_controlling_gradient_computation():
    my_tensor = torch.ones(2)
    assert not my_tensor.requires_grad
    assert my_tensor.requires_grad_(True) is my_tensor
    with torch.no_grad():
        assert not (my_tensor * 2).requires_grad
        with torch.enable_grad():
            assert (my_tensor * 2).requires_grad
    detached = (my_tensor * 2).detach()
    assert not detached.requires_grad
    shared = my_tensor.detach()
    shared[0] = 7
    assert my_tensor.tolist() == [7, 1]
