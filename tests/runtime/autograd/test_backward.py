"""`backward` and `grad`: what they accept, what they answer, what they refuse."""

import numpy as np
import pytest

from gradspec.autograd import backward, grad
from gradspec.core.tensor import Tensor, wrap

WRONG = {
    "several elements": lambda t: t.backward(t.y),
    "None for several elements": lambda t: t.backward((t.y, t.y.sum()), (None, None)),
    "no graph": lambda t: t.backward(t.constant),
    "no graph, second": lambda t: t.backward((t.y.sum(), t.constant)),
    "cotangent of another shape": lambda t: t.backward(t.y, t.of(3)),
    "too few cotangents": lambda t: t.backward((t.y, t.y), (t.of(2),)),
    "empty inputs": lambda t: t.backward(t.y.sum(), inputs=[]),
    "inputs without gradient": lambda t: t.backward(t.y.sum(), inputs=t.constant),
    "both names": lambda t: t.backward(t.y.sum(), grad_variables=t.of(), grad_tensors=t.of()),
    "a number": lambda t: t.backward(3),
    "complex output": lambda t: t.backward((t.x * 1j).sum()),
    "unused": lambda t: t.grad(t.y.sum(), t.other),
    "not requiring": lambda t: t.grad(t.y.sum(), [t.x, t.constant], allow_unused=True),
    "no inputs": lambda t: t.grad(t.y.sum(), []),
    "materialize and not unused": lambda t: t.grad(
        t.y.sum(), t.other, materialize_grads=True, allow_unused=False
    ),
    "grad of several elements": lambda t: t.grad(t.y, t.x),
    "grad of a constant": lambda t: t.grad(t.constant.sum(), t.x),
    "a number as input": lambda t: t.grad(t.y.sum(), 3),
    "complex cotangent": lambda t: t.grad(t.y, t.x, t.of(2) * 1j),
}


class Library:
    """Make the tensors of the cases above, of this library or of PyTorch."""

    def __init__(self, backward, grad, from_array) -> None:
        self.backward = backward
        self.grad = grad
        self.from_array = from_array
        self.x = self.of(2).requires_grad_()
        self.other = self.of(2).requires_grad_()
        self.constant = self.of(2)
        self.y = self.x * self.x

    def of(self, *shape: int):
        return self.from_array(np.ones(shape))


@pytest.fixture
def ours():
    return Library(backward, grad, lambda array: wrap(array))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:`grad_variables` is deprecated:FutureWarning")
@pytest.mark.parametrize("case", WRONG, ids=str)
def test_what_is_refused_is_what_torch_refuses(torch, ours, case):
    theirs = Library(torch.autograd.backward, torch.autograd.grad, torch.from_numpy)
    with pytest.raises(Exception, match=r".") as expected:
        WRONG[case](theirs)
    with pytest.raises(expected.type) as found:
        WRONG[case](ours)
    key = str(expected.value).split("[")[0].split(".")[0].split(" but got")[0].split(" int")[0]
    if expected.type is not TypeError and "retain_grad" not in key and "gradients" not in key:
        assert key in str(found.value)


def test_gradients_accumulate(ours):
    x = ours.x
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_one_element_of_any_shape_needs_no_cotangent(ours):
    x = wrap(np.ones((1, 1))).requires_grad_()
    (x * 2).backward()
    assert x.grad.tolist() == [[2.0]]


def test_several_roots(ours):
    backward((ours.x * 2, (ours.x * 3).sum()), (wrap(np.array([1.0, 10.0])), None))
    assert ours.x.grad.tolist() == [5.0, 23.0]


def test_the_same_root_twice(ours):
    y = (ours.x * 2).sum()
    backward((y, y))
    assert ours.x.grad.tolist() == [4.0, 4.0]


def test_cotangent_is_cast_to_the_dtype_of_its_root():
    x = wrap(np.ones(2, np.float32)).requires_grad_()
    (x * 2).backward(wrap(np.array([1, 2])))
    assert x.grad.dtype == np.float32
    assert x.grad.tolist() == [2.0, 4.0]


