"""A loop nest, written out in C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

import numpy as np

from ..program import Step, Value
from .groups import COLUMN, FULL, ROW, Nest, Placed, access_in
from .layout import Access, Dims, mergeable
from .memory import ROW_MAX, Memory
from .operations import Map, Operand, Reduce
from .scalars import C_TYPES, DType, combine, converted, identity, local_type
from .stages import BLOCK, Pair, Stages, staged
from .threads import BLOCK_LENGTH, Loops, Share, Solitude, shared

TILE: Final = 64
"""Rows that are taken at a time."""
TILED_MAX: Final = 256
"""Points of a row from which one row is enough at a time."""
UNROLLED_MAX: Final = 8
"""Points up to which a loop may be as many statements."""

_OMP_REDUCTIONS: Final = {
    "add": "+",
    "multiply": "*",
    "logical_and": "&",
    "logical_or": "|",
}


@dataclass
class Writer:
    """Writes the lines of one nest."""

    nest: Nest
    memory: Memory
    lines: list[str] = field(default_factory=list)
    used: dict[Value, None] = field(default_factory=dict)
    """The values whose pointers are needed."""
    worker: str = ""
    """The name of the function of a part of the loop, if several threads share it."""
    worker_lines: list[str] = field(default_factory=list)
    """The body of that function."""
    _indent: int = 0
    _count: int = 0

    def write(self, worker: str) -> list[str]:
        """Return the lines; a large nest is a call of `worker`, and has `worker_lines`."""
        share = self.sharing()
        rows, inner = self.dims[: self.k], self.dims[self.k :]
        if isinstance(share, Share):
            self.worker = worker
        for placed in self.nest.placed:
            if placed.level not in (FULL, ROW):
                self._clear(placed)
        cleared, self.lines = self.lines, []
        self._line("{")
        for nr, length in enumerate(rows[:-1] if self._is_tiled else rows):
            start, stop = ("from", "to") if self.worker and nr == 0 else ("0", str(length))
            self._line(f"for (long i{nr} = {start}; i{nr} < {stop}; i{nr}++) {{")
        if self._is_tiled:
            self._open_tiles(rows)
        self._row(inner)
        for _ in rows[:-1] if self._is_tiled else rows:
            self._line("}")
        self._line("}")
        return cleared + (self._shared(share) if isinstance(share, Share) else self.lines)

    def _open_tiles(self, rows: Dims) -> None:
        is_shared = bool(self.worker) and len(rows) == 1
        start, last = ("from", "to") if is_shared else ("0", str(rows[-1]))
        self._line(f"for (long tile = {start}; tile < {last}; tile += {TILE}) {{")
        end = f"tile + {TILE}"
        if rows[-1] % TILE:
            end = f"({end} < {last} ? {end} : {last})"
        self._line(f"const long stop = {end};")

    # ---- threads

    def sharing(self) -> Share | Solitude:
        """Return how threads share the nest, or why one thread runs all of it."""
        self._arrange()
        rows, inner = self.dims[: self.k], self.dims[self.k :]
        step = BLOCK_LENGTH if not rows else TILE if self._is_tiled and self.k == 1 else 1
        return shared(
            Loops(
                *(self.nest.placed, rows, inner, step),
                is_apart=self._is_apart,
                is_blocked=lambda placed: self._is_blocked(placed, inner),
            )
        )

    def _is_apart(self, placed: Placed) -> bool:
        """Return whether rounds of the outermost loop add to different elements in memory."""
        strides = self._strides(access_in(self.nest, placed, placed.operation.target))
        spans = zip(self.dims[1:], strides[1:], strict=True)
        return abs(strides[0]) > sum((length - 1) * abs(stride) for length, stride in spans)

    def _shared(self, share: Share) -> list[str]:
        """Return the lines that let threads run the loop, which becomes a function."""
        pointers = [(f"p_{value.name}", C_TYPES[value.dtype]) for value in self.used]
        sums = [
            (f"{placed.operation.out.name}_sums", C_TYPES[placed.operation.out.dtype])
            for placed in self._partial
        ]
        for nr, (name, ctype) in enumerate((*pointers, *sums)):
            self.worker_lines.append(f"{ctype} *{name} = ({ctype} *)values[{nr}];")
        self.worker_lines += self.lines
        values = ", ".join(f"(char *){name}" for name, _ in (*pointers, *sums))
        return [
            "{",
            *(f"    {ctype} {name}[{share.pieces}];" for name, ctype in sums),
            f"    char *values[] = {{{values}}};",
            f"    gs_share({self.worker}, values, {share.length}, {share.step});",
            *(f"    {line}" for line in self._after),
            "}",
        ]

    def _line(self, text: str) -> None:
        if text.startswith("}"):
            self._indent -= 1
        self.lines.append("    " * self._indent + text)
        if text.endswith("{"):
            self._indent += 1

    # ---- the dimensions of the loops

    def _arrange(self) -> None:
        """Choose the loops: dimensions in the order of memory, several made one where they can."""
        nest = self.nest
        found: dict[Dims, None] = {}
        for placed in nest.placed:
            for access in placed.accesses:
                found[access_in(nest, placed, access)] = None
                stored = self._row_strides(access.root)
                if stored is not None:
                    found[stored] = None
        known = list(found)
        order = list(range(len(nest.dims)))
        if nest.inner is None and all(placed.level == FULL for placed in nest.placed):
            order.sort(key=lambda dim: -sum(abs(strides[dim]) for strides in known))
        self._order = order
        dims = [nest.dims[dim] for dim in order]
        strides = [tuple(each[dim] for dim in order) for each in known]
        k = nest.rows if nest.inner is not None else len(dims)
        self._kept = list(range(len(dims)))
        at = len(dims) - 2
        while at >= 0:
            if at + 1 != k and mergeable(tuple(dims), strides, at):
                dims[at : at + 2] = [dims[at] * dims[at + 1]]
                strides = [each[:at] + each[at + 1 :] for each in strides]
                del self._kept[at]
                k -= at < k
            at -= 1
        self.dims = tuple(dims)
        self.k = k if nest.inner is not None else max(len(dims) - 1, 0)
        self._is_tiled = self._pays_tiling(self.dims[self.k :])

    def _strides(self, strides: Dims) -> Dims:
        ordered = [strides[dim] for dim in self._order]
        return tuple(ordered[dim] for dim in self._kept)

    def _row_strides(self, value: Value) -> Dims | None:
        """Return the layout of a value that is kept for one row at a time."""
        if value not in self.memory.rows:
            return None
        nest = self.nest
        size = value.dtype.itemsize
        inner = nest.dims[nest.rows :]
        return (0,) * nest.rows + tuple(size * prod(inner[nr + 1 :]) for nr in range(len(inner)))

    def _element(self, placed: Placed, access: Access) -> str:
        """Return an element of memory as an expression."""
        root = access.root
        size = root.dtype.itemsize
        strides = self._row_strides(root)
        tiled: list[str] = []
        if strides is None:
            self.used[root] = None
            strides = access_in(self.nest, placed, access)
        elif self._is_tiled:
            tiled = [f"(i{self.k - 1} - tile) * {self.memory.rows[root]}"]
        terms = [str(access.offset // size)] if access.offset else []
        terms += tiled
        for nr, stride in enumerate(self._strides(strides)):
            if stride:
                index = f"i{nr}"
                terms.append(index if stride == size else f"{index} * {stride // size}")
        return f"p_{root.name}[{' + '.join(terms) or 0}]"

    # ---- a row and its phases

    def _pays_tiling(self, inner: Dims) -> bool:
        """Return whether rows are taken many at a time, so that what is of rows is vectorised."""
        maps = [placed.operation for placed in self.nest.placed if placed.is_row_map]
        buffers = sum(
            count * value.dtype.itemsize
            for value, count in self.memory.rows.items()
            if value in self.nest.makers
        )
        return (
            self.k > 0
            and self.dims[self.k - 1] >= 8
            and prod(inner) <= TILED_MAX
            and buffers * TILE <= ROW_MAX
            and any(
                "gs_" in each.formula or "/" in each.formula
                for each in maps
                if isinstance(each, Map)
            )
        )

    def _row(self, inner: Dims) -> None:
        """Write what is done for a row, or for each of a tile of rows."""
        self._row_names: dict[tuple[Access, DType], str] = {}
        self._partial: list[Placed] = []
        self._after: list[str] = []
        names: dict[Value, str] = {}
        for value, count in self.memory.rows.items():
            if value in self.nest.makers:
                room = count * TILE if self._is_tiled else count
                ctype = C_TYPES[value.dtype]
                self._line(f"{ctype} p_{value.name}[{room}] __attribute__((aligned(64)));")
        for placed in self.nest.placed:
            if self._is_tiled and placed.level == ROW:
                out = placed.operation.out
                self._line(f"{C_TYPES[out.dtype]} {out.name}_row[{TILE}];")
        last = max(placed.phase for placed in self.nest.placed)
        for phase in range(-1, last + 1):
            here = [placed for placed in self.nest.placed if placed.phase == phase]
            loop = [placed for placed in here if not placed.is_row_map]
            maps = [placed for placed in here if placed.is_row_map]
            for group in filter(None, (loop, maps)):
                names = self._open_row(group, names, is_loop=group is loop)
                if group is loop:
                    self._phase(loop, inner, names)
                else:
                    for placed in maps:
                        self._map(placed, names, self._row_names)
                self._close_row(group)
        if self._is_tiled:
            self._line("}")
        if self._is_split:
            self._after, self.lines, self._indent = self.lines, self._loop_lines, 1

    @property
    def _is_split(self) -> bool:
        """Return whether threads share the only loop, of which only sums of blocks are needed."""
        return bool(self.worker) and not self.k

    def _add_blocks(self, placed: Placed, inner: Dims) -> None:
        """Add up the sums of blocks, in order, whichever thread computed them."""
        name = placed.operation.out.name
        self._accumulator(placed, "_all")
        count = -(-inner[-1] // BLOCK_LENGTH)
        self._line(f"for (long nr = 0; nr < {count}; nr++) {name}_all += {name}_sums[nr];")

    def _open_row(
        self, group: list[Placed], names: dict[Value, str], *, is_loop: bool
    ) -> dict[Value, str]:
        """Begin what is done for a row: read what is the same for all its points."""
        if self._is_tiled:
            nr = self.k - 1
            if not is_loop:
                self._line("#pragma omp simd")
            self._line(f"for (long i{nr} = tile; i{nr} < stop; i{nr}++) {{")
            names, self._row_names = {}, {}
        for placed in group:
            for operand in placed.operands:
                if not operand.access:
                    continue
                root = operand.access.root
                maker = self.nest.makers.get(root)
                if self._is_of_row(placed, operand.access):
                    self._load(placed, operand, self._row_names)
                elif self._is_tiled and maker and maker.level == ROW and root not in names:
                    if maker in group and not is_loop:
                        continue
                    kept = f"{root.name}_row[i{self.k - 1} - tile]"
                    self._line(f"const {local_type(root.dtype)} {root.name} = {kept};")
                    names[root] = root.name
        return names

    def _close_row(self, group: list[Placed]) -> None:
        if not self._is_tiled:
            return
        for placed in group:
            if placed.level == ROW:
                name = placed.operation.out.name
                self._line(f"{name}_row[i{self.k - 1} - tile] = {name};")
        self._line("}")

    def _is_of_row(self, placed: Placed, access: Access) -> bool:
        if access.root in self.nest.makers:
            return False
        if placed.is_row_map:
            return True
        strides = self._strides(access_in(self.nest, placed, access))
        return not any(strides[self.k :])

    def _phase(self, loop: list[Placed], inner: Dims, names: dict[Value, str]) -> None:
        sums = [placed for placed in loop if placed.level not in (FULL, COLUMN)]
        for placed in sums if not self._is_split else ():
            self._accumulator(placed, "_all" if self._is_blocked(placed, inner) else "")
        blocked = [placed for placed in sums if self._is_blocked(placed, inner)]
        for nr, length in enumerate(inner[:-1], self.k):
            self._line(f"for (long i{nr} = 0; i{nr} < {length}; i{nr}++) {{")
        if inner:
            self._innermost(loop, inner, sums, blocked, names)
        else:
            self._body(loop, names)
        for _ in inner[:-1]:
            self._line("}")
        if self._is_split:
            self._partial = blocked
            self._loop_lines, self.lines, self._indent = self.lines, [], 0
            for placed in blocked:
                self._add_blocks(placed, inner)
        for placed in sums:
            self._finish(placed, "_all" if placed in blocked else "", names)

    def _is_blocked(self, placed: Placed, inner: Dims) -> bool:
        operation = placed.operation
        return (
            isinstance(operation, Reduce)
            and operation.function == "add"
            and operation.out.dtype.kind == "f"
            and inner[-1] >= 2 * BLOCK_LENGTH
        )

    def _innermost(
        self,
        loop: list[Placed],
        inner: Dims,
        sums: list[Placed],
        blocked: list[Placed],
        names: dict[Value, str],
    ) -> None:
        start, last = ("from", "to") if self._is_split else ("0", str(inner[-1]))
        if not blocked:
            self._loop(loop, inner[-1], (start, last), sums, names)
            return
        self._line(f"for (long block = {start}; block < {last}; block += {BLOCK_LENGTH}) {{")
        end = f"block + {BLOCK_LENGTH}"
        if inner[-1] % BLOCK_LENGTH:
            end = f"({end} < {last} ? {end} : {last})"
        self._line(f"const long end = {end};")
        for placed in blocked:
            self._accumulator(placed, "")
        self._loop(loop, inner[-1], ("block", "end"), sums, names)
        for placed in blocked:
            name = placed.operation.out.name
            into = f"{name}_sums[block / {BLOCK_LENGTH}] =" if self._is_split else f"{name}_all +="
            self._line(f"{into} {name}_sum;")
        self._line("}")

    def _loop(
        self,
        loop: list[Placed],
        length: int,
        ends: tuple[str, str],
        sums: list[Placed],
        names: dict[Value, str],
    ) -> None:
        """Write the innermost loop, or a part of it, from one point up to another."""
        stages = staged(loop, self.nest) if length >= BLOCK else None
        if stages is not None:
            self._in_stages(stages, ends, sums, names)
            return
        is_unrolled = not sums and self._is_of_pieces()
        clauses = self._clauses(sums)
        self._line(f"#pragma GCC unroll {length}" if is_unrolled else f"#pragma omp simd{clauses}")
        nr = len(self.dims) - 1
        self._line(f"for (long i{nr} = {ends[0]}; i{nr} < {ends[1]}; i{nr}++) {{")
        self._body(loop, names)
        self._line("}")

    def _in_stages(
        self, stages: Stages, ends: tuple[str, str], sums: list[Placed], names: dict[Value, str]
    ) -> None:
        """Write a loop as a loop over blocks of points, and in it one for each stage."""
        point, (start, last) = f"i{len(self.dims) - 1}", ends
        self._line(f"for (long at = {start}; at < {last}; at += {BLOCK}) {{")
        self._line(f"const long after = {last} - at < {BLOCK} ? {last} : at + {BLOCK};")
        for pair in dict.fromkeys(stages.pairs.values()):
            blocks = ", ".join(f"{name}[{BLOCK}]" for name in pair.blocks)
            self._line(f"{C_TYPES[pair.dtype]} {blocks};")
        for value in stages.kept:
            self._line(f"{local_type(value.dtype)} {value.name}_kept[{BLOCK}];")
        for stage in stages.stages:
            for pair in stage.ready:
                end = "f" if pair.dtype == np.float32 else ""
                self._line(f"gs_sincos{end}({', '.join(pair.blocks)}, after - at);")
            here = [placed for placed in sums if placed in stage.placed]
            self._line(f"#pragma omp simd{self._clauses(here)}")
            self._line(f"for (long {point} = at; {point} < after; {point}++) {{")
            known = dict(names)
            for value in stage.reads:
                kept = f"{value.name}_kept[{point} - at]"
                self._line(f"const {local_type(value.dtype)} {value.name} = {kept};")
                known[value] = value.name
            self._body(stage.placed, known, stages, stage.angles)
            self._line("}")
        self._line("}")

    def _is_of_pieces(self) -> bool:
        """Return whether a few elements, of what other loops take in pieces, are handed on.

        As single numbers they stay in registers: a vector that was stored in pieces is read late.
        """
        if prod(self.dims) > UNROLLED_MAX or any(placed.calls for placed in self.nest.placed):
            return False
        accesses = (access for placed in self.nest.placed for access in placed.accesses)
        return any(access.root in self.memory.pieces for access in accesses)

    def _clauses(self, sums: list[Placed]) -> str:
        found: dict[str, list[str]] = {}
        for placed in sums:
            operation = placed.operation
            assert isinstance(operation, Reduce)
            dtype = operation.out.dtype
            symbol = _OMP_REDUCTIONS.get(operation.function)
            if dtype.kind == "b":
                symbol = (
                    "&" if operation.function in ("logical_and", "multiply", "minimum") else "|"
                )
            key = symbol or f"gs_{operation.function}_{dtype.name}"
            found.setdefault(key, []).append(f"{operation.out.name}_sum")
        return "".join(f" reduction({key}: {', '.join(each)})" for key, each in found.items())

    # ---- sums

    def _accumulator(self, placed: Placed, end: str) -> None:
        operation = placed.operation
        assert isinstance(operation, Reduce)
        dtype = operation.out.dtype
        ctype = "int" if dtype.kind == "b" else C_TYPES[dtype]
        if end == "_all":
            ctype, dtype = "double", np.dtype(np.float64)
        first = identity(operation.function, dtype)
        self._line(f"{ctype} {operation.out.name}{end or '_sum'} = {first};")

    def _finish(self, placed: Placed, end: str, names: dict[Value, str]) -> None:
        operation = placed.operation
        out = operation.out
        ctype = local_type(out.dtype)
        self._line(f"const {ctype} {out.name} = {out.name}{end or '_sum'};")
        names[out] = out.name
        if placed.level == ROW:
            if self.memory.is_stored(out):
                self._line(f"{self._element(placed, operation.target)} = {out.name};")
        else:
            self._add_up(placed, out.name)

    def _clear(self, placed: Placed) -> None:
        """Fill the memory in which a result is added up."""
        operation = placed.operation
        assert isinstance(operation, Reduce)
        out = operation.out
        self.used[out] = None
        size = out.dtype.itemsize
        terms = []
        loops = 0
        for nr, (length, stride) in enumerate(zip(out.shape, out.strides, strict=True)):
            if length > 1:
                self._line(f"for (long c{nr} = 0; c{nr} < {length}; c{nr}++)")
                terms.append(f"c{nr} * {stride // size}")
                loops += 1
        first = identity(operation.function, out.dtype)
        self._line(f"p_{out.name}[{' + '.join(terms) or 0}] = {first};")

    def _add_up(self, placed: Placed, text: str) -> None:
        operation = placed.operation
        assert isinstance(operation, Reduce)
        out = operation.out
        element = self._element(placed, operation.target)
        combined = combine(operation.function, out.dtype, element, text)
        self._line(f"{element} = {combined};")

    # ---- statements

    def _body(
        self,
        loop: list[Placed],
        names: dict[Value, str],
        stages: Stages | None = None,
        angles: Sequence[Pair] = (),
    ) -> None:
        here = dict(names)
        loads = dict(self._row_names)
        index = f"[i{len(self.dims) - 1} - at]"
        for placed in loop:
            operation = placed.operation
            if isinstance(operation, Map):
                pair = stages and stages.pairs.get(operation)
                self._map(placed, here, loads, pair.block_of(operation) + index if pair else "")
                if stages and operation.out in stages.kept:
                    self._line(f"{operation.out.name}_kept{index} = {operation.out.name};")
                continue
            text = self._operand(placed, operation.operand, here, loads)
            if placed.level == COLUMN:
                self._add_up(placed, text)
            else:
                name = f"{operation.out.name}_sum"
                self._line(
                    f"{name} = {combine(operation.function, operation.out.dtype, name, text)};"
                )
        for pair in angles:
            text = self._operand(pair.first, pair.first.operands[0], here, loads)
            self._line(f"{pair.blocks[0]}{index} = {text};")

    def _map(
        self,
        placed: Placed,
        names: dict[Value, str],
        loads: dict[tuple[Access, DType], str],
        text: str = "",
    ) -> None:
        """Write a statement; `text` is where what its formula says has been computed."""
        operation = placed.operation
        assert isinstance(operation, Map)
        out = operation.out
        if not text:
            operands = [self._operand(placed, each, names, loads) for each in operation.operands]
            text = operation.formula.format(*operands)
        if operation.dtype != out.dtype:
            text = converted(f"({local_type(operation.dtype)})({text})", operation.dtype, out.dtype)
        if operation.is_region:
            self._line(
                f"{self._element(placed, operation.target)} = {text};{_comment(operation.step)}"
            )
            return
        self._line(f"const {local_type(out.dtype)} {out.name} = {text};{_comment(operation.step)}")
        names[out] = out.name
        if self.memory.is_stored(out) or out in self.memory.rows:
            self._line(f"{self._element(placed, operation.target)} = {out.name};")

    def _operand(
        self,
        placed: Placed,
        operand: Operand,
        names: dict[Value, str],
        loads: dict[tuple[Access, DType], str],
    ) -> str:
        if operand.access is None:
            return operand.text
        root = operand.access.root
        maker = self.nest.makers.get(root)
        made = maker is not None and maker.operation is not placed.operation
        if made and root in names and not self._is_overwritten(placed, root):
            name = names[root]
        else:
            name = self._load(placed, operand, loads)
        return converted(name, operand.dtype, operand.loop_dtype)

    def _is_overwritten(self, placed: Placed, root: Value) -> bool:
        """Return whether a name stands for the new value of an input, and the old one is wanted."""
        maker = self.nest.makers[root]
        return self.nest.placed.index(maker) > self.nest.placed.index(placed)

    def _load(
        self, placed: Placed, operand: Operand, loads: dict[tuple[Access, DType], str]
    ) -> str:
        access = operand.access
        assert access is not None
        strides = access_in(self.nest, placed, access)
        key = Access(access.root, access.offset, strides), operand.dtype
        if key not in loads:
            self._count += 1
            loads[key] = f"{access.root.name}_at{self._count}"
            element = self._element(placed, access)
            if operand.dtype.kind == "b":
                element += " != 0"
            self._line(f"const {local_type(operand.dtype)} {loads[key]} = {element};")
        return loads[key]


def _comment(step: Step) -> str:
    where = str(step.place)
    return f"  // {step.function}" + (f", {where}" if where else "")
