"""Plans that a process leaves for later ones: when they are taken, and what bad ones lead to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler import executable
from gradspec.compiler.c import plans
from gradspec.compiler.kept import disk_cache
from gradspec.compiler.kept.plain import Reader, UnknownTypeError, Writer
from gradspec.compiler.program import Value

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gradspec" / "programs"


@pytest.fixture
def optimised(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The captures that were optimised, because there was no plan for them."""
    found: list[Any] = []
    divided = executable.divided

    def noted(trace: Any) -> Any:
        found.append(trace)
        return divided(trace)

    monkeypatch.setattr(executable, "divided", noted)
    return found


Function = Callable[..., Any]


def compiled(function: Function) -> Any:
    """A function that is captured anew, as in another process."""
    return gs.compile(function, backend="c")


def gradients(function: Function, *arrays: Any) -> list[Any]:
    """The results of a function, and the gradients of the sum of the first one."""
    gs.manual_seed(3)
    leaves = [gs.tensor(array).requires_grad_(array.dtype.kind == "f") for array in arrays]
    found = function(*leaves)
    results = found if isinstance(found, tuple) else (found,)
    results[0].sum().backward()
    grads = [leaf.grad.numpy() for leaf in leaves if leaf.grad is not None]
    return [*(result.detach().numpy().copy() for result in results), *grads]


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    assert [(each.dtype, each.shape) for each in found] == [(x.dtype, x.shape) for x in wanted]
    assert [each.tobytes() for each in found] == [each.tobytes() for each in wanted]


ROWS = np.linspace(-1.5, 2, 24).reshape(4, 6)
SQUARE = np.linspace(-1, 1, 9).reshape(3, 3) + 3 * np.eye(3)
TABLE = gs.tensor(np.linspace(0, 5, 7))


def attention(x: gs.Tensor) -> gs.Tensor:
    return (x @ x.T).softmax(-1) @ x


def mixed(x: gs.Tensor) -> tuple[gs.Tensor, gs.Tensor]:
    """Several results, one of which is no float, and a constant."""
    return (x * gs.arange(6.0)).tanh(), (x > 0).sum(1)


def dropped(x: gs.Tensor) -> gs.Tensor:
    return gs.nn.functional.dropout(x, 0.5) * 2


def looked_up(x: gs.Tensor) -> gs.Tensor:
    return x.sort(1).values[:, [0, 2, 2]] * TABLE[2:5]


def inverse(x: gs.Tensor) -> gs.Tensor:
    return gs.linalg.inv(x) @ x.T


def pooled(x: gs.Tensor) -> gs.Tensor:
    maps = gs.nn.functional.conv2d(x.reshape(1, 1, 4, 6), gs.ones(2, 1, 3, 3))
    return gs.nn.functional.max_pool2d(maps, 2)


def repeated(x: gs.Tensor) -> gs.Tensor:
    return gs.compiler.fori_loop(0, 5, lambda _, state: (state * x).sin(), x)


@pytest.mark.parametrize(
    ("function", "array"),
    [
        *((function, ROWS) for function in (attention, mixed, dropped, looked_up, repeated)),
        *((inverse, SQUARE), (pooled, ROWS.astype(np.float32))),
        (attention, np.asfortranarray(ROWS)),
    ],
)
def test_a_plan_does_what_was_built(function: Function, array: Any, optimised: list[Any]) -> None:
    wanted = gradients(compiled(function), array)
    assert len(optimised) == 1
    again = compiled(function)
    assert_same(gradients(again, array), wanted)
    assert_same(gradients(again, array), wanted)  # by the short way
    assert len(optimised) == 1
    for ours, eager in zip(wanted, gradients(function, array), strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-5, atol=1e-6)


def test_a_plan_shows_what_there_is(optimised: list[Any]) -> None:
    leaf = gs.tensor(ROWS, requires_grad=True)
    shown = []
    for number in (1, 2):
        run = compiled(attention)
        run(leaf).sum().backward()
        assert len(optimised) == 1
        shown.append(gs.compiler.explain(run, leaf))
        assert len(optimised) == number
    assert str(shown[0]) == str(shown[1])
    assert shown[1].backward is not None


