"""Calls of ops of complex numbers, and of Fourier transforms, as templates like `ops`.

`^` behind a tensor asks for real numbers.
"""

from __future__ import annotations

COMPLEX = [
    *(
        f"T.{name}({{x}})"
        for name in (
            *("abs", "angle", "real", "imag", "conj", "neg", "exp", "sin", "cos", "tan", "sinh"),
            *("cosh", "tanh", "square", "sigmoid", "sgn", "clone", "view_as_real", "conj_physical"),
            *("reciprocal", "sqrt", "rsqrt", "log", "log2", "log10", "log1p", "expm1", "exp2"),
            *("asin", "acos", "atan", "acosh", "atanh", "is_complex", "isnan", "isfinite"),
        )
    ),
    *(f"T.{name}({{x}}, {{y}})" for name in ("add", "sub", "mul", "div", "pow", "eq", "ne")),
    *(f"T.{name}({{x}}, {{y^}})" for name in ("add", "sub", "mul", "div", "pow", "where")),
    *(f"T.{name}({{x^}}, {{y}})" for name in ("add", "sub", "mul", "div", "pow", "lt")),
    *("{x} + {n}", "{n} - {x}", "{x} * 2j", "{x} / (1 - 2j)", "{n} / {x}", "{x} ** 2", "{x^} * 1j"),
    *("{x} ** (1 + 1j)", "{x} ** 0.5", "2 ** {x}", "1j ** {x}", "{x^} + 1j", "{x^+} ** 1j"),
    *("T.complex({x^}, {s^})", "T.view_as_complex(T.stack([{x^}, {s^}], -1))", "{x}.real"),
    *("{x}.imag", "{x}.conj().imag", "{x}.conj() * {x}", "({x} * {s}.conj()).real", "{m}.mH"),
    *("T.view_as_real({x}.conj().resolve_conj() if 0 else {x})[..., 1]", "{m}.H", "{m}.adjoint()"),
    *("T.where({mask}, {x}, {y})", "T.where({mask}, {x}, {n})", "T.masked_fill({x}, {mask}, 1j)"),
    *("T.addcmul({x}, {y}, {z})", "T.addcdiv({x}, {y}, {z})", "T.lerp({x}, {y}, 0.3)"),
    *("{x}.sum()", "{x}.mean()", "T.sum({x}, {dim}, keepdim={flag})", "T.mean({x}, {dim})"),
    *("T.cumsum({x}, {dim})", "T.var({v}, {dim})", "T.trace({a.b})", "{x}.abs().sum()"),
    *("T.mm({a.b}, {b.c})", "{a.b} @ {b.c}", "T.mv({a.b}, {b})", "T.dot({a}, {a})", "{a} @ {a}"),
    *("T.bmm({d.a.b}, {d.b.c})", "T.matmul({d.a.b}, {b.c})", "T.matmul({b}, {d.b.c})"),
    *("T.addmm({a.c}, {a.b}, {b.c}, beta=2, alpha=1j)", "T.addmm({c}, {a.b}, {b.c})"),
    *("T.baddbmm({d.a.c}, {d.a.b}, {d.b.c}, beta=1j)", "T.addbmm({a.c}, {d.a.b}, {d.b.c})"),
    *("T.addmv({a}, {a.b}, {b}, beta=2j)", "T.addr({a.b}, {a}, {b})", "T.vdot({a}, {a})"),
    *("T.outer({a}, {b})", "T.linalg.vecdot({a.b}, {a.b})", "F.linear({a.b}, {c.b}, {c})"),
    *("{a.b} @ {b.c}.mH", "{a.b}.conj() @ {b}", "T.mm({a.b}, {b.c^})", "T.mm({a.b^}, {b.c})"),
    *("{x}.reshape(-1)", "{x}.permute({order})", "{v}.transpose({dim}, 0)", "T.tril({m})"),
    *("{x}.unsqueeze(0)", "T.diagonal({m})", "T.diag_embed({x})", "T.roll({v}, 1, {dim})"),
    *("T.flip({v}, [{dim}])", "{x}.expand(3, *{x}.shape)", "T.tile({x}, (2, 1))", "{v}.unbind()"),
    *("T.cat([{v}, {s}], {dim})", "T.stack([{x}, {s}])", "T.cat([{v}, {s^}], {dim})"),
    *("T.split({v}, 1, {dim})", "F.pad({v}, (1, 0), value={n})", "{v}[0]", "{v}[{mask}]"),
    *("{v}[T.tensor({rows})]", "T.index_select({v}, 0, T.tensor({rows}))", "{v}[..., ::2]"),
    *("T.gather({v}, {dim}, {gather})", "T.scatter_add({v}, {dim}, {gather}, {s})"),
    *("T.scatter({v}, {dim}, {gather}, 0.5j)", "T.index_put({v}, ({mask},), {1})"),
    *("{x}.to(T.complex64)", "{x}.to(T.complex128)", "{x^}.to(T.complex64)", "{x}.cdouble()"),
]

FOURIER = [
    *(f"T.fft.{name}({{v}}, None, {{dim}}{{norm}})" for name in ("fft", "ifft", "irfft", "hfft")),
    *(f"T.fft.{name}({{v^}}, None, {{dim}}{{norm}})" for name in ("fft", "rfft", "ihfft", "ifft")),
    *(f"T.fft.{name}({{v}}, {{k}}, {{dim}}{{norm}})" for name in ("fft", "ifft", "irfft", "hfft")),
    *(f"T.fft.{name}({{v^}}, {{k}}, {{dim}}{{norm}})" for name in ("fft", "rfft", "ihfft")),
    *(f"T.fft.{name}({{m}}{{norm}})" for name in ("fft2", "ifft2", "irfft2", "fftn", "ifftn")),
    *(f"T.fft.{name}({{m^}}{{norm}})" for name in ("rfft2", "ihfft2", "rfftn", "fft2", "fftn")),
    *("T.fft.irfftn({m}{norm})", "T.fft.hfftn({m})", "T.fft.fftn({m}, (2, 3))"),
    *("T.fft.rfftn({m^}, (3, 2), (0, 1))", "T.fft.irfft2({m}, (3, 3))", "T.fft.rfft({v})"),
    *("T.fft.fftshift({v})", "T.fft.ifftshift({v}, {dim})", "T.fft.fft({v}) * T.fft.fft({s})"),
    *("T.fft.irfft(T.fft.rfft({v^}) * 2)", "T.fft.fft({v^}).abs()", "T.fft.rfft({v^}).real"),
]
