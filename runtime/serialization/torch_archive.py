"""States that PyTorch has saved, read without PyTorch.

Such a file is a zip archive of `data.pkl` and of the bytes of each storage, `data/0` and so on. A
pickle is a program. This interpreter runs only those of its instructions that build lists, dicts,
numbers, texts and tensors, and knows by name what PyTorch uses to build tensors; it imports
nothing, and calls nothing else.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections import Counter
from collections.abc import Callable
from typing import IO, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..core.tensor import Size, Tensor, wrap
from ..nn.module_state import State
from ..nn.parameter import Parameter
from .archive import stored
from .errors import FormatError

Array: TypeAlias = np.ndarray[Any, Any]


class Storage(NamedTuple):
    """A class of storages: the dtype of its elements."""

    dtype: np.dtype[Any]
    is_bfloat16: bool = False

    def values(self, data: bytes, order: str) -> Array:
        """Make an array of the elements; float32 of bfloat16, which NumPy does not have."""
        found = np.frombuffer(data, self.dtype.newbyteorder("<" if order == "little" else ">"))
        if self.is_bfloat16:
            return from_bfloat16(found)
        return found.astype(self.dtype)


class _Function(NamedTuple):
    """A function that may be called: its name, and what is called in its place."""

    name: str
    call: Callable[..., Any]


_MARK: Final = object()

DTYPES: Final = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}


_WIDER_UNSIGNED: Final = ("uint16", "uint32", "uint64")
"""Dtypes that have no class of storages."""


def from_bfloat16(bits: Array) -> Array:
    """Make float32 of the bits of bfloat16, in integers of 16 bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def read_torch_archive(archive: zipfile.ZipFile, prefix: str) -> Any:
    """Read a state from an archive whose members begin with `prefix`."""
    order = "little"
    if f"{prefix}byteorder" in archive.namelist():
        order = stored(archive, f"{prefix}byteorder").decode("ascii", "replace")
        if order not in ("little", "big"):
            raise FormatError(f"{order!r} is no order of bytes")
    program = stored(archive, f"{prefix}data.pkl")

    def read(kind: Storage, key: str, count: Any) -> Array:
        data = stored(archive, f"{prefix}data/{key}")
        if len(data) != count * kind.dtype.itemsize:
            raise FormatError(
                f"the storage {key} has {len(data)} bytes, not {count} elements of {kind.dtype}"
            )
        return kind.values(data, order)

    return Machine(read).run(program)


