"""`backward`, `grad`, modes, anomaly mode and gradcheck: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def grads(lib, **options):
    x, y = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
    return lib.autograd.grad((x * x).sum(), (x, y), **options)


def batched(lib, shape=(3, 2), **options):
    x = leaf(lib, 1.0, 2.0)
    y = x * x
    cotangents = lib.ones(shape, dtype=lib.float64)
    (found,) = lib.autograd.grad(y, x, cotangents, is_grads_batched=True, **options)
    return found.requires_grad, found.detach()


def batched_two(lib):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 5.0)
    outputs = (x * w, (x * x).sum())
    cotangents = (lib.ones(4, 2).double(), lib.arange(4.0, dtype=lib.float64))
    return lib.autograd.grad(outputs, (x, w), cotangents, is_grads_batched=True)


def cotangent(lib, *shape, dtype="float64"):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).backward(lib.ones(*shape, dtype=getattr(lib, dtype)))
    return x.grad


def accumulated(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    same = first is x.grad
    (x * x).sum().backward(create_graph=True)
    return same, first, x.grad


def grad_is_no_alias(lib):
    x, g = leaf(lib, 1.0, 2.0), lib.ones(2).double()
    x.backward(g)
    g.zero_()
    return x.grad


def inputs_of_backward(lib, create_graph=False):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 5.0)
    y = x * w
    (y * y).sum().backward(inputs=[y, w], create_graph=create_graph)
    return y.grad.requires_grad, y.grad.detach(), w.grad.detach(), x.grad


def root_as_input(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    return lib.autograd.grad(y, [y, x])


def leaf_as_root(lib):
    x = leaf(lib, 1.0)
    x.backward()
    return x.grad, lib.autograd.grad(x, x)


def same_input_twice(lib):
    x = leaf(lib, 1.0)
    return lib.autograd.grad(x * x, [x, x])


def roots_with_a_constant(lib):
    x = leaf(lib, 1.0)
    lib.autograd.backward([x * 2, x * 3], [None, lib.ones(1).double() * 10])
    return x.grad


def freed_and_retained(lib):
    x = leaf(lib, 1.0)
    y = x * x
    lib.autograd.grad(y, x, retain_graph=True)
    lib.autograd.grad(y, x)
    return attempt(lambda: lib.autograd.grad(y, x))


def nothing_saved_twice(lib):
    x = leaf(lib, 1.0)
    y = x + 1
    y.sum().backward()
    y.sum().backward()
    return x.grad


def higher_orders(lib):
    x = leaf(lib, 2.0)
    y, found = x**5, []
    for _ in range(4):
        (y,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y)
    return found


def generator(lib, mode):
    log = []

    @mode
    def steps():
        log.append(lib.is_grad_enabled())
        got = yield 1
        log.append((lib.is_grad_enabled(), got))
        try:
            yield 2
        except ValueError:
            log.append(("caught", lib.is_grad_enabled()))
        yield 3
        return 4

    running = steps()
    log.append((next(running), lib.is_grad_enabled()))
    log.append((running.send("sent"), lib.is_grad_enabled()))
    log.append((running.throw(ValueError()), lib.is_grad_enabled()))
    try:
        next(running)
    except StopIteration as stop:
        log.append(stop.value)
    return log


def generator_closed(lib):
    log = []

    @lib.no_grad()
    def steps():
        try:
            yield 1
        finally:
            log.append(lib.is_grad_enabled())

    running = steps()
    next(running)
    running.close()
    return log


def decorated_class(lib):
    @lib.no_grad()
    class Thing:
        def __init__(self):
            self.grad = lib.is_grad_enabled()

    return Thing().grad


def nested_modes(lib):
    log = []
    with lib.no_grad():
        with lib.enable_grad():
            log.append(lib.is_grad_enabled())
            with lib.inference_mode():
                log.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
                with lib.enable_grad():
                    log.append((lib.is_grad_enabled(), (leaf_like(lib) * 2).requires_grad))
                with lib.inference_mode(False):
                    log.append((lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
        log.append(lib.is_grad_enabled())
    return log


def leaf_like(lib):
    return lib.ones(1)


def mode_and_errors(lib):
    attempt(lambda: failing(lib))
    return lib.is_grad_enabled()


def failing(lib):
    with lib.no_grad():
        raise ValueError


def switched(lib):
    log = []
    lib.set_grad_enabled(False)
    log.append(lib.is_grad_enabled())
    lib.set_grad_enabled(True)
    with lib.set_grad_enabled(False) as entered:
        log.append((lib.is_grad_enabled(), entered))
    return log, lib.is_grad_enabled()


def inference(lib, then):
    with lib.inference_mode():
        x = lib.ones(2, dtype=lib.float64)
    return attempt(lambda: then(x))


def inference_of_leaf(lib):
    x = leaf(lib, 1.0)
    with lib.inference_mode():
        y, v = x * 2, x[:]
        written = attempt(lambda: v.mul_(2))
    return y.requires_grad, y.is_inference(), v.is_inference(), written


def anomaly(lib, function, check_nan=True):
    x = leaf(lib, 0.0)
    with lib.autograd.detect_anomaly(check_nan=check_nan):
        function(x).sum().backward()
    return x.grad


def anomaly_flags(lib):
    a = lib.autograd
    with a.set_detect_anomaly(True, check_nan=False):
        return attempt(lambda: (leaf(lib, 0.0) * float("nan")).sum().backward())


def saved_hooks(lib, pack=lambda t: t, unpack=lambda t: t):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.sum().backward()
    return x.grad


def saved_hooks_see(lib):
    seen = []

    def pack(t):
        seen.append((t, lib.is_grad_enabled()))
        return t * 1

    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = (x + 1).exp() * x
    y.sum().backward()
    return seen, x.grad


def nested_saved_hooks(lib):
    log = []
    hooks, x = lib.autograd.graph.saved_tensors_hooks, leaf(lib, 1.0)
    with hooks(lambda t: log.append("outer") or t, lambda t: t):
        with hooks(lambda t: log.append("inner") or t, lambda t: t):
            y = x.exp()
        z = y.sin()
    z.sum().backward()
    return log, x.grad


def disabled_saved_hooks(lib):
    with lib.autograd.graph.disable_saved_tensors_hooks("no"):
        return attempt(lambda: saved_hooks(lib))


def checked(lib, function, *inputs, **options):
    return attempt(lambda: lib.autograd.gradcheck(function, inputs, **options))


def wrong(lib):
    """A function whose gradient is wrong."""
    methods = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "backward": staticmethod(lambda ctx, g: g * 3),
    }
    return type("Wrong", (lib.autograd.Function,), methods).apply


BEHAVIOURS = {
    "unused": grads,
    "unused, allowed": lambda lib: grads(lib, allow_unused=True),
    "unused, zeros": lambda lib: grads(lib, materialize_grads=True),
    "zeros not allowed": lambda lib: grads(lib, materialize_grads=True, allow_unused=False),
    "zeros under create_graph": lambda lib: grads(lib, materialize_grads=True, create_graph=True),
    "batched": batched,
    "batched, recorded": lambda lib: batched(lib, create_graph=True),
    "batched, wrong shape": lambda lib: batched(lib, shape=(3, 3)),
    "batched, no batch": lambda lib: batched(lib, shape=(2,)),
    "batched, two outputs": batched_two,
    "cotangent": lambda lib: cotangent(lib, 2),
    "cotangent of a wrong shape": lambda lib: cotangent(lib, 3),
    "cotangent that broadcasts": lambda lib: cotangent(lib, 1),
    "cotangent of another dtype": lambda lib: cotangent(lib, 2, dtype="float32"),
    "cotangent of integers": lambda lib: cotangent(lib, 2, dtype="int64"),
    "cotangent missing": lambda lib: (leaf(lib, 1.0, 2.0) * 2).backward(),
    "cotangent no tensor": lambda lib: (leaf(lib, 1.0) * 2).backward(3.0),
    "accumulated": accumulated,
    "no alias": grad_is_no_alias,
    "inputs": inputs_of_backward,
    "inputs, recorded": lambda lib: inputs_of_backward(lib, create_graph=True),
    "no inputs": lambda lib: (leaf(lib, 1.0) * 2).backward(inputs=[]),
    "no inputs of grad": lambda lib: lib.autograd.grad(leaf(lib, 1.0) * 2, []),
    "input without grad": lambda lib: lib.autograd.grad(leaf(lib, 1.0) * 2, lib.ones(1)),
    "root without grad": lambda lib: lib.ones(1).backward(),
    "root as input": root_as_input,
    "leaf as root": leaf_as_root,
    "an input twice": same_input_twice,
    "two roots": roots_with_a_constant,
    "freed": freed_and_retained,
    "nothing saved": nothing_saved_twice,
    "higher orders": higher_orders,
    "a number as root": lambda lib: lib.autograd.backward(3.0),
    "generator, no_grad": lambda lib: generator(lib, lib.no_grad()),
    "generator, inference": lambda lib: generator(lib, lib.inference_mode()),
    "generator, switched": lambda lib: generator(lib, lib.set_grad_enabled(False)),
    "generator closed": generator_closed,
    "class": decorated_class,
    "nested modes": nested_modes,
    "mode left by an error": mode_and_errors,
    "set_grad_enabled": switched,
    "inference: saved": lambda lib: inference(lib, lambda x: leaf(lib, 1.0, 2.0) * x),
    "inference: not saved": lambda lib: inference(lib, lambda x: leaf(lib, 1.0, 2.0) + x),
    "inference: written": lambda lib: inference(lib, lambda x: x.add_(1)),
    "inference: assigned": lambda lib: inference(lib, lambda x: x.__setitem__(0, 1.0)),
    "inference: requires_grad_": lambda lib: inference(lib, lambda x: x.requires_grad_()),
    "inference: version": lambda lib: inference(lib, lambda x: x._version),
    "inference: view": lambda lib: inference(lib, lambda x: (x[0], x[0].is_inference())),
    "inference: clone": lambda lib: inference(lib, lambda x: x.clone().requires_grad_()),
    "inference: into a normal": lambda lib: inference(lib, lambda x: lib.ones(2).double().add_(x)),
    "inference: detach_": lambda lib: inference(lib, lambda x: x[0].detach_()),
    "inference: backward": lambda lib: inference(lib, lambda x: x.sum().backward()),
    "inference: of a leaf": inference_of_leaf,
    "anomaly": lambda lib: anomaly(lib, lambda x: x.sqrt() * 0),
    "anomaly unchecked": lambda lib: anomaly(lib, lambda x: x.sqrt() * 0, check_nan=False),
    "anomaly without nan": lambda lib: anomaly(lib, lambda x: x * 2),
    "anomaly, infinite": lambda lib: anomaly(lib, lambda x: x.sqrt()),
    "anomaly flags": anomaly_flags,
    "saved hooks": saved_hooks,
    "saved hooks, scaled": lambda lib: saved_hooks(lib, lambda t: t * 2),
    "saved hooks, unpacked": lambda lib: saved_hooks(lib, unpack=lambda t: t + 1),
    "saved hooks, no tensor": lambda lib: saved_hooks(lib, unpack=lambda t: 3),
    "saved hooks, other shape": lambda lib: saved_hooks(lib, unpack=lambda t: t[:1]),
    "saved hooks, failing": lambda lib: saved_hooks(lib, pack=lambda t: {}["nothing"]),
    "saved hooks, writing": lambda lib: saved_hooks(lib, pack=lambda t: t.mul_(2)),
    "saved hooks, what they see": saved_hooks_see,
    "saved hooks, nested": nested_saved_hooks,
    "saved hooks, disabled": disabled_saved_hooks,
    "gradcheck": lambda lib: checked(lib, lambda x: x.exp(), leaf(lib, 1.0, 2.0)),
    "gradcheck, two": lambda lib: checked(
        lib, lambda x, y: (x * y, x + y), leaf(lib, 1.0, 2.0), leaf(lib, 3.0)
    ),
    "gradcheck, wrong": lambda lib: checked(lib, wrong(lib), leaf(lib, 1.0)),
    "gradcheck, wrong, quiet": lambda lib: checked(
        lib, wrong(lib), leaf(lib, 1.0), raise_exception=False
    ),
    "gradcheck without grad": lambda lib: checked(lib, lambda x: x * 2, lib.ones(1)),
    "gradcheck, forward": lambda lib: checked(
        lib, lambda x: x * x, leaf(lib, 1.0), check_forward_ad=True
    ),
    "gradcheck, constant": lambda lib: checked(lib, lambda x: x.detach(), leaf(lib, 1.0)),
    "gradcheck, random": lambda lib: checked(lib, lambda x: x * lib.rand(1), leaf(lib, 1.0)),
    "gradcheck, in a list": lambda lib: checked(lib, lambda x: [x * 2], leaf(lib, 1.0)),
    "gradgradcheck": lambda lib: attempt(
        lambda: lib.autograd.gradgradcheck(lambda x: x * x * x, (leaf(lib, 1.0),))
    ),
    "gradgradcheck, wrong": lambda lib: attempt(
        lambda: lib.autograd.gradgradcheck(lambda x: wrong(lib)(x) * x, (leaf(lib, 1.0),))
    ),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
