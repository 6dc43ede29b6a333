"""`Recorder`: an array that computes as any other, and records on a tape what is done to it.

The ops and the engine run on recorders as they do on arrays. Three protocols of NumPy's show a
subclass what is called: `__array_ufunc__`, `__array_function__`, and the methods of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np

from ..core.storage import base_of
from .errors import is_called_by, refusal

if TYPE_CHECKING:
    from ..core.tensor import Tensor
    from .program import Value
    from .steps import View
    from .tape import Storage, Tape

Array: TypeAlias = np.ndarray[Any, Any]

_REDUCTIONS: Final = {
    "sum": "np.add.reduce",
    "prod": "np.multiply.reduce",
    "max": "np.maximum.reduce",
    "amax": "np.maximum.reduce",
    "min": "np.minimum.reduce",
    "amin": "np.minimum.reduce",
    "all": "np.logical_and.reduce",
    "any": "np.logical_or.reduce",
}
_WITHOUT_DATA: Final = frozenset(
    {
        *("shape", "ndim", "size", "result_type", "can_cast", "iscomplexobj", "isrealobj"),
        *("may_share_memory", "shares_memory", "min_scalar_type", "common_type"),
    }
)
"""Functions that look at shapes and dtypes only."""

_NEW: Final = frozenset({"empty_like", "zeros_like", "ones_like", "full_like"})
_OF_UNKNOWN_SHAPE: Final = frozenset(
    {
        *("nonzero", "argwhere", "flatnonzero", "unique", "unique_all", "unique_counts"),
        *("unique_inverse", "unique_values", "extract", "compress", "setdiff1d", "bincount"),
        *("intersect1d", "union1d", "trim_zeros", "histogram"),
    }
)


_view: Final[Any] = np.ndarray.view


class Recorder(np.ndarray[Any, Any]):
    """An array whose use is recorded. `Tape` makes it, and says what it stands for."""

    tape: Tape
    _storage: Storage | None = None
    views: tuple[View, ...] = ()
    """View that makes it from the array that owns its memory; empty for that array itself."""
    value: Value
    version: int
    """The version of the storage for which `value` holds."""
    is_number = False
    """True if it takes part in computations as a Python number does: it decides on no dtype."""

    def __array_finalize__(self, origin: Any) -> None:
        """Remember where an array comes from that NumPy made without telling anybody."""
        if isinstance(origin, Recorder):
            self._origin = origin

    def __repr__(self) -> str:
        return f"<Recorder of an array of shape {self.shape}, {self.dtype}>"

    __str__ = __repr__

    @property
    def is_tracked(self) -> bool:
        """Return whether the tape knows where it comes from."""
        return self._storage is not None

    @property
    def storage(self) -> Storage:
        """Its memory."""
        if self._storage is None:
            self._find_storage()
            assert self._storage is not None
        return self._storage

    def _find_storage(self) -> None:
        origin = getattr(self, "_origin", None)
        if origin is None or not origin.storage.holds(self.plain()):
            raise refusal(
                "an array was computed in a way that is not recorded",
                "Compute with functions of gradspec's tensors, or of NumPy's, on whole arrays",
            )
        self.tape = origin.tape
        self.tape.place(self, origin.storage)

    def plain(self) -> Array:
        """Return the array itself, of which nothing is recorded."""
        return _view(self, np.ndarray)

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        self.storage  # noqa: B018 - finds the tape
        return self.tape.call(function, args, kwargs)

    def as_number(self) -> Recorder:
        """Return the only element, to be computed with as with a Python number."""
        found: Recorder = self.reshape(()).astype(np.result_type(self.dtype, np.float64))
        found.is_number = True
        return found

    def adopt(self, tensor: Tensor) -> None:
        """Let a tensor be recorded that values of this tape are about to be written to."""
        if type(tensor.array) is np.ndarray:
            self.storage  # noqa: B018
            adopt_tensor(self.tape, tensor)

    # ---- NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record a ufunc, or one of its methods; `out=` is a write."""
        out = kwargs.pop("out", None)
        tape = _tape_of((inputs, out))
        name = f"{_home_of(ufunc)}.{ufunc.__name__}"
        if method == "at":
            target, index, *values = inputs
            if ufunc is not np.add or not isinstance(target, Recorder):
                raise refusal(f"{ufunc.__name__}.at changes an array", "Use scatter_reduce")
            target.storage  # noqa: B018
            tape.add_at(target, index, *values)
            return None
        if method != "__call__":
            name = f"{name}.{method}"
        if any(isinstance(each, Recorder) and each.is_number for each in inputs):
            return _among_numbers(ufunc, inputs, out, kwargs)
        if out is None:
            return tape.call(name, inputs, kwargs)
        where = kwargs.pop("where", True)
        found = tape.call(name, inputs, kwargs)
        targets = out if isinstance(out, tuple) else (out,)
        results = found if isinstance(found, tuple) else (found,)
        for target, result in zip(targets, results, strict=True):
            if target is not None:
                _write(tape, target, result, where)
        return targets[0] if len(targets) == 1 else targets

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Record a function of NumPy's."""
        name = func.__name__
        tape = _tape_of((args, kwargs))
        if name in _WITHOUT_DATA:
            return func(*_unwrapped(args), **_unwrapped(kwargs))
        if name in _NEW:
            new = np.zeros_like if func is np.empty_like else func  # the same at every capture
            return tape.adopt(new(*_unwrapped(args), **_unwrapped(kwargs)))
        if name in _OF_UNKNOWN_SHAPE:
            raise unknown_shape(f"np.{name}")
        if name == "copyto":
            target, values, *rest = args
            _write(tape, target, values, kwargs.get("where", rest[1] if len(rest) > 1 else True))
            return None
        method = _METHODS_BY_FUNCTION.get(name)
        if method is not None and isinstance(args[0], Recorder) and "out" not in kwargs:
            return getattr(args[0], method)(*args[1:], **kwargs)
        out = kwargs.pop("out", None)
        found = tape.call(_path_of(func), args, kwargs)
        if out is None:
            return found
        _write(tape, out, found, True)
        return out

    # ---- elements

    def __getitem__(self, index: Any) -> Any:
        """Record a view, or a choice of elements."""
        if _has_mask(index):
            raise unknown_shape("a mask as an index")
        return self._call("array.getitem", self, index)

    def __setitem__(self, index: Any, values: Any) -> None:
        """Record a write."""
        self.storage  # noqa: B018
        self.tape.write(self, values, index)

    def __iter__(self) -> Iterator[Any]:
        """Record a view for each row."""
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        """Refuse to answer: the program goes one way for all data."""
        raise refusal(
            "a condition depends on the values of a tensor (`if`, `while`, `and`, `assert`)",
            "Compute both sides and choose with gs.where(condition, a, b)",
        )

    def _number(self, *_: Any) -> NoReturn:
        if is_called_by("__bool__"):
            bool(self)
        raise refusal(
            "the value of a tensor is asked for (item(), float(), int(), tolist(), numpy())",
            "Go on with the tensor itself, or return it and ask for the value outside",
        )

    __float__ = __int__ = __index__ = __complex__ = _number
    item = tolist = tobytes = dump = dumps = _number  # type: ignore[assignment]

    def __contains__(self, value: Any) -> bool:
        """Refuse to answer, as `__bool__` does."""
        return bool((self == value).any())

    # ---- views

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:  # type: ignore[override]
        """Record `array.reshape`."""
        given = _lengths(shape)
        if order != "C":
            return self._call("np.reshape", self, given, order=order)
        found = np.ndarray.reshape(self.plain(), given).shape  # with the length that -1 stands for
        return self._call("array.reshape", self, found)

    def ravel(self, order: str = "C") -> Any:  # type: ignore[override]
        """Record `array.reshape`."""
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> Any:  # type: ignore[override]
        """Record a copy of all elements in a row."""
        return self.reshape(-1, order=order).copy()

    def transpose(self, *axes: Any) -> Any:
        """Record `array.transpose`."""
        given = _lengths(axes)
        order = tuple(reversed(range(self.ndim))) if given in ((), None) else given
        return self._call("array.transpose", self, tuple(a % (self.ndim or 1) for a in order))

    def swapaxes(self, first: Any, second: Any) -> Any:
        """Record `array.transpose`."""
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> Any:
        """Record `array.reshape`."""
        return self.reshape(np.squeeze(self.plain(), axis).shape)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Record `array.view` of another dtype; of another class it is itself."""
        given = (*args, *kwargs.values())
        if not given or (isinstance(given[0], type) and issubclass(given[0], np.ndarray)):
            return self
        return self._call("array.view", self, np.dtype(given[0]))

    @property
    def T(self) -> Any:
        """The dimensions in reverse order."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._call("array.real", self) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, values: Any) -> None:
        self.real[...] = values

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        if self.dtype.kind != "c":
            return np.zeros_like(self)
        return self._call("array.imag", self)

    @imag.setter
    def imag(self, values: Any) -> None:
        self.imag[...] = values

    # ---- copies

    def astype(  # type: ignore[override]
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: Any = True,
        copy: Any = True,
    ) -> Any:
        """Record a cast; to its own dtype, and not to be copied, it is itself."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not copy and order == "K":
            return self
        return self._call("array.astype", self, wanted, *(() if order == "K" else (order,)))

    def copy(self, order: str = "C") -> Any:  # type: ignore[override]
        """Record a copy."""
        return self._call("array.copy", self, *(() if order == "K" else (order,)))

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy("K")

    def conjugate(self, *args: Any, **kwargs: Any) -> Any:
        """Record `np.conjugate` of complex numbers; real ones are their own."""
        return np.conjugate(self) if self.dtype.kind == "c" else self

    conj = conjugate

    def fill(self, value: Any) -> None:
        """Record a write to all elements."""
        self[...] = value


def adopt_tensor(tape: Tape, tensor: Tensor) -> None:
    """Put recorders into a constant tensor and into all that lie on its memory."""
    if tape.depth:
        raise refusal(
            "a round of a loop writes to a tensor that is not made in it",
            "Let the state of the loop have it, and return the new one",
        )
    base = base_of(tensor)
    base = tensor if base is None else base
    origin = base.array
    base.array = tape.adopt(origin)
    for view in base.alias.views_of(base) if base.alias is not None else ():
        if type(view.array) is np.ndarray:
            view.array = tape.adopt_view(base.array, origin, view.array)


def _among_numbers(ufunc: Any, inputs: Any, out: Any, kwargs: Any) -> Any:
    """Compute with numbers in the dtype of the arrays beside them; without any it is a number."""
    numbers = [isinstance(each, Recorder) and each.is_number for each in inputs]
    pairs = list(zip(inputs, numbers, strict=True))
    dtypes = tuple(each.dtype for each, is_one in pairs if not is_one and hasattr(each, "dtype"))
    given = [
        each if not is_one else _without_mark(each) if not dtypes else _cast_number(each, dtypes)
        for each, is_one in pairs
    ]
    found = ufunc(*given, **kwargs) if out is None else ufunc(*given, out=out, **kwargs)
    if not dtypes and isinstance(found, Recorder):
        found.is_number = True
    return found


def _without_mark(number: Recorder) -> Any:
    """Return a recorder of the same value that is no number."""
    return number.reshape(())


def _cast_number(number: Recorder, dtypes: tuple[Any, ...]) -> Any:
    """Return a number as an array of the dtype that a Python number takes on beside others."""
    return number.tape.call("array.number", (_without_mark(number), dtypes))


def unknown_shape(what: str) -> Exception:
    """The error of a shape that depends on data."""
    return refusal(
        f"the shape of a result depends on data ({what})",
        "Keep the shape, and choose elements with gs.where(mask, a, b)",
    )


def _write(tape: Tape, target: Any, values: Any, where: Any) -> None:
    """Record a write to a whole array, or to the elements that a mask chooses."""
    if not isinstance(target, Recorder):
        raise refusal(
            "an array from outside of the function is written to",
            "Pass it as an argument, or return the new values",
        )
    target.storage  # noqa: B018
    if where is not True:
        values = np.where(where, values, target)
    tape.write(target, values)


def _tape_of(structure: Any) -> Tape:
    found = _first(structure)
    assert found is not None
    found.storage  # noqa: B018
    return found.tape


def _first(structure: Any) -> Recorder | None:
    if isinstance(structure, Recorder):
        return structure
    if isinstance(structure, dict):
        structure = structure.values()
    elif not isinstance(structure, tuple | list):
        return None
    for item in structure:
        found = _first(item)
        if found is not None:
            return found
    return None


def _unwrapped(structure: Any) -> Any:
    """Return arguments with plain arrays in place of recorders."""
    if isinstance(structure, Recorder):
        return structure.plain()
    if isinstance(structure, tuple | list):
        return type(structure)(_unwrapped(item) for item in structure)
    if isinstance(structure, dict):
        return {key: _unwrapped(item) for key, item in structure.items()}
    return structure


def _has_mask(index: Any) -> bool:
    if isinstance(index, tuple):
        return any(map(_has_mask, index))
    return isinstance(index, Recorder) and index.dtype.kind == "b" and index.ndim > 0


def _lengths(given: tuple[Any, ...]) -> Any:
    """The lengths, or axes, that are given one by one or in a sequence."""
    if len(given) == 1 and not isinstance(given[0], int | np.integer):
        return None if given[0] is None else tuple(map(int, given[0]))
    return given


def _home_of(ufunc: Any) -> str:
    """Return the library that a ufunc belongs to, by the name that programs have for it."""
    return "np" if getattr(np, ufunc.__name__, None) is ufunc else "scipy"


def _path_of(function: Any) -> str:
    """Return the name by which a program calls a function of NumPy's."""
    module = function.__module__.removeprefix("numpy").removeprefix(".")
    return ".".join(filter(None, ("np", module, function.__name__)))


