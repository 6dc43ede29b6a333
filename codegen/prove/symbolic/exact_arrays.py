"""Numbers that are exact expressions, and arrays of them that NumPy takes for its own.

`Sym` is one number. `SymArray` is an `ndarray` of them that intercepts NumPy's ufuncs (SciPy's
special functions are ufuncs too) and answers with the exact model. Where NumPy drops the subclass,
its loops over objects call the operators and methods of `Sym`, which lead to the same models.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import sympy

from . import numpy_models as models
from .complex_numbers import imaginary_part, real_part
from .decisions import ProofError
from .exact_constants import ExactInteger, exact_number
from .gamma_functions import RegularizedGamma

ARRAY_MODELS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The exact models of functions of whole arrays, which `array_models.register` fills in."""

METHOD_MODELS: dict[str, Callable[..., Any]] = {}
"""The exact models of methods that NumPy's arrays do not have."""


class Sym:
    """An exact number; comparisons are decided at the witness of the current run."""

    __slots__ = ("expr",)

    def __init__(self, expr: sympy.Expr) -> None:
        self.expr = expr

    def __repr__(self) -> str:
        return f"Sym({self.expr})"

    def __bool__(self) -> bool:
        return models.truth(self.expr)

    def __float__(self) -> float:
        if not self.expr.is_number:
            raise ProofError(f"the number {self.expr} of a proof was rounded to a float")
        return float(self.expr)

    def __int__(self) -> int:
        return int(models.NUMBERS["trunc"](self.expr))

    def __index__(self) -> int:
        if not self.expr.is_Integer:
            raise ProofError(f"the number {self.expr} was used as an index")
        return int(self.expr)

    def __hash__(self) -> int:
        return hash(self.expr)

    @property
    def real(self) -> Sym:
        """The real part."""
        return Sym(real_part(self.expr))

    @property
    def imag(self) -> Sym:
        """The imaginary part."""
        return Sym(imaginary_part(self.expr))


def lift(number: Any) -> sympy.Expr:
    """The exact value of whatever may be an element of an array.

    Raises ProofError for what is not a number.
    """
    if isinstance(number, Sym):
        return number.expr
    if isinstance(number, np.ndarray) and number.ndim == 0:
        return lift(number[()] if type(number) is np.ndarray else number.item())
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, bool | int | float | complex):
        return exact_number(number)
    raise ProofError(f"{number!r} is not a number")


def _on_syms(model: Callable[..., Any]) -> Callable[..., Any]:
    """A model on expressions as a function of elements of arrays."""

    def call(*numbers: Any) -> Any:
        answer = model(*map(lift, numbers))
        if isinstance(answer, tuple):
            return tuple(map(Sym, answer))
        return answer if isinstance(answer, bool) else Sym(answer)

    return call


_IDENTITIES: dict[str, Any] = {
    "add": 0,
    "multiply": 1,
    "logical_and": True,
    "logical_or": False,
}
_REORDERABLE = ("maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp", "logaddexp2")


@functools.cache
def _model_ufunc(name: str, arity: int, outputs: int) -> np.ufunc | None:
    """NumPy's own machinery (broadcasting, `out`, `reduce`, `accumulate`, `at`) around a model."""
    model = models.NUMBERS.get(name) or models.TRUTHS.get(name)
    if model is None:
        return None
    function = _on_syms(model)
    if name in _IDENTITIES:
        return np.frompyfunc(function, arity, 1, identity=_IDENTITIES[name])
    if name in _REORDERABLE:
        return np.frompyfunc(function, arity, 1, identity=None)
    return np.frompyfunc(function, arity, outputs)


_NATIVE = ("matmul", "vecdot", "matvec", "vecmat")
"""Ufuncs of whole vectors: NumPy's loops over objects do them with `+` and `*` of elements."""


