"""Calls of ops as templates, for random programs; `draw` fills them in.

A word in braces is a tensor: `x` of any shape, `v` of one dimension or more, `m` of two or more;
`s` and `t` of the same shape as the first, `y` and `z` of shapes that broadcast to it; `mask` of
its shape, of booleans; `q` of two by two; `a.b.3` of two sizes that the template shares, and of 3.
Behind it `+` asks for positive elements, `%` for elements between 0 and 1, `=` for no gradient, and
`!` for elements that lie in order (PyTorch reads the weights of batch norm as if they did). The
other words stand in `draw.WORDS`.
"""

from __future__ import annotations

from typing import NamedTuple

from .complex import COMPLEX, FOURIER

UNARY = [
    *(
        f"T.{name}({{x}})"
        for name in (
            *("abs", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor"),
            *("neg", "relu", "sigmoid", "sign", "sin", "sinh", "square", "tan", "tanh", "trunc"),
            *("asinh", "isnan", "logical_not", "clone", "angle", "round", "conj"),
        )
    ),
    *(
        f"T.{name}({{x+}})"
        for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma")
    ),
    *(f"T.{name}({{x%}})" for name in ("acos", "asin", "atanh", "digamma")),
    *("T.polygamma({k}, {x+})", "T.special.expit({x})"),
]

ACTIVATIONS = [
    *(f"F.{name}({{x}})" for name in ("relu", "softplus", "logsigmoid", "tanh")),
    *("F.gelu({x})", "F.gelu({x}, approximate='tanh')", "F.silu({x})", "F.leaky_relu({x}, 0.2)"),
    *("F.softplus({x}, beta=3, threshold=1)", "T.hypot({x}, {y})", "T.lerp({x}, {y}, 0.3)"),
    "T.lerp({x}, {y}, {z})",
]

BINARY = [
    *(
        f"T.{name}({{x}}, {{y}})"
        for name in (
            *("add", "sub", "mul", "maximum", "minimum", "eq", "lt", "ge", "logical_and"),
            *("logaddexp", "atan2"),
        )
    ),
    *(f"T.{name}({{x+}}, {{y+}})" for name in ("div", "pow", "remainder", "fmod", "xlogy")),
    *("{x} + {n}", "{x} - {n}", "{n} - {x}", "{x} * {n}", "{x} / 2", "{n} / {x+}", "{x} ** 2"),
    *("{x+} ** {y+}", "2 ** {x+}", "{x+} ** {n}", "T.div({x=}, {y+=}, rounding_mode='trunc')"),
    *("T.remainder({x}, 1.5)", "T.fmod({x}, 1.5)", "T.add({x}, {y}, alpha=2)", "{x} > {y}"),
    *("T.where({mask}, {x}, {y})", "T.where({x} > {y}, {y}, {n})", "T.where({mask}, {n}, {x})"),
    *(
        "T.addcmul({x}, {y}, {z})",
        "T.addcdiv({x}, {y}, {z+!})",
        "T.clamp({x}, -0.5, 0.5)",
    ),
    *("T.clamp({x}, {y}, {z})", "T.clamp({x}, min={y})", "T.masked_fill({x}, {mask}, {n})"),
    *("T.clamp_min({x}, 0.2)", "T.outer({a}, {b})"),
]

REDUCTIONS = [
    *(
        f"T.{name}({{x}}, {{dim}}, keepdim={{flag}})"
        for name in ("sum", "mean", "amax", "amin", "logsumexp", "all", "any", "prod", "max", "min")
    ),
    *(f"{{x}}.{name}()" for name in ("sum", "mean", "prod", "max", "min", "amax", "std", "norm")),
    *("T.var({v}, {dim}, keepdim={flag})", "T.std({x}, {dim}, correction=0)", "{x}.var(False)"),
    *("T.norm({x}, {p}, {dim})", "T.linalg.vector_norm({x}, {p})", "T.linalg.norm({m})"),
    *(
        "T.linalg.matrix_norm({m})",
        "T.cumsum({x}, {dim})",
        "T.cumprod({x}, {dim})",
        "T.trace({a.b})",
    ),
    *("T.sort({x}, {dim})", "T.sort({x}, dim={dim}, descending=True)", "T.topk({v}, 1, {dim})"),
    *("T.kthvalue({v}, 1, {dim}, keepdim={flag})", "T.argmax({v}, {dim})", "T.msort({v})"),
    *("T.softmax({x}, {dim})", "T.log_softmax({x}, {dim})", "F.softmin({x}, {dim})"),
]

PRODUCTS = [
    *("T.mm({a.b}, {b.c})", "{a.b} @ {b.c}", "T.mv({a.b}, {b})", "T.dot({a}, {a})", "{a} @ {a}"),
    *("T.bmm({d.a.b}, {d.b.c})", "T.matmul({d.a.b}, {b.c})", "T.matmul({b}, {d.b.c})"),
    *("T.matmul({d.a.b}, {b})", "T.matmul({a.b}, {d.b.c})", "T.addmm({c}, {a.b}, {b.c})"),
    *("T.addmm({a.c}, {a.b}, {b.c}, beta=0.5, alpha=2)", "T.baddbmm({d.a.c}, {d.a.b}, {d.b.c})"),
    *("T.addbmm({a.c}, {d.a.b}, {d.b.c}, alpha=-1)", "T.addmv({a}, {a.b}, {b}, beta=2)"),
    *("T.addr({a.b}, {a}, {b})", "T.ger({a}, {b})", "T.vdot({a}, {a})"),
    *("T.einsum('ij,jk->ik', {a.b}, {b.c})", "T.einsum('bij,bjk->bik', {d.a.b}, {d.b.c})"),
    *("T.einsum('ii->i', {a.a})", "T.einsum('ij,j', {a.b}, {b})", "T.einsum('ij->', {a.b})"),
    *("T.tensordot({a.b}, {b.c}, dims=1)", "T.linalg.multi_dot([{a.b}, {b.c}, {c.d}])"),
    *("F.linear({a.b}, {c.b}, {c})", "F.linear({d.a.b}, {c.b})", "F.linear({b}, {c.b}, {c})"),
    *(
        "T.linalg.vecdot({a.b}, {a.b})",
        "T.linalg.cross({a.3}, {a.3})",
        "T.linalg.matrix_power({a.a}, 3)",
    ),
]

LAYOUTS = [
    *("{x}.reshape(-1)", "{x}.flatten()", "{v}.transpose({dim}, 0)", "{x}.permute({order})"),
    *("{x}.unsqueeze(0)", "{x}.unsqueeze(-1)", "{x}.squeeze()", "{v}.squeeze({dim})", "{m}.mT"),
    *("T.broadcast_to({x}, (2, *{x}.shape))", "{x}.expand(3, *{x}.shape)", "T.tril({m})"),
    *("T.triu({m}, 1)", "T.diagonal({m})", "T.diagonal({m}, 1, -1, 0)", "T.diag_embed({x})"),
    *("T.roll({v}, 1, {dim})", "T.roll({x}, 2)", "T.flip({v}, [{dim}])", "T.tile({x}, (2, 1))"),
    *("{x}.repeat(2, *[1 for _ in {x}.shape])", "T.movedim({v}, {dim}, 0)", "T.atleast_2d({v})"),
    *("{v}.narrow({dim}, 0, 1)", "{v}.select({dim}, 0)", "{x}.view_as({x})", "{x}.contiguous()"),
    *("{x}.to(T.float64)", "{x}.float()", "{x}.detach()", "T.cat([{v}, {s}], {dim})"),
    *("T.cat([{v}, {s}, {v}], -1)", "T.stack([{x}, {s}])", "T.stack([{x}, {s}], -1)"),
    *("T.hstack([{v}, {s}])", "T.vstack([{v}, {s}])", "T.dstack([{x}, {s}])"),
    *("T.split({v}, 1, {dim})", "T.split({v}, 2)[0]", "T.chunk({v}, 2, {dim})", "{v}.unbind()"),
    *("T.tensor_split({v}, 2, {dim})[-1]", "T.unbind({v}, {dim})[0]", "T.diag({a.b}, 1)"),
]

INDEXING = [
    *(
        "{v}[0]",
        "{v}[-1]",
        "{v}[1:]",
        "{v}[..., ::2]",
        "{m}[:, None]",
        "{v}[..., 0]",
        "{v}[None, 0]",
    ),
    *("{v}[T.tensor({rows})]", "{m}[:, T.tensor([0, 0])]", "{x}[{mask}]", "{v}[{v} > 0]"),
    *("T.index_select({v}, 0, T.tensor({rows}))", "T.gather({v}, {dim}, {gather})"),
    *("T.scatter_add({v}, {dim}, {gather}, {s})", "T.scatter({v}, {dim}, {gather}, 0.5)"),
    *("T.index_put({v}, (T.tensor({rows}),), {1=}, accumulate=True)", "T.where({mask})[0]"),
    *("T.index_put({v}, ({mask},), {1})", "{v}[T.tensor({rows}), ...]", "T.nonzero({mask})"),
]

LAYERS = [
    "F.scaled_dot_product_attention({d.a.b}, {d.c.b}, {d.c.a})",
    *("T.conv1d({d.2.5}, {c.2.3}, {c})", "T.conv1d({2.4}, {c.2.2}, None, 2, 1)"),
    *("T.conv1d({d.4.6}, {2.2.2}, {2}, 1, 1, 2, 2)", "F.conv2d({d.2.4.4}, {c.2.3.2}, {c}, 1, 1)"),
    *("F.conv2d({d.2.3.4}, {c.2.2.2}, None, padding='same')", "F.conv3d({1.1.3.3.2}, {c.1.2.2.2})"),
    *("F.conv_transpose1d({d.2.4}, {2.c.3}, {c}, stride=2, output_padding=1)",),
    *("F.conv_transpose2d({d.2.3.3}, {2.c.2.2}, {c}, padding=1)", "F.max_pool1d({d.2.6}, 2)"),
    *("F.max_pool2d({d.1.4.5}, 2, 1, 1)", "F.max_pool2d({2.5.4}, 2, return_indices=True)"),
    *(
        "F.max_pool3d({1.1.3.4.4}, 2)",
        "F.avg_pool1d({d.2.5}, 2)",
        "F.avg_pool2d({d.1.5.4}, 2, ceil_mode=True)",
    ),
    *(
        "F.avg_pool2d({1.4.4}, 3, 1, 1, count_include_pad=False)",
        "F.adaptive_avg_pool1d({d.2.5}, 2)",
    ),
    *("F.adaptive_avg_pool2d({d.1.4.5}, {k})", "F.layer_norm({a.b.3}, (3,), {3}, {3})"),
    *(
        "F.layer_norm({a.2.3}, (2, 3))",
        "F.batch_norm({4.b}, None, None, {b!}, {b!}, training=True)",
    ),
    *("F.batch_norm({3.b.2}, None, None, training=True)", "F.dropout({x}, 0.3, training=False)"),
    *("F.embedding(T.tensor([[0, 2], [1, 2]]), {4.b})", "F.pad({v}, (1, 0), value={n})"),
    *("F.embedding(T.tensor([1, 2, 1]), {4.b}, padding_idx=1)", "F.pad({m}, (1, -1, 0, 2))"),
    *("F.pad({d.2.4}, (2, 1), mode='reflect')", "F.pad({d.2.4}, (2, 1), mode='replicate')"),
]

LOSSES = [
    *(f"F.{name}({{x}}, {{s}}{{reduction}})" for name in ("mse_loss", "l1_loss", "huber_loss")),
    *("F.smooth_l1_loss({x}, {s}, beta=0.5{reduction})", "F.kl_div({x}, {s%}{reduction})"),
    *(
        "F.binary_cross_entropy({x%}, {s%}{reduction})",
        "F.kl_div({x}, {s}, log_target=True{reduction})",
    ),
    *("F.binary_cross_entropy({x%}, {s%}, weight={t+=}{reduction})",),
    *("F.binary_cross_entropy_with_logits({x}, {s%}{reduction})",),
    *("F.binary_cross_entropy_with_logits({x}, {s%=}, pos_weight={t+=}{reduction})",),
    *("F.cross_entropy({2.3}, T.tensor([2, 0]){reduction})", "F.cross_entropy({3}, T.tensor(1))"),
    *("F.cross_entropy({2.3}, T.tensor([2, 0]), weight={3+=!}, label_smoothing=0.1{reduction})",),
    *("F.cross_entropy({2.3.2}, T.tensor([[2, 0], [1, 1]]), ignore_index=1{reduction})",),
    *(
        "F.cross_entropy({2.3}, {2.3%=}{reduction})",
        "F.nll_loss({2.3}, T.tensor([2, 0]){reduction})",
    ),
    *("F.nll_loss({2.3.1.2!}, T.tensor([[[2, 0]], [[1, 1]]]), weight={3+=!}{reduction})",),
]

MATRICES = [
    *("T.linalg.inv({a.a})", "T.linalg.solve({a.a}, {a.b})", "T.linalg.solve({d.a.a}, {d.a.b})"),
    *(
        "T.linalg.det({q})",
        "T.linalg.slogdet({q})",
        "T.linalg.svdvals({a.b})",
        "T.matrix_exp({a.a})",
    ),
    *("T.linalg.qr({3.2})[1].abs()", "T.linalg.solve_triangular({a.a!}, {a.b}, upper={flag})"),
    *("T.linalg.cholesky({q} @ {q}.mT + T.eye(2, dtype={q}.dtype))", "T.linalg.lu({2.2})"),
    *("T.linalg.eigvalsh({q} + {q}.mT)", "T.linalg.eigh({q} + {q}.mT)[0]", "T.linalg.pinv({3.2})"),
]


class Family(NamedTuple):
    """Templates, and what their tensors may be."""

    templates: list[str]
    may_mix: bool = False
    """May the tensors of a call differ in dtype?"""
    may_be_empty: bool = False
    """Elsewhere the libraries disagree on whether nothing is allowed."""
    dtypes: tuple[str, str] = ("float64", "float32")
    """Families that are drawn mostly, and seldom."""


FAMILIES = [
    Family(UNARY, may_mix=True, may_be_empty=True),
    Family(ACTIVATIONS, may_be_empty=True),
    Family(BINARY, may_mix=True, may_be_empty=True),
    Family(REDUCTIONS),
    Family(PRODUCTS),
    Family(LAYOUTS, may_mix=True, may_be_empty=True),
    *map(Family, (INDEXING, LAYERS, LOSSES, MATRICES)),
]

COMPLEX_FAMILIES = [
    Family(COMPLEX, dtypes=("complex128", "complex64")),
    Family(FOURIER, dtypes=("complex128", "complex64")),
]

OTHER_NAMES = (
    *("einsum", "multi_dot", "max_pool1d", "avg_pool1d", "adaptive_avg_pool1d", "cross_entropy"),
    *("floor_divide", "matmul", "diag", "attention", "mode=", "matrix_power", "F.linear"),
    *("rounding_mode", "T.xlogy"),
    # A complex number is a tensor here, as it brings real ones to a complex dtype.
    *("1j ** x", "** 1j", "** (1 + 1j)"),
)
"""Parts of calls whose last node has another name, as `tests/oracle/ops/test_nodes.py` says."""

OTHER_DERIVATIVES_OF_TANGENTS = (
    *("softm", "log_softmax", "logsumexp", "cross_entropy", "attention", "layer_norm"),
    *("batch_norm", "det", "solve", "smooth_l1", "linalg", "std", "norm", "pow", "**", "prod"),
)
"""Parts of calls whose tangents PyTorch cannot differentiate, or not as its gradients.

Their tangents overwrite what the backward pass needs, or are functions of saved statistics and
factors, which have no derivative there.
"""

OTHER_TANGENTS = "^"
"""Sums of real numbers with complex ones.

PyTorch projects tangents of `pow` on the real numbers though the results are complex, and leaves
parts of gradients of the tangents of `mul` uninitialised.
"""

NEVER_FREED = ("T.complex(", "T.addcdiv(")
"""Calls whose nodes save values in PyTorch only, which are freed after a pass."""

JOINS = ("stack(", "repeat(", "tile(")
"""Calls that put tensors, or copies of one, side by side in a new dimension."""

CHOOSES_AMONG_EQUALS = ("kthvalue", "topk", "sort(")
"""Calls of which any of several equal elements may be the answer; rounding may make them differ."""

MAY_BE_SINGULAR = (
    *("slogdet", "T.linalg.lu", "T.linalg.inv", "T.linalg.solve", "det(", "T.linalg.qr"),
)
"""Calls that are undefined for singular matrices, where rounding decides."""

OTHER_SUMS = ("T.add({x}, {y^})", "T.add({x^}, {y})", "T.sub({x}, {y^})", "T.sub({x^}, {y})")
"""Calls where PyTorch hands one array to two leaves, one of them real, and adds in place."""

NOT_WRITTEN_TO = (
    *("multi_dot", "pool1d", "einsum", "tensordot", "F.linear", "F.conv", "T.conv"),
    *("sigmoid", "expit", "tanh", "expm1", "matmul", "contiguous", "linalg"),
)
"""Parts of calls that in-place ops tell apart.

What they answer is a view in one of the libraries, or has another order in memory, or what is
kept for the gradient is their argument in one and their result in the other.
"""
