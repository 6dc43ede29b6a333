"""The options of `gradcheck` and `gradgradcheck`, and what each finds: as in PyTorch."""

import pytest

import gradspec as gs
from gradspec.autograd.gradcheck import GradcheckError
from tests.oracle.behaviours import assert_same, attempt


def point(lib, *values, dtype="float64"):
    return lib.tensor(list(values), dtype=getattr(lib, dtype), requires_grad=True)


def pair(lib):
    return lib.tensor([1 + 2j, -2 + 0.5j], dtype=lib.complex128, requires_grad=True)


def off_by(amount):
    """The identity, whose gradient is off by a constant."""

    def function(x):
        y = x.clone()
        y.register_hook(lambda g: g + amount)
        return y

    return function


def noisy(lib, amount):
    """The identity, whose gradient is another one each time."""
    passes = []

    def forward(ctx, x):
        return x * 1

    def backward(ctx, g):
        passes.append(g)
        return g * (1 + amount * len(passes))

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Noisy", (lib.autograd.Function,), methods).apply


def counting(lib, requires, **options):
    calls, asked = [], []

    def forward(ctx, x, y):
        asked.append(x.requires_grad or y.requires_grad)
        return x * 1, y * 1

    def jvp(ctx, *tangents):
        calls.append(tangents)
        return tuple(t * 1 for t in tangents)

    methods = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    op = type("Counting", (lib.autograd.Function,), methods).apply
    x, y = point(lib, 1.0), point(lib, 2.0).detach().requires_grad_(requires)
    lib.autograd.gradcheck(op, (x, y), check_forward_ad=True, check_backward_ad=False, **options)
    return len(calls)


def partly_wrong(lib, forward_bad, backward_bad, **options):
    def answer(bad, what):
        def method(ctx, *values):
            if bad:
                raise RuntimeError(what)
            return values[0] * 2

        return staticmethod(method)

    methods = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "vjp": answer(backward_bad, "backward"),
        "jvp": answer(forward_bad, "forward"),
    }
    op = type("Op", (lib.autograd.Function,), methods).apply
    try:
        return lib.autograd.gradcheck(op, point(lib, 1.0, 2.0), **options)
    except RuntimeError as error:
        return str(error)


def changing(lib, what, **options):
    def function(x):
        if (x.detach() < 1).any():
            return x
        return lib.cat([x, x]) if what == "shape" else x.float()

    return lib.autograd.gradcheck(function, point(lib, 1.0), **options)


def given_cotangents(lib, requires):
    cotangent = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=requires)
    passed = lib.autograd.gradgradcheck(lambda x: x * x, point(lib, 1.0, 2.0), cotangent)
    return passed, cotangent.requires_grad, cotangent.grad


def check(lib, function, *inputs, **options):
    return attempt(lambda: lib.autograd.gradcheck(function, inputs, **options))


def twice(lib, function, *inputs, **options):
    return attempt(lambda: lib.autograd.gradgradcheck(function, inputs, **options))


BOTH = {
    "right": lambda lib, fast: check(lib, lambda x: x.exp() * x, point(lib, 1, 2), fast_mode=fast),
    "right, all": lambda lib, fast: check(
        lib,
        lambda x, y: (x * y, y.sin()),
        point(lib, 1, 2),
        point(lib, 3, 4),
        fast_mode=fast,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        check_grad_dtypes=True,
    ),
    "right, twice": lambda lib, fast: twice(
        lib, lambda x: x.exp(), point(lib, 1, 2), fast_mode=fast, check_fwd_over_rev=True
    ),
    "right, complex": lambda lib, fast: check(
        lib, lambda z: (z * z, z.real), pair(lib), fast_mode=fast, check_forward_ad=True
    ),
    "wrong": lambda lib, fast: check(lib, off_by(1.0), point(lib, 1, 2), fast_mode=fast),
    "wrong, quiet": lambda lib, fast: check(
        lib, off_by(1.0), point(lib, 1, 2), fast_mode=fast, raise_exception=False
    ),
    "wrong, complex": lambda lib, fast: check(lib, off_by(1.0), pair(lib), fast_mode=fast),
    "zero cotangent": lambda lib, fast: check(
        lib, off_by(0.1), point(lib, 1), fast_mode=fast, atol=0.2
    ),
    "noisy": lambda lib, fast: check(lib, noisy(lib, 1e-7), point(lib, 1, 2), fast_mode=fast),
    "noisy, tolerated": lambda lib, fast: check(
        lib, noisy(lib, 1e-7), point(lib, 1, 2), fast_mode=fast, nondet_tol=1e-5
    ),
    "no gradient asked for": lambda lib, fast: check(
        lib, lambda x: x, lib.ones(2), fast_mode=fast, raise_exception=False
    ),
    "expanded": lambda lib, fast: check(
        lib, lambda x: x, point(lib, 1).expand(2, 2), fast_mode=fast, raise_exception=False
    ),
    "constant": lambda lib, fast: check(
        lib, lambda x: x.detach() * 2, point(lib, 1), fast_mode=fast
    ),
    "no outputs": lambda lib, fast: check(lib, lambda x: (), point(lib, 1), fast_mode=fast),
    "outputs of all kinds": lambda lib, fast: check(
        lib, lambda x: (x * 2, x.argmax()), point(lib, 1, 2), fast_mode=fast
    ),
    "another shape": lambda lib, fast: changing(lib, "shape", fast_mode=fast),
    "another dtype": lambda lib, fast: changing(lib, "dtype", fast_mode=fast),
    "other errors": lambda lib, fast: check(
        lib, lambda x: x[5], point(lib, 1), fast_mode=fast, raise_exception=False
    ),
    "tolerances": lambda lib, fast: check(
        lib, off_by(1e-6), point(lib, 1, 2), fast_mode=fast, check_undefined_grad=False, atol=1e-4
    ),
}

