"""Saved values as users read them: `node._saved_self`, `node._saved_result`."""

import pytest

import gradspec as gs


@pytest.fixture
def x():
    return gs.tensor([1.0, 2.0], requires_grad=True)


def test_a_kept_input_is_the_tensor_itself(x):
    assert x.sin().grad_fn._saved_self is x


def test_a_kept_output_is_a_tensor_with_its_history(x):
    y = x.exp()
    kept = y.grad_fn._saved_result
    assert isinstance(kept, gs.Tensor)
    assert kept.grad_fn is y.grad_fn
    assert kept.tolist() == y.tolist()


def test_what_no_gradient_reads_is_none(x):
    node = (x * gs.tensor([3.0, 4.0])).grad_fn
    assert node._saved_self is None
    assert node._saved_other.tolist() == [3.0, 4.0]


def test_outputs_of_an_op_with_several_have_their_own_places_in_the_graph(x):
    u, _, _ = gs.linalg.svd(gs.outer(x, x) + gs.eye(2), full_matrices=False)
    node = u.grad_fn
    assert (node._saved_U.output_nr, node._saved_S.output_nr) == (0, 1)
    assert node._saved_S.grad_fn is node


def test_an_output_without_gradient_has_no_history(x):
    indices = x.max(0).values.grad_fn._saved_indices
    assert indices.tolist() == 1
    assert not indices.requires_grad


def test_a_list_is_a_tuple_of_tensors(x):
    (index,) = x[gs.tensor([1, 0])].grad_fn._saved_indices
    assert index.tolist() == [1, 0]


@pytest.mark.parametrize(("op", "name"), [("sin", "_saved_self"), ("exp", "_saved_result")])
def test_after_the_pass_it_is_freed(x, op, name):
    y = getattr(x, op)()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        getattr(y.grad_fn, name)


def test_a_list_is_freed_too(x):
    y, name = x[gs.tensor([1, 0])], "_saved_indices"
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        getattr(y.grad_fn, name)


@pytest.mark.parametrize("op", ["sin", "exp"])
def test_a_modified_one_is_refused(x, op):
    source = x.clone()
    y = getattr(source, op)()
    node = y.grad_fn
    (source if op == "sin" else y).mul_(2)
    name = "_saved_self" if op == "sin" else "_saved_result"
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        getattr(node, name)


class Custom(gs.autograd.Function):
    """The exponential of a product; saves a factor and the result."""

    @staticmethod
    def forward(ctx, a, b):
        result = (a * b).exp()
        ctx.save_for_backward(b, result)
        return result

    @staticmethod
    def backward(ctx, g):
        b, result = ctx.saved_tensors
        return g * result * b, None


OPS_THAT_SAVE = {
    "(Mul|Exp)Backward0": lambda a, b: (a * b).exp(),
    "CustomBackward": Custom.apply,
    "CompiledFunctionBackward": gs.compile(lambda a, b: (a * b).exp(), backend="numpy"),
}
"""The same function, by the node that refuses."""


@pytest.mark.parametrize("node", OPS_THAT_SAVE)
@pytest.mark.parametrize("written", ["argument", "result"])
@pytest.mark.parametrize(
    ("dtype", "word"), [(gs.float32, "Float"), (gs.float64, "Double"), (gs.float16, "Half")]
)
def test_the_refusal_names_shape_and_dtype(node, written, dtype, word):
    a, b = gs.ones(2, 3, dtype=dtype, requires_grad=True), gs.ones(3, dtype=dtype)
    result = OPS_THAT_SAVE[node](a, b)
    (b if written == "argument" else result.detach()).mul_(2)
    shape = r"\[3\]" if written == "argument" else r"\[2, 3\]"
    words = rf"\[{word}Tensor {shape}\].* at version 1; .*Hint: {node} saved it"
    with pytest.raises(RuntimeError, match=words):
        result.sum().backward()


def test_the_refusal_names_shape_and_dtype_of_an_item_of_a_list(x):
    y = x[gs.tensor([1, 0, 1])]
    y.grad_fn._saved_indices[0].add_(0)
    with pytest.raises(RuntimeError, match=r"\[LongTensor \[3\]\] is at version 1"):
        y.sum().backward()


def test_the_refusal_of_a_detached_one_names_shape_and_dtype():
    source = gs.ones(2, 3, dtype=gs.float64, requires_grad=True).clone()
    y = source.sin()
    source.detach_()
    words = r"detached in-place: SinBackward0 saved \[DoubleTensor \[2, 3\]\] as 'self'"
    with pytest.raises(RuntimeError, match=words):
        y.sum().backward()


def test_the_refusal_of_a_pack_hook_that_writes_names_shape_and_dtype():
    x = gs.ones(2, 3, dtype=gs.float64, requires_grad=True)
    hooks = gs.autograd.graph.saved_tensors_hooks(lambda kept: kept.mul_(2), lambda kept: kept)
    words = r"pack hook is modifying its input in place.*\[DoubleTensor \[2, 3\]\]"
    with hooks, pytest.raises(RuntimeError, match=words):
        (x * 1).sin()


