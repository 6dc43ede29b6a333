"""The fixed words of the spec language, each list in one place."""

from __future__ import annotations

ROWS = "rows"
"""The word of `layout` for row-major order."""

CONSTANTS = ("pi", "inf", "nan")
"""Names a formula may read without being given them."""

CONSTANT_FUNCTIONS = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
    ),
    *("expm1", "lgamma", "log", "log1p", "log2", "log10", "rsqrt", "sin", "sinh", "sqrt", "tan"),
    "tanh",
)
"""Ops of which the value at a constant is a number: the functions of `gradspec.core.constants`."""

HELPERS = ("len", "numel", "tuple", "float", "int", "is_complex")
"""Functions of plain values that a formula may call besides the ops of the table."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""Ops that say what `==`, `!=`, `<`, `<=`, `>` and `>=` say."""

BASE_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str", "ScalarType", "Generator")

VARIANTS = ("function", "method")

REFUSALS = ("NotImplementedError", "RuntimeError")
PYTHON_MODULES = ("torch", "nn", "linalg", "fft", "special")
"""The namespaces of functions; `torch` is the top level, and an op may be in several."""

REASONED_PROOFS = ("certified", "numeric")
"""The words of `proof`, each with a reason, for an op that symbols do not prove entirely."""

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

FACTORIZATIONS = ("cholesky", "eigh", "lu", "qr", "svd", "singular", "jordan")
"""The forms of matrices in examples: factors that an op is to find, or one Jordan block."""

DOMAINS = ("positive", "negative", "nonnegative", "nonzero", "unit")

_BINARY_OPERATORS = (
    *("add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)

OPERATORS = (
    *(f"__{name}__" for name in _BINARY_OPERATORS),
    *(f"__r{name}__" for name in _BINARY_OPERATORS),
    *(f"__i{name}__" for name in _BINARY_OPERATORS),
    *(f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne")),
    *(f"__{name}__" for name in ("neg", "pos", "abs", "invert", "getitem")),
)
"""The Python operators that an op may answer on `Tensor`."""

RESERVED_FAMILIES = (
    "batching",
    "names",
    "own_kernels",
    *(f"{name}_names" for name in PYTHON_MODULES),
)
"""Modules and folders of the generated package that hold no ops."""

NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
"""NumPy's names of arguments, which functions take beside PyTorch's, by these."""

FORMULA = "formula"
"""The batching rule that calls other ops: that of the key `batch`, or the definition."""
