"""A program of the C backend: its loop nests and calls, and its memory, as it is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from ...core.threads import get_num_threads
from ..c import blas
from ..c.groups import Nest, Opening, Placed, Refusal, Why
from ..c.layout import extent, root_of
from ..c.lower import UnsupportedError
from ..c.memory import aligned
from ..c.nests import Writer
from ..c.operations import Call, LoopCall, Operation, PythonCall
from ..c.source import written
from ..c.threads import FACTOR_MAX, PRODUCT_MAX, Share, Solitude, shared_call
from ..c.units import Unit
from ..program import Program, Value, rooted
from .groups import Apart, Group, Seen, Threads, Work, title_of_nest
from .groups import Kind as GroupKind
from .memory import Kind, MemoryPlan, Storage
from .texts import count


def seen(program: Program) -> Seen | None:
    """Return what the C backend makes of a program; None if it leaves it to NumPy."""
    on_roots = rooted(program)
    try:
        source = written(on_roots)
    except UnsupportedError:
        return None
    unit = source.unit
    groups = groups_of(unit, shares_products=unit.shares_products)
    return source.text, groups, memory_of(unit, on_roots)


# ---- groups


def groups_of(unit: Unit, *, shares_products: bool) -> tuple[Group, ...]:
    """Return the parts of a program, in order; `shares_products` is that of the whole program."""
    found = []
    parts = zip(unit.schedule.parts, unit.schedule.openings, strict=True)
    for number, (part, opening) in enumerate(parts, 1):
        apart = tuple(_merged(_apart(number, opening)))
        if isinstance(part, Nest):
            threads = _threads(Writer(part, unit.memory).sharing())
            found.append(_nest(number, part, threads, apart))
        else:
            found.append(_group(number, part, apart, shares_products=shares_products))
    return tuple(found)


def _group(
    number: int, part: Operation, apart: tuple[Apart, ...], *, shares_products: bool
) -> Group:
    made = tuple(part.outs[: len(part.outs) - isinstance(part, LoopCall)])
    reads = tuple(dict.fromkeys(part.reads))
    works = (Work(part.step, made),)
    kind, title = _call(part)
    threads = _threads_of_call(part, shares_products=shares_products)
    if not isinstance(part, LoopCall):
        return Group(number, kind, title, (), 0, works, reads, made, threads, apart)
    body = part.unit
    return Group(
        *(number, kind, title, (), 0, works, reads, made, threads, apart),
        *(groups_of(body, shares_products=shares_products), memory_of(body)),
    )


def _nest(number: int, nest: Nest, threads: Threads, apart: tuple[Apart, ...]) -> Group:
    made = dict.fromkeys(nest.makers)
    reads = dict.fromkeys(
        read for placed in nest.placed for read in placed.operation.reads if read not in made
    )
    in_order = sorted(nest.placed, key=lambda placed: (placed.phase, placed.is_row_map))
    works = tuple(
        Work(placed.operation.step, (placed.operation.out,), _when(nest, placed))
        for placed in in_order
    )
    title = title_of_nest(nest.dims, nest.rows)
    return Group(
        *(number, "nest", title, nest.dims, nest.rows, works, (*reads,), (*made,)),
        *(threads, apart),
    )


def _when(nest: Nest, placed: Placed) -> str:
    if nest.inner is None:
        return ""
    return "each row" if placed.is_row_map else f"loop {placed.phase + 1}"


def _call(part: Operation) -> tuple[GroupKind, str]:
    """Return of what kind a call is, in a word and in several."""
    if isinstance(part, PythonCall):
        what = part.obstacle or f"{part.step.function} with these arguments"
        return "Python", f"call of Python: there is no C for {what}"
    if isinstance(part, LoopCall):
        if part.loop.length is None:
            return "rounds", "rounds while the first state is true"
        backward = ", the last row first" if part.loop.is_reversed else ""
        return "rounds", f"{count(part.loop.length, 'round')}{backward}"
    assert isinstance(part, Call)
    if part.is_factor:
        return "library", "call of LAPACK"
    if part.product:
        rounds = f", {part.rounds} times" if part.rounds > 1 else ""
        return "library", f"call of BLAS{rounds}"
    return "C", "loops for one step alone"


def _threads(share: Share | Solitude) -> Threads:
    """Return what runs a part of which threads of the program do pieces."""
    if isinstance(share, Solitude):
        return Threads(1, 1, share.why.name, str(share))
    limit = get_num_threads()
    pieces = f"{share.pieces:,} pieces of a loop of {share.length:,}"
    if share.pieces <= limit:
        return Threads(share.pieces, share.pieces, "PIECES", pieces)
    return Threads(limit, share.pieces, "THREADS", f"{pieces}; gs.get_num_threads() is {limit}")


def _threads_of_call(part: Operation, *, shares_products: bool) -> Threads:
    if isinstance(part, LoopCall):
        return Threads(1, 1, "ROUNDS", "each round begins with the state of the one before")
    if not isinstance(part, Call):
        return Threads(1, 1, "CALL", "Python calls it")
    if part.product and not shares_products:
        limit = f"a product has {PRODUCT_MAX:,.0f} multiplications, or a factor {FACTOR_MAX:,.0f}"
        return Threads(blas.threads(), 1, "BLAS", f"those of BLAS, as {limit} or more")
    return _threads(shared_call(part))


def _apart(number: int, opening: Opening | None) -> Iterator[Apart]:
    """Tell for each earlier part why the operation that began one was not put into it."""
    if opening is None:
        if number > 1:
            yield Apart(range(1, number), Why.CALL.name, Why.CALL.value)
        return
    if opening.waits is not None:
        yield _because(range(1, opening.first + 1), opening.waits)
    for nr, refusal in enumerate(opening.refusals, opening.first + 1):
        yield _because(range(nr, nr + 1), refusal)


def _because(groups: range, refusal: Refusal) -> Apart:
    name = "" if refusal.value is None else refusal.value.name
    return Apart(groups, refusal.why.name, refusal.why.value.format(name, groups.stop))


def _merged(apart: Iterator[Apart]) -> Iterator[Apart]:
    """Join reasons that hold for groups one after the other."""
    for (why, text), found in groupby(apart, attrgetter("why", "text")):
        here = list(found)
        yield Apart(range(here[0].groups.start, here[-1].groups.stop), why, text)


# ---- memory


def memory_of(unit: Unit, program: Program | None = None) -> MemoryPlan:
    """Return where the values of a program lie; `program` is what was lowered."""
    memory = unit.memory
    found: list[Storage] = []
    made = [] if program is None else [v for step in program.steps for v in step.outputs]
    values = dict.fromkeys((*unit.inputs, *unit.constants, *memory.uses, *made))
    for value in values:
        if value.base is None:
            found.append(_storage(unit, value))
    arena = [each for each in found if each.kind == "arena"]
    arena.sort(key=attrgetter("first"))
    for nr, each in enumerate(arena):
        shares = tuple(_owners_before(each, arena[:nr]))
        if shares:
            found[found.index(each)] = replace(each, shares=shares)
    allocated = sum(each.nbytes for each in found if each.kind == "array")
    return MemoryPlan(
        tuple(found),
        memory.arena_size + allocated,
        sum(each.nbytes for each in arena) + allocated,
        sum(each.nbytes for each in found if each.kind == "output"),
    )


def _storage(unit: Unit, value: Value) -> Storage:
    memory = unit.memory
    uses = memory.uses.get(value, ())
    first, last = (uses[0] + 1, uses[-1] + 1) if uses else (0, 0)
    _, size = extent(value)
    kind: Kind
    offset = None
    if value in unit.constants or value in unit.inputs:
        kind, first = "constant" if value in unit.constants else "input", 0
    elif value in memory.slots:
        kind = "output" if value in set(map(root_of, unit.outputs)) else "array"
    elif value in memory.arena:
        before, size = extent(value)
        kind, size, offset = "arena", aligned(size), memory.arena[value] - before
    elif value in memory.locals:
        kind = "stack"
    elif value in memory.rows:
        kind, size = "row", memory.rows[value] * value.dtype.itemsize
    else:
        kind, size = "register" if uses else "nowhere", 0
    return Storage(value, kind, size, first, last, offset)


def _owners_before(each: Storage, earlier: Sequence[Storage]) -> Iterator[Value]:
    """Find the values that had the bytes of one last, before it has them."""
    assert each.offset is not None
    free = [(each.offset, each.offset + each.nbytes)]
    for other in sorted(earlier, key=attrgetter("last"), reverse=True):
        assert other.offset is not None
        start, end = other.offset, other.offset + other.nbytes
        left = []
        for low, high in free:
            left += [(low, min(high, start)), (max(low, end), high)]
        left = [(low, high) for low, high in left if low < high]
        if sum(high - low for low, high in left) < sum(high - low for low, high in free):
            yield other.value
        free = left