def test_training_by_a_plan(optimised: list[Any]) -> None:
    def train() -> Any:
        gs.manual_seed(0)
        model = gs.nn.Sequential(gs.nn.Linear(6, 5), gs.nn.GELU(), gs.nn.Linear(5, 1))
        optimizer = gs.optim.Adam(model.parameters(), lr=0.1)

        def step(x: gs.Tensor) -> gs.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = compiled(step)
        return [run(gs.tensor(ROWS, dtype=gs.float32)).numpy().copy() for _ in range(4)]

    wanted = train()
    count = len(optimised)
    assert_same(train(), wanted)
    assert len(optimised) == count


# ---- what makes another plan


def of_constant(constant: Any) -> Function:
    return lambda x: (x * 2 + constant) / constant


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (of_constant(2.0), of_constant(3.0)),
        (of_constant(0.0), of_constant(-0.0)),
        (lambda x: x * gs.tensor([1.0, 2.0]), lambda x: x * gs.tensor([1.0, 3.0])),
        (lambda x: x.sum(0), lambda x: x.sum(1)),
        (lambda x: x[:, 0:1] + x, lambda x: x[:, 1:2] + x),
        (lambda x: x.square().detach() * x, lambda x: x.square() * x),
        (lambda x: (x, x + 1), lambda x: (x + 1, x)),
    ],
)
def test_what_differs_has_a_plan_of_its_own(
    first: Function, second: Function, optimised: list[Any]
) -> None:
    array = np.asarray([[1.0, -2.0], [3.0, 5.0]])
    for number, function in enumerate((first, second), 1):
        found = gradients(compiled(function), array)
        assert len(optimised) == number
        for ours, eager in zip(found, gradients(function, array), strict=True):
            np.testing.assert_array_equal(ours, eager)


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.astype(np.float32),
        lambda array: np.ascontiguousarray(array.T).T,
        lambda array: array[:3],
        lambda array: np.repeat(array, 2, 1)[:, ::2],
    ],
)
def test_another_layout_has_a_plan_of_its_own(
    change: Callable[[Any], Any], optimised: list[Any]
) -> None:
    def function(x: gs.Tensor) -> gs.Tensor:
        return (x * 2 + 1).sum(0)

    compiled(function)(gs.from_numpy(ROWS))
    other = change(ROWS)
    found = compiled(function)(gs.from_numpy(other))
    assert len(optimised) == 2
    np.testing.assert_allclose(found.numpy(), (other * 2 + 1).sum(0), rtol=1e-6)


@pytest.mark.parametrize("part", ["_code", "toolchain.identity"])
def test_what_others_have_made_is_not_taken(
    part: str, monkeypatch: pytest.MonkeyPatch, optimised: list[Any]
) -> None:
    wanted = gradients(compiled(attention), ROWS)
    surroundings = plans._surroundings()
    monkeypatch.setattr(plans, "_surroundings", lambda: (*surroundings, part))
    assert_same(gradients(compiled(attention), ROWS), wanted)
    assert len(optimised) == 2


def test_the_surroundings_are_code_compiler_and_processor() -> None:
    found = "\n".join(plans._surroundings())
    assert plans.toolchain.identity() in found
    assert np.__version__ in found
    for path in ("compiler/c/nests.py", "compiler/c/entry.c", "kernels/nn/conv.py"):
        file = Path(gs.__file__).parent / path
        status = file.stat()
        assert f"{file.parent} {file.name} {status.st_size} {status.st_mtime_ns}" in found


# ---- bad files


def plan_files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.json"))


