"""Lazy imports: families of ops and their kernels are imported when they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib import import_module
from types import FunctionType

import pytest

import gradspec as gs
from gradspec import generated, kernels, tensor_methods
from gradspec.dispatch.operators import OPERATORS
from gradspec.dispatch.registry import BY_NAME, import_all
from gradspec.generated.names.methods import TensorMethods

LOADED = """
import json
found = [name.rpartition(".")[2] for name in sys.modules if PART in name]
print(json.dumps(found))
"""


def modules_after(code: str, part: str = "gradspec.generated.") -> list[str]:
    """The modules whose name has `part` in it that a fresh process has imported."""
    script = f"import sys\nimport gradspec as gs\n{code}\nPART = {part!r}\n{LOADED}"
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_families_wait_until_they_are_used() -> None:
    assert modules_after("") == []
    assert modules_after("x = gs.ones(2, requires_grad=True)") == []
    step = "(gs.ones(2, requires_grad=True) * 2).sum().backward()"
    assert sorted(modules_after(step)) == ["arithmetic", "reduction"]
    assert modules_after("gs.max_pool1d") == ["pooling"]
    assert {"conv", "losses", "fourier"} <= set(
        modules_after("import gradspec.nn\ngs.fft.fft(gs.ones(2))")
    )


def test_kernels_wait_too() -> None:
    assert "conv" in kernels_after("gs.nn.functional.conv1d(gs.ones(1, 1, 2), gs.ones(1, 1, 2))")
    folders = {"elementwise", "reductions", "shape"}
    assert kernels_after("gs.ones(2) * 2") - folders <= {
        *("checks", "complex_numbers", "strided_region", "unbroadcast"),
    }


def test_every_kernel_is_where_the_package_says() -> None:
    for module, names in kernels._NAMES.items():
        there = import_module(f"gradspec.kernels.{module}")
        for name in names.split():
            assert getattr(kernels, name) is getattr(there, name)
            assert name not in kernels._NAMES, "the module would hide the kernel"


def kernels_after(code: str) -> set[str]:
    """The kernel modules that a fresh process has imported."""
    return set(modules_after(code, "gradspec.kernels."))


@pytest.mark.parametrize(
    "code",
    [
        "assert abs(gs.norm(gs.tensor([3.0, 4.0])).item() - 5) < 1e-6",
        "assert abs(gs.tensor([3.0, 4.0]).norm().item() - 5) < 1e-6",
        "assert gs.fft.fft(gs.ones(4), n=6).shape == (6,)",
        "assert gs.linalg.vector_norm(gs.ones(4)).item() == 2",
        "assert gs.einsum('ij,jk->ik', gs.ones(2, 3), gs.ones(3, 4)).shape == (2, 4)",
        "from gradspec import conv2d; assert conv2d is gs.conv2d",
        "assert gs.nn.functional.max_pool2d(gs.ones(1, 1, 2, 2), 2).item() == 1",
        "assert 'conv2d' in dir(gs) and 'fft' in dir(gs) and 'max_pool1d' in dir(gs.generated)",
        "from gradspec import *; assert relu(tensor([-1.0])).item() == 0; conv2d, nn, einsum",
        "from gradspec.generated import *; assert tanh is gs.tanh",
        "assert {gs.ones(1): 1} and (gs.ones(1) == gs.ones(1)).item()",
        "assert gs.Tensor.add_.__name__ == 'add_' and hasattr(gs.Tensor, 'det')",
        "assert not hasattr(gs, 'no_such_op') and not hasattr(gs.generated, 'no_such_op')",
    ],
)
def test_nobody_notices(code: str) -> None:
    modules_after(code)


BEYOND_NUMPY = """
import json, sys
import numpy
before = set(sys.modules)
import gradspec
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_a_program_pays_for_little_at_its_start() -> None:
    run = [sys.executable, "-c", BEYOND_NUMPY]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    started = set(json.loads(done.stdout))
    ours = {name for name in started if name.startswith("gradspec")}
    assert started - ours <= {"_heapq", "copy", "heapq", "threading", "_thread", "_weakrefset"}
    assert len(ours) <= 110
    waiting = ("autograd.function", "autograd.graph", "batching.call", "random", "functions.legacy")
    assert ours.isdisjoint(f"gradspec.{name}" for name in waiting)


