"""Transforms by the names that formulas know: emitted for PyTorch, they are PyTorch's own."""

from __future__ import annotations

from typing import Any

import pytest

from gradspec_codegen import auto
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

pytestmark = pytest.mark.oracle

NAMES = ("fft", "ifft", "rfft", "irfft")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One op for each transform, with all of its arguments."""
    folder = tmp_path_factory.mktemp("transforms")
    arguments = "Tensor self, int? n=None, int dim=-1, str? norm=None"
    entries = "".join(
        f"- name: by_{name}({arguments}) -> Tensor\n"
        f"  forward: fft_{name}(self, n, dim, norm)\n"
        f"  complex: {'false' if name == 'rfft' else 'true'}\n"
        f"  examples:\n    - {{self: [3]}}\n"
        for name in NAMES
    )
    (folder / "ops.yaml").write_text(f"- family: transforms\n{entries}", encoding="utf-8")
    loaded = load_table(folder / "ops.yaml", base=FILLED)
    everything = Table((*FILLED.ops, *loaded.ops))
    table = auto.fill_in(loaded, everything, {})
    return imported(
        FrameworkPackage(table, everything, framework("torch"), ORIGIN).files({}), folder
    )


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 2, 3, 6])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_pytorch(
    name: str, n: int | None, norm: str | None, package: Any, torch: Any
) -> None:
    ours, theirs = getattr(package, f"by_{name}"), getattr(torch.fft, name)
    torch.manual_seed(0)
    dtypes = {"rfft": [torch.float64], "irfft": [torch.complex128]}
    for dtype in dtypes.get(name, [torch.float64, torch.complex128]):
        for dim in (0, 1, -1, -2):
            x = torch.randn(4, 3, dtype=dtype, requires_grad=True)
            found, expected = ours(x, n, dim, norm), theirs(x, n, dim, norm)
            torch.testing.assert_close(found, expected)
            weights = torch.randn_like(expected)
            slopes = torch.autograd.grad(found, x, weights)
            torch.testing.assert_close(slopes, torch.autograd.grad(expected, x, weights))
