"""What is imported when: families without methods wait until they are used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import gradspec as gs
from gradspec import generated
from gradspec.registry import BY_NAME, import_all

LOADED = """
import json
found = [name.rpartition(".")[2] for name in sys.modules if "gradspec.generated." in name]
print(json.dumps(found))
"""


def modules_after(code: str) -> list[str]:
    """The generated modules that a fresh process has imported."""
    script = f"import sys\nimport gradspec as gs\n{code}\n{LOADED}"
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_families_wait_until_they_are_used() -> None:
    waiting = {family for family, _ in generated.LATER.values()} | {"fourier", "norms", "losses"}
    assert waiting >= {"conv", "pooling", "normalization", "padding", "layers"}
    step = "(gs.ones(2, requires_grad=True) * 2).sum().backward()"
    assert waiting.isdisjoint(modules_after(step))
    pooled = modules_after("gs.max_pool1d")
    assert "pooling" in pooled
    assert "conv" not in pooled
    assert waiting <= set(modules_after("import gradspec.nn\ngs.fft.fft(gs.ones(2))"))


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
        "assert not hasattr(gs, 'no_such_op') and not hasattr(gs.generated, 'no_such_op')",
    ],
)
def test_nobody_notices(code: str) -> None:
    modules_after(code)


def test_the_profiler_knows_ops_that_are_imported_meanwhile() -> None:
    modules_after(
        "with gs.autograd.profiler.profile() as found:\n"
        "    gs.nn.functional.max_pool2d(gs.ones(1, 1, 4, 4), 2)\n"
        "assert 'max_pool2d_with_indices' in {event.name for event in found.events}, found.events"
    )


def test_all_can_be_asked_for() -> None:
    import_all()
    for name, (_, function) in generated.LATER.items():
        assert getattr(gs, name) is getattr(generated, name)
        assert getattr(gs, name).__name__.startswith(function)
    assert "conv2d" in {name.partition(".")[0] for name in BY_NAME}
