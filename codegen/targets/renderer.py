"""Formulas as code on a framework's tensors: calls by its spellings, or of functions of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from ..diagnostics import Diagnostic, Span, SpecError
from ..ir import nodes as ir
from ..ir.walk import names
from ..render.base import ATOM, COMPARE, LOOSEST, OR, PythonRenderer
from ..render.context import is_constant, needs_folding
from ..render.formula import CallRenderer
from ..render.resolve import HELPERS, Kind, Resolver, Target
from ..spec.model import Formula, OpSpec, spelled
from ..spec.primitives import primitives
from .frameworks import AS_CALLED, Framework, Spelling
from .fused import ONCE, parts, pattern_of
from .naming import Naming
from .refusals import has_its_own, has_kernel, refusals
from .results import OWN
from .shapes import broadcast_from

BASE = "_base"
"""The module of an emitted package with the ops of gradspec's table that the framework lacks."""


@dataclass(slots=True)
class EmittedModule:
    """The module that is being written, and what its formulas need besides the framework."""

    name: str
    framework: Framework
    resolver: Resolver
    naming: Naming
    own: dict[str, str]
    """The module of each op of the package, by full name."""
    borrowed: dict[str, Span] = field(default_factory=dict)
    """The ops of gradspec's table that this package has to define as well, and who calls them."""
    place: Span | None = None
    """For an op that is defined because of a call, the place of that."""
    siblings: set[str] = field(default_factory=set)
    """The other modules of the package that are called."""
    calls: set[str] = field(default_factory=set)

    def function(self, op: OpSpec, where: Span) -> str:
        """Spell an op of the package in this module, where a formula calls it."""
        module = self.own.get(op.name)
        if module is None:
            self.borrowed.setdefault(op.name, self.place or where)
            module = BASE
        name = self.naming.function(op)
        if module == self.name:
            return name
        self.siblings.add(module)
        return f"{sibling(module)}.{name}"


def sibling(module: str) -> str:
    """Name another module of the package in the code of one."""
    return f"{module}_ops"


