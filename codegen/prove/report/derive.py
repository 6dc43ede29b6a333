"""`auto`: the VJP of an elementwise op, derived by sympy and said in the formula language."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import combinations, pairwise
from typing import Any

import sympy
from sympy import Expr, S

from ...diagnostics import Diagnostic, SpecError
from ...ir import nodes as ir
from ...ir.guard import FormulaError
from ...ir.parse import parse
from ...ir.walk import calls, walk
from ...render.to_formula import NoFormula, cost, is_small_number, times_grad, to_formula
from ...render.to_sympy import NotSymbolic, SympyReader
from ...render.to_text import formula_text
from ...spec.model import Auto, OpSpec, Table
from ..deadline import TimeUp, time_limit
from ..inputs import domain
from ..zero.rational import is_rationally_zero

SECONDS = 20.0
"""Time that a derivation may take."""

SHORTENING_SECONDS = 5.0
"""Time in which sympy may look for a shorter form."""

_OVERFLOWING = frozenset({"exp", "exp2", "expm1", "sinh", "cosh"})

_FOREIGN = 30
"""Cost of one of these where the forward does not call it: `exp` in place of `sigmoid`, or `exp(x)`
in place of `exp(-x)`, one of which overflows where the other does not; and of a quotient that may
be that of two zeros.
"""

_GRAD = sympy.Symbol("grad", real=True)
_RESULT = sympy.Symbol("result", real=True)


def derive_vjp(spec: OpSpec, table: Table, param: str) -> str:
    """The text of the VJP of one argument.

    Raises SpecError, at the place of `auto`, where the forward is not an expression that sympy
    can differentiate, or the derivative needs a function that the table lacks.
    """
    try:
        definition = spec.forward
        if definition is None or len(spec.signature.outputs) > 1:
            raise NotSymbolic("it has no `forward` with a single output")
        with time_limit(SECONDS):
            return _Derivation(spec, table, param).of(definition.block)
    except NotSymbolic as error:
        reason = str(error)
    except TimeUp:
        reason = f"given up after {SECONDS:.0f} s, as sympy's derivative of it is so large"
    except (RecursionError, MemoryError, OverflowError, ZeroDivisionError) as error:
        reason = f"sympy raised {type(error).__name__}"
    rule = spec.rule(param)
    span = rule.span if isinstance(rule, Auto) else spec.span
    message = f"no derivative of `{spec.name}` by `{param}` can be derived: {reason}"
    raise SpecError([Diagnostic("GS072", span, message, "write the formula")])


class _Derivation:
    """The derivation of one formula."""

    def __init__(self, spec: OpSpec, table: Table, param: str) -> None:
        self._ops = {op.signature.name for op in table.ops}
        self._reader = SympyReader(table)
        self._symbols = _symbols(spec)
        if param not in self._symbols:
            raise NotSymbolic(f"`{param}` is a list")
        self._x = self._symbols[param]

    def of(self, block: ir.Block) -> str:
        """The VJP of a definition; a choice between definitions stays one."""
        whole = block.expression
        if isinstance(whole, ir.Conditional):
            then, otherwise = (
                self.of(ir.Block((ir.Return(part),))) for part in (whole.then, whole.otherwise)
            )
            if then == otherwise:
                return then
            return f"{then} if {formula_text(whole.test)} else {otherwise}"
        forward = self._reader.block(block, self._symbols)
        if _has_points(forward) and not any(isinstance(n, ir.Compare) for n in walk(block)):
            # The value at a point is that of an op: its rule has slopes of every order there.
            raise NotSymbolic("an op in it is defined by its value at a point")
        return self._text(forward, _functions(block))

    def _text(self, forward: Expr, written: Set[str]) -> str:
        derivative = _tidy(forward.diff(self._x))
        if derivative == 0:
            raise NotSymbolic("the result does not depend on it")
        texts: dict[str, int] = {}
        reason = ""
        for candidate in _candidates(forward, derivative, self._x):
            try:
                text = to_formula(times_grad(candidate, _GRAD), self._ops)
                block = parse(text)
                called = _functions(block)
            except NoFormula as error:
                reason = str(error)
            except FormulaError as error:
                reason = f"of sympy's derivative, {error.message}"
            else:
                foreign = len((called - written) & _OVERFLOWING)
                new = candidate.atoms(sympy.exp) - forward.atoms(sympy.exp)
                foreign += sum(not each.has(_RESULT) for each in new)
                seen = candidate.subs(_RESULT, forward)
                foreign += len(_divisors(seen) - _divisors(derivative) - _divisors(forward))
                price = _cost(block) + _FOREIGN * foreign
                texts[text] = min(price, texts.get(text, price))
        if not texts:
            raise NotSymbolic(reason)
        return min(texts, key=lambda text: texts[text])


def _divisors(expr: Expr) -> Set[Expr]:
    """Find what an expression divides by, if that may be zero, where it is nan."""
    inverses = (part for part in expr.atoms(sympy.Pow) if part.exp.could_extract_minus_sign())
    return {part.base for part in inverses if part.base.free_symbols and not part.base.is_positive}


def _cost(block: ir.Block) -> int:
    """Estimate the length of a formula; a function counts as several sums."""
    prices = {ir.Call: 9, ir.Binary: 2, ir.Unary: 1, ir.Name: 1, ir.Const: 1}
    return sum(prices.get(type(part), 0) for part in walk(block))


def _has_points(forward: Expr) -> bool:
    """Return whether a piece of a function is the value at one point."""
    pieces = (condition for each in forward.atoms(sympy.Piecewise) for _, condition in each.args)
    return any(sympy.sympify(condition).has(sympy.Eq, sympy.Ne) for condition in pieces)


def _functions(block: ir.Block) -> Set[str]:
    """Name the functions that a formula calls, ops or the primitives of the same names."""
    return {call.function.rpartition(".")[2] for call in calls(block)}


def _symbols(spec: OpSpec) -> dict[str, sympy.Symbol]:
    """A real symbol for every argument that is a number, with the sign its domain gives it."""
    symbols = {}
    compares = spec.forward is not None and any(
        isinstance(node, ir.Compare) for node in walk(spec.forward.block)
    )
    for param in spec.signature.params:
        if param.type.base not in ("Tensor", "Scalar", "float", "int") or param.type.is_list:
            continue
        if param.type.is_optional:  # the definition may go another way without it
            continue
        low, high = domain.bounds(param.name, [c for n, c in spec.domain if n == param.name])
        sign = {"positive": True} if low >= 0 else {"negative": True} if high <= 0 else {}
        if low >= 0 and compares and _is_closed(spec, param.name):  # `where(k == 0, …)` is a piece
            sign = {"nonnegative": True}
        symbols[param.name] = sympy.Symbol(param.name, real=True, **sign)
    return symbols


def _is_closed(spec: OpSpec, param: str) -> bool:
    """Return whether the border belongs to the domain of an argument."""
    return all(domain.is_closed(condition) for name, condition in spec.domain if name == param)


def _tidy(derivative: Expr) -> Expr:
    """Without what is zero almost everywhere, and without nested pieces."""
    derivative = derivative.replace(sympy.DiracDelta, lambda *_: S.Zero)
    if derivative.has(sympy.Derivative, sympy.Subs):
        raise NotSymbolic("sympy has no derivative of it")
    derivative = derivative.replace(lambda part: part.is_Mul or part.is_Pow, _smooth)
    return sympy.piecewise_fold(derivative) if derivative.has(sympy.Piecewise) else derivative


def _smooth(part: Expr) -> Expr:
    """Products of signs and magnitudes that go on through zero: one for `sign(u)**2`, `u` for both.

    So the slope of `sign(x) * log1p(abs(x))` is one at zero, and has slopes itself.
    """
    powers = part.as_powers_dict()
    for sign in part.atoms(sympy.sign):
        inner = sign.args[0]
        times, sizes = powers.get(sign, S.Zero), powers.get(sympy.Abs(inner), S.Zero)
        if not times.is_Integer or (times < 2 and not (times == 1 and sizes.is_positive)):
            continue
        odd = times % 2
        part = part / sign**times
        part = part / sympy.Abs(inner) * inner if odd and sizes.is_positive else part * sign**odd
    return part


def _candidates(forward: Expr, derivative: Expr, x: sympy.Symbol) -> list[Expr]:
    """The derivative, written in several ways."""
    if isinstance(derivative, sympy.Piecewise):
        return [_by_pieces(forward, _by_intervals(derivative, x), x)]
    if (apart := _through_tie(derivative, x)) is not None:
        forms = (form for side, _ in apart.args for form in _candidates(x, side, x))
        whole = [form for form in forms if _is_everywhere(form, apart)]
        return whole or [_by_pieces(forward, apart, x)]
    found = [derivative]
    try:
        with time_limit(SHORTENING_SECONDS):
            for form in _rewritten(derivative):
                found.append(form)
    except TimeUp:
        pass
    if forward.free_symbols == {x} and not isinstance(forward, sympy.Piecewise):
        found += _by_result(forward, derivative)
    if derivative.has(forward) and not forward.is_Symbol:
        found.append(derivative.subs(forward, _RESULT))
    if isinstance(forward, sympy.log):
        found.append(sympy.powsimp(derivative.subs(forward.args[0], sympy.exp(_RESULT))))
    return [_of_magnitudes(each) for each in found]


def _of_magnitudes(expr: Expr) -> Expr:
    """Powers of magnitudes, where sympy takes magnitudes of powers: these are nan below zero."""
    return expr.replace(
        lambda part: isinstance(part, sympy.Abs) and part.args[0].is_Pow,
        lambda part: sympy.Abs(part.args[0].base) ** part.args[0].exp,
    )


def _by_intervals(derivative: sympy.Piecewise, x: sympy.Symbol) -> sympy.Piecewise:
    """The pieces of a function of one number, in the order of the intervals that they hold on.

    sympy's own, folded out of nested ones, have conditions that cannot hold. Raises NotSymbolic
    where two kinks are at one point: their pieces there, put together, are those of no side.
    """
    sides = _sides(derivative, x)
    if {_border(bend, x) for bend in _bends(derivative, x)} & {_border(s, x) for s in sides} - {
        None
    }:
        return _from_sides(derivative, x)
    found = [_border(relation, x) for relation in sides]
    borders = [border for border in found if border is not None]
    if len(derivative.args) < 3 or derivative.free_symbols != {x} or None in found:
        if not all(_are_apart(*pair, x) for pair in combinations(sides, 2)):
            raise NotSymbolic("two of its comparisons may be ties at once")
        return derivative
    points = sorted({*borders})
    if not points:
        return derivative
    between = [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
    values = [_piece(derivative, x, point) for point in between]
    pieces: list[tuple[Expr, Any]] = []
    for place, border in enumerate(points):
        here, after = _piece(derivative, x, border), values[place + 1]
        if values[place] == after and here == after:
            continue
        if here not in (values[place], after):
            if len([each for each in borders if each == border]) > 1:
                raise NotSymbolic("two of its comparisons are ties at once")
            return derivative
        pieces.append((values[place], x <= border if here == values[place] else x < border))
    return sympy.Piecewise(*pieces, (values[-1], True), evaluate=False)


def _sides(derivative: sympy.Piecewise, x: sympy.Symbol) -> list[Any]:
    """The comparisons of `x` in the conditions; one of those that are each other's negation."""
    found: dict[Any, Any] = {}
    for _, condition in derivative.args:
        for each in condition.atoms(sympy.core.relational.Relational):
            if each.has(x):
                found.setdefault(frozenset((each.canonical, each.negated.canonical)), each)
    return list(found.values())


