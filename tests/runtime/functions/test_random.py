"""Random tensors: distributions, dtypes and errors; the numbers are our own."""

import threading
import tracemalloc

import numpy as np
import pytest

import gradspec as gs
from gradspec import random
from gradspec.core.tensor import wrap


@pytest.fixture(autouse=True)
def _seed():
    random.manual_seed(0)


def test_a_seed_gives_the_same_numbers_again():
    first = random.randn(5).tolist()
    second = random.randn(5).tolist()
    random.manual_seed(0)
    assert random.randn(5).tolist() == first != second


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_uniform(dtype):
    drawn = random.rand(2, 5000, dtype=dtype)
    assert drawn.dtype == dtype
    for part in (drawn.array.real, drawn.array.imag)[: 1 + drawn.is_complex()]:
        assert part.min() >= 0
        assert part.max() < 1
        assert abs(part.astype(float).mean() - 0.5) < 0.02
        assert abs(part.astype(float).var() - 1 / 12) < 0.01


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_normal_numbers(dtype):
    drawn = random.randn((10000,), dtype=dtype)
    assert drawn.dtype == dtype
    assert abs(drawn.array.astype(np.complex128).mean()) < 0.05
    assert abs(np.var(drawn.array.astype(np.complex128)) - 1) < 0.05


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_written_uniform_numbers_end_before_the_bound(dtype):
    written = wrap(np.zeros((1000, 1000), dtype)).uniform_(1000, 1001)
    parts = written.array.view(written.array.real.dtype)
    assert parts.min() == 1000
    assert 1000.4 < parts.max().item() < 1001


def test_written_numbers_of_complex_tensors():
    parts = wrap(np.zeros(20000, np.complex128)).normal_(2, 3).array.view(np.float64)
    for part in (parts[::2], parts[1::2]):
        assert abs(part.mean() - 2) < 0.1
        assert abs(part.var() - 9 / 2) < 0.2
    uniform = wrap(np.zeros(2000, np.complex64)).uniform_(1, 2).array.imag
    assert 1 <= uniform.min() < 1.1
    assert 1.9 < uniform.max() < 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.uniform_(2, 1), r"\[from, to\) range, but found from=2 > to=1"),
        (lambda x: x.uniform_(-3e38, 3e38), "expects to-from"),
        (lambda x: x.uniform_(0, 1e39), "to is out of bounds"),
        (lambda x: x.uniform_(float("nan"), 1), "from is out of bounds"),
        (lambda x: x.normal_(0, -1), "expects std >= 0.0, but found std -1"),
    ],
)
def test_wrong_parameters_of_written_numbers(call, words):
    x = wrap(np.zeros(2, np.float32))
    with pytest.raises(RuntimeError, match=words):
        call(x)
    assert x.tolist() == [0.0, 0.0]


def test_like():
    like = wrap(np.ones((2, 3), np.float64))
    assert random.rand_like(like).shape == (2, 3)
    assert random.randn_like(like).dtype == np.float64
    assert random.randn_like(like, dtype=np.float32).dtype == np.float32
    assert random.randint_like(like, 5).dtype == np.float64


def test_integers():
    drawn = random.randint(3, 6, (1000,))
    assert drawn.dtype == np.int64
    assert set(drawn.tolist()) == {3, 4, 5}
    assert set(random.randint(2, (100,)).tolist()) == {0, 1}
    assert random.randint(2, size=(3,)).shape == (3,)
    assert random.randint(2, (3,), dtype=np.float32).dtype == np.float32


def test_the_lower_bound_may_be_left_out():
    assert set(random.randint(high=2, size=(100,)).tolist()) == {0, 1}
    assert set(random.randint_like(wrap(np.ones(100)), high=2).tolist()) == {0, 1}


def test_integers_of_a_dtype_without_all_of_them():
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-2048, 2048\]"):
        drawn = random.randint(2047, 2053, (200,), dtype=np.float16)
    assert set(drawn.tolist()) == {2047, 2048, 2050, 2052}  # 2051 would be rounded to 2052
    with pytest.warns(UserWarning, match="to - 1 is out of bounds"):
        drawn = random.randint(2047, 2052, (200,), dtype=np.float16)
    assert max(drawn.tolist()) == 2050


def test_random_fills_up_to_the_largest():
    x = wrap(np.zeros(2000, np.int8))
    assert set(x.random_(-2, 1).tolist()) == {-2, -1, 0}
    assert set(x.random_(3).tolist()) == {0, 1, 2}
    assert x.random_(-128, None).array.min() < -100 < 100 < x.array.max()
    assert 0 <= x.random_().array.min() < 27 < 100 < x.array.max()


