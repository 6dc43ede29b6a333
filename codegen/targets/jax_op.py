"""One op for JAX: a function, and below it the same with its JVP, whose transpose is the VJP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..diagnostics import Diagnostic, SpecError
from ..emit.branches import with_safe_branches
from ..ir import nodes as ir
from ..ir.walk import calls, free_names, walk
from ..ir.walk import names as names_in
from ..render.resolve import kinds_of_params
from ..spec.model import Formula, NotImplementedYet, OpSpec, Param
from . import names
from .checks import checks
from .naming import function_name
from .refusals import has_its_own, has_kernel
from .renderer import EmittedModule, FrameworkRenderer
from .rules import tangents


@dataclass(frozen=True, slots=True)
class JaxOp:
    """One op as its template renders it: names and lines of code."""

    name: str
    public_name: str
    """The name that users know, where the module has another use for that."""
    signature: str
    public_arguments: str
    """The arguments by the names that users know, if code has others for them."""
    returns: str
    doc: str
    checks: tuple[str, ...]
    plain: tuple[str, ...]
    """The whole body of an op without rules of its own; empty for others."""
    inner: str
    """The function with the rule."""
    arguments: str
    """The arguments of the public function, as they are handed to it."""
    parameters: str
    static: tuple[str, ...]
    """Those of them that JAX may not trace."""
    forward: tuple[str, ...]
    jvp: tuple[str, ...]
    aliases: tuple[str, ...]
    kernel_import: str
    """The import of the module of its own kernel, if it has one."""


def jax_op(op: OpSpec, module: EmittedModule, doc: str) -> JaxOp:
    """One op as code. Raises SpecError for what JAX lacks."""
    return _Builder(op, module).view(doc)


class _Builder:
    def __init__(self, op: OpSpec, module: EmittedModule) -> None:
        self.op = op
        self.module = module
        self.spelling = names.spelling_of(op, module)
        self.has_rules = bool(op.recorded_params) and op.composite is None
        self.tangents = tangents(op, module.resolver, module.framework)
        tested = tested_numbers(op, module, set())
        self.static = [p for p in op.signature.params if _is_static(p, tested)]
        static = {p.name for p in self.static}
        self.traced = [
            p.name
            for p in op.signature.params
            if p.type.base in ("Scalar", "float") and p.name not in static
        ]
        self.kinds = kinds_of_params(op.signature)
        self.kinds |= {f"{p.name}_t": self.kinds[p.name] for p in op.signature.tensor_params}

    def view(self, doc: str) -> JaxOp:
        op, framework = self.op, self.module.framework
        words = {p.name: self.spelling[p.name] for p in op.signature.params}
        return JaxOp(
            name=self.module.naming.function(op),
            public_name=function_name(op),
            signature=names.signature(op, self.module),
            public_arguments=self._public_arguments(),
            returns=names.returns(op, framework),
            doc=doc,
            checks=tuple(checks(op, self.module, self.spelling)),
            plain=() if self.has_rules else tuple(self._plain()),
            inner=self._inner,
            arguments=", ".join(
                f"lax.stop_gradient({word})" if name in self.traced else word
                for name, word in words.items()
            ),
            parameters=", ".join(f"{word}: Any" for word in words.values()),
            static=tuple(self.spelling[p.name] for p in self.static),
            forward=tuple(self._forward()) if self.has_rules else (),
            jvp=tuple(self._jvp()) if self.has_rules else (),
            aliases=tuple(map(self.module.naming.alias, op.aliases)),
            kernel_import=self.module.naming.kernel_import(self._kernel),
        )

    @property
    def _kernel(self) -> str:
        """The function of a module that computes the op, as the entry names it."""
        kernel = self.op.target_kernel("jax")
        return kernel.function if kernel else ""

    @property
    def _inner(self) -> str:
        return f"{self.module.naming.function(self.op)}__with_jvp"

    def _public_arguments(self) -> str:
        if not names.is_renamed(self.op, self.spelling):
            return ""
        return ", ".join(names.public(p, self.module) for p in self.op.signature.params)

    def _render(self, formula: Formula, spelling: dict[str, str], result: str) -> list[str]:
        renderer = FrameworkRenderer(self.module, formula, self.kinds, spelling, self.traced)
        return renderer.statements(formula.block, result)

    def _plain(self) -> Iterator[str]:
        """The body of a function that has no rules: those of what it calls, or none at all."""
        definition = self.op.forward or self.op.composite
        assert definition is not None
        if self.op.composite is None:
            for param in self.op.signature.tensor_params:
                word = self.spelling[param.name]
                yield f"{word} = lax.stop_gradient({word})"
        if has_kernel(self.op):
            yield self._of_kernel(definition, self.spelling)
            return
        formula = with_safe_branches(definition, self.kinds, (), self.module.resolver)
        yield from self._render(formula, self.spelling, "return {}")

    def _forward(self) -> Iterator[str]:
        assert self.op.forward is not None
        if self._kernel:
            words = ", ".join(self.spelling[p.name] for p in self.op.signature.params)
            yield f"return {self.module.naming.kernel(self._kernel)}({words})"
            return
        if has_kernel(self.op):
            yield self._of_kernel(self.op.forward, self.spelling)
            return
        try:
            yield from self._render(self.op.forward, self.spelling, "return {}")
        except SpecError:  # what a formula says for arrays, JAX may have by the op's name
            if not has_its_own(self.op, self.module.framework):
                raise
            yield self._of_kernel(self.op.forward, self.spelling)

    def _of_kernel(self, forward: Formula, spelling: dict[str, str]) -> str:
        """JAX's own function, which does what a kernel of gradspec does."""
        renderer = FrameworkRenderer(self.module, forward, self.kinds, spelling, self.traced)
        outputs = self.op.signature.outputs
        several = len(outputs) > 1 or outputs[0].type.is_list
        call = renderer.itself(self.op)
        return f"return tuple({call})" if several else f"return {call}"

    def _jvp(self) -> Iterator[str]:
        """The lines of the rule."""
        for rule in dict(self.op.jvps).values():
            if isinstance(rule, NotImplementedYet):
                text = f"{self.op.signature.name}: no derivative: {rule.reason}"
                yield f"raise NotImplementedError({text!r})"
                return
        outputs = self.op.signature.outputs
        formulas = [formula for terms in self.tangents.values() for formula in terms]
        read = set().union(*(free_names(formula.block) for formula in formulas), set())
        traced = [p for p in self.op.signature.params if p not in self.static]
        primals = [self.spelling[p.name] for p in traced]
        yield f"{', '.join(primals)}{',' if len(primals) == 1 else ''} = primals"
        words = [self.spelling[t] if (t := f"{p.name}_t") in read else "_" for p in traced]
        if set(words) != {"_"}:
            yield f"{', '.join(words)}{',' if len(words) == 1 else ''} = tangents"
        for param in traced:
            if param.type.is_optional and f"{param.name}_t" in read:
                name = self.spelling[f"{param.name}_t"]
                yield f"{name} = 0 if {name} is None else {name}"
        given = ", ".join(self.spelling[p.name] for p in self.op.signature.params)
        targets = ", ".join(self.spelling[o.name] for o in outputs)
        yield f"{targets} = {self._inner}({given})"
        yield from self._tangents()

    def _tangents(self) -> Iterator[str]:
        outputs = self.op.signature.outputs
        is_list = outputs[0].type.is_list
        tangents = {f"{p.name}_t" for p in self.op.signature.tensor_params}
        answers = []
        for output in outputs:
            name = self.spelling[output.name]
            target = self.spelling[f"{output.name}_t"]
            terms = self.tangents.get(output.name, [])
            answers.append(target if terms else f"no_tangent({name})")
            for number, term in enumerate(terms):
                self._check_linear(term, tangents)
                formula = with_safe_branches(term, self.kinds, tangents, self.module.resolver)
                value = f"{target} + {{}}" if number else "{}"
                yield from self._render(formula, self.spelling, f"{target} = {value}")
            if terms and not is_list and self._may_be_smaller():
                yield f"{target} = like({target}, {name})"
        if len(outputs) == 1:
            yield f"return {self.spelling[outputs[0].name]}, {answers[0]}"
        else:
            results = ", ".join(self.spelling[o.name] for o in outputs)
            yield f"return ({results}), ({', '.join(answers)})"

    def _check_linear(self, formula: Formula, tangents: set[str]) -> None:
        """JAX transposes a JVP step by step, so no step may decide by a tangent."""
        for call in calls(formula.block):
            if self._is_decided_by(call, tangents, set()):
                here = self.module.place or formula.locate(call.span)
                message = f"`{call.function}` decides by a tangent, which JAX cannot transpose"
                help = "write the JVP without a condition on tangents"
                raise SpecError([Diagnostic("GS087", here, message, help)])

    def _is_decided_by(self, call: ir.Call, tangents: set[str], seen: set[str]) -> bool:
        """Return whether a call chooses between values by values of some names."""
        if call.function == "where":
            return any(name.id in tangents for name in names_in(call.args[0]))
        for op in self.module.resolver.table.overloads(call.function):
            is_spelled = self.module.framework.op(op, call.function) is not None
            if (op.name not in self.module.own and is_spelled) or op.name in seen:
                continue
            params = [p.name for p in op.signature.params]
            given = [*zip(params, call.args, strict=False), *call.kwargs]
            inner = {p for p, arg in given if any(n.id in tangents for n in names_in(arg))}
            definition = op.definition
            for each in calls(definition.block) if definition and inner else ():
                if self._is_decided_by(each, inner, seen | {op.name}):
                    return True
        return False

    def _may_be_smaller(self) -> bool:
        """Return whether a tangent need not have the shape and dtype of its result by itself."""
        return any(p.type.is_optional for p in self.op.signature.tensor_params)