def test_saved_tensor_hooks_unpack_it(x):
    with gs.autograd.graph.saved_tensors_hooks(lambda kept: kept * 2, lambda packed: packed):
        y = x.exp()
    kept = y.grad_fn._saved_result
    assert kept.tolist() == pytest.approx((y * 2).tolist())
    assert kept.grad_fn is y.grad_fn


OPS = {
    "sin": lambda t, x: x.sin(),
    "exp": lambda t, x: x.exp(),
    "mul": lambda t, x: x * x.clone(),
    "mm": lambda t, x: x.view(1, 2) @ x.view(2, 1),
    "softmax": lambda t, x: t.softmax(x, 0),
    "max": lambda t, x: x.max(0).values,
    "where": lambda t, x: t.where(x > 1, x, 2 * x),
    "cumprod": lambda t, x: x.cumprod(0),
    "topk": lambda t, x: x.topk(1).values,
    "inverse": lambda t, x: t.linalg.inv(t.outer(x, x) + t.eye(2)),
    "index": lambda t, x: x[t.tensor([1, 0])],
    "norm": lambda t, x: t.linalg.vector_norm(x),
}


@pytest.mark.oracle
@pytest.mark.parametrize("op", OPS)
def test_saved_tensors_are_those_of_pytorch(torch, op):
    """Names differ where the formulas do; of those that are the same, so are the tensors."""

    def kept(library):
        x = library.tensor([1.0, 2.5], requires_grad=True)
        node = OPS[op](library, x).grad_fn
        found = {}
        for name in dir(node):
            value = getattr(node, name) if name.startswith("_saved_") else None
            if isinstance(value, library.Tensor):
                found[name] = (
                    [round(v, 4) for v in value.reshape(-1).tolist()],
                    value.requires_grad,
                )
        return found

    ours, theirs = kept(gs), kept(torch)
    common = ours.keys() & theirs.keys()
    assert common or op == "index"
    assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}


@pytest.mark.parametrize("join", [gs.cat, gs.stack, gs.hstack, gs.column_stack])
def test_what_was_joined_may_change_and_the_pass_may_be_repeated(join, x):
    part = x + 0
    joined = join([part, x])
    part.zero_()
    joined.sum().backward()
    joined.sum().backward()
    assert x.grad.tolist() == [4, 4]


@pytest.mark.parametrize("join", [gs.cat, gs.stack])
@pytest.mark.parametrize("dtype", [gs.float64, gs.complex128])
def test_the_gradient_of_a_part_has_its_dtype(join, dtype, x):
    joined = join([x, gs.ones(2, dtype=dtype)])
    (grad,) = gs.autograd.grad(abs(joined).sum(), x)
    assert grad.dtype == gs.float32
    assert grad.tolist() == [1, 1]


def test_the_input_of_a_convolution_must_not_change_whoever_needs_it(x):
    signal = (x * 1).reshape(1, 1, 2)
    out = gs.conv1d(signal, gs.ones(1, 1, 1))
    signal.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_gradients_that_do_not_depend_on_their_tensor_require_grad_as_in_pytorch(x):
    images = x.detach().reshape(1, 1, 1, 2).requires_grad_()
    functional = gs.nn.functional
    for out, second in [
        (gs.conv2d(images, gs.ones(1, 1, 1, 1)), None),
        (functional.avg_pool2d(images, (1, 2)), [[[[0, 0]]]]),
        (functional.max_pool2d(images, (1, 2)), [[[[0, 0]]]]),
    ]:
        (grad,) = gs.autograd.grad(out.sum(), images, create_graph=True)
        assert grad.requires_grad
        (found,) = gs.autograd.grad(grad.sum(), images, allow_unused=True)
        assert (found if found is None else found.tolist()) == second


@pytest.mark.parametrize("op", [gs.div, gs.remainder, gs.fmod])
def test_a_quotient_may_be_written_to_and_its_operands_may_not(op, x):
    divisor = gs.tensor([2.0, 3.0], requires_grad=True)
    result = op(x, divisor)
    result.mul_(2)
    result.sum().backward()
    part = x * 1
    result = op(part, divisor)
    part.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_an_option_that_no_gradient_reads_is_none() -> None:
    x = gs.ones(2, requires_grad=True)
    assert (x - 3).grad_fn._saved_alpha is None
    y = gs.ones(2, requires_grad=True)
    assert gs.sub(x, y, alpha=2).grad_fn._saved_alpha == 2


def test_whole_numbers_beside_floats_are_kept_as_floats() -> None:
    x = gs.ones(2, requires_grad=True)
    kept = (x * gs.tensor([200, 1], dtype=gs.uint8)).grad_fn._saved_other
    assert kept.dtype == gs.float32
    assert kept.tolist() == [200, 1]
