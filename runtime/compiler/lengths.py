"""`Length`: the size that varies, as the function that is captured sees it.

While a dynamic program is captured, the shapes of tensors have lengths that remember how they
follow from the size. Comparing one is a condition on the size, which is looked at again for other
sizes. `len(x)` and `int(n)` are numbers of Python's, of which that is not known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ..core.tensor import Size, Tensor
from ..fast import summation
from .capture import capturing, thread
from .errors import current_place, is_users_frame
from .program import Place

Rule: TypeAlias = Callable[[int], int]


_SUMS: Final = vars(summation)
"""The namespace of the sums that ops call."""


@dataclass(frozen=True)
class Condition:
    """Questions of the function about the size, with their answers."""

    holds: Callable[[int], bool]
    answer: bool
    place: Place


@dataclass
class Watch:
    """Constraints that a capture at one size finds in the function's use of that size."""

    size: int
    conditions: list[Condition] = field(default_factory=list)
    leaks: list[tuple[str, Place]] = field(default_factory=list)
    """Operations whose use of the size as a number cannot be followed."""

    def length(self, value: int) -> int:
        """Return a length of a shape: one that follows from the size if it is a multiple of it."""
        factor, rest = divmod(value, self.size)
        if rest or not factor:
            return value
        if factor >= self.size:
            self.leak("a length that is a square of it")
        return Length(value, lambda n: factor * n, self)

    def leak(self, what: str) -> None:
        """Note that a number is made of the size."""
        self.leaks.append((what, current_place()))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Let the user's code see lengths where it asks tensors for their shapes.

        Sums are those of NumPy meanwhile, and not of BLAS from a size on.
        """
        with capturing:
            before = {name: getattr(Tensor, name) for name in _REPLACEMENTS}
            from_size = _SUMS["BLAS_ROW_SUM_MIN"]
            try:
                for name, make in _REPLACEMENTS.items():
                    setattr(Tensor, name, make(self, before[name]))
                _SUMS["BLAS_ROW_SUM_MIN"] = sys.maxsize
                yield
            finally:
                _SUMS["BLAS_ROW_SUM_MIN"] = from_size
                for name, kept in before.items():
                    setattr(Tensor, name, kept)


class Length(int):
    """A whole number that follows from the size by a rule."""

    _rule: Rule
    _watch: Watch

    def __new__(cls, value: int, rule: Rule, watch: Watch) -> Length:
        """Make one; `value` is that of the rule at the size of the capture."""
        self = super().__new__(cls, value)
        self._rule, self._watch = rule, watch
        return self

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __bool__(self) -> bool:
        """Note a condition."""
        return self._ask(lambda n: self._rule(n) != 0)

    def __int__(self) -> int:
        """Note a leak; the library itself only makes shapes of it."""
        if is_users_frame(sys._getframe(1)):
            self._watch.leak("int(...) of it")
        return int.__int__(self)

    def _ask(self, holds: Callable[[int], bool]) -> bool:
        answer = holds(self._watch.size)
        if is_users_frame(sys._getframe(2)):
            self._watch.conditions.append(Condition(holds, answer, current_place()))
        return answer


def _rule_of(value: Any) -> Rule:
    return value._rule if isinstance(value, Length) else lambda n: int.__int__(value)


def _arithmetic(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def method(self: Length, *others: Any) -> Any:
        found = plain(self, *others)
        if found is NotImplemented or type(found) is not int:
            return found
        rule, rules = self._rule, [_rule_of(other) for other in others]
        return Length(found, lambda n: plain(rule(n), *(each(n) for each in rules)), self._watch)

    method.__name__ = name
    return method


def _comparison(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def method(self: Length, other: Any) -> Any:
        if plain(self, other) is NotImplemented:
            return NotImplemented
        rule, theirs = self._rule, _rule_of(other)
        return self._ask(lambda n: bool(plain(rule(n), theirs(n))))

    method.__name__ = name
    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Length, _form, _arithmetic(_form))
setattr(Length, "__neg__", _arithmetic("__neg__"))  # noqa: B010 - as those above
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Length, f"__{_name}__", _comparison(f"__{_name}__"))


# ---- what stands for the methods of tensors


def _shape(watch: Watch, known: Any) -> Any:
    def shape(self: Tensor) -> Any:
        found = known.fget(self)
        if thread.tape is None or not is_users_frame(sys._getframe(1)):
            return found
        return Size(watch.length(length) for length in found)

    return property(shape)


def _size(watch: Watch, known: Any) -> Any:
    def size(self: Tensor, dim: int | None = None) -> Any:
        found = known(self, dim)
        if thread.tape is None:
            return found
        return Size(map(watch.length, found)) if dim is None else watch.length(found)

    return size


def _numel(watch: Watch, known: Any) -> Any:
    def numel(self: Tensor) -> Any:
        found = known(self)
        if thread.tape is None:
            return found
        return math.prod(map(watch.length, self.array.shape))

    return numel


def _len(watch: Watch, known: Any) -> Any:
    def length(self: Tensor) -> Any:
        found: int = known(self)
        is_users = thread.tape is not None and is_users_frame(sys._getframe(1))
        if is_users and isinstance(watch.length(found), Length):
            watch.leak("len(...)")
        return found

    return length


_REPLACEMENTS = {"shape": _shape, "size": _size, "numel": _numel, "__len__": _len}
