"""Arguments, writes, results and refusals of a C program, and the files it is built into."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradspec.compiler.c import NoCompilerError, build, entry, source_of, toolchain
from gradspec.compiler.program import Place, Program, Step, Value

from .recorded import assert_same_bits, expected, recorded, run

rng = np.random.default_rng(0)


def test_writes_reach_the_inputs() -> None:
    def step(weight: Any, grad: Any) -> Any:
        weight -= 0.5 * grad
        return np.add.reduce(weight * grad, axis=None)

    weight, grad = rng.standard_normal((4, 6)), rng.standard_normal((4, 6))
    wanted = weight - 0.5 * grad
    (total,) = run(step, weight, grad)
    assert_same_bits(weight, wanted)
    np.testing.assert_allclose(total, np.sum(wanted * grad))


def test_bytes_that_are_read_as_another_dtype() -> None:
    def function(a: Any) -> Any:
        return a.view(np.int32) + 1, (a * 2).view(np.int32) + 1

    one, two = run(function, np.ones(3, np.float32))
    assert one.tolist() == [0x3F800001] * 3
    assert two.tolist() == [0x40000001] * 3


def test_the_parts_of_complex_numbers() -> None:
    def function(a: Any) -> Any:
        return a.view(np.float64) * 3, a.imag + 1

    pairs, imaginary = run(function, np.array([1 + 2j, 3j]))
    assert pairs.tolist() == [3, 6, 0, 9]
    assert imaginary.tolist() == [3, 4]


def test_inputs_that_swap() -> None:
    def swap(a: Any, b: Any) -> Any:
        before = a.copy()
        a[...] = b
        b[...] = before
        return a + b

    a, b = np.arange(5.0), np.arange(5.0, 10.0)
    run(swap, a, b)
    assert a.tolist() == [5, 6, 7, 8, 9]
    assert b.tolist() == [0, 1, 2, 3, 4]


def test_a_write_waits_for_readers_elsewhere() -> None:
    def function(a: Any) -> Any:
        turned = a[::-1] * 2
        total = np.add.reduce(a, axis=None)
        a += total
        return turned

    a = np.arange(6.0)
    (turned,) = run(function, a)
    assert turned.tolist() == [10, 8, 6, 4, 2, 0]
    assert a.tolist() == [15, 16, 17, 18, 19, 20]


def test_parts_are_written() -> None:
    def function(a: Any) -> Any:
        b = a * 1
        b[1:, ::2] = a[:-1, ::2] - 1
        b[0] = 7
        return b, np.stack([a[0], a[2]], axis=1), np.concatenate([a, b], axis=1)

    a = rng.standard_normal((3, 5))
    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        assert_same_bits(found, wanted)


def test_results_that_are_views_inputs_and_twice_the_same() -> None:
    x = Value("x", (2, 3), np.dtype(np.float64), (24, 8))
    turned = Value("t", (3, 2), x.dtype, (8, 24), x, 0)
    double = Value("d", (2, 3), x.dtype, (24, 8))
    row = Value("r", (3,), x.dtype, (8,), double, 24)
    steps = (
        Step("array.transpose", (x, (1, 0)), {}, (turned,)),
        Step("np.add", (x, x), {}, (double,)),
        Step("array.getitem", (double, 1), {}, (row,)),
    )
    program = build(Program((x,), (), steps, (x, turned, double, row, double)))
    a = rng.standard_normal((2, 3))
    found = program(a)
    assert found[0] is a
    assert found[1].base is a
    assert np.array_equal(found[1], a.T)
    assert found[2] is found[4]
    assert np.array_equal(found[2], 2 * a)
    assert np.shares_memory(found[3], found[2])
    assert np.array_equal(found[3], 2 * a[1])
    again = program(a)
    assert not np.shares_memory(again[2], found[2])


def test_a_returned_constant_is_a_copy() -> None:
    array = np.arange(4.0)
    constant = Value("c", (4,), array.dtype, (8,))
    (found,) = build(Program((), ((constant, array),), (), (constant,)))()
    assert np.array_equal(found, array)
    assert not np.shares_memory(found, array)


def test_a_view_whose_base_is_gone_owns_its_memory() -> None:
    gone = Value("gone", (3,), np.dtype(np.float64), (8,))
    constant = Value("c", (2,), gone.dtype, (8,), gone, 8)
    last = Value("l", (1,), gone.dtype, (8,), gone, 16)
    out = Value("o", (1,), gone.dtype, (8,))
    steps = (
        Step("array.getitem", (constant, slice(1, None)), {}, (last,)),
        Step("np.multiply", (last, 2.0), {}, (out,)),
    )
    program = Program((), ((constant, np.array([3.0, 4.0])),), steps, (constant, out))
    assert [array.tolist() for array in build(program)()] == [[3, 4], [8]]


def test_steps_without_c_call_their_function() -> None:
    def function(a: Any) -> Any:
        b = a * 2
        c = np.linalg.inv(b) + 1
        order = np.argsort(c, axis=1)
        return c, order, np.take_along_axis(c, order, 1) * 2, (b + 1j * c).real, np.cumsum(b)

    a = rng.standard_normal((4, 4))
    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_an_exception_of_a_python_call_comes_through() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        build(recorded(lambda a: np.linalg.inv(a * 1), np.eye(3)))(np.zeros((3, 3)))


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(3), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(8)[::2], [0.0] * 4],
)
def test_another_array_is_refused(wrong: Any) -> None:
    program = build(recorded(lambda a: a + 1, np.zeros(4)))
    with pytest.raises(ValueError, match="argument 0 of a program has another dtype, shape"):
        program(wrong)
    with pytest.raises(TypeError, match="takes 1 arrays, not 2"):
        program(np.zeros(4), np.zeros(4))


def test_empty_arrays() -> None:
    def function(a: Any) -> Any:
        return a + 1, np.add.reduce(a, axis=0), np.add.reduce(a, axis=1), a[:, :0] * 2

    a = np.zeros((3, 0))
    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        assert_same_bits(found, wanted)


def test_threads_share_a_program() -> None:
    program = build(recorded(lambda a: np.sort(np.sin(a) + np.cos(a)[::-1]) * 2, np.zeros(50_000)))
    arrays = [rng.standard_normal(50_000) for _ in range(4)]
    wanted = [program(a)[0] for a in arrays]
    found: dict[int, Any] = {}

    def work(nr: int) -> None:
        for _ in range(10):
            found[nr] = program(arrays[nr])[0]

    threads = [threading.Thread(target=work, args=(nr,)) for nr in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for nr in range(4):
        assert_same_bits(found[nr], wanted[nr])


def test_programs_of_several_sizes_do_not_disturb_each_other() -> None:
    def function(a: Any) -> Any:
        return np.sort(np.sin(a) + np.cos(a)[::-1]) * 2

    arrays = [rng.standard_normal(size) for size in (50_000, 2_000, 80_000, 7_000)]
    programs = [build(recorded(function, np.zeros(len(a)))) for a in arrays]
    wanted = [program(a)[0] for program, a in zip(programs, arrays, strict=True)]

    def work(nr: int) -> None:
        for _ in range(10):
            found[nr].append(programs[nr](arrays[nr])[0])

    found: list[list[Any]] = [[] for _ in arrays]
    threads = [threading.Thread(target=work, args=(nr,)) for nr in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    largest = programs.pop(2)  # what it has held is let go of with it
    del largest
    for nr in (0, 1, 3):
        for each in [*found[nr], programs[nr - (nr > 2)](arrays[nr])[0]]:
            assert_same_bits(each, wanted[nr])


def test_products_load_nothing_of_scipy_where_numpy_has_a_blas() -> None:
    code = """