def _from_sides(derivative: sympy.Piecewise, x: sympy.Symbol) -> sympy.Piecewise:
    """Pieces with the magnitudes and signs that each has on its interval, of a smooth function.

    So `max(x, 0) + log(1 + exp(-abs(x)))` has derivatives of every order at zero. Raises
    NotSymbolic where the pieces differ at a border.
    """
    apart = sympy.piecewise_fold(
        derivative.replace(lambda part: isinstance(part, sympy.Abs | sympy.sign), _from_side)
    )
    found = [_border(relation, x) for relation in _sides(apart, x)]
    points = sorted({border for border in found if border is not None and border.is_number})
    if len(points) < len({*found}) or not points:
        raise NotSymbolic("one of its pieces bends where they meet")
    between = [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
    values = [_piece(apart, x, point) for point in between]
    for point, (before, after) in zip(points, pairwise(values), strict=True):
        if sympy.simplify(before.subs(x, point) - after.subs(x, point)) != 0:
            raise NotSymbolic("one of its pieces bends where they meet")
    pieces = [(value, x <= point) for value, point in zip(values, points, strict=False)]
    return sympy.Piecewise(*pieces, (values[-1], True), evaluate=False)


def _through_tie(derivative: Expr, x: sympy.Symbol) -> sympy.Piecewise | None:
    """Pieces of a derivative whose slopes at a tie are not those of its magnitudes and signs there.

    So `abs(x - y) + log1p(exp(-2 * abs(x - y)))` has slopes of every order where `x == y`. None if
    there is no such tie, or the slopes of both sides differ.
    """
    bends = {part.args[0] for part in derivative.atoms(sympy.Abs, sympy.sign) if part.has(x)}
    ties = {_border(sympy.Gt(bend, 0, evaluate=False), x) for bend in bends}
    tie = next(iter(ties), None)
    if tie is None or len(ties) > 1:
        return None
    apart = sympy.piecewise_fold(
        derivative.replace(lambda part: isinstance(part, sympy.Abs | sympy.sign), _from_side)
    )
    before, after = (_piece(apart, x, tie + step) for step in (-1, 1))
    if S.NaN in (before, after):
        return None
    at_tie, is_right = derivative, True
    for order in range(_ORDERS_AT_TIE):
        sides = [sympy.diff(side, x, order).subs(x, tie) for side in (before, after)]
        if not all(side.is_finite for side in sides) or sympy.simplify(sides[0] - sides[1]) != 0:
            return None
        is_right &= sympy.simplify(at_tie.subs(x, tie) - sides[0]) == 0
        at_tie = at_tie.diff(x).replace(sympy.DiracDelta, lambda *_: S.Zero)
    return None if is_right else sympy.Piecewise((before, x <= tie), (after, True), evaluate=False)


def _is_everywhere(form: Expr, apart: sympy.Piecewise) -> bool:
    """Return whether a form of one side is the other as well, and overflows on neither."""
    differences = ((form - side).rewrite(sympy.exp) for side, _ in apart.args)
    return not form.has(sympy.exp) and all(is_rationally_zero(each) for each in differences)


_ORDERS_AT_TIE = 3
"""The derivative and its slopes that have to be the same on both sides of a tie."""


def _from_side(part: Expr) -> Expr:
    inner = part.args[0]
    one = S.One if isinstance(part, sympy.sign) else inner
    return sympy.Piecewise((one, inner > 0), (-one, True))


def _bends(derivative: sympy.Piecewise, x: sympy.Symbol) -> list[Any]:
    """Comparisons with zero of what pieces take the magnitude or the sign of."""
    pieces = (value for value, _ in derivative.args)
    inner = {part.args[0] for value in pieces for part in value.atoms(sympy.Abs, sympy.sign)}
    compared = (sympy.Gt(each, 0) for each in inner if each.has(x))
    return [bend for bend in compared if isinstance(bend, sympy.core.relational.Relational)]


def _are_apart(one: Any, other: Any, x: sympy.Symbol) -> bool:
    """Return whether two comparisons are ties at no common place, as far as that is seen."""
    borders = _border(one, x), _border(other, x)
    if None not in borders:
        return bool(borders[0] != borders[1])
    first, second = one.lhs - one.rhs, other.lhs - other.rhs
    return any(d != 0 and not d.has(x) for d in (first - second, first + second))


def _border(relation: Any, x: sympy.Symbol) -> Expr | None:
    """The number at which a comparison changes; None if it is not known."""
    difference = relation.lhs - relation.rhs
    if not difference.is_polynomial(x) or sympy.degree(difference, x) > 1:
        return None
    (root,) = sympy.solve(difference, x) or [None]
    return root


def _piece(derivative: sympy.Piecewise, x: sympy.Symbol, point: Expr) -> Expr:
    for value, condition in derivative.args:
        if condition.subs(x, point) == sympy.true:
            return value
    return S.NaN


def _by_pieces(forward: Expr, derivative: sympy.Piecewise, x: sympy.Symbol) -> Expr:
    """Each piece in its shortest form; pieces of an open domain, so `result` stays out."""
    pieces = []
    for value, condition in derivative.args:
        shortest = min([value, *_candidates(x, value, x)], key=cost) if value != 0 else value
        pieces.append((shortest, condition))
    return sympy.Piecewise(*pieces, evaluate=False)


def _rewritten(derivative: Expr) -> Iterator[Expr]:
    """Forms that are sometimes shorter; all of them equal."""
    yield sympy.factor_terms(derivative)
    yield sympy.together(derivative)
    yield sympy.factor(derivative)
    if derivative.has(sympy.Abs, sympy.sign):
        yield _by_magnitude(derivative)
    yield sympy.simplify(derivative)


def _by_magnitude(derivative: Expr) -> Expr:
    """A quotient in the absolute value, where `u**2` and `u * sign(u)` are its powers too."""
    inner = [part.args[0] for part in derivative.atoms(sympy.Abs, sympy.sign)]
    u, magnitude = inner[0], sympy.Dummy("magnitude", positive=True)
    expr = derivative.subs({sympy.Abs(u): magnitude, sympy.sign(u): magnitude / u})
    expr = sympy.cancel(sympy.together(expr)).subs(u**2, magnitude**2)
    expr = sympy.factor(expr).subs(u / magnitude, sympy.sign(u))
    return expr.subs(magnitude, sympy.Abs(u))


def _by_result(forward: Expr, derivative: Expr) -> list[Expr]:
    """The derivative as `a + b*result + c*result**2`, or one over such, if it is one."""
    found = []
    for inverse in (False, True):
        target = 1 / derivative if inverse else derivative
        coefficients = _quadratic(forward, target)
        if coefficients is not None:
            a, b, c = coefficients
            value = sympy.factor_terms(a + b * _RESULT + c * _RESULT**2)
            value = 1 / value if inverse else value
            found += [value, sympy.factor(value)]
    return found


def _quadratic(forward: Expr, target: Expr) -> tuple[Expr, Expr, Expr] | None:
    """Numbers `a, b, c` with `a + b*F + c*F**2 == target`: fitted at points, then proved."""
    (x,) = forward.free_symbols
    points = [sympy.Rational(n, 7) for n in (3, 5, 6)]
    rows, values = [], []
    for point in points:
        at, wanted = (sympy.N(e.subs(x, point), 30) for e in (forward, target))
        if not (at.is_Float and wanted.is_Float):
            return None
        rows.append([S.One, at, at**2])
        values.append(wanted)
    matrix = sympy.Matrix(rows)
    if abs(matrix.det()) < sympy.Float("1e-20"):
        return None
    solved = matrix.LUsolve(sympy.Matrix(values))
    a, b, c = (sympy.nsimplify(v, rational=True, tolerance=1e-15) for v in solved)
    if not all(map(is_small_number, (a, b, c))):
        return None
    difference = a + b * forward + c * forward**2 - target
    if is_rationally_zero(difference) or is_rationally_zero(difference.rewrite(sympy.exp)):
        return a, b, c
    return None
