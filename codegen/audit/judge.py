"""The answers of a library beside the exact ones, and what is wrong with them."""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..spec.model import OpSpec
from .differences import Slopes, slopes
from .findings import Finding, Suspicion, grouped, settled
from .grading import LOST, WRONG, Grade, grade, is_wrong
from .meant import as_meant
from .questions import EXTREME, GENERIC, SPECIAL, TRIANGLE, Asked, Question, Sweep, order_of
from .session import Session, printed
from .text import NotSpelled, call_text, name_of, question_text, sweep_text

_MOST_POINTS = 10
"""Number of wrong points of a sweep that are examined, for each mode and kind."""

_NEIGHBOURS = 32
_ASIDE = 2.0**-10
_NEAR = 2.0**-16
"""Number of points, distance and length of the line in the search around kinks."""

_TRIED = 12
"""Number of programs that are tried until one shows a finding."""


@dataclass
class Judged:
    """Result of auditing one op."""

    op: str
    functions: set[str] = field(default_factory=set)
    answers: int = 0
    """The number of derivatives that were compared."""
    has_kinks: bool = False
    """True if there are zeros or ties at which the function is not smooth."""
    findings: list[Finding] = field(default_factory=list)
    unconfirmed: list[Suspicion] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    """The modes that a library does not have for a function."""
    own: tuple[str, ...] = ()
    """Points at which gradspec contradicts itself."""


def judge(session: Session, op: OpSpec, asked: Asked) -> Judged:
    """Ask a library everything that was asked about an op."""
    judged = Judged(op.name, own=asked.disagreements)
    judged.problems.update(asked.problems)
    suspicions: list[Suspicion] = []
    for sweep in asked.sweeps:
        suspicions += _of_sweep(session, op, sweep, judged)
    chosen = _chosen(asked.questions, session.library.most_questions)
    for question in sorted(chosen, key=lambda each: each.kind == EXTREME):
        suspicions += _of_question(session, op, question, judged)
    kept = settled(suspicions)
    judged.unconfirmed = [each for each in kept if each.grade is Grade.UNCONFIRMED]
    for group in grouped(each for each in kept if each.grade is not Grade.UNCONFIRMED):
        finding = shown(session, group)
        if finding is None:
            judged.problems["no program shows what was found"] += 1
        else:
            judged.findings.append(finding)
    return judged


