"""Go through the calls of an op with numbers; the smallest that shows a wrong rule is reported."""

from __future__ import annotations

import sys
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gradspec_codegen.prove.identities.identity import Mismatch
from gradspec_codegen.spec.model import Example, OpSpec
from gradspec_codegen.spec.vocabulary import FACTORIZATIONS

from .call import STEP
from .judge import Judge
from .points import NoCall as NoArguments
from .points import inside, special_points, usual_points
from .structures import compared_numbers, has_factors, structures

MOST_STRUCTURES = 120
MOST_SPECIAL = 8
SECONDS = 0.5
"""Computing time for one op; calls that tell most come first."""


class WrongCall(Exception):
    """A call at which a rule is wrong."""

    def __init__(self, call: str, mismatch: Mismatch) -> None:
        super().__init__(str(mismatch))
        self.call = call
        self.mismatch = mismatch


def check_calls(
    spec: OpSpec, examples: tuple[Example, ...], seconds: float = SECONDS
) -> tuple[int, int]:
    """Return how many calls were judged, and how many comparisons. Raises WrongCall."""
    if spec.composite is not None:
        return 0, 0
    search = _Search(spec, examples, seconds)
    for values, is_usual in _points(spec, examples, search.rng):
        if time.process_time() > search.until:
            break
        search.look_at(values, is_usual)
    return search.calls, search.compared


class _Search:
    """Counts of the calls judged so far."""

    def __init__(self, spec: OpSpec, examples: tuple[Example, ...], seconds: float) -> None:
        self.spec = spec
        factored = [
            (n, next(iter(v))) for e in examples for n, v in e.args if isinstance(v, Mapping)
        ]
        self.has_factors = any(kind in FACTORIZATIONS for _, kind in factored)
        self.symmetric = frozenset(n for n, kind in factored if kind in ("cholesky", "eigh"))
        self.rng = np.random.default_rng(zlib.crc32(spec.name.encode()))
        self.until = time.process_time() + seconds
        self.calls = self.compared = 0

    def look_at(self, values: dict[str, Any], is_usual: bool) -> None:
        """Judge one call, if it is one."""
        try:
            self.compared += self._judge(values, is_usual, STEP)
            self.calls += 1
        except Mismatch:
            try:
                self._judge(values, is_usual, STEP / 16)
            except Mismatch as mismatch:
                raise WrongCall(show(self.spec, values), mismatch) from None

    def _judge(self, values: dict[str, Any], is_usual: bool, step: float) -> int:
        rng = np.random.default_rng(self.calls)
        is_inside = is_usual or inside(self.spec, values)
        try:
            with np.errstate(all="ignore"):
                judge = Judge(self.spec, values, rng, is_usual, is_inside, step)
                judge.has_factors, judge.symmetric = self.has_factors, self.symmetric
                return judge.run()
        except Mismatch:
            raise
        except Exception:
            return 0  # no call of the op, or nothing to compare


def _points(
    spec: OpSpec, examples: tuple[Example, ...], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every structure once at usual points, then the first ones where single points are special."""
    numbers = compared_numbers(spec)
    few = []
    for number, args in enumerate(structures(spec, examples, MOST_STRUCTURES)):
        try:
            for values in usual_points(spec, args, rng, 2 if number < 3 else 1):
                yield values, True
        except (NoArguments, ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            continue
        if number < MOST_SPECIAL and not has_factors(args):
            few.append(args)
    for args in few:
        for values in special_points(spec, args, rng, numbers):
            yield values, False


def show(spec: OpSpec, values: dict[str, Any]) -> str:
    """The call, with its numbers."""
    return f"{spec.name}({', '.join(f'{n}={_text(v)}' for n, v in values.items())})"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, np.ndarray):
        if value.size > 12:
            return f"{value.dtype}{list(value.shape)}"
        return np.array2string(value, separator=", ", max_line_width=10000).replace("\n", "")
    return repr(value)


def main() -> int:
    """Go through the table, or the ops that are named, and print the calls that are wrong."""
    from gradspec.dispatch.registry import import_all
    from gradspec_codegen.prove.inputs.draw import examples_of
    from tests.codegen.proving import own_table

    warnings.simplefilter("ignore")
    import_all()
    found = 0
    for spec in own_table().ops:
        if sys.argv[1:] and spec.name not in sys.argv[1:]:
            continue
        try:
            check_calls(spec, examples_of(spec))
        except WrongCall as wrong:
            found += 1
            print(f"{wrong.mismatch.label}: {wrong}\n  in {wrong.call}\n")
    print(f"{found} ops differ from their slopes somewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
