"""What a module of generated code turns out to need while its formulas are rendered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..ir import nodes as ir
from ..spec.model import OpSpec
from .resolve import CONSTANTS, HELPERS, Resolver

# A constant is spelled in capitals: sqrt(2 / pi) becomes SQRT_2_OVER_PI.
_SPELLINGS = (("**", "_TO_"), ("/", "_OVER_"), ("*", "_TIMES_"), ("+", "_PLUS_"), ("-", "_MINUS_"))


@dataclass(slots=True)
class ModuleContext:
    """The imports, constants and array functions of one generated module."""

    family: str
    package: str
    """The package being generated, e.g. `gradspec.generated`."""
    home: dict[str, str]
    """The generated package that each op lives in, by full name."""
    resolver: Resolver
    numpy: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    """Of `kernels`, `sp`, `constants`."""
    families: set[tuple[str, str]] = field(default_factory=set)
    """`(package, family)` of other generated modules that are called."""
    kernels: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    array_functions: set[str] = field(default_factory=set)
    """Full names of ops, of any family, whose definition is needed as a function on arrays."""
    calls: set[str] = field(default_factory=set)
    """Full names of the ops that the formulas rendered so far mean."""

    def function(self, op: OpSpec, prefix: str = "") -> str:
        """How code of this module spells the function of an op."""
        name = prefix + function_name(op, self.resolver)
        package = self.home[op.name]
        if (package, op.family) == (self.package, self.family):
            return name
        if prefix and package != self.package:
            return name  # another package need not have it: the module gets one of its own
        self.families.add((package, op.family))
        return f"{op.family}_ops.{name}"

    def constant(self, text: str) -> str:
        """The module-level name of a constant expression, e.g. `constants.sqrt(2)`."""
        name = re.sub(r"constants\.", "", text)
        for operator, word in _SPELLINGS:
            name = name.replace(operator, word)
        name = re.sub(r"\W+", "_", name).strip("_").upper()
        name = re.sub("__+", "_", name)
        if name[0].isdigit():
            name = "_" + name
        self.modules.add("constants")
        self.constants[name] = text
        return name


def function_name(op: OpSpec, resolver: Resolver) -> str:
    """The Python function of an op: its base name, with the overload if there are several."""
    signature = op.signature
    if len(resolver.table.overloads(signature.name)) == 1:
        return signature.name
    return f"{signature.name}_{signature.overload.lower() or 'default'}"


def is_constant(expr: ir.Expr, resolver: Resolver) -> bool:
    """Whether an expression has no argument in it: a number once and for all."""
    match expr:
        case ir.Const(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ir.Name(name):
            return name in CONSTANTS
        case ir.Unary(op, operand):
            return op == "-" and is_constant(operand, resolver)
        case ir.Binary(_, left, right):
            return is_constant(left, resolver) and is_constant(right, resolver)
        case ir.Call(function, args, kwargs):
            return (
                function not in HELPERS
                and "." not in function
                and not kwargs
                and bool(args)
                and all(is_constant(arg, resolver) for arg in args)
            )
        case _:
            return False


def needs_folding(expr: ir.Expr) -> bool:
    """Whether a constant expression is more than plain arithmetic on literals."""
    match expr:
        case ir.Name() | ir.Call():
            return True
        case ir.Unary(_, operand):
            return needs_folding(operand)
        case ir.Binary(_, left, right):
            return needs_folding(left) or needs_folding(right)
        case _:
            return False