import sys
from gradspec.compiler.c import blas
assert blas.of_numpy() and blas.library() == blas.of_numpy()
assert set(blas.library().pointers) >= {"sgemm", "dpotrf"}
print([name for name in sys.modules if name.startswith("scipy")])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_products_load_no_more_of_scipy_than_their_pointers() -> None:
    code = """
import sys
from gradspec.compiler.c import blas
found = blas.of_scipy()
assert found.integer == "int" and set(found.pointers) >= {"sgemm", "dpotrf"}
assert not [name for name in sys.modules if name.startswith("scipy.linalg")]
import scipy.linalg
print(len(scipy.linalg.cython_blas.__pyx_capi__) > 100, scipy.linalg.inv([[2.0]]))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "True [[0.5]]\n"


@pytest.fixture
def set_threads() -> Iterator[Callable[[int], None]]:
    yield entry().set_threads
    entry().set_threads(2)


def large(x: Any, rows: Any) -> Any:
    y = np.sin(x) * np.exp(-x * x) + np.tanh(x)
    e = np.exp(rows - np.maximum.reduce(rows, axis=1, keepdims=True))
    return y, np.add.reduce(y, axis=None) / 3, e / np.add.reduce(e, axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_does_not_change_a_bit(
    dtype: Any, set_threads: Callable[[int], None]
) -> None:
    x = rng.standard_normal(300_001).astype(dtype)
    rows = rng.standard_normal((20_003, 20)).astype(dtype)
    program = build(recorded(large, x, rows))
    assert source_of(recorded(large, x, rows)).count("    gs_share(") == 2
    set_threads(2)
    shared = program(x, rows)
    set_threads(1)
    for one, several, wanted in zip(program(x, rows), shared, large(x, rows), strict=True):
        assert_same_bits(one, several)
        tolerance = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance)


def test_a_forked_process_has_threads_of_its_own(set_threads: Callable[[int], None]) -> None:
    x, rows = rng.standard_normal(300_001), rng.standard_normal((20_003, 20))
    program = build(recorded(large, x, rows))
    set_threads(2)
    wanted = program(x, rows)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(program(x, rows)[0], wanted) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_unrolled_loop_is_compiled_once() -> None:
    def function(a: Any, m: Any) -> Any:
        for _ in range(150):
            b = a[::-1] * m
            a = np.where(b > 0, b, 0.5 * b) + 0.25
            a = a - np.add.reduce(a, axis=None) / 8
        return a, np.add.reduce(a * m, axis=None)

    a, m = rng.standard_normal(7), rng.random(7)
    program = recorded(function, a, m)
    text = source_of(program)
    assert text.count("for (long i0") < 20
    assert text.count("    nest0(") > 100
    for found, wanted in zip(build(program)(a, m), function(a, m), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_the_source_names_the_user_line() -> None:
    x = Value("x", (5,), np.dtype(np.float64), (8,))
    y = Value("y", (5,), x.dtype, (8,))
    step = Step("np.sin", (x,), {}, (y,), False, Place("sin", "model.py", 12))
    assert "// np.sin, sin model.py:12" in source_of(Program((x,), (), (step,), (y,)))


# ---- the compiler and its files


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gradspec" / "programs"


SOURCE = "int answer(void) { return 42; }"


def test_a_file_is_kept_and_private(cache: Path) -> None:
    first = toolchain.program(SOURCE)
    changed = first.stat().st_mtime_ns
    assert toolchain.program(SOURCE) == first
    assert first.stat().st_mtime_ns == changed
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(first.stat().st_mode) & 0o077 == 0
    assert toolchain.program(SOURCE + "\n") != first


def test_a_function_that_is_not_declared_is_refused(cache: Path) -> None:
    """Old versions of gcc assume an int function, new ones refuse it: all refuse it here."""
    with pytest.raises(toolchain.NoCompilerError, match="gs_unknown"):
        toolchain.program(SOURCE + "double calls_it(double x) { return gs_unknown(x); }")


def test_a_damaged_file_is_built_again(cache: Path) -> None:
    first = toolchain.program(SOURCE)
    whole = first.read_bytes()
    first.write_bytes(whole[:-100])
    assert toolchain.program(SOURCE).read_bytes() == whole


def test_a_folder_in_the_place_of_a_file_is_replaced(cache: Path) -> None:
    first = toolchain.program(SOURCE)
    first.unlink()
    (first / "inside").mkdir(parents=True)
    assert toolchain.program(SOURCE).is_file()


def test_a_file_that_others_can_write_is_built_again(cache: Path) -> None:
    first = toolchain.program(SOURCE)
    first.chmod(0o777)
    again = toolchain.program(SOURCE)
    assert stat.S_IMODE(again.stat().st_mode) & 0o022 == 0


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    first = toolchain.program(SOURCE)
    moved = tmp_path / "elsewhere.so"
    moved.write_bytes(first.read_bytes())
    first.unlink()
    first.symlink_to(moved)
    assert not toolchain.program(SOURCE).is_symlink()


def test_processes_that_build_at_once_are_both_right(cache: Path) -> None:
    code = (
        "import numpy as np\n"
        "from gradspec.compiler.c import build\n"
        "from gradspec.compiler.tape import Tape\n"
        "tape = Tape(); x = tape.input(np.arange(9.0))\n"
        "program = build(tape.program([np.sqrt(x) * 3 + x]))\n"
        "a = np.arange(9.0); assert np.array_equal(program(a)[0], np.sqrt(a) * 3 + a)\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(cache.parents[1])}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    assert not list(cache.glob("build-*"))


def test_threads_that_build_at_once_share_one_build(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain.program(SOURCE + "/* the probe is built */")
    runs: list[object] = []
    compile_once = toolchain._compile
    monkeypatch.setattr(
        toolchain, "_compile", lambda arguments: (runs.append(0), compile_once(arguments))
    )
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(toolchain.program, [SOURCE] * 4))
    assert len(runs) == len(paths) == 1


FIRST_PROGRAM = """
import gradspec as gs
from gradspec.compiler.c import toolchain