def in_disguise(path: Path, content: bytes) -> None:
    """Put another content into a file's place, under a name that fits it."""
    path.unlink()
    path.with_name(f"{disk_cache._hash(content)}.json").write_bytes(content)
    path.with_name(f"{disk_cache._hash(content)}.json").chmod(0o600)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def without(part: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        plain = json.loads(path.read_bytes())
        del plain["form"][part]
        in_disguise(path, json.dumps(plain).encode())

    return change


def having(**parts: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        plain = json.loads(path.read_bytes()) | parts
        in_disguise(path, json.dumps(plain).encode())

    return change


def without_libraries(path: Path) -> None:
    for library in path.parents[1].rglob("*.so"):
        library.unlink()


def with_damaged_library(path: Path) -> None:
    folder, name = json.loads(path.read_bytes())["library"]
    library = path.parents[1] / folder / name
    library.unlink()  # what is mapped stays as it is
    library.write_bytes(b"\x7fELF, or not")


def linked(path: Path) -> None:
    moved = path.parents[2] / path.name
    path.rename(moved)
    path.symlink_to(moved)


BAD = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": cut,
    "flipped": flipped,
    "of others": lambda path: path.chmod(0o666),
    "link": linked,
    "no JSON": lambda path: in_disguise(path, b"import os"),
    "other JSON": lambda path: in_disguise(path, b"[1, 2]"),
    "null": lambda path: in_disguise(path, b"null"),
    "nested": lambda path: in_disguise(path, b"[" * 100_000),
    "no layouts": without("layouts"),
    "no stages": without("stages"),
    "no numbers": without("numbers"),
    "no outline": having(outline=7),
    "no library": having(library=[]),
    "library elsewhere": having(library=["../../..", "passwd"]),
    "library unknown": having(library=["0" * 32, "0" * 32 + ".so"]),
    "libraries gone": without_libraries,
    "library damaged": with_damaged_library,
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_plan_is_made_again(bad: str, cache: Path, optimised: list[Any]) -> None:
    wanted = gradients(compiled(attention), ROWS)
    files = plan_files(cache)
    assert len(files) == 2  # forward and backward
    for path in files:
        if path.exists():
            BAD[bad](path)
    assert_same(gradients(compiled(attention), ROWS), wanted)
    assert len(optimised) == 2
    assert_same(gradients(compiled(attention), ROWS), wanted)
    assert len(optimised) == 2
    assert [path.name for path in plan_files(cache) if path.is_file()]


def test_a_full_disk_keeps_no_plan(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = gradients(compiled(attention), ROWS)
    for path in plan_files(cache):
        path.unlink()

    def refuse(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert_same(gradients(compiled(attention), ROWS), wanted)
    assert not plan_files(cache)


PROGRAM = """
import sys
import gradspec as gs

@gs.compile(backend="c")
def loss(x):
    return (gs.nn.functional.dropout(x.sin(), 0.25) * x).sum()

gs.manual_seed(1)
x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
for _ in range(3):
    loss(x).backward()
print(x.grad.tolist(), "gradspec.compiler.c.lower" in sys.modules)
"""


def start(cache: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache.parents[1])}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_processes_at_once_are_both_right_and_a_later_one_takes_their_plan(cache: Path) -> None:
    both = [start(cache) for _ in range(2)]
    first, second = (process.communicate()[0] for process in both)
    third = start(cache).communicate()[0]
    assert third.endswith("] False\n")
    assert first.partition("]")[0] == second.partition("]")[0] == third.partition("]")[0] != ""
    assert not list(cache.glob("build-*"))


# ---- plain data


def test_arguments_come_back_as_they_were() -> None:
    value = Value("x", (2, 3), np.dtype(np.float32), (12, 4))
    view = Value("y", (3,), np.dtype(np.float32), (4,), value, 12)
    given = (
        *(1, True, None, "text", -0.0, float("inf"), 1e300, 2 - 0.0j, ..., np.dtype("i2"), float),
        *((value, [view, (1.0, 1)]), {"axis": (0,)}, slice(None, value, 2)),
    )
    writer = Writer()
    plain = json.loads(json.dumps([writer.structure(each) for each in given]))
    reader = Reader(json.loads(json.dumps(writer.values)), [])
    found = [reader.structure(each) for each in plain]
    new, seen = reader.values
    assert repr(found[:11]) == repr(list(given[:11]))
    assert [type(each) for each in found] == [type(each) for each in given]
    assert found[11] == (new, [seen, (1.0, 1)])
    assert [type(each) for each in found[11][1][1]] == [float, int]
    assert found[12:] == [{"axis": (0,)}, slice(None, new, 2)]
    assert (seen.shape, seen.dtype, seen.strides, seen.offset) == ((3,), view.dtype, (4,), 12)
    assert seen.base is new
    assert (new.shape, new.dtype, new.strides, new.base) == ((2, 3), value.dtype, (12, 4), None)


@pytest.mark.parametrize(
    "unknown",
    [object(), {1: 2}, np.float64(1), np.dtype("M8[s]"), np.dtype(">f4"), {1}, np.ndarray],
)
def test_what_is_not_known_is_refused(unknown: Any) -> None:
    with pytest.raises(UnknownTypeError):
        Writer().structure(("t", [unknown]))