def test_cotangents_are_not_modified(ours):
    cotangent = wrap(np.ones(2))
    y = ours.x * 1
    backward((y, y), (cotangent, cotangent))
    y = ours.x * 1
    y.backward(cotangent)
    assert cotangent.tolist() == [1.0, 1.0]
    assert ours.x.grad.tolist() == [3.0, 3.0]


def test_inputs_restrict_the_pass(ours):
    x, other = ours.x, ours.other
    middle = x * other
    (middle * middle).sum().backward(inputs=[other, middle])
    assert x.grad is None
    assert other.grad.tolist() == [2.0, 2.0]
    assert middle.grad.tolist() == [2.0, 2.0]


def test_an_input_given_twice_gets_its_gradient_once(ours):
    (ours.x * 3).sum().backward(inputs=[ours.x, ours.x])
    assert ours.x.grad.tolist() == [3.0, 3.0]


def test_graph_is_freed_unless_retained(ours):
    z = ours.y.sum()
    z.backward(retain_graph=True)
    z.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        z.backward()
    assert ours.x.grad.tolist() == [4.0, 4.0]


def test_grad_answers_and_accumulates_nothing(ours):
    gradients = grad(ours.y.sum(), [ours.x, ours.y])
    assert [g.tolist() for g in gradients] == [[2.0, 2.0], [1.0, 1.0]]
    assert ours.x.grad is None
    assert not gradients[0].requires_grad


def test_grad_of_the_root_itself(ours):
    (found,) = grad(ours.y, ours.y, wrap(np.array([3.0, 4.0])))
    assert found.tolist() == [3.0, 4.0]


def test_unused_inputs(ours):
    assert grad(ours.y.sum(), [ours.other], allow_unused=True) == (None,)
    (zeros,) = grad((ours.x * 2).sum(), [ours.other], materialize_grads=True)
    assert zeros.tolist() == [0.0, 0.0]


def test_the_same_input_twice(ours):
    first, second = grad(ours.y.sum(), [ours.x, ours.x])
    assert first.tolist() == second.tolist() == [2.0, 2.0]


def test_create_graph_gives_higher_derivatives():
    x = wrap(np.array([2.0, 3.0])).requires_grad_()
    found: Tensor = (x * x * x * x).sum()
    for expected in ([32, 108], [48, 108], [48, 72], [24, 24]):
        (gradient,) = grad(found, x, create_graph=True)
        assert gradient.tolist() == expected
        found = gradient.sum()


def test_create_graph_retains_the_graph(ours):
    z = ours.y.sum()
    z.backward(create_graph=True)
    assert ours.x.grad.requires_grad
    ours.x.grad = None
    z.backward()
    assert ours.x.grad.tolist() == [2.0, 2.0]


def test_old_names_warn(ours):
    with pytest.warns(FutureWarning, match="grad_variables"):
        backward(ours.y, grad_variables=wrap(np.ones(2)))
    assert ours.x.grad.tolist() == [2.0, 2.0]
    with pytest.warns(FutureWarning, match="only_inputs"):
        grad((ours.x * 1).sum(), ours.x, only_inputs=False)


def test_cotangents_that_are_no_tensors(ours):
    with pytest.raises(TypeError, match="either Tensors or None, but got float"):
        backward((ours.y,), (1.0,))


def test_a_result_among_the_inputs_keeps_its_gradient_from_then_on() -> None:
    x = wrap(np.array([1.0, 2.0])).requires_grad_()
    y = x * 3
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    assert y.retains_grad
    assert (y.grad.tolist(), x.grad) == ([6, 12], None)
    z.backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([12, 24], [18, 36])


def test_hooks_of_a_root_that_leads_to_no_input_do_not_run() -> None:
    x = wrap(np.array([1.0, 2.0])).requires_grad_()
    other = wrap(np.array(3.0)).requires_grad_()
    seen = []
    other.register_hook(lambda g: seen.append(g))
    y = (x * x).sum()
    (found,) = grad([y, other], [x])
    assert found is not None
    assert (found.tolist(), seen) == ([2, 4], [])
    other.backward()
    assert len(seen) == 1
