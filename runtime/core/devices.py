"""Devices: there is one, the CPU, which may be named wherever PyTorch lets one name a device."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Final

_TYPES: Final = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
    *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)
"""The types of devices that PyTorch has names for."""

_TEXT: Final = re.compile(r"([a-z]+)(?::(0|[1-9]\d*))?")


class device:
    """A device by its type and, perhaps, its index: `device("cpu")`, `device("cpu", 0)`.

    Every device of PyTorch can be named; tensors are on the CPU, and a function that is given
    another device raises RuntimeError. As a context manager it is the default device.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        given: Any = type
        if isinstance(given, device):
            given, index = given.type, given.index if index is None else index
        elif isinstance(given, int) and not isinstance(given, bool):
            raise RuntimeError("Cannot access accelerator device: there is none, only the CPU")
        elif not isinstance(given, str):
            raise TypeError(
                f"device(): argument 'type' (position 1) must be str, not {_type_name(given)}"
            )
        kind, number = _parse(given)
        if number is not None and index is not None:
            raise RuntimeError(f"type (string) must not include an index, but got {given!r}")
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", number if index is None else index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of 'gradspec.device' objects is not writable")

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:
        _default.entered.append(_default.device)
        set_default_device(self)
        return self

    def __exit__(
        self,
        kind: object,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _default.device = _default.entered.pop()


class _Default:
    """The default device, which is a name of the CPU."""

    __slots__ = ("device", "entered")

    def __init__(self) -> None:
        self.device = CPU
        self.entered: list[Any] = []


def get_default_device() -> device:
    """Return the device that tensors are made on where none is named: the CPU."""
    return _default.device


def set_default_device(device: device | str | None) -> None:
    """Set the device that tensors are made on; RuntimeError for another than the CPU."""
    check_device("set_default_device", device)
    _default.device = CPU if device is None else _as_device(device)


def check_device(name: str, device: object) -> None:
    """Raise RuntimeError for a device other than the CPU, TypeError for what is no device."""
    if device is None or device is CPU or device == "cpu":
        return
    if isinstance(device, int) and not isinstance(device, bool):
        raise RuntimeError(f"{name}: there is no device {device}, only 'cpu'")
    named = _as_device(device, name)
    if named.type != "cpu":
        raise RuntimeError(
            f"{name}: there is no device {str(named)!r}, only 'cpu': tensors are NumPy arrays"
        )
    if named.index not in (None, 0):
        raise RuntimeError(f"{name}: CPU device index must be -1 or zero, got {named.index}")


def _as_device(given: object, name: str = "device") -> device:
    if isinstance(given, device):
        return given
    if isinstance(given, str):
        return device(given)
    raise TypeError(f"{name}(): argument 'device' must be gradspec.device, not {_type_name(given)}")


def _parse(text: str) -> tuple[str, int | None]:
    """Return the type and the index that a text names."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    if match[1] not in _TYPES:
        raise RuntimeError(
            f"Expected one of {', '.join(_TYPES)} device type at start of device string: {match[1]}"
        )
    return match[1], None if match[2] is None else int(match[2])


def _type_name(value: object) -> str:
    return value.__class__.__name__


CPU: Final = device("cpu")
_default: Final = _Default()