def _chosen(questions: Sequence[Question], most: int) -> list[Question]:
    """The questions that are asked, of different kinds if these are not all."""
    if len(questions) <= most:
        return list(questions)
    usual = [q for q in questions if q.kind == GENERIC]
    special = {q.where: q for q in reversed(questions) if q.kind != GENERIC}
    kept = [*usual[: max(most // 2, most - len(special))], *reversed(special.values())]
    return kept[:most]


def _of_question(
    session: Session, op: OpSpec, question: Question, judged: Judged
) -> Iterator[Suspicion]:
    try:
        body = question_text(question, op, session.library)
        function = session.function(body)
        value = float(session.values(function, 0.0).sum())
    except NotSpelled as reason:
        judged.problems[str(reason)] += 1
        return
    except Exception as error:
        judged.problems[f"the library refuses a call: {type(error).__name__}"] += 1
        return
    if not abs(value - question.value) <= 1e-8 * max(1.0, abs(question.value)):
        judged.problems["the value is another one"] += 1
        return
    number = _number_of(session, function)
    known: dict[int, Slopes] = {}
    if question.kind == SPECIAL:
        known[1] = slopes(number, 0.0, 1)
        judged.has_kinks |= not known[1].is_smooth
    elif question.kind == EXTREME and judged.has_kinks:
        return  # the zeros before the huge elements are no usual points
    name = function_name(call_text(question, op, session.library))
    judged.functions.add(name)
    is_linear = functools.cache(lambda: _is_linear(session, op, question))
    is_between = functools.partial(_is_between_neighbours, session, op, question)
    for mode, found in session.derivatives(function, 0.0).items():
        order = order_of(mode)
        exact = question.exact[order - 1]
        if isinstance(found, Exception):
            judged.raised[f"{name} {mode}: {type(found).__name__}"] += 1
            continue
        if math.isnan(exact) and question.kind != SPECIAL:
            continue
        judged.answers += 1
        answer = float(found.sum())
        if order not in known and question.kind == SPECIAL:
            known[order] = slopes(number, 0.0, order)
        if question.kind == SPECIAL:
            exact = _checked(op, question, exact, order, known, judged, is_linear)
        is_right = not math.isnan(exact) and not is_wrong(answer, exact, 1.0, WRONG)
        if is_right and question.kind != TRIANGLE:
            continue
        if order not in known:
            known[order] = slopes(number, 0.0, order)
        if question.kind == TRIANGLE and not _leaves(known[order], answer):
            continue
        yield Suspicion(
            op.name,
            name,
            mode,
            _graded(answer, exact, question.kind, known, order, is_linear, is_between),
            question.where,
            body,
            0.0,
            answer,
            exact,
            known[order].middle,
            is_right,
            question.digits,
            question.kind == GENERIC,
        )


def _is_linear(session: Session, op: OpSpec, question: Question) -> bool:
    """Return whether slopes add up with directions; at ties of `median` they may not."""
    plain = {k: v for k, v in question.arguments.items() if k == "upper"}
    ways = [question.tangents]
    # Not a mirror image of the first: the median of three would add up with that.
    ways.append({leaf: 0.75 * np.roll(array, 1) - 0.4 for leaf, array in question.tangents.items()})
    ways.append({leaf: ways[0][leaf] + ways[1][leaf] for leaf in question.tangents})
    found = []
    for tangents in ways:
        tangents = {
            leaf: as_meant(op, plain | {leaf[0]: a})[leaf[0]] for leaf, a in tangents.items()
        }
        moved = dataclasses.replace(question, tangents=tangents)
        function = session.function(question_text(moved, op, session.library))
        found.append(slopes(_number_of(session, function), 0.0, 1))
    one, other, both = found
    if not (one.is_smooth and other.is_smooth and both.is_smooth):
        return False
    total = (one.middle or 0.0) + (other.middle or 0.0)
    return both.are_close(both.middle or 0.0, total)


def _is_between_neighbours(session: Session, op: OpSpec, question: Question, answer: float) -> bool:
    """Return whether a derivative at several kinks is between those at smooth points around them.

    Where elements pass their kinks in unlike directions, both slopes along one line do not tell.
    """
    random = np.random.default_rng(0)
    found = []
    for _ in range(_NEIGHBOURS):
        signs = {leaf: random.choice([-1.0, 1.0], a.shape) for leaf, a in question.tangents.items()}
        moved = dict(question.arguments)
        for (name, number), sign in signs.items():
            value = moved[name]
            if isinstance(value, list):
                moved[name] = [v + _ASIDE * sign if i == number else v for i, v in enumerate(value)]
            else:
                moved[name] = value + _ASIDE * sign
        around = dataclasses.replace(question, arguments=moved)
        number_of = _number_of(
            session, session.function(question_text(around, op, session.library))
        )
        found.append((number_of(_NEAR) - number_of(-_NEAR)) / (2 * _NEAR))
    slack = 5e-3 * max(1.0, abs(answer))
    return bool(min(found) - slack <= answer <= max(found) + slack)


def _checked(
    op: OpSpec,
    question: Question,
    exact: float,
    order: int,
    known: dict[int, Slopes],
    judged: Judged,
    is_linear: Callable[[], bool],
) -> float:
    """The derivative by differences, if the function is smooth and gradspec says something else."""
    around = known.get(order)
    if around is None or not around.is_smooth or (order == 2 and not known[1].is_smooth):
        return exact
    assert around.middle is not None
    if around.are_close(around.middle, exact) or not is_linear():
        return exact
    if not op.unproved:
        text = f"{question.where}: order {order}, {exact!r}, by differences {around.middle!r}"
        judged.own = tuple(dict.fromkeys([*judged.own, text]))
    return around.middle


def _leaves(found: Slopes, answer: float) -> bool:
    """Return whether differences contradict an answer."""
    return found.middle is not None and is_wrong(answer, found.middle, 1.0, 1e-2)


def _graded(
    answer: float,
    exact: float,
    kind: str,
    known: dict[int, Slopes],
    order: int,
    is_linear: Callable[[], bool],
    is_between: Callable[[float], bool],
) -> Grade:
    """Grade an answer; where there is no slope there is no second derivative to be wrong."""
    if kind == SPECIAL and order == 2 and not known[1].is_smooth:
        is_choice = math.isnan(answer) and math.isfinite(exact)
        return Grade.CONVENTION if is_choice else Grade.UNCONFIRMED
    if kind == SPECIAL and known[1].is_smooth and not is_linear():
        return Grade.CONVENTION if order == 1 else Grade.UNCONFIRMED
    graded = grade(answer, exact, kind, known[order])
    if graded is Grade.BOUNDARY and not known[1].is_smooth and is_between(answer):
        return Grade.CONVENTION
    return graded


def _of_sweep(session: Session, op: OpSpec, sweep: Sweep, judged: Judged) -> Iterator[Suspicion]:
    try:
        body = sweep_text(sweep, op, session.library, None)
        constants = {name_of(name): column for name, column in sweep.columns.items()}
        is_single = len(sweep.columns) == 1
        function = session.function(body, {} if is_single else constants)
        (first, *_) = sweep.columns.values()
        at = first if is_single else np.zeros_like(first)
        values = session.values(function, at)
    except NotSpelled as reason:
        judged.problems[str(reason)] += 1
        return
    except Exception as error:
        judged.problems[f"the library refuses a call: {type(error).__name__}"] += 1
        return
    usual = np.array([kind == GENERIC for kind in sweep.kinds]) & np.isfinite(sweep.values)
    if values.shape != sweep.values.shape or not np.allclose(
        values[usual], sweep.values[usual], rtol=1e-6, atol=1e-9
    ):
        judged.problems["the values are others"] += 1
        return
    judged.functions.add(function_name(body))
    for mode, found in session.derivatives(function, at).items():
        if isinstance(found, Exception):
            judged.raised[f"{function_name(body)} {mode}: {type(found).__name__}"] += 1
            continue
        found = np.broadcast_to(found, sweep.values.shape)
        judged.answers += found.size
        yield from _wrong_points(session, op, sweep, mode, at, found)


def _wrong_points(
    session: Session, op: OpSpec, sweep: Sweep, mode: str, at: Any, found: Any
) -> Iterator[Suspicion]:
    """The points at which one mode is wrong, a limited number of each kind."""
    order = order_of(mode)
    exact, scales = sweep.exact[order - 1], sweep.scales[order - 1]
    excused, ours = sweep.excused[order - 1], sweep.ours[order - 1]
    seen: Counter[str] = Counter()
    for place, kind in enumerate(sweep.kinds):
        answer, wanted = float(found[place]), float(exact[place])
        is_kink = math.isnan(wanted)
        is_excused = excused[place] and (math.isfinite(answer) or not math.isfinite(ours[place]))
        if seen[kind] >= _MOST_POINTS or is_excused:
            continue
        if is_kink and (kind != SPECIAL or order == 2):
            continue
        if not is_kink and _is_fine(answer, wanted, float(scales[place])):
            continue
        seen[kind] += 1
        literals = {n: repr(float(c[place])) for n, c in sweep.columns.items()}
        body = sweep_text(sweep, op, session.library, literals)
        number = _number_of(session, session.function(body))
        spot = float(at[place])
        around = slopes(number, spot, order) if kind != EXTREME else Slopes(None, None, None)
        graded = grade(answer, wanted, kind, around)
        if graded is Grade.UNCONFIRMED and kind == GENERIC and not is_kink:
            graded = Grade.NUMERICAL  # too small for differences, and known to 50 digits
        if is_kink and around.is_smooth:
            graded = Grade.UNCONFIRMED  # smooth along this line, which is not all
        shared = graded is Grade.CONVENTION and _is_same(answer, float(ours[place]))
        yield Suspicion(
            op.name,
            function_name(body),
            mode,
            graded,
            ", ".join(f"{n} = {x}" for n, x in literals.items()),
            body,
            spot,
            answer,
            wanted,
            around.middle,
            shared,
            is_usual=kind == GENERIC,
        )


_TINY = float(np.finfo(np.float64).smallest_normal)


def _is_fine(answer: float, wanted: float, scale: float) -> bool:
    """Return whether significant digits are left; tiny values need none."""
    if abs(wanted) < _TINY:
        return abs(answer) <= 1e-6
    return not _has_lost(answer, wanted, scale)


def _has_lost(answer: float, wanted: float, scale: float) -> bool:
    if not math.isfinite(answer):
        return True
    return abs(answer - wanted) > LOST * max(abs(wanted), scale if math.isfinite(scale) else 0.0)


def _is_same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-9 * max(1, abs(a))


def shown(session: Session, group: list[Suspicion]) -> Finding | None:
    """A finding with a program that was run, and printed what is claimed; None if none does."""
    modes = tuple(m for m in session.library.modes if any(each.mode == m for each in group))
    for each in group[:_TRIED]:
        program = session.program(each.body, each.mode, each.at)
        try:
            answer = printed(program)
        except Exception:
            continue
        if _is_near(answer, each.found) or _is_wrong_too(each, answer):
            return Finding(
                each.op,
                each.function,
                each.grade,
                modes,
                each.where,
                program,
                answer,
                each.exact,
                each.by_differences,
                len(group),
                each.is_shared,
                each.digits,
            )
    return None


def _is_near(a: float, b: float) -> bool:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b or abs(a - b) <= 1e-3 * max(abs(a), abs(b))


def _is_wrong_too(each: Suspicion, answer: float) -> bool:
    """Return whether the program, at one point, prints another wrong answer than the array."""
    return each.grade is Grade.NUMERICAL and _has_lost(answer, each.exact, 0.0)


def _number_of(session: Session, function: Callable[..., Any]) -> Callable[[float], float]:
    """The function on numbers; nan where it refuses one."""

    def number(t: float) -> float:
        try:
            return float(session.values(function, t).sum())
        except Exception:
            return math.nan

    return number


def function_name(body: str) -> str:
    """The function that a call is of: `torch.linalg.det`; of an operator its symbol."""
    called = re.findall(r"([A-Za-z_][\w.]*)\(", body)
    names = [n for n in called if n.rpartition(".")[2] not in ("array", "tensor")]
    if names:
        return str(names[0])
    tree = ast.parse(body, mode="eval").body
    symbol = _SYMBOLS.get(type(tree.op)) if isinstance(tree, ast.BinOp) else None
    return f"the operator {symbol}" if symbol else body


_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
}
