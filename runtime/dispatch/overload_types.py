"""Types of functions that several ops share: calls are checked against each overload.

Type checkers alone read them; `overloaded` answers plain functions, which are methods, too.
"""

from __future__ import annotations

from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

_P1 = ParamSpec("_P1")
_P2 = ParamSpec("_P2")
_P3 = ParamSpec("_P3")
_Q1 = ParamSpec("_Q1")
_Q2 = ParamSpec("_Q2")
_Q3 = ParamSpec("_Q3")
_Self1 = TypeVar("_Self1")
_Self2 = TypeVar("_Self2")
_Self3 = TypeVar("_Self3")
_Answer1 = TypeVar("_Answer1", covariant=True)
_Answer2 = TypeVar("_Answer2", covariant=True)
_Answer3 = TypeVar("_Answer3", covariant=True)


class TwoOverloads(Protocol[_P1, _Answer1, _P2, _Answer2]):
    """The function of two ops; as a method it loses the first parameter of each."""

    __name__: str

    @overload
    def __call__(self, *args: _P1.args, **kwargs: _P1.kwargs) -> _Answer1: ...
    @overload
    def __call__(self, *args: _P2.args, **kwargs: _P2.kwargs) -> _Answer2: ...

    def __get__(
        self: TwoOverloads[Concatenate[_Self1, _Q1], _Answer1, Concatenate[_Self2, _Q2], _Answer2],
        instance: Any,
        owner: Any,
    ) -> TwoOverloads[_Q1, _Answer1, _Q2, _Answer2]: ...


class ThreeOverloads(Protocol[_P1, _Answer1, _P2, _Answer2, _P3, _Answer3]):
    """The function of three ops."""

    __name__: str

    @overload
    def __call__(self, *args: _P1.args, **kwargs: _P1.kwargs) -> _Answer1: ...
    @overload
    def __call__(self, *args: _P2.args, **kwargs: _P2.kwargs) -> _Answer2: ...
    @overload
    def __call__(self, *args: _P3.args, **kwargs: _P3.kwargs) -> _Answer3: ...

    def __get__(
        self: ThreeOverloads[
            Concatenate[_Self1, _Q1],
            _Answer1,
            Concatenate[_Self2, _Q2],
            _Answer2,
            Concatenate[_Self3, _Q3],
            _Answer3,
        ],
        instance: Any,
        owner: Any,
    ) -> ThreeOverloads[_Q1, _Answer1, _Q2, _Answer2, _Q3, _Answer3]: ...
