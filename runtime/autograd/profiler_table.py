"""The table of a profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class Average:
    """Sums over all calls of one op; times in microseconds."""

    key: str
    input_shapes: tuple[tuple[int, ...], ...] = ()
    count: int = 0
    self_cpu_time_total: float = 0.0
    cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0


class Averages(list[Average]):
    """Averages of a profile, with the table that shows them."""

    def __init__(self, averages: Iterable[Average], *, with_shapes: bool = False) -> None:
        super().__init__(averages)
        self._with_shapes = with_shapes

    def total_average(self) -> Average:
        """Sum over all ops."""
        total = Average("Total")
        for average in self:
            total.count += average.count
            total.self_cpu_time_total += average.self_cpu_time_total
        total.cpu_time_total = total.self_cpu_time_total
        return total

    def table(
        self,
        sort_by: str | None = "self_cpu_time_total",
        row_limit: int = 100,
        header: str | None = None,
    ) -> str:
        """Format the rows, the largest `sort_by` (an attribute of `Average`) first.

        With a negative `row_limit` all of them; `header` is a title above.
        """
        rows: list[Average] = list(self)
        if sort_by is not None:
            rows.sort(key=lambda average: getattr(average, sort_by), reverse=True)
        whole = self.total_average().self_cpu_time_total or 1.0
        heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        heads += ["# of Calls"] + ["Input Shapes"] * self._with_shapes
        cells = [
            self._row(average, whole) for average in rows[: None if row_limit < 0 else row_limit]
        ]
        widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
        rule = "  ".join("-" * width for width in widths)
        lines = [] if header is None else [header]
        lines += [rule, _line(heads, widths), rule, *(_line(row, widths) for row in cells), rule]
        return "\n".join([*lines, f"Self CPU time total: {_duration(whole)}"])

    def _row(self, average: Average, whole: float) -> list[str]:
        row = [
            average.key,
            f"{100 * average.self_cpu_time_total / whole:.2f}%",
            _duration(average.self_cpu_time_total),
            f"{100 * average.cpu_time_total / whole:.2f}%",
            _duration(average.cpu_time_total),
            _duration(average.cpu_time),
            str(average.count),
        ]
        return row + [str([list(shape) for shape in average.input_shapes])] * self._with_shapes

    def __str__(self) -> str:
        return self.table()


def _line(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _duration(microseconds: float) -> str:
    if microseconds >= 1_000_000:
        return f"{microseconds / 1_000_000:.3f}s"
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3f}ms"
    return f"{microseconds:.3f}us"