def _reduction(name: str) -> Callable[..., Any]:
    path = _REDUCTIONS[name]
    logical = path.startswith("np.logical")

    def method(
        self: Recorder, axis: Any = None, dtype: Any = None, out: Any = None, **kw: Any
    ) -> Any:
        if not logical and name not in ("sum", "prod"):
            dtype, out = None, dtype if out is None else out
        if logical and dtype is not None:
            dtype, out = None, dtype
        kwargs = {"axis": axis, **kw}
        if dtype is not None:
            kwargs["dtype"] = np.dtype(dtype)
        found = self._call(path, self, **kwargs)
        if out is None:
            return found
        _write(self.tape, out, found, True)
        return out

    method.__name__ = name
    return method


def _through_function(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: Recorder, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    return method


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Recorder, *args: Any, **kwargs: Any) -> Any:
        raise refusal(
            f"ndarray.{name} is not recorded", "Use the function of gradspec's tensors for it"
        )

    method.__name__ = name
    return method


for _name in ("sum", "prod", "max", "min", "all", "any"):
    setattr(Recorder, _name, _reduction(_name))
for _name in (
    *("argmax", "argmin", "argsort", "choose", "clip", "cumprod", "cumsum", "diagonal", "dot"),
    *("mean", "nonzero", "repeat", "round", "searchsorted", "std", "take", "trace", "var"),
    "compress",
):
    setattr(Recorder, _name, _through_function(_name))
for _name in (
    "byteswap",
    "getfield",
    "partition",
    "argpartition",
    "put",
    "resize",
    "setfield",
    "sort",
):
    setattr(Recorder, _name, _refused(_name))

_METHODS_BY_FUNCTION: Final = {
    **dict(
        zip(_REDUCTIONS, ("sum", "prod", "max", "max", "min", "min", "all", "any"), strict=True)
    ),
    **{
        name: name
        for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "copy", "real", "imag")
        if name not in ("real", "imag", "copy")
    },
}