def failing(arguments, compile_once=toolchain._compile):
    if %r in " ".join(arguments):
        raise toolchain.NoCompilerError("It is broken.")
    compile_once(arguments)

toolchain._compile = failing
print(gs.compile(lambda x: x.sin() + 1)(gs.zeros(3)).tolist())
"""


@pytest.mark.parametrize("broken", ["no such flag", "-pthread", "-shared"])
def test_what_fails_beside_the_first_build_is_told_once(cache: Path, broken: str) -> None:
    """The module of entries (-pthread) is built in a thread; nothing of it leaves the thread."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache.parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PROGRAM % broken],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[1.0, 1.0, 1.0]\n"
    assert done.stderr.count("It is broken.") == (broken != "no such flag")
    assert "Traceback" not in done.stderr


def test_no_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    toolchain.compiler.cache_clear()
    try:
        with pytest.raises(NoCompilerError, match=r"\$CC is 'no-such-compiler'"):
            toolchain.compiler()
    finally:
        monkeypatch.undo()
        toolchain.compiler.cache_clear()


def test_source_that_does_not_compile_is_told(cache: Path) -> None:
    with pytest.raises(NoCompilerError, match="The C compiler failed"):
        toolchain.program("int answer(void) { return nothing; }")
    assert not list(cache.glob("build-*"))