def _is_static(param: Param, tested: set[str]) -> bool:
    """Return whether the code of an op decides by the value of an argument."""
    if param.type.base == "Tensor":
        return False
    return param.type.base not in ("Scalar", "float") or param.type.is_list or param.name in tested


def tested_numbers(op: OpSpec, module: EmittedModule, seen: set[str]) -> set[str]:
    """The plain arguments by whose values formulas of an op, or of what they call, decide."""
    if op.name in seen:
        return set()
    seen.add(op.name)
    found: set[str] = set()
    for formula in names.formulas_of(op):
        for node in walk(formula.block):
            match node:
                case ir.Conditional(test=test) | ir.If(test=test):
                    found |= _decisive(test)
                case ir.Call("int" | "float" | "tuple", args):
                    found |= {name.id for arg in args for name in names_in(arg)}
    for requirement in op.requires:
        found |= {name.id for name in names_in(requirement.formula.block)}
    for formula in names.formulas_of(op):
        for call in calls(formula.block):
            for other in module.resolver.table.overloads(call.function):
                is_own = other.name in module.own
                if not is_own and module.framework.op(other, call.function) is not None:
                    continue
                inner = tested_numbers(other, module, seen)
                params = [p.name for p in other.signature.params]
                given = [*zip(params, call.args, strict=False), *call.kwargs]
                found |= {n.id for name, arg in given if name in inner for n in names_in(arg)}
    return found


def _decisive(test: ir.Expr) -> set[str]:
    """The names whose values a test asks for: that of one compared with None does not matter."""
    match test:
        case ir.Compare("is" | "is not"):
            return set()
        case ir.Logic(_, operands):
            return set().union(*map(_decisive, operands))
        case ir.Unary("not", operand):
            return _decisive(operand)
    return {name.id for name in names_in(test)}