class FrameworkRenderer(CallRenderer):
    """Renders one formula of an op for a framework."""

    def __init__(
        self,
        module: EmittedModule,
        formula: Formula,
        kinds: dict[str, Kind],
        spelling: dict[str, str],
        traced: Iterable[str] = (),
        *,
        is_elementwise: bool = False,
    ) -> None:
        super().__init__(module, formula, kinds, spelling)
        self.module = module
        self.framework = module.framework
        self.traced = frozenset(traced)
        """The plain numbers in whose place the framework may have what it does not know yet."""
        self.is_elementwise = is_elementwise
        """True if all tensors are real and have one shape."""

    # ---- numbers

    def render(self, node: ir.Expr | ir.Slice, at: int = LOOSEST) -> str:
        if isinstance(node, ir.Slice):
            return PythonRenderer.render(self, node, at)
        if is_constant(node, self.module.resolver) and needs_folding(node):
            return _Constant(self.framework).render(node, at)
        return PythonRenderer.render(self, node, at)

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        if isinstance(node, ir.Call):
            if self.is_of_numbers(node) or self._is_choice_of_numbers(node):
                return self._of_numbers(node)
            if "." not in node.function and (name := self.deciding(node)) is not None:
                return self.by_presence(node, name)
        return super().read(node)

    def _is_choice_of_numbers(self, node: ir.Call) -> bool:
        kinds = {self.kind(arg) for arg in node.args}
        return node.function == "where" and kinds <= {"number", "int", "bool"}

    def _of_numbers(self, node: ir.Call) -> tuple[str, int]:
        """A function of plain numbers, which decides no dtype."""
        if node.function == "where" and not self._is_traced(node.args[0]):
            return self.render_conditional(ir.Conditional(*node.args))
        if any(map(self._is_traced, node.args)):
            target = self.target(node)
            spelling = self.framework.op(target.op, node.function)
            if spelling is None:
                self._refuse(node, f"`{node.function}` of a number")
            return self._filled(spelling, node, dict(target.args), target.op), ATOM
        return _number_call(self.framework, node.function, [self.render(a) for a in node.args])

    def _is_traced(self, node: ir.Expr) -> bool:
        return any(name.id in self.traced for name in names(node))

    # ---- calls

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        if "." in node.function:
            return self._primitive(node)
        if node.function in HELPERS:
            return self._helper(node)
        if node.function == OWN:
            return f"{OWN.strip('?')}({self.render(node.args[0])})", ATOM
        if node.function.startswith(ONCE):
            return self._once(node), ATOM
        if node.function == "conj" and self.kind(node.args[0]) in ("number", "int", "bool"):
            return f"{self.render(node.args[0], ATOM)}.conjugate()", ATOM
        target = self.target(node)
        is_named = has_kernel(target.op) and has_its_own(target.op, self.framework)
        if target.op.name in self.module.own and not is_named:
            return self._function_call(target, node)
        spelling = self.framework.op(
            target.op, node.function, self._given(node, target.op, target.args)
        )
        if spelling is None:
            self._check_definable(target.op, node)
            return self._function_call(target, node)
        lift = target.op.signature.name in self.framework.lifted
        return self._filled(spelling, node, dict(target.args), target.op, lift=lift), ATOM

    def itself(self, op: OpSpec) -> str:
        """An op that is defined by a kernel, as the framework's own function of its arguments."""
        params = op.signature.params
        arguments: dict[str, ir.Expr] = {p.name: ir.Name(p.name) for p in params}
        by_name = tuple((p.name, arguments[p.name]) for p in params if p.keyword_only)
        words = tuple(arguments[p.name] for p in params if not p.keyword_only)
        node = ir.Call(op.signature.name, words, by_name, span=self.formula.block.span)
        spelling = self.framework.kernels.get(op.name)
        spelling = spelling or self.framework.op(op, op.signature.name, frozenset(arguments))
        assert spelling is not None
        return self._filled(spelling, node, arguments, op)

    def _primitive(self, node: ir.Call) -> tuple[str, int]:
        primitive = primitives().get(node.function)
        words = () if primitive is None else primitive.positional
        arguments = dict(zip(words, node.args, strict=False)) | dict(node.kwargs)
        spelling = self.framework.primitive(node.function, frozenset(arguments))
        of_lists = primitive and primitive.is_elementwise and "ints" in map(self.kind, node.args)
        if spelling is None or of_lists:
            self._refuse(node, f"`{node.function}`" + " of a list" * bool(of_lists))
        lift = node.function in self.framework.lifted
        return self._filled(spelling, node, arguments, lift=lift), ATOM

    def _filled(
        self,
        spelling: Spelling,
        node: ir.Call,
        arguments: dict[str, ir.Expr],
        op: OpSpec | None = None,
        *,
        lift: bool = False,
    ) -> str:
        types = {p.name: p.type for p in op.signature.params} if op else {}
        like = next((a for a in arguments.values() if self.kind(a) in ("tensor", "any")), None)

        def argument(value: ir.Expr, name: str, at: int) -> str:
            type_ = types.get(name)
            if type_ is not None and type_.base == "ScalarType":
                return self._dtype(value, at)
            if type_ is not None and type_.is_list and self.kind(value) == "int":
                return f"({self.render(value)},)"
            is_number = self.kind(value) in ("number", "int", "bool")
            if lift and is_number and like is not None and (not type_ or type_.is_tensor):
                return self._lifted(value, like)
            return self.render(value, at)

        given = self._given(node, op, arguments)
        if spelling.text.endswith(AS_CALLED):
            names = self._positional(node, op)
            words = [argument(a, n, LOOSEST) for n, a in zip(names, node.args, strict=False)]
            words += [f"{spelled(n)}={argument(a, n, LOOSEST)}" for n, a in node.kwargs]
            return f"{spelling.text.removesuffix(AS_CALLED)}({', '.join(words)})"
        missing = spelling.required - frozenset(arguments)
        if missing:
            self._refuse(node, f"`{node.function}` without `{min(missing)}`")
        left_out = given - spelling.arguments - spelling.ignored
        if left_out:
            names_left = ", ".join(sorted(left_out))
            self._refuse(node, f"`{node.function}` with `{names_left}`")

        def filled(name: str, at: int) -> str:
            name, of_shapes, _ = name.partition(":shapes")
            value = arguments[name]
            return self._shapes(value) if of_shapes else argument(value, name, at)

        return spelling.filled(given, filled)

    def _shapes(self, tensors: ir.Expr) -> str:
        """The shapes of a list of tensors."""
        if isinstance(tensors, ir.Sequence):
            shapes = (self.render(ir.Attribute(item, "shape")) for item in tensors.items)
            return f"({''.join(f'{shape}, ' for shape in shapes)})"
        return f"[each.shape for each in {self.render(tensors)}]"

    def _lifted(self, number: ir.Expr, like: ir.Expr) -> str:
        """A number as a tensor beside another."""
        assert self.framework.lift is not None
        parts = {"number": number, "like": like}

        def part(name: str, at: int) -> str:
            return self.render(parts[name], at)

        return self.framework.lift.filled(frozenset(parts), part)

    def _given(
        self, node: ir.Call, op: OpSpec | None, arguments: Mapping[str, ir.Expr]
    ) -> frozenset[str]:
        """The arguments that a call gives, and does not merely repeat the default of."""
        if op is None:
            return frozenset(arguments)
        names = self._positional(node, op)
        given = {*names[: len(node.args)], *(name for name, _ in node.kwargs)}
        defaults = {p.name: p.default for p in op.signature.params}
        return frozenset(n for n in given if not _is_default(arguments[n], defaults[n]))

    @staticmethod
    def _positional(node: ir.Call, op: OpSpec | None) -> tuple[str, ...]:
        if op is None:
            return primitives()[node.function].positional
        return tuple(p.name for p in op.signature.params if not p.keyword_only)

    def _function_call(self, target: Target, node: ir.Call) -> tuple[str, int]:
        """The call of a function of the package, with the arguments that are not its defaults."""
        here = self.formula.locate(node.span)
        words = []
        by_name = False
        like = next((a for a in target.args.values() if self.kind(a) == "tensor"), None)
        for param in target.op.signature.params:
            value = target.args[param.name]
            if _is_default(value, param.default):
                by_name = True
                continue
            is_number = self.kind(value) in ("number", "int", "bool")
            if param.type.is_tensor and is_number and like is not None and self.framework.lift:
                text = self._lifted(value, like)
            elif param.type.base == "ScalarType":
                text = self._dtype(value)
            else:
                text = self.render(value)
            words.append(f"{param.public}={text}" if by_name or param.keyword_only else text)
        return f"{self.module.function(target.op, here)}({', '.join(words)})", ATOM

    # ---- operators

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        if self.is_elementwise and (text := self._fused(node)):
            return text, ATOM
        match node:
            case ir.Binary("**", base, ir.Const(int(exponent))) if (
                exponent == 2 and self.framework.square and self.kind(base) == "tensor"
            ):
                argument = frozenset({"self"})
                text = self.framework.square.filled(argument, lambda _, at: self.render(base, at))
                return text, ATOM
        return super().render_binary(node)

    def _fused(self, node: ir.Binary) -> str:
        """One function for arithmetic of several operations, if the framework has one."""
        for pattern, spelling in self.framework.fused.items():
            found = parts(pattern, node) or {}
            if found and all(self.kind(part) == "tensor" for part in found.values()):
                words = {name: self.render(part) for name, part in found.items()}
                return spelling.text.format_map(words)
        return ""

    def _once(self, node: ir.Call) -> str:
        """The function for a pattern, where nobody differentiates what it computes."""
        pattern, found = pattern_of(node, tuple(self.framework.fused_once))
        words = {name: self.render(part) for name, part in found.items()}
        return self.framework.fused_once[pattern].text.format_map(words)

    # ---- helpers, dtypes, attributes

    def _helper(self, node: ir.Call) -> tuple[str, int]:
        (argument,) = node.args
        match node.function:
            case "numel" if self.kind(argument) == "tensor":
                spelling = self.framework.ops["numel"]
            case "numel":
                return f"math.prod({self.render(argument)})", ATOM
            case "is_complex":
                spelling = self.framework.ops["is_complex"]
            case "float" if self._is_traced(argument):
                return self.read(argument)
            case name:
                return f"{name}({self.render(argument)})", ATOM
        return spelling.filled(frozenset({"self"}), lambda _, at: self.render(argument, at)), ATOM

    def _dtype(self, value: ir.Expr, at: int = LOOSEST) -> str:
        """A dtype, which formulas may give as a text."""
        match value:
            case ir.Const(str(name)):
                name = {"double": "float64", "float": "float32"}.get(name, name)
                return self.framework.dtype.filled(frozenset({"name"}), lambda *_: name)
            case ir.Conditional(test, then, otherwise):
                parts = self._dtype(then, OR), self.render(test, OR), self._dtype(otherwise)
                return self.in_parentheses("{} if {} else {}".format(*parts))
            case ir.Sequence(items):
                return f"({''.join(f'{self._dtype(item)}, ' for item in items)})"
        return self.render(value, at)

    def render_compare(self, node: ir.Compare) -> tuple[str, int]:
        if "dtype" in (self.kind(node.left), self.kind(node.right)):
            left, right = self._dtype(node.left, ATOM), self._dtype(node.right, ATOM)
            return f"{left} {node.op} {right}", COMPARE
        return super().render_compare(node)

    def render_attribute(self, node: ir.Attribute) -> tuple[str, int]:
        if node.name == "strides":
            self._refuse(node, f"`.{node.name}`")
        if node.name == "meta":  # what has elements has a shape and a dtype as well
            return self.read(node.value)
        if node.name == "shape" and not isinstance(node.value, ir.Name):
            sources = broadcast_from(node.value, self.module.resolver, self.kinds)
            if sources:
                shapes = [f"{self.render(each, ATOM)}.shape" for each in sources]
                text = shapes[0] if len(shapes) == 1 else f"broadcast_shapes({', '.join(shapes)})"
                return text, ATOM
        return super().render_attribute(node)

    # ---- what the framework lacks

    def _check_definable(self, op: OpSpec, node: ir.Call) -> None:
        """An op that is to be borrowed must have a place in the package."""
        for found in refusals(op, self.framework):
            self._refuse(node, f"`{node.function}`", found.message)

    def _refuse(self, node: ir.Node, thing: str, why: str = "") -> NoReturn:
        here = self.module.place or self.formula.locate(node.span)
        message = f"{thing} has no equivalent in {self.framework.title}"
        help = f"{why}; " if why else ""
        help += "write it by functions that it has, or leave the op to the target `numpy`"
        raise SpecError([Diagnostic("GS087", here, message, help)])


class _Constant(PythonRenderer):
    """A number that formulas write as an expression, as code of Python's `math`."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return f"math.{node.id}", ATOM

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        return _number_call(self._framework, node.function, [self.render(a) for a in node.args])


def _number_call(framework: Framework, function: str, words: list[str]) -> tuple[str, int]:
    spelling = framework.numbers.get(function, Spelling(f"math.{function}({{x}})"))
    return spelling.filled(frozenset({"x"}), lambda *_: words[0]), ATOM


def _is_default(value: ir.Expr, default: object) -> bool:
    """Return whether an argument is the literal that stands in the signature."""
    if not isinstance(value, ir.Const):
        return False
    return type(value.value) is type(default) and value.value == default
