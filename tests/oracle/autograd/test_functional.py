"""`autograd.functional` computes what PyTorch's does, with all its options."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def one(library: Any) -> Any:
    return library.tensor([1.0, -2.0, 0.5], dtype=library.float64)


def two(library: Any) -> Any:
    return one(library), library.tensor([[2.0], [3.0]], dtype=library.float64)


FUNCTIONS: dict[str, Any] = {
    "cube": (one, lambda x: x**3),
    "outer": (one, lambda x: x[:, None] * x.sin()),
    "number": (one, lambda x: (x**3).sum() * x[0]),
    "two inputs": (two, lambda x, y: (x * x * y).sum(1)),
    "two outputs": (two, lambda x, y: (x.exp(), (y * x).sum())),
    "unused": (two, lambda x, y: x * x),
    "number of two": (two, lambda x, y: (x**2 * y**3).sum()),
    "linear": (one, lambda x: (3 * x).sum()),
    "constant": (one, lambda x: x.detach() * 2),
    "one output in a tuple": (one, lambda x: ((x * x).sum(),)),
}

JACOBIANS = [
    {},
    {"create_graph": True},
    {"strict": True},
    {"strict": True, "create_graph": True},
    {"vectorize": True},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "strategy": "forward-mode"},
    {"vectorize": True, "strict": True},
    {"strategy": "forward-mode"},
    {"strategy": "forward-mode", "vectorize": True, "create_graph": True},
    {"strategy": "sideways"},
]


def called(library: Any, name: str, function: Any, inputs: Any, **options: Any) -> Any:
    """The result, and the gradient of its sum where it has one."""
    found = attempt(lambda: getattr(library.autograd.functional, name)(function, inputs, **options))
    facts = [attempt(lambda: detached(found))]
    if not options.get("vectorize"):  # rows of zeros come with the others in PyTorch
        facts.append(attempt(lambda: requires(found)))
    return facts


def detached(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [detached(item) for item in found]
    return found if isinstance(found, str) else found.detach().clone()


def requires(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [requires(item) for item in found]
    return found if isinstance(found, str) else found.requires_grad


@pytest.mark.parametrize("options", JACOBIANS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians(torch, name, options):
    make, function = FUNCTIONS[name]
    assert_same(
        lambda library: called(library, "jacobian", function, make(library), **options), torch
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"create_graph": True},
        {"strict": True},
        {"vectorize": True},
        {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
        {"outer_jacobian_strategy": "sideways"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessians(torch, name, options):
    make, function = FUNCTIONS[name]
    assert_same(
        lambda library: called(library, "hessian", function, make(library), **options), torch
    )


@pytest.mark.parametrize("options", [{}, {"create_graph": True}, {"strict": True}], ids=str)
@pytest.mark.parametrize("product", ["vjp", "jvp", "vhp", "hvp"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_products(torch, name, product, options):
    make, function = FUNCTIONS[name]

    def behaviour(library: Any) -> Any:
        inputs = make(library)
        like = function(*inputs) if isinstance(inputs, tuple) else function(inputs)
        like = like if product == "vjp" else inputs
        several = isinstance(like, tuple)
        v = tuple(library.ones_like(t) * 2 for t in like) if several else library.ones_like(like)
        return [
            called(library, product, function, inputs, v=v, **options),
            called(library, product, function, inputs, **options),
            called(library, product, function, inputs, v=library.ones(7).double()),
            called(library, product, function, inputs, v=(library.ones(3).double(),) * 3),
            called(library, product, function, 3),
            called(library, product, function, (inputs, 3)),
        ]

    assert_same(behaviour, torch)


def test_graphs_reach_the_inputs(torch):
    def behaviour(library: Any) -> Any:
        x = one(library).requires_grad_()
        functional = library.autograd.functional
        facts = []
        for name in ("jacobian", "hessian"):
            found = getattr(functional, name)(lambda t: (t**4).sum(), x, create_graph=True)
            facts.append(library.autograd.grad(found.sum(), x)[0])
        v = one(library).requires_grad_()
        for name in ("vjp", "jvp", "vhp", "hvp"):
            given = library.tensor(1.5).double().requires_grad_() if name == "vjp" else v
            _, product = getattr(functional, name)(
                lambda t: (t**4).sum(), x, given, create_graph=True
            )
            facts.append(library.autograd.grad(product.sum(), (x, given)))
        return facts

    assert_same(behaviour, torch)


TEXTS: dict[str, tuple[str, Any]] = {
    "jvp without v": (
        "The vector v can only be None if the input to the user-provided function is",
        lambda f, x: f.jvp(lambda x: x * 2, x),
    ),
    "vjp without v": (
        "The vector v can only be None if the user-provided function returns",
        lambda f, x: f.vjp(lambda x: x * 2, x),
    ),
    "v of another size": (
        r"v has invalid size: should be torch.Size\(\[3\]\) but got torch.Size\(\[2\]\)",
        lambda f, x: f.vjp(lambda x: x * 2, x, x[:2]),
    ),
    "v of vhp": (
        "The v given to vhp must be either a Tensor or a tuple of Tensors",
        lambda f, x: f.vhp(lambda x: x.sum(), x, (x, 2)),
    ),
    "outputs of hessian": (
        "The outputs of the user-provided function given to hessian must",
        lambda f, x: f.hessian(lambda x: (x.sum(), "text"), x),
    ),
    "two outputs of hessian": (
        "The function given to hessian should return a single Tensor",
        lambda f, x: f.hessian(lambda x: (x.sum(), x.sum()), x),
    ),
    "detached": (
        "Output 0 of the user-provided function does not require gradients",
        lambda f, x: f.hessian(lambda x: x.detach().sum(), x, strict=True),
    ),
    "not connected": (
        "The output of the user-provided function is independent of input 0",
        lambda f, x: f.jvp(lambda x: x.detach().requires_grad_().clone(), x, x, strict=True),
    ),
    "output not connected": (
        "Output 0 of the user-provided function is independent of input 0",
        lambda f, x: f.jacobian(lambda x: x.detach().requires_grad_().clone(), x, strict=True),
    ),
    "linear": (
        "jacobian of the user-provided function with respect to input 0 is independent",
        lambda f, x: f.vhp(lambda x: (3 * x).sum(), x, x, strict=True),
    ),
    "linear hessian": (
        "jacobian of the user-provided function with respect to input 0 is independent",
        lambda f, x: f.hessian(lambda x: (3 * x).sum(), x, strict=True),
    ),
    "linear with a graph": (
        "jacobian of the user-provided function is independent of input 0",
        lambda f, x: f.vjp(
            lambda x: x.clone(), x.clone().requires_grad_(), x, create_graph=True, strict=True
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_programs_look_for(torch, name):
    text, call = TEXTS[name]
    for library in (torch, gs):
        with pytest.raises((RuntimeError, TypeError), match=text):
            call(library.autograd.functional, one(library))


@pytest.mark.parametrize("vectorize", [False, True])
def test_numbers(torch, vectorize):
    def behaviour(library: Any) -> Any:
        functional, number = library.autograd.functional, one(library).sum()
        options: list[dict[str, Any]] = [{"vectorize": vectorize}]
        options += [{"vectorize": True, "strategy": "forward-mode"}] * vectorize
        return [
            *(functional.jacobian(lambda x: x.sin(), number, **option) for option in options),
            *(functional.jacobian(lambda x: x.expand(2), number, **option) for option in options),
            functional.hessian(lambda x: x**3, number, vectorize=vectorize),
        ]

    assert_same(behaviour, torch)


def test_bases(torch):
    def behaviour(library: Any) -> Any:
        tensors = (library.ones(2, 2), library.ones((), dtype=library.float64), library.ones(3))
        sizes = [tensor.numel() for tensor in tensors]
        return library.autograd.functional._construct_standard_basis_for(tensors, sizes)

    assert_same(behaviour, torch)