class SymArray(np.ndarray[Any, Any]):
    """An array of `Sym`; an array with no dimension stays one."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        operands = [_plain(value) for value in inputs]
        if method == "at":
            operands[1] = inputs[1]
        options = {
            key: value
            for key, value in kwargs.items()
            if key not in ("dtype", "casting", "subok", "out", "order", "signature")
        }
        if (out := kwargs.get("out")) is not None:
            options["out"] = tuple(_plain(value) for value in out)
        model = ufunc if name in _NATIVE else _model_ufunc(name, ufunc.nin, ufunc.nout)
        if model is None:
            raise ProofError(
                f"`{name}` has no exact model: add one to `prove/symbolic/numpy_models.py`"
            )
        if name in models.TRUTHS:
            options.pop("out", None)
            answer = getattr(model, method)(*operands, **options)
            truths = np.asarray(answer).astype(bool)
            if out is None:
                return truths if truths.ndim else np.bool_(truths)
            out[0][...] = truths
            return out[0]
        answer = getattr(model, method)(*operands, **options)
        if out is not None and method != "at":
            return out[0]
        if answer is not None and not isinstance(answer, np.ndarray | tuple):
            answer = Sym(lift(answer))  # a reduction of one element is that element, even an int
        return as_symbols(answer)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any, kwargs: Any
    ) -> Any:
        model = ARRAY_MODELS.get(func)
        if model is not None:
            return as_symbols(model(*args, **kwargs))
        module = getattr(func, "__module__", "") or ""
        if module.startswith(("numpy.linalg", "numpy.fft")) and func.__name__ not in _BY_PARTS:
            raise ProofError(f"`{module}.{func.__name__}` has no exact model")
        if func is np.where:  # which would round a number before it is put among symbols
            args = tuple(map(_plain, args))
        return as_symbols(super().__array_function__(func, types, args, kwargs))

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found if isinstance(found, SymArray) else scalar(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        super().__setitem__(index, value)

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """A cast: to a float it changes nothing, to ints and bools it must be decidable."""
        kind = np.dtype(dtype).kind
        if kind in "fcO":
            return self.copy()
        convert = bool if kind == "b" else int
        return np.asarray(np.frompyfunc(convert, 1, 1)(self.view(np.ndarray))).astype(dtype)

    @property  # type: ignore[misc]
    def real(self) -> Any:
        """The real parts."""
        return self._each(lambda element: Sym(real_part(lift(element))))

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._each(lambda element: Sym(imaginary_part(lift(element))))

    def _each(self, function: Callable[[Any], Any]) -> Any:
        return as_symbols(np.frompyfunc(function, 1, 1)(self.view(np.ndarray)))

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        """The positions of the largest elements, as plain integers."""
        return self.view(np.ndarray).argmax(*args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        """The positions of the smallest elements, as plain integers."""
        return self.view(np.ndarray).argmin(*args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        """The order of the elements, as plain integers."""
        return self.view(np.ndarray).argsort(*args, **kwargs)

    def nonzero(self) -> Any:
        """The positions of the elements that are not zero, as plain integers."""
        return self.view(np.ndarray).astype(bool).nonzero()

    def matrix_exp(self) -> Any:
        """The exponentials of matrices, which NumPy has no function for."""
        return as_symbols(METHOD_MODELS["matrix_exp"](self))

    def gammainc_derivative(self, other: Any, order: int) -> Any:
        """The derivatives of `gammainc` by its first argument, which SciPy does not have."""
        derivative = _on_syms(lambda a, x: RegularizedGamma(order, a, x))
        return as_symbols(np.frompyfunc(derivative, 2, 1)(_plain(self), _plain(other)))

    def lu(self) -> tuple[Any, Any, Any]:
        """The triangles of matrices, which NumPy does not find."""
        order, lower, upper = map(as_symbols, METHOD_MODELS["lu"](self))
        return order, lower, upper

    def dot(self, other: Any, out: Any = None) -> Any:
        """The product of matrices or vectors."""
        return as_symbols(self.view(np.ndarray).dot(_plain(other), out))


_BY_PARTS = ("norm", "matrix_norm", "vector_norm", "matrix_transpose", "trace", "diagonal")
"""Functions of `np.linalg` that are written with ufuncs and so need no model."""


_NUMBERS = (Sym, ExactInteger, float, complex)


def _plain(value: Any) -> Any:
    """An array NumPy's loops over objects can run on; numbers keep their exactness."""
    if isinstance(value, SymArray):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        return value.astype(object) if value.dtype.kind in "fc" else value
    if isinstance(value, _NUMBERS) and not isinstance(value, np.generic):
        return _boxed(value)
    return value


def _boxed(value: Any) -> np.ndarray[Any, Any]:
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def scalar(value: Any) -> SymArray:
    """An array without dimensions."""
    return _boxed(value).view(SymArray)


def as_symbols(answer: Any) -> Any:
    """Put symbols that a NumPy function returned into arrays of ours again."""
    if isinstance(answer, Sym):
        return scalar(answer)
    if isinstance(answer, np.ndarray):
        if answer.dtype == object:
            return answer if isinstance(answer, SymArray) else answer.view(SymArray)
        return answer.view(np.ndarray)
    if isinstance(answer, tuple | list):
        parts = [as_symbols(part) for part in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else type(answer)(parts)
    return answer


def sym_array(elements: Any, shape: tuple[int, ...]) -> SymArray:
    """An array of the given expressions, in row-major order."""
    made = np.empty(shape, dtype=object)
    for index, element in zip(np.ndindex(shape), elements, strict=True):
        made[index] = Sym(element)
    return made.view(SymArray)


def expressions(array: Any) -> np.ndarray[Any, Any]:
    """The exact expressions in any array of numbers, as an object array."""
    array = np.asarray(array)
    made = np.empty(array.shape, dtype=object)
    for index in np.ndindex(array.shape):
        made[index] = lift(array[index])
    return made


def _install_operators() -> None:
    """Operators and methods of `Sym`, for NumPy's loops over objects and for `sorted`."""
    binary = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "pow": "power",
    }
    for operator, name in binary.items():
        setattr(Sym, f"__{operator}__", _method(models.NUMBERS[name]))
        setattr(Sym, f"__r{operator}__", _method(models.NUMBERS[name], reflected=True))
    compare = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
    for operator, name in (compare | {"eq": "equal", "ne": "not_equal"}).items():
        setattr(Sym, f"__{operator}__", _method(models.TRUTHS[name]))
    unary = {"neg": "negative", "pos": "positive", "abs": "absolute"}
    for operator, name in unary.items():
        setattr(Sym, f"__{operator}__", _method(models.NUMBERS[name]))
    for name in [*models.NUMBERS, "logical_not", "logical_and", "logical_or"]:
        model = models.NUMBERS.get(name) or models.TRUTHS[name]
        setattr(Sym, name, _method(model))


def _method(model: Callable[..., Any], *, reflected: bool = False) -> Callable[..., Any]:
    call = _on_syms(model)

    def method(*numbers: Any) -> Any:
        if any(isinstance(number, np.ndarray) and number.ndim for number in numbers):
            return NotImplemented
        return call(*reversed(numbers)) if reflected else call(*numbers)

    return method


_install_operators()
