"""Collect what a module of generated code needs while its formulas are rendered."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from ..ir import nodes as ir
from ..spec.model import OpSpec
from ..spec.vocabulary import CONSTANT_FUNCTIONS
from .module_names import MODULE_NAMES, TAKEN, is_taken
from .resolve import CONSTANTS, Resolver

ARRAY = "array_"
"""The prefix of the functions that compute the ops' definitions on plain arrays."""

GENERATED_PACKAGE = "gradspec.generated"
"""The package of gradspec's own table."""

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
    inner_names: dict[str, dict[str, str]] = field(default_factory=dict)
    """The names of arguments in the code of an op, where they differ from the spec's."""
    own_kernels: frozenset[str] = frozenset()
    """The kernels that the package brings itself: `kernels.name` in a formula means these first."""
    numpy: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    """The modules among `kernels`, `sp` and `constants` that are used."""
    families: set[str] = field(default_factory=set)
    """Other families of a package of one's own that are called."""
    table_functions: set[tuple[str, str]] = field(default_factory=set)
    """`(family, name)` of functions of gradspec's own table that are called as `ops.name`."""
    kernels: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    array_functions: set[str] = field(default_factory=set)
    """Full names of ops, of any family, whose definition is needed as a function on arrays."""
    calls: set[str] = field(default_factory=set)
    """Full names of the ops that the formulas rendered so far mean."""

    def function(self, op: OpSpec, prefix: str = "") -> str:
        """Spell the function of an op in code of this module."""
        name = prefix + function_name(op, self.resolver)
        package = self.home[op.name]
        if (package, op.family) == (self.package, self.family):
            return name
        if prefix and package != self.package:
            return name  # another package need not have it: the module gets one of its own
        if package == GENERATED_PACKAGE:
            self.table_functions.add((op.family, name))
            return f"ops.{name}"
        self.families.add(op.family)
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
        # `sqrt(2 / pi)` and `sqrt(2) / pi` are spelled alike; and a module has other capitals.
        free = (name if n == 1 else f"{name}_{n}" for n in itertools.count(1))
        free = (n for n in free if n not in MODULE_NAMES)
        name = next(n for n in free if self.constants.get(n, text) == text)
        self.constants[name] = text
        return name


def numpy_name(function: str) -> str:
    """Name a function of NumPy in generated code: `linalg.inv` is `np_linalg_inv`."""
    return "np_" + function.replace(".", "_")


def function_name(op: OpSpec, resolver: Resolver) -> str:
    """The Python function of an op: its base name, with the overload if there are several."""
    signature = op.signature
    if len(resolver.table.overloads(signature.name)) == 1:
        return public_name(signature.name, resolver)
    name = f"{signature.name}_{signature.overload.lower() or 'default'}"
    return f"{name}__{TAKEN}" if resolver.is_op(name) else public_name(name, resolver)


def public_name(name: str, resolver: Resolver) -> str:
    """Name the public function of a base name in its module: by that name, if it is free there."""
    stem = name.removesuffix("_jvp")
    is_rule = stem != name and (resolver.is_op(stem) or resolver.is_op(stem.rpartition("_")[0]))
    return f"{name}__{TAKEN}" if is_rule or is_taken(name) else name


def is_constant(expr: ir.Expr, resolver: Resolver) -> bool:
    """Return whether an expression has no argument in it: a number once and for all."""
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
                function in CONSTANT_FUNCTIONS
                and not kwargs
                and bool(args)
                and all(is_constant(arg, resolver) for arg in args)
            )
        case _:
            return False


def needs_folding(expr: ir.Expr) -> bool:
    """Return whether a constant expression is more than plain arithmetic on literals."""
    match expr:
        case ir.Name() | ir.Call():
            return True
        case ir.Unary(_, operand):
            return needs_folding(operand)
        case ir.Binary(_, left, right):
            return needs_folding(left) or needs_folding(right)
        case _:
            return False