@pytest.mark.parametrize("fill", ["uniform_", "normal_"])
def test_complex_numbers_have_both_parts(fill):
    x = getattr(wrap(np.zeros(10000, np.complex64)), fill)()
    assert abs(x.array.imag.std() - x.array.real.std()) < 0.03
    assert x.array.imag.std() > 0.2
    if fill == "normal_":
        assert abs(x.array.var() - 1) < 0.05


def test_uniform_numbers_never_reach_the_upper_bound():
    x = wrap(np.zeros(100_000, np.float16)).uniform_(1, 1.25)
    assert x.array.min() >= 1
    assert x.array.max() < 1.25
    assert wrap(np.zeros(3)).uniform_(2, 2).tolist() == [2, 2, 2]


def test_normal_numbers_by_tensors_are_written_to_out():
    mean, out = wrap(np.array([5.0, 6.0])), wrap(np.zeros(2))
    assert random.normal(mean, 0.0, out=out) is out
    assert out.tolist() == [5, 6]


def test_permutation():
    drawn = random.randperm(50)
    assert drawn.dtype == np.int64
    assert sorted(drawn.tolist()) == list(range(50)) != drawn.tolist()


def test_normal():
    drawn = random.normal(wrap(np.array([0.0, 100.0])), wrap(np.array([[1.0], [0.0]])))
    assert drawn.shape == (2, 2)
    assert drawn.array[1].tolist() == [0.0, 100.0]
    assert random.normal(5.0, 0.0, (2,)).tolist() == [5.0, 5.0]
    assert random.normal(0.0, 1.0, (2,)).dtype == np.float32


def test_bernoulli():
    assert random.bernoulli(wrap(np.array([0.0, 1.0]))).tolist() == [0.0, 1.0]
    drawn = random.bernoulli(wrap(np.zeros(10000)), 0.3)
    assert abs(drawn.array.mean() - 0.3) < 0.02


def test_multinomial_with_replacement():
    drawn = random.multinomial(wrap(np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])), 4000, True)
    assert drawn.shape == (2, 4000)
    assert abs((drawn.array[0] == 1).mean() - 0.75) < 0.03
    assert not (drawn.array[0] == 2).any()
    assert (drawn.array[1] == 2).all()


def test_multinomial_draws_no_weight_of_zero_where_the_sum_of_weights_is_rounded(monkeypatch):
    class Last:
        """A generator that draws the largest number below one."""

        def random(self, shape):
            return np.full(shape, np.nextafter(1.0, 0.0))

    monkeypatch.setattr(random, "generator", Last)
    weights = np.array([0.1] * 10 + [0.0], np.float64)  # their sum is below one
    assert random.multinomial(wrap(weights), 1, True).tolist() == [9]