class Machine:
    """Interpreter of a pickle, with its stack and its memo.

    `read` makes the array of a storage of its class, its key and the number of its elements.
    """

    def __init__(self, read: Callable[[Storage, str, Any], Array]) -> None:
        self.read = read
        self.storages: dict[str, Array] = {}
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, program: bytes | IO[bytes]) -> Any:
        """Run the instructions; return what is on the stack at the end.

        A file is read as far as its program goes. FormatError for a program that no state has.
        """
        try:
            return self._run(program)
        except FormatError:
            raise
        except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"data.pkl is damaged: {type(error).__name__}: {error}") from None

    def _run(self, program: bytes | IO[bytes]) -> Any:
        for opcode, argument, position in pickletools.genops(program):
            if opcode.name == "STOP":
                break
            if opcode.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[opcode.name])
            elif opcode.name in _LITERALS:
                self.stack.append(argument)
            elif opcode.name in _INSTRUCTIONS:
                _INSTRUCTIONS[opcode.name](self, argument)
            elif opcode.name not in ("PROTO", "FRAME"):
                raise FormatError(
                    f"data.pkl has the instruction {opcode.name} at byte {position}, which no "
                    "state has"
                )
        if len(self.stack) != 1:
            raise FormatError("data.pkl is damaged: it leaves no single object")
        return self.stack[0]

    def _pop(self, *kinds: type) -> Any:
        value = self.stack.pop()
        if value is _MARK or (kinds and type(value) not in kinds):
            raise FormatError(f"data.pkl has a {type(value).__name__} in a wrong place")
        return value

    def _pop_marked(self) -> list[Any]:
        for position in range(len(self.stack) - 1, -1, -1):
            if self.stack[position] is _MARK:
                items = self.stack[position + 1 :]
                del self.stack[position:]
                return items
        raise FormatError("data.pkl is damaged: a mark is missing")

    def _top(self, *kinds: type) -> Any:
        if type(self.stack[-1]) not in kinds:
            raise FormatError(f"data.pkl adds items to a {type(self.stack[-1]).__name__}")
        return self.stack[-1]

    # ---- instructions

    def mark(self, _: Any) -> None:
        self.stack.append(_MARK)

    def new_list(self, _: Any) -> None:
        self.stack.append([])

    def new_dict(self, _: Any) -> None:
        self.stack.append({})

    def new_set(self, _: Any) -> None:
        self.stack.append(set())

    def put(self, number: int) -> None:
        self.memo[number] = self.stack[-1]

    def memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def get(self, number: int) -> None:
        self.stack.append(self.memo[number])

    def new_tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._pop_marked()))

    def append(self, _: Any) -> None:
        value = self._pop()
        self._top(list).append(value)

    def appends(self, _: Any) -> None:
        items = self._pop_marked()
        self._top(list).extend(items)

    def add_items(self, _: Any) -> None:
        items = self._pop_marked()
        self._top(set).update(items)

    def set_item(self, _: Any) -> None:
        value, key = self._pop(), self._pop()
        self._top(dict, State, Counter)[key] = value

    def set_items(self, _: Any) -> None:
        items = self._pop_marked()
        target = self._top(dict, State, Counter)
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def name(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._push_name(module, name)

    def name_from_stack(self, _: Any) -> None:
        name, module = self._pop(str), self._pop(str)
        self._push_name(module, name)

    def _push_name(self, module: str, name: str) -> None:
        found = _NAMES.get(f"{module}.{name}")
        if found is None:
            raise FormatError(
                f"the file needs {module}.{name} to be read, which is not part of a state and "
                "could execute anything: it is not loaded. Load it with PyTorch, if you trust it, "
                "and save the state_dict alone."
            )
        self.stack.append(found)

    def call(self, _: Any) -> None:
        arguments = self._pop(tuple)
        function = self._pop(_Function)
        self.stack.append(function.call(*arguments))

    def build(self, _: Any) -> None:
        """Set the attributes of an ordered dict, of which `_metadata` is kept."""
        state = self._pop(dict)
        target = self._top(State)
        if "_metadata" in state:
            metadata = state["_metadata"]
            if not isinstance(metadata, dict):
                raise FormatError("data.pkl is damaged: the metadata is no dict")
            target._metadata = metadata

    def storage(self, _: Any) -> None:
        """Read a storage, once; its persistent id says which."""
        persistent_id = self._pop(tuple)
        tag, kind, key, _location, count, *part = persistent_id
        if tag != "storage" or type(kind) is not Storage or type(key) is not str:
            raise FormatError("data.pkl refers to something that is no storage")
        if part not in ([], [None]):
            raise FormatError("data.pkl refers to a part of a storage, as PyTorch before 0.4 did")
        if key not in self.storages:
            self.storages[key] = self.read(kind, key, count)
        self.stack.append(self.storages[key])


def _rebuild_tensor(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any = False,
    backward_hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """Make a tensor on a storage, which it shares with others; no hooks are read."""
    if type(storage) is not np.ndarray:
        raise FormatError("data.pkl has a tensor without storage")
    numbers = (storage_offset, *size, *stride)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise FormatError(f"a tensor has the size {size}, strides {stride}")
    if len(size) != len(stride):
        raise FormatError(f"a tensor has the size {size}, but strides {stride}")
    last = storage_offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and last >= storage.size:
        raise FormatError(f"a tensor of size {size} exceeds its storage of {storage.size} elements")
    if 0 in size:
        return wrap(np.empty(size, storage.dtype)).requires_grad_(requires_grad is True)
    width = storage.itemsize
    array: Array = np.ndarray(
        size, storage.dtype, storage, storage_offset * width, tuple(step * width for step in stride)
    )
    return wrap(_as_marked(array, metadata)).requires_grad_(requires_grad is True)


def _as_marked(array: Array, metadata: Any) -> Array:
    """The values of a tensor that PyTorch has not conjugated, or negated, but marked so."""
    for mark, function in (("conj", np.conjugate), ("neg", np.negative)):
        if type(metadata) is dict and metadata.get(mark) is True:
            array = function(array)
    return array


def _rebuild_tensor_of_bytes(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """Make a tensor of a dtype that has no class of storages; the storage holds its bytes."""
    if type(storage) is not np.ndarray or not isinstance(dtype, np.dtype):
        raise FormatError("data.pkl has a tensor of bytes without a dtype, or without storage")
    values = storage.view(dtype)
    return _rebuild_tensor(
        values, storage_offset, size, stride, requires_grad, backward_hooks, metadata
    )


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Tensor:
    if type(data) is not Tensor:
        raise FormatError("data.pkl has a parameter that is no tensor")
    return Parameter(data, requires_grad is True)


def _latin1(text: Any, encoding: Any) -> bytes:
    """Decode bytes as pickles of protocol 2 write them."""
    if encoding != "latin1" or type(text) is not str:
        raise FormatError(f"data.pkl has bytes in the encoding {encoding!r}")
    return text.encode("latin1")


def _size(items: Any) -> Size:
    if not all(type(item) is int for item in items):
        raise FormatError(f"data.pkl has the size {items!r}")
    return Size(items)


def _number(real: Any, imaginary: Any) -> complex:
    return complex(float(real), float(imaginary))


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "collections.OrderedDict": lambda: State(),
    "collections.Counter": lambda items=(): Counter(dict(items)),
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_of_bytes,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch.Size": _size,
    "torch.device": lambda *name: str(name[0]),
    "_codecs.encode": _latin1,
    "builtins.set": lambda items=(): set(items),
    "__builtin__.set": lambda items=(): set(items),
    "builtins.complex": _number,
    "__builtin__.complex": _number,
}

_NAMES: Final[dict[str, Any]] = {
    **{name: _Function(name, call) for name, call in _FUNCTIONS.items()},
    **{f"torch.{kind}Storage": Storage(np.dtype(dtype)) for kind, dtype in DTYPES.items()},
    "torch.BFloat16Storage": Storage(np.dtype(np.uint16), is_bfloat16=True),
    "torch.storage.UntypedStorage": Storage(np.dtype(np.uint8)),
    **{f"torch.{dtype}": np.dtype(dtype) for dtype in (*DTYPES.values(), *_WIDER_UNSIGNED)},
}
"""Globals that a state may name, and their replacements."""

_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_LITERALS: Final = frozenset(
    [
        *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES"),
    ]
)


def _tuple_of(count: int) -> Callable[[Machine, Any], None]:
    def build(machine: Machine, _: Any) -> None:
        items = [machine._pop() for _ in range(count)]
        machine.stack.append(tuple(reversed(items)))

    return build


_INSTRUCTIONS: Final[dict[str, Callable[[Machine, Any], None]]] = {
    "MARK": Machine.mark,
    "EMPTY_LIST": Machine.new_list,
    "EMPTY_DICT": Machine.new_dict,
    "EMPTY_SET": Machine.new_set,
    "BINPUT": Machine.put,
    "LONG_BINPUT": Machine.put,
    "MEMOIZE": Machine.memoize,
    "BINGET": Machine.get,
    "LONG_BINGET": Machine.get,
    "TUPLE": Machine.new_tuple,
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "APPEND": Machine.append,
    "APPENDS": Machine.appends,
    "ADDITEMS": Machine.add_items,
    "SETITEM": Machine.set_item,
    "SETITEMS": Machine.set_items,
    "GLOBAL": Machine.name,
    "STACK_GLOBAL": Machine.name_from_stack,
    "REDUCE": Machine.call,
    "BUILD": Machine.build,
    "BINPERSID": Machine.storage,
}
