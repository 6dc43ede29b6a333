"""Complex numbers where an op is not defined for them, or only for them."""

import pytest

import gradspec as gs

REFUSED = (
    *("x.sign()", "x.sign_()", "x.round()", "x.erf()", "x.clamp(-1, 1)", "x.relu()", "x > 0"),
    *("x.amax()", "x.max()", "x.min(0)", "x.argmax()", "x.sort()", "x.topk(1)", "T.maximum(x, x)"),
    *("x.abs_()", "x[x > 0]", "T.nn.functional.mse_loss(x, x)", "x.softmax(0)", "x.kthvalue(1)"),
    *(
        "T.nn.functional.gelu(x)",
        "T.nn.functional.leaky_relu(x)",
        "x.erf_()",
        "x.round_()",
        "x.clamp_(-1, 1)",
        "T.argsort(x)",
    ),
)


@pytest.mark.oracle
@pytest.mark.parametrize("call", REFUSED)
def test_the_exception_is_that_of_pytorch(torch, call):
    def raised(lib):
        x = lib.tensor([1 + 1j, 2 - 1j, -3 + 0j])
        with pytest.raises(RuntimeError) as caught:
            eval(call, {"x": x, "T": lib})
        return caught.type.__name__

    assert raised(gs) == raised(torch)


@pytest.mark.oracle
@pytest.mark.parametrize("base", [2.0, -2.0, -0.5])
def test_a_negative_base_has_a_gradient_by_a_complex_exponent(torch, base):
    def gradients(lib):
        base_tensor = lib.tensor([base], dtype=lib.float64, requires_grad=True)
        exponent = lib.tensor([0.5 + 1j], dtype=lib.complex128, requires_grad=True)
        of_tensor = lib.autograd.grad((base_tensor**exponent).abs().sum(), [base_tensor, exponent])
        (of_number,) = lib.autograd.grad((base**exponent).abs().sum(), [exponent])
        return [grad.item() for grad in (*of_tensor, of_number)]

    assert gradients(gs) == pytest.approx(gradients(torch))


def test_the_sign_of_what_is_not_a_number_is_zero():
    x = gs.tensor([float("nan"), -2.0, 0.0])
    assert x.sign().tolist() == x.sgn().tolist() == [0, -1, 0]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "call",
    [
        *("fft(x)", "ifft(x)", "fft2(x)", "ifft2(x)", "ihfft2(x)", "ihfft(x)", "hfft2(x + 1j)"),
        *("fftn(x, dim=(1,))", "irfft(x)", "irfft2(x)", "ihfftn(x)", "hfftn(x + 1j)", "rfft2(x)"),
    ],
)
def test_the_nodes_of_a_transform_are_those_of_pytorch(torch, call):
    def names(lib):
        x = lib.arange(12.0).reshape(3, 4).requires_grad_()
        node = eval(f"fft.{call}", {"x": x, "fft": lib.fft}).grad_fn
        found = []
        while node is not None:
            found.append(node.name().removeprefix("torch::autograd::"))
            node = node.next_functions[0][0] if node.next_functions else None
        return found

    assert names(gs) == names(torch)