def test_multinomial_needs_no_memory_for_pairs_of_weights_and_samples():
    weights = wrap(np.ones(20000))
    tracemalloc.start()
    try:
        random.multinomial(weights, 20000, True)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_multinomial_without_replacement():
    weights = wrap(np.array([1.0, 3.0, 0.0]))
    first = [random.multinomial(weights, 2).tolist() for _ in range(2000)]
    assert {tuple(pair) for pair in first} == {(0, 1), (1, 0)}
    assert abs(np.mean([pair[0] for pair in first]) - 0.75) < 0.04


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: random.rand(2, dtype=np.int64), NotImplementedError, "not implemented for int64"),
        (lambda: random.randn(2, dtype=np.int64), NotImplementedError, "not implemented for int64"),
        (lambda: random.randint(5, 5, (2,)), RuntimeError, "'from' to be less than 'to'"),
        (lambda: random.randint(5), TypeError, 'missing 1 required positional arguments: "size"'),
        (lambda: random.randperm(-1), RuntimeError, "negative dimension -1"),
        (lambda: random.normal(0.0, -1.0, (2,)), RuntimeError, "expects std >= 0.0"),
        (lambda: random.normal(0.0, 1.0), TypeError, "needs a size"),
        (
            lambda: random.normal(wrap(np.zeros(2)), wrap(np.array([1.0, -1.0]))),
            RuntimeError,
            "expects all elements of std >= 0.0",
        ),
        (lambda: random.bernoulli(wrap(np.array([2.0]))), RuntimeError, r"in \[0, 1\]"),
        (lambda: random.bernoulli(wrap(np.array([1]))), NotImplementedError, "not int64"),
        (lambda: random.multinomial(wrap(np.ones(3)), 0), RuntimeError, "n_sample <= 0"),
        (lambda: random.multinomial(wrap(np.ones(3)), 4), RuntimeError, "without replacement"),
        (lambda: random.multinomial(wrap(np.zeros(3)), 1), RuntimeError, "sum of probabilities"),
        (
            lambda: random.multinomial(wrap(np.array([1.0, 0.0])), 2),
            RuntimeError,
            "not enough non-negative",
        ),
        (lambda: random.multinomial(wrap(-np.ones(3)), 1), RuntimeError, "element < 0"),
        (lambda: random.multinomial(wrap(np.ones((1, 1, 1))), 1), RuntimeError, "1 or 2 dim"),
    ],
)
def test_wrong_calls(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_threads_draw_different_numbers():
    drawn: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: drawn.append(random.rand(100, dtype=np.float64).tolist()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({value for values in drawn for value in values}) == 800


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_poisson_of_a_single_number(dtype):
    drawn = random.poisson(wrap(np.array(3.0, dtype)))
    assert (drawn.dtype, drawn.shape) == (dtype, ())


def test_bernoulli_writes_to_another_dtype() -> None:
    chances = gs.tensor([0.0, 1.0, 0.0])
    out = gs.zeros(3, dtype=gs.bool)
    assert gs.bernoulli(chances, out=out) is out
    assert out.tolist() == [False, True, False]
    with pytest.raises(NotImplementedError, match="bernoulli"):
        gs.bernoulli(chances, out=gs.zeros(3, dtype=gs.complex64))
    with pytest.raises(RuntimeError, match="bernoulli_"):
        gs.zeros(3, dtype=gs.complex64).bernoulli_()


def test_normal_writes_to_a_tensor() -> None:
    out = gs.zeros(2, dtype=gs.float64)
    assert gs.normal(gs.tensor([1.0, 2.0]), gs.zeros(2), out=out) is out
    assert out.tolist() == [1, 2]
    gs.normal(3.0, 0.0, (2,), out=out)
    assert out.tolist() == [3, 3]
    with pytest.raises(NotImplementedError):
        gs.normal(gs.zeros(2), gs.ones(2), out=gs.zeros(2, dtype=gs.int64))


def test_normal_of_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(4\) must match"):
        gs.normal(gs.ones(4), gs.ones(3))


@pytest.mark.parametrize(
    "draw",
    [
        lambda low, high, dtype: gs.randint(low, high, (2,), dtype=dtype),
        lambda low, high, dtype: gs.randint_like(gs.zeros(2, dtype=dtype), low, high),
        lambda low, high, dtype: gs.zeros(2, dtype=dtype).random_(low, high),
    ],
)
def test_integers_that_the_dtype_does_not_have(draw) -> None:
    for low, high, dtype in ((0, 257, gs.uint8), (0, 129, gs.int8), (0, 3, gs.bool)):
        with pytest.raises(RuntimeError, match="to - 1 is out of bounds"):
            draw(low, high, dtype)
        draw(low, high - 1, dtype)
    with pytest.raises(RuntimeError, match="from is out of bounds"):
        draw(-1, 3, gs.uint8)


def test_more_numbers_than_the_dtype_has() -> None:
    with pytest.raises(RuntimeError, match="n cannot be greater than 256 for Byte"):
        gs.randperm(257, dtype=gs.uint8)
    assert sorted(gs.randperm(256, dtype=gs.uint8).tolist()) == list(range(256))
    with pytest.raises(RuntimeError, match="n cannot be greater than 2049 for Half"):
        gs.randperm(2050, dtype=gs.float16)
    with pytest.raises(NotImplementedError, match="randperm"):
        gs.randperm(2, dtype=gs.bool)


def test_distributions_that_are_none() -> None:
    for deviation in (-1, float("nan")):
        with pytest.raises(RuntimeError, match=r"normal expects std >= 0\.0"):
            gs.zeros(2).normal_(0, deviation)
    with pytest.raises(RuntimeError, match=r"expects to return a \[from, to\) range"):
        gs.zeros(2).uniform_(1, 0)
    for number in (0, -1):
        with pytest.raises(RuntimeError, match="cannot sample n_sample <= 0"):
            gs.multinomial(gs.ones(2), number)
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        gs.multinomial(gs.tensor([1, 2]), 1)


def test_seeds_that_are_none() -> None:
    generator = gs.Generator()
    for seed in (1.5, None, "5"):
        with pytest.raises(RuntimeError, match="manual_seed expected a long"):
            generator.manual_seed(seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        generator.manual_seed(1 << 64)


@pytest.mark.parametrize("draw", [random.bernoulli, random.poisson])
def test_chances_that_are_nan_are_refused(draw):
    with pytest.raises(RuntimeError, match="expect"):
        draw(gs.tensor([0.5, float("nan")]))
