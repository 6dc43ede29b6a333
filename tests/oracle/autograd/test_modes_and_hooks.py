"""Grad modes, saved-tensor hooks, anomaly mode, the profiler and gradcheck: as in PyTorch."""

import warnings

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def words_of(call, *known):
    """Return the words that stand in the text of the error of a call."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, [words in str(error) for words in known]
    return None


def nested_modes(lib):
    seen = []
    with lib.no_grad():
        seen.append(lib.is_grad_enabled())
        with lib.enable_grad():
            seen.append(lib.is_grad_enabled())
            with lib.set_grad_enabled(False):
                seen.append(lib.is_grad_enabled())
            seen.append(lib.is_grad_enabled())
        seen.append(lib.is_grad_enabled())
    return seen, lib.is_grad_enabled()


def modes_after_errors(lib):
    def fails():
        with lib.no_grad():
            raise KeyError

    attempt(fails)
    return lib.is_grad_enabled()


def decorated(lib):
    @lib.no_grad()
    def plain():
        return lib.is_grad_enabled()

    @lib.set_grad_enabled(False)
    def switched():
        return lib.is_grad_enabled()

    @lib.no_grad
    def bare():
        return lib.is_grad_enabled()

    return plain(), switched(), bare(), plain.__name__, lib.is_grad_enabled()


def generators(lib):
    @lib.no_grad()
    def numbers():
        for number in range(2):
            yield number, lib.is_grad_enabled()

    found = []
    for number in numbers():
        found.append((number, lib.is_grad_enabled()))
    return found


def coroutine_values(lib):
    @lib.no_grad()
    def numbers():
        try:
            given = yield lib.is_grad_enabled()
            yield given, lib.is_grad_enabled()
        finally:
            log.append(lib.is_grad_enabled())

    log = []
    numbers = numbers()
    found = [next(numbers), numbers.send(5)]
    numbers.close()
    return found, log, lib.is_grad_enabled()


def inference(lib):
    x = leaf(lib, 1.0)
    with lib.inference_mode():
        y = x * 2
        inside = lib.is_inference_mode_enabled(), y.is_inference(), y.requires_grad
        with lib.inference_mode(False):
            back = (x * 2).requires_grad
    return (
        inside,
        back,
        attempt(lambda: y.add_(1)),
        attempt(lambda: y.requires_grad_()),
        attempt(lambda: (x * y).sum().backward()),
        attempt(lambda: y._version),
        y.clone().is_inference(),
    )


def factories_under_no_grad(lib):
    with lib.no_grad():
        x = lib.ones(2, requires_grad=True)
        y = x * 2
        z = lib.nn.Parameter(lib.ones(2))
    return x.requires_grad, y.requires_grad, z.requires_grad


def pack_and_unpack(lib):
    log = []

    def pack(x):
        log.append(("pack", list(x.shape), x.requires_grad))
        return x.tolist()

    def unpack(values):
        log.append("unpack")
        return lib.tensor(values, dtype=lib.float64)

    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
        z = y.exp()
    z.sum().backward()
    return log, x.grad


def unpack_to_another_shape(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: "text"):
        y = x.exp()
    return attempt(lambda: y.sum().backward())


def hooks_inside_of_hooks(lib):
    log = []

    def hooks(name):
        return lib.autograd.graph.saved_tensors_hooks(
            lambda t: (log.append(f"pack {name}"), t)[1],
            lambda t: (log.append(f"unpack {name}"), t)[1],
        )

    x = leaf(lib, 2.0)
    with hooks("outer"):
        y = x.sin()
        with hooks("inner"):
            z = y.sin()
        w = z.sin()
    w.sum().backward()
    return log, x.grad


def pack_that_writes(lib):
    x = leaf(lib, 2.0)

    def pack(t):
        t.add_(1)
        return t

    def call():
        with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            return (x * 1).sin()

    return attempt(call)


def pack_that_fails(lib):
    def fails(t):
        raise KeyError

    def call():
        with lib.autograd.graph.saved_tensors_hooks(fails, lambda t: t):
            return leaf(lib, 2.0).sin()

    return attempt(call), leaf(lib, 2.0).sin()


def disabled_hooks(lib):
    graph = lib.autograd.graph

    def call():
        with (
            graph.disable_saved_tensors_hooks("not here"),
            graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        ):
            return leaf(lib, 1.0).sin()

    return words_of(call, "not here")


def mutation_allowed(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.zero_()
        z.sum().backward()
    return x.grad


def anomaly_names_the_op(lib):
    x = lib.zeros(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with lib.autograd.detect_anomaly():
            y = (x / x).sum()
            found = words_of(
                lambda: y.backward(), "returned nan values", "DivBackward0", "0th output"
            )
    told = any("Traceback of forward call" in str(each.message) for each in given)
    return found, told


def anomaly_without_checking(lib):
    x = lib.zeros(1, requires_grad=True)
    with lib.autograd.detect_anomaly(check_nan=False):
        (x / x).sum().backward()
    return str(x.grad.tolist())


def anomaly_of_a_custom_function(lib):
    class Nan(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    x = leaf(lib, 1.0)
    with lib.autograd.detect_anomaly():
        y = Nan.apply(x).sum()
        return words_of(lambda: y.backward(), "NanBackward", "nan values in its 0th output")


def anomaly_switched(lib):
    before = lib.is_anomaly_enabled()
    with lib.autograd.set_detect_anomaly(True):
        inside = lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()
    with lib.autograd.set_detect_anomaly(True, check_nan=False):
        unchecked = lib.is_anomaly_check_nan_enabled()
    return before, inside, unchecked, lib.is_anomaly_enabled()


def removed_hooks(lib):
    log = []
    x = leaf(lib, 1.0)
    handle = x.register_hook(lambda g: log.append("hook"))
    (x * 2).sum().backward()
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()
    with x.register_hook(lambda g: log.append("block")):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    return log


def hooks_in_order(lib):
    log = []
    x = leaf(lib, 1.0)
    y = x * 2
    for number in range(3):
        y.register_hook(lambda g, number=number: (log.append((number, g.tolist())), g * 2)[1])
    y.sum().backward()
    return log, x.grad


def hook_on_what_has_no_gradient(lib):
    x = lib.ones(1)
    return (
        attempt(lambda: x.register_hook(print)),
        attempt(lambda: x.register_post_accumulate_grad_hook(print)),
        attempt(lambda: leaf(lib, 1.0).register_hook(3)),
    )


def node_hooks(lib):
    log = []
    x = leaf(lib, 1.0)
    y = x.exp()
    y.grad_fn.register_prehook(lambda g: (log.append("pre"), (g[0] * 2,))[1])
    y.grad_fn.register_hook(lambda i, o: (log.append("post"), (i[0] * 5,))[1])
    y.register_hook(lambda g: log.append("tensor"))
    y.sum().backward()
    return log, x.grad


def node_hook_with_a_wrong_number(lib):
    x = leaf(lib, 1.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: (i[0], i[0]))
    return attempt(lambda: y.sum().backward())


def hook_after_a_write(lib):
    log = []
    x = leaf(lib, 1.0)
    y = x * 2
    y.register_hook(lambda g: log.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("after", g.tolist())))
    (y * 5).sum().backward()
    return log, x.grad


def hook_that_writes(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.mul_(10) and None if g.ndim > 1 else None)
    y.sum().backward()
    return x.grad


def hook_under_create_graph(lib):
    x = leaf(lib, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * x)
    (slope,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    return slope, lib.autograd.grad(slope.sum(), x)


def checks(lib):
    def wrong(lib):
        class Wrong(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 3

        return Wrong.apply

    x = leaf(lib, 1.0, 2.0)
    check = lib.autograd.gradcheck
    return (
        check(lambda x: x.sin(), (x,)),
        check(lambda x: x.sin(), x, eps=1e-5, atol=1e-4),
        check(wrong(lib), (x,), raise_exception=False),
        words_of(lambda: check(wrong(lib), (x,)), "Jacobian mismatch for output 0"),
        words_of(lambda: check(lambda x: x.sin(), (lib.ones(2),)), "at least one"),
        check(lambda x: x.sin(), (lib.ones(2, requires_grad=True),), eps=1e-2, atol=1e-1),
        check(lambda x: (x.sin(), x.cos()), (x,)),
        check(lambda x: x.sin(), (x,), check_forward_ad=True, check_backward_ad=False),
        check(lambda x: x.sin(), (x,), check_batched_grad=True, fast_mode=True),
        lib.autograd.gradgradcheck(lambda x: x**3, (x,)),
        lib.autograd.gradgradcheck(lambda x: x**3, (x,), gen_non_contig_grad_outputs=True),
        attempt(lambda: check(lambda x: x.detach(), (x,), raise_exception=False)),
        attempt(lambda: check(lambda x: x.long(), (x,), raise_exception=False)),
    )


def complex_checks(lib):
    z = lib.tensor([1 + 2j, 3 - 1j], dtype=lib.complex128, requires_grad=True)
    check = lib.autograd.gradcheck
    return (
        check(lambda z: z * z, (z,)),
        check(lambda z: z.abs(), (z,)),
        check(lambda z: z.conj() * z, (z,), fast_mode=True),
        check(lambda z: z.real, (z,), check_forward_ad=True),
    )


def recorded_ranges(lib):
    x = leaf(lib, 1.0)
    profiler = lib.autograd.profiler
    with profiler.profile() as profile, profiler.record_function("my range"):
        x * 2
    return "my range" in {each.key for each in profile.key_averages()}


def unused_results_of_nodes(lib):
    x = lib.ones(2, 2, dtype=lib.float64, requires_grad=True)
    indices = x.max(0).indices
    a, b = x.split(1)
    return indices.requires_grad, a.grad_fn is b.grad_fn, a.output_nr, b.output_nr


def edges(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    get = lib.autograd.graph.get_gradient_edge
    edge = get(y)
    of_leaf = get(x)
    return (
        edge.output_nr,
        edge.node.name(),
        of_leaf.node is get(x).node,
        attempt(lambda: get(lib.ones(1))),
        lib.autograd.grad(y.sum(), edge),
        lib.autograd.grad(y.sum(), of_leaf),
    )


BEHAVIOURS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "words_of"
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.__name__)
def test_mode_or_hook(torch, behaviour):
    assert_same(behaviour, torch)
