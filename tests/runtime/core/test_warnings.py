"""Warnings: NumPy's never come from an op, whatever the filters; the user's own still do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs

OPS = """
x = gs.tensor([0.0, -1.0, 1e30, float("inf")], requires_grad=True)
(1 / x + x.log() + x.sqrt() + x.exp() + x * x + x**-2 - x / x).sum().backward()
gs.optim.Adam([x]).step()
gs.zeros(0).mean(), gs.zeros(0, 3).mean(0), gs.zeros(0).sum()
gs.tensor([1e300]), gs.tensor(1e300, dtype=gs.float32), x.to(gs.float16)
gs.full((2,), 1e300, dtype=gs.float64)
x.detach().double().mul_(1e300).float().half(), gs.logspace(0, 400, 3)
gs.tensor([float("nan"), float("inf")]).long()
gs.tensor([1, 2]) // gs.tensor([0, 1]).double(), gs.tensor([1]) % gs.tensor([0.0])
repr(x), x.grad.tolist(), x.softmax(dim=0)
gs.linalg.det(gs.full((2, 2), x[3].item()))
y = gs.tensor([1.0], requires_grad=True)
(y * float("inf")).backward(gs.ones(1)); (y * float("-inf")).backward(gs.ones(1))
with gs.no_grad():
    x.div_(0).sub_(x)
big = gs.zeros(1 << 20, requires_grad=True)
(1 / big).log().sum().backward()
"""


def run(code: str, *options: str) -> str:
    """Return the output and errors of a fresh process; the status must be 0."""
    script = f"import numpy as np\nimport gradspec as gs\n{code}"
    command = [sys.executable, *options, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("filters", ["default", "error", "always"])
def test_a_program_that_divides_by_zero_reads_no_warning(filters: str) -> None:
    assert run(OPS, "-W", filters) == ""


def test_in_other_threads_neither() -> None:
    code = "\n".join(f"    {line}" for line in OPS.strip().splitlines())
    assert (
        run(
            f"import threading\ndef work():\n{code}\n"
            "threads = [threading.Thread(target=work) for _ in range(3)]\n"
            "[thread.start() for thread in threads]\n[thread.join() for thread in threads]",
            *("-W", "error"),
        )
        == ""
    )


def test_importing_the_library_changes_no_filter() -> None:
    code = (
        "import warnings, numpy as np\nbefore = list(warnings.filters)\n"
        "import gradspec as gs, gradspec.nn, gradspec.optim\n(1 / gs.zeros(1)).log()\n"
        "assert warnings.filters == before\nassert np.geterr()['divide'] == 'warn'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_users_own_numpy_still_warns() -> None:
    shown = run("(1 / gs.zeros(1)).log()\nnp.log(np.zeros(1))\ngs.zeros(2).numpy() / 0.0")
    assert "divide by zero encountered in log" in shown
    assert "invalid value encountered in divide" in shown


def test_a_custom_functions_own_numpy_still_warns() -> None:
    class Log(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            return gs.from_numpy(np.log(x.numpy()))

    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        Log.apply(gs.zeros(1))


def test_errstate_of_the_user_is_heard() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        gs.ones(1) / gs.zeros(1)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        gs.tensor([1000.0]).exp()


def test_ops_of_a_generated_package_are_silent_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text(
        "- family: own\n\n"
        "- name: inverse_of_log(Tensor self) -> Tensor\n"
        "  doc: One by the logarithm.\n"
        "  domain: {self: self > 1}\n"
        "  forward: 1 / log(self)\n"
        "  self: auto\n"
        "  result: auto_element_wise\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    generate = [sys.executable, "-m", "gradspec_codegen", "codegen", "own.yaml", "--out", "own"]
    subprocess.run(generate, capture_output=True, check=True)
    code = (
        "import sys; sys.path.insert(0, '.')\nimport own\n"
        "x = gs.tensor([0.0, 1.0, -1.0], requires_grad=True)\n"
        "own.inverse_of_log(x).sum().backward()"
    )
    assert run(code, "-W", "error") == ""


def test_modules_keep_their_names() -> None:
    run(
        "import inspect, pickle, pydoc, sys\n"
        "(gs.ones(1) / 0).log(); str(gs.ones(1)); gs.optim.SGD; gs.nn.Linear\n"
        "from gradspec.autograd import profiler\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('gradspec.'):\n"
        "        assert module.__name__ == module.__spec__.name == name and name in repr(module)\n"
        "        if not hasattr(module, '__path__'):\n"
        "            assert vars(module)['__name__'] is None, f'{name} may warn'\n"
        "assert inspect.getmodule(gs.log).__name__ == 'gradspec.generated.exp_log'\n"
        "assert 'logarithm' in pydoc.render_doc(gs.log).lower()\n"
        "assert pickle.loads(pickle.dumps(gs.log)) is gs.log"
    )


def test_warnings_of_the_library_are_given_in_one_place() -> None:
    # Python drops those that point at a module without a name: `user_warnings` points at the user.
    runtime = Path(gs.__file__).parent
    giving = [path.name for path in runtime.rglob("*.py") if "warnings.warn(" in path.read_text()]
    assert giving == ["user_warnings.py"]