def test_parts_of_autograd_wait_until_they_are_used() -> None:
    assert {"function", "function_vmap"} <= set(
        modules_after("gs.autograd.Function", "gradspec.autograd.")
    )
    assert "node_flow" in modules_after("gs.autograd.gradient_flow", "gradspec.autograd.")


def test_a_method_is_defined_in_one_layer() -> None:
    names = Counter(
        name
        for methods in tensor_methods.TensorMethods.__bases__
        if methods is not object
        for name, value in vars(methods).items()
        if hasattr(type(value), "__get__")
    )
    names.update(list(generated.METHODS))
    names.update(name for later in tensor_methods.LATER.values() for name in later.split())
    assert names["backward"] == names["numpy"] == names["add"] == names["where"] == 1
    assert names.most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("module", "owner"), [place for place in tensor_methods.LATER if place[1]], ids=lambda x: x
)
def test_methods_that_wait_are_all_those_of_their_class(module: str, owner: str) -> None:
    there = vars(getattr(import_module(f"gradspec.{module}"), owner))
    methods = {name for name, value in there.items() if isinstance(value, FunctionType)}
    assert set(tensor_methods.LATER[module, owner].split()) == methods
    assert {type(there[name]) for name in there if name not in methods} <= {str, tuple, type(None)}
    for name in methods:
        assert getattr(gs.Tensor, name) is there[name]


def test_threads_may_import_at_once() -> None:
    modules_after(
        "import threading\n"
        "sys.setswitchinterval(1e-6)\n"
        "start, failed = threading.Barrier(4), []\n"
        "def use(name):\n"
        "    start.wait()\n"
        "    try:\n"
        "        getattr(gs.eye(3, requires_grad=True), name)().sum().backward()\n"
        "    except BaseException as error:\n"
        "        failed.append(error)\n"
        "names = ['det', 'sin', 'exp', 'inverse']\n"
        "threads = [threading.Thread(target=use, args=(name,)) for name in names]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join(60) for thread in threads]\n"
        "assert not failed and not any(thread.is_alive() for thread in threads), failed"
    )


def test_the_profiler_knows_ops_that_are_imported_meanwhile() -> None:
    modules_after(
        "with gs.autograd.profiler.profile() as found:\n"
        "    gs.nn.functional.max_pool2d(gs.ones(1, 1, 4, 4), 2)\n"
        "names = {event.name for event in found.events}\n"
        "assert 'aten::max_pool2d_with_indices' in names, names"
    )


def test_all_can_be_asked_for() -> None:
    for name, (family, function) in generated.FUNCTIONS.items():
        there = getattr(import_module(family, generated.__name__), function)
        assert getattr(generated, name) is there
        # `clone` takes a memory format, too, and `narrow` refuses bools.
        assert getattr(gs, name) is there or name in ("clone", "narrow")
    import_all()
    assert "conv2d" in {name.partition(".")[0] for name in BY_NAME}


def test_methods_are_those_that_type_checkers_are_told() -> None:
    told = {
        name
        for name, value in vars(TensorMethods).items()
        if callable(value) and name not in ("__hash__", "__class__")
    }
    assert set(generated.METHODS) == told
    # `view` takes dtypes, `clone` a memory format, `narrow` refuses bools, `~` raises as operators
    # do, and they say so.
    for name in told - {"__eq__", "__ne__", "__invert__", "clone", "narrow", "view"}:
        ours, theirs = getattr(gs.Tensor, name), getattr(TensorMethods, name)
        assert ours.__name__ == theirs.__name__
        assert ours.__doc__ == theirs.__doc__
        if generated.METHODS[name][2] == "":  # operators refuse in another way: see `operators`
            assert (ours.__wrapped__ if name in OPERATORS else ours) is theirs