ONE_BY_ONE = {
    "jvps": lambda lib: counting(lib, True, check_undefined_grad=False),
    "jvps, absent": lambda lib: counting(lib, True),
    "jvps, batched": lambda lib: counting(lib, True, check_batched_forward_grad=True),
    "jvps, one input": lambda lib: counting(lib, False, check_batched_forward_grad=True),
    "nothing": lambda lib: check(lib, lambda x: x, point(lib, 1), check_backward_ad=False),
    "batched, no backward": lambda lib: check(
        lib,
        lambda x: x * 2,
        point(lib, 1),
        check_backward_ad=False,
        check_forward_ad=True,
        check_batched_grad=True,
    ),
    "batched, no forward": lambda lib: check(
        lib, lambda x: x * 2, point(lib, 1), check_batched_forward_grad=True
    ),
    "nothing, twice": lambda lib: twice(lib, lambda x: x, point(lib, 1), check_rev_over_rev=False),
    "undefined, forward only": lambda lib: twice(
        lib, lambda x: x, point(lib, 1), check_rev_over_rev=False, check_fwd_over_rev=True
    ),
    "with gaps": lambda lib: twice(
        lib, lambda x: x * x, point(lib, 1, 2), gen_non_contig_grad_outputs=True
    ),
    "cotangents given": lambda lib: given_cotangents(lib, False),
    "cotangents given, checked": lambda lib: given_cotangents(lib, True),
    **{
        f"bad: {f}, {b}; checked: {cf}, {cb}": lambda lib, f=f, b=b, cf=cf, cb=cb: partly_wrong(
            lib, f, b, check_forward_ad=cf, check_backward_ad=cb, check_undefined_grad=cb
        )
        for f in (False, True)
        for b in (False, True)
        for cf, cb in ((False, True), (True, False), (True, True))
    },
}


@pytest.mark.oracle
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", BOTH)
def test_both_modes_are_as_in_pytorch(torch, name, fast):
    import torch.autograd.forward_ad  # a submodule that PyTorch does not import by itself

    assert_same(lambda lib: BOTH[name](lib, fast), torch)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_it_is_as_in_pytorch(torch, name):
    import torch.autograd.forward_ad  # a submodule that PyTorch does not import by itself

    assert_same(ONE_BY_ONE[name], torch)


KEYWORDS = [
    (lambda: gs.autograd.gradcheck(off_by(1.0), point(gs, 1)), "Jacobian mismatch for output 0"),
    (
        lambda: gs.autograd.gradcheck(off_by(1.0), pair(gs)),
        "While considering the imaginary part of complex outputs only, Jacobian mismatch",
    ),
    (
        lambda: gs.autograd.gradcheck(off_by(0.1), point(gs, 1), atol=0.2),
        "backward not multiplied by grad_output",
    ),
    (
        lambda: gs.autograd.gradcheck(noisy(gs, 1e-7), point(gs, 1)),
        "Backward is not reentrant",
    ),
    (
        lambda: gs.autograd.gradcheck(lambda x: x.detach(), point(gs, 1)),
        "Numerical gradient for function expected to be zero",
    ),
]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("run", "words"), KEYWORDS)
def test_errors_have_the_key_words(run, words, fast):
    with pytest.raises(GradcheckError, match=words):
        run()


def test_outputs_that_change_are_an_assertion():
    with pytest.raises(AssertionError, match="outputs with the same shape when inputs are"):
        changing(gs, "shape")
    with pytest.raises(AssertionError, match="outputs with the same dtype when inputs are"):
        changing(gs, "dtype")


def test_a_backward_that_needs_all_its_gradients():
    class NeedsBoth(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, of_first, of_second):
            if of_first is None or of_second is None:
                raise RuntimeError("a gradient is missing")
            return of_first * 2 + of_second * 3

    def function(x):
        first, second = NeedsBoth.apply(x)
        return first * 1, second * 1

    x = point(gs, 1.0, 2.0)
    assert gs.autograd.gradcheck(lambda x: sum(NeedsBoth.apply(x)), x, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="a gradient is missing"):
        gs.autograd.gradcheck(function, x)


def test_inputs_are_copied_before_they_are_given_to_the_function():
    x = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=True)

    def scales_its_input(x):
        if not x.requires_grad:
            x.mul_(2)
            return x * 1
        return x * 2

    assert gs.autograd.gradcheck(scales_its_input, x, check_forward_ad=True)
    assert x.tolist() == [1.0, 2.0]
