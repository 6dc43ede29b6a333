"""Functions that formulas say in ops: their values are PyTorch's, and what is none is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec_codegen.ir.parse import FormulaError, parse
from gradspec_codegen.ir.shorthands import SHORTHANDS
from gradspec_codegen.render.to_text import block_text
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.target import builtin_spec

MEANT = {
    "eye(n, dtype=x.dtype)": "diag_embed(expand(_number_like(x, 1), [n]))",
    "ones(2, n, dtype=x.dtype)": "expand(_number_like(x, 1), [2, n])",
    "zeros([n], dtype=x.dtype)": "expand(_number_like(x, 0), [n])",
    "full([n], v, dtype=x.dtype)": "expand(_number_like(x, v), [n])",
    "full_like(x, v)": "fill(x, v)",
    "x.full_like(v)": "fill(x, v)",
    "arange(n, dtype=x.dtype)": (
        "_to_copy(cumsum(_to_copy(expand(_number_like(x, 1), [n]), dtype='int64'), 0) - 1, "
        "dtype=x.dtype)"
    ),
    "take_along_dim(x, i, -1)": "gather(x, -1, expand(i, [*x.shape[:-1], i.shape[-1]]))",
    "take_along_dim(x, i, dim=0)": "gather(x, 0, expand(i, [i.shape[0], *x.shape[1:]]))",
    "einsum('ij,jk->ik', a, b)": "permute(a, [0, 1]) @ permute(b, [0, 1])",
    "einsum('bqd,bkd->bqk', q, k)": "permute(q, [0, 1, 2]) @ permute(k, [0, 2, 1])",
}


@pytest.mark.parametrize(("written", "meant"), MEANT.items(), ids=MEANT)
def test_a_shorthand_is_the_calls_that_it_stands_for(written: str, meant: str) -> None:
    assert parse(written) == parse(meant)


def test_no_op_of_the_table_has_the_name_of_a_shorthand() -> None:
    table = load_table(builtin_spec())
    named = {name for op in table.ops for name in (op.signature.name, *op.aliases)}
    assert named & SHORTHANDS.keys() == set()


REFUSED = {
    "eye(3)": "write `eye(n, dtype=x.dtype)`",
    "arange(x.shape[-1])": "write `arange(n, dtype=x.dtype)`",
    "arange(3)": "write `arange(n, dtype=x.dtype)`",
    "arange(1, n, dtype=x.dtype)": "`start + step * arange(n, …)`",
    "eye(n, m, dtype=x.dtype)": "`eye(n, …)[:, :m]`",
    "ones(n, dtype='float64')": "write `ones(n, m, dtype=x.dtype)`",
    "full(n, dtype=x.dtype)": "write `full([n, m], number, dtype=x.dtype)`",
    "full_like(x, 1, dtype=y.dtype)": "leave out `dtype`",
    "take_along_dim(x, i, dim)": "write `gather(x, dim, index)`",
    "take_along_dim(x, i)": "write `gather(x, dim, index)`",
    "einsum(equation, x)": "`einsum('ij,jk->ik', a, b)`",
}


@pytest.mark.parametrize(("written", "hint"), REFUSED.items(), ids=REFUSED)
def test_what_stands_for_nothing_is_told_what_to_write(written: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(written)
    assert hint in caught.value.help
    assert caught.value.span.start == 0


EQUATIONS = ("ij...,j->i", "ij,jk->ikk", "ij,jk->il", "ij", "i1,jk->ik", "ij,jk->i->k")


@pytest.mark.parametrize("equation", EQUATIONS)
def test_an_equation_that_cannot_be_read_is_refused(equation: str) -> None:
    with pytest.raises(FormulaError, match="cannot be read"):
        parse(f"einsum('{equation}', a, b)")


def _value(formula: str, **given: np.ndarray) -> np.ndarray:
    """The value of a formula, by the runtime's ops."""
    ops = {name: getattr(gs, name, None) or getattr(gs.Tensor, name) for name in CALLED}
    names = {name: gs.tensor(array) for name, array in given.items()}
    return eval(block_text(parse(formula)), {"__builtins__": {}, **ops, **names}).numpy()


CALLED = (
    "permute",
    "sum",
    "diagonal",
    "flatten",
    "unflatten",
    "unsqueeze",
    "squeeze",
    "gather",
    "expand",
)
CONTRACTIONS = (
    *("ij,jk->ik", "ij,kj->ki", "ij,jk", "bij,bjk->bik", "bi,bi->b", "bi,bij->bj", "bij,bj->bi"),
    *("i,j->ij", "i,j->ji", "bi,bj->bij", "ij->ji", "ij->j", "ij->", "ii->i", "ii", "iij->ji"),
    *("abc,cdb->ad", "abi,icd->abcd", "abij,ijc->cab", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd"),
    *("i,ij,j->", "bi,ij,bj->b", "ij,ik,il->jkl", "aij,bij->ab", "aij,bij,a->b", ",i->i", "ij,->j"),
    *("ij,jk,kl->il", " i j , j k -> k i ", "aab,bc->ac", "abc,abd->cd", "i,->", "ij,ij->"),
)


@pytest.mark.parametrize("equation", CONTRACTIONS)
def test_a_contraction_has_the_value_of_numpy(equation: str) -> None:
    extents = dict(zip("abcdhijklq", (2, 4, 3, 5, 2, 3, 2, 4, 5, 3), strict=True))
    random = np.random.default_rng(0)
    inputs = equation.replace(" ", "").split("->")[0].split(",")
    arrays = [random.normal(size=[extents[letter] for letter in each]) for each in inputs]
    names = "xyz"[: len(arrays)]
    found = _value(
        f"einsum('{equation}', {', '.join(names)})", **dict(zip(names, arrays, strict=True))
    )
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


def test_a_contraction_takes_no_other_number_of_dimensions() -> None:
    with pytest.raises(RuntimeError, match="permute"):
        _value("einsum('ij,jk->ik', x, y)", x=np.ones((2, 2, 2)), y=np.ones((2, 2)))


def test_elements_along_a_dimension_are_those_of_numpy() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for dim, shape in ((0, (5, 1, 4)), (1, (1, 2, 1)), (-1, (2, 3, 6)), (2, (1, 1, 1))):
        places = np.arange(np.prod(shape)).reshape(shape) % 2
        found = _value(f"take_along_dim(x, i, {dim})", x=x, i=places)
        np.testing.assert_array_equal(found, np.take_along_axis(x, places, dim))
