"""Writes where several elements are one in memory, or to what is read: as in PyTorch."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

BASES = {
    "rows": "T.arange(3.0).expand(2, 3)",
    "columns": "T.arange(3.0)[:, None].expand(3, 2)",
    "one": "T.tensor(2.0).expand(3)",
    "a row": "T.arange(3.0).expand(2, 3)[0]",
    "a column": "T.arange(3.0).expand(2, 3)[:, 1]",
    "transposed": "T.arange(3.0).expand(2, 3).t()",
    "a part": "T.arange(6.0).reshape(3, 2)[:, :1].expand(3, 2)[1:]",
    "integers": "T.arange(3).expand(2, 3)",
    "windows apart": "T.arange(6.0).unfold(0, 2, 2)",
    "matrix": "T.arange(6.0).reshape(2, 3)",
    "one row": "T.arange(4.0)[None]",
    "vector": "T.arange(4.0)",
    "recorded": "(T.arange(3.0, requires_grad=True) * 1).expand(2, 3)",
}
WRITES = (
    "x.fill_(1)", "x.zero_()", "x.copy_(T.ones(()))", "x.copy_(x)", "x.add_(1)", "x.mul_(2)",
    "x.add_(x)", "x.exp_()", "x.clamp_(0, 1)", "x.cumsum_(0)", "x.fill_(x.reshape(-1)[0])",
    "x.masked_fill_(x > 1, 0)", "x.masked_fill_(x > 9, 0)", "x.masked_fill_(x > 1, T.tensor(0))",
    "x.masked_fill_(x > 0, x.reshape(-1)[0])", "x.masked_fill_(x > 0, value=x.reshape(-1)[0])",
    "x.index_fill_(0, first, 1)", "x.index_fill_(-1, first, 1)",
    "x.index_fill_(0, first, x.reshape(-1)[0])",
    "x.index_copy_(0, first, x[1:2] * 1)", "x.index_add_(0, first, x[1:2] * 1)",
    "x.index_copy_(0, first, x[:1])", "x.index_add_(0, first, x[:1])",
    "x.index_add_(0, T.arange(len(x)), x)",
    "x.scatter_(0, nought, 1)", "x.scatter_(0, nought, x * 1)", "x.scatter_(0, nought, x)",
    "x.scatter_add_(0, nought, x * 1)", "x.scatter_add_(0, nought, x)",
    "x.scatter_reduce_(0, nought, x, 'sum')", "x.tril_()", "x.triu_()",
    "x.index_put_((first,), x[1] * 1)", "x.index_put_((first,), x[0])",
    "x.index_put_((first,), x[1] * 1, accumulate=True)", "x.index_put_((x > 0,), x.reshape(-1)[0])",
    "x.__setitem__(x > 0, x.reshape(-1)[0])", "x.__setitem__(x > 0, x[:1])",
    "x.__setitem__(x > 0, x[0])", "x.__setitem__(x > 0, x[x > 0])",
    "x.__setitem__([0], x.reshape(-1)[0])", "x.__setitem__(0, 1)", "x.__setitem__(..., 1)",
    "x.__setitem__(slice(1), x[1:2])", "x.add_(x[0])", "x.add_(other=x[0])", "x.copy_(x[0])",
    "x.__setitem__(first, x)", "x.clamp_(min=x.reshape(-1)[0])",
)  # fmt: skip


@pytest.mark.parametrize("base", BASES)
def test_they_are_refused_or_do_the_same(torch, base):
    for write in WRITES:

        def behaviour(lib, write=write):
            x = eval(BASES[base], {"T": lib})
            owner = x if x._base is None else x._base
            names = {
                "T": lib,
                "x": x,
                "first": lib.tensor([0]),
                "nought": lib.zeros(x.shape, dtype=lib.int64),
            }
            try:
                eval(write, names)
            except Exception as error:
                return type(error).__name__
            return owner.detach()

        try:
            assert_same(behaviour, torch)
        except AssertionError as error:
            raise AssertionError(f"{write}: {error}") from None


@pytest.mark.parametrize(
    ("write", "words"),
    [
        ("T.ones(3).expand(2, 3).add_(1)", "more than one element of the written-to tensor"),
        ("x.scatter_(0, T.arange(3), x)", "some elements of the input tensor"),
        ("x.index_add_(0, T.arange(3), x)", "some elements of the input tensor"),
        ("x[1:].add_(other=x[:-1])", "some elements of the input tensor"),
    ],
)
def test_the_words_of_a_refusal(torch, write, words):
    for lib in (gs, torch):
        with pytest.raises(RuntimeError, match=words):
            eval(write, {"T": lib, "x": lib.ones(3)})


def test_windows_are_cleared(torch):
    def behaviour(lib):
        x = lib.arange(5.0)
        x.unfold(0, 2, 1).zero_()
        y = lib.arange(6.0)
        y.unfold(0, 3, 2).index_fill_(0, lib.tensor([0]), 9.0)
        z = lib.arange(5.0)
        z.unfold(0, 3, 1).tril_()
        return x, y, z

    assert_same(behaviour, torch)


def test_masks_and_indices_that_are_written_to(torch):
    def behaviour(lib):
        mask, index = lib.tensor([True, False]), lib.tensor([0, 1])
        mask.masked_fill_(mask, False)
        try:
            index.scatter_(0, index, 5)
        except RuntimeError as error:
            return mask, "some elements" in str(error)
        return mask, index

    assert_same(behaviour, torch)


@pytest.mark.parametrize("shape", [(1, 2, 3), (2, 3), (1, 1, 3)])
def test_what_is_written_to_itself_without_its_first_dimensions(torch, shape):
    def behaviour(lib):
        x = lib.arange(3.0).expand(shape)
        first = lib.tensor([0])
        return attempt(lambda: x.__setitem__(first, x)), x

    assert_same(behaviour, torch)


@pytest.mark.parametrize(
    "view",
    [
        lambda lib, x: x.imag,
        lambda lib, x: x.real[:, 1:],
        lambda lib, x: x.t().imag[:2, :1],
        lambda lib, x: lib.view_as_real(x[:, 1]),
        lambda lib, x: lib.view_as_real(x)[:, 1].t(),
        lambda lib, x: x.imag[:1].expand(2, 3),
    ],
)
def test_sums_in_parts_of_complex_numbers(torch, view):
    def behaviour(lib):
        steps = lib.arange(6, dtype=lib.float64).reshape(2, 3)
        x = lib.complex(steps, steps * 10)
        written = view(lib, x)
        index = lib.tensor([-1, 0, -1])
        written.index_put_((index,), lib.tensor(3, dtype=written.dtype), accumulate=True)
        return written, x

    assert_same(behaviour, torch)
