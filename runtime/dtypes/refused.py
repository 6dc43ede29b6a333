"""Dtypes of PyTorch that NumPy has none of: they can be named and compared, and nothing else."""

from __future__ import annotations

from typing import Any, Final, NoReturn


class RefusedDtype:
    """A dtype that no tensor has: TypeError where it is asked for."""

    __slots__ = ("_advice", "_name")

    def __init__(self, name: str, advice: str) -> None:
        self._name = name
        self._advice = advice

    @property
    def dtype(self) -> NoReturn:
        """Raise TypeError: NumPy reads this where a dtype is wanted."""
        raise self.refusal()

    def refusal(self) -> TypeError:
        """Return the error that says what to use in its place."""
        return TypeError(f"gradspec.{self._name} is not supported: {self._advice}")

    def __repr__(self) -> str:
        return f"gradspec.{self._name}"

    def __reduce__(self) -> str:
        return self._name


_ADVICE: Final = "NumPy has no such numbers; use float32, or float16 for half the memory"

bfloat16: Final[Any] = RefusedDtype("bfloat16", _ADVICE)
complex32: Final[Any] = RefusedDtype("complex32", "NumPy has no such numbers; use complex64")
chalf: Final[Any] = complex32
