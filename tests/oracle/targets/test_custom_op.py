"""Ops that are registered with `torch.library`: `opcheck`, all modes, a kernel of one's own."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, hessian, jvp, vmap

from gradspec_codegen import auto
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets import whole_kernels
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

_SPEC = Path(whole_kernels.__file__).with_name("whole.yaml")


def _package() -> ModuleType:
    sys.modules["whole_kernels"] = whole_kernels  # as it would be on the path of a program
    table = load_table(_SPEC, base=FILLED)
    table = auto.fill_in(table, Table((*FILLED.ops, *table.ops)), {})
    known = Table((*FILLED.ops, *table.ops))
    files = FrameworkPackage(table, known, framework("torch"), ORIGIN).files({})
    return imported(files, Path(tempfile.mkdtemp(prefix="gradspec-whole-")))


OPS = _package()


def _cap(x: Any) -> Any:
    return OPS.whole_cap(x, 3.0)


def _plain_cap(x: Any) -> Any:
    return 3 * torch.tanh(x / 3)


def _norm(x: Any, weight: Any) -> Any:
    return OPS.whole_norm(x, weight)


def _plain_norm(x: Any, weight: Any) -> Any:
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 0.5)
    return x * scale * weight, scale


X = torch.linspace(-2, 3, 6, dtype=torch.float64).reshape(3, 2)
WEIGHT = torch.tensor([0.5, -2.0], dtype=torch.float64)

CHECKS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


@pytest.mark.parametrize("x", [X, X.T.contiguous().T, X.float()])
def test_opcheck(x: torch.Tensor) -> None:
    family = sys.modules[f"{OPS.__name__}.whole"]
    leaf = x.clone().requires_grad_()
    weight = WEIGHT.clone().to(x.dtype).requires_grad_()
    for op, args in (
        (family.whole_cap__op, (leaf, 3.0)),
        (family.whole_norm__op, (leaf, weight, 0.5)),
        (family.whole_norm__op, (leaf, None, 0.5)),
    ):
        found = torch.library.opcheck(op, args, test_utils=CHECKS)
        assert found == dict.fromkeys(CHECKS, "SUCCESS")


def test_is_the_composite_in_all_modes() -> None:
    """Under transforms the proved rules are run: forward mode is not silently zero."""
    same = functools.partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)

    def total(function: Any) -> Any:
        return lambda *xs: sum(out.sin().sum() for out in _several(function(*xs)))

    for ours, theirs, xs in ((_cap, _plain_cap, (X,)), (_norm, _plain_norm, (X, WEIGHT))):
        ones = tuple(x.cos() for x in xs)
        places = tuple(range(len(xs)))
        batch = tuple(torch.stack([x, 2 * x]) for x in xs)
        same(jvp(ours, xs, ones), jvp(theirs, xs, ones))
        same(hessian(total(ours), places)(*xs), hessian(total(theirs), places)(*xs))
        same(vmap(ours)(*batch), vmap(theirs)(*batch))
        gradient = (vmap(grad(total(f), places))(*batch) for f in (ours, theirs))
        same(*gradient)
        same(jvp(_moved(ours, ones), xs, ones), jvp(_moved(theirs, ones), xs, ones))


def _moved(function: Any, tangents: Any) -> Any:
    return lambda *xs: jvp(function, xs, tangents)[1]


def _several(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def test_gradcheck_and_compile() -> None:
    for ours, theirs, xs in ((_cap, _plain_cap, (X,)), (_norm, _plain_norm, (X, WEIGHT))):
        leaves = tuple(x.clone().requires_grad_() for x in xs)
        assert gradcheck(ours, leaves, check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(ours, leaves)
        compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
        found, expected = (
            torch.autograd.grad(sum(o.sin().sum() for o in _several(f(*leaves))), leaves)
            for f in (compiled, theirs)
        )
        torch.testing.assert_close(found, expected)
