"""The spellings of a framework: what its functions are called where formulas call something else.

Each framework has a table beside this file. A spelling is a text with the arguments of the call in
braces; what stands between `<` and `>` is left out where the call leaves its argument out:

    sum: jnp.sum({self}<, axis={dim}><, keepdims={keepdim}>)

A name with an argument behind it, as `np.full_like shape`, is for calls that give this argument,
which the spelling may ignore.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from ..ir.nodes import Expr
from ..ir.parse import parse
from ..render.base import ATOM, CONDITIONAL
from ..spec.model import OpSpec

FRAMEWORKS = ("torch", "jax")
"""The frameworks besides NumPy that ops are emitted for."""

AS_CALLED = "(*)"
"""The end of a spelling that takes the arguments as the call gives them."""

_OPTIONAL = re.compile(r"<(?P<part>[^<>]*)>")
_PLACE = re.compile(r"(?P<star>\*?)\{(?P<name>\w+)(?P<what>:shapes)?\}(?P<after>[.\[]?)")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One function of a framework, with places for the arguments of a call."""

    text: str
    ignored: frozenset[str] = frozenset()
    """The arguments that make no difference to it."""

    def filled(self, given: frozenset[str], render: Callable[[str, int], str]) -> str:
        """The call, of which `given` arguments are written and `render` writes one.

        Of a list of tensors `name:shapes` are the shapes, for which nothing has to be computed.
        """

        def part(found: re.Match[str]) -> str:
            named = {place["name"] for place in _PLACE.finditer(found["part"])}
            return found["part"] if named <= given else ""

        def place(found: re.Match[str]) -> str:
            at = ATOM if found["after"] else CONDITIONAL
            name = found["name"] + (found["what"] or "")
            return found["star"] + render(name, at) + found["after"]

        return _PLACE.sub(place, _OPTIONAL.sub(part, self.text))

    @property
    def arguments(self) -> frozenset[str]:
        """The arguments that it has places for."""
        return frozenset(place["name"] for place in _PLACE.finditer(self.text))

    @property
    def required(self) -> frozenset[str]:
        """The arguments that it cannot do without."""
        return Spelling(_OPTIONAL.sub("", self.text)).arguments


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework, as its table describes it."""

    name: str
    title: str
    version: str
    """The version that it was written for."""
    oldest: tuple[int, ...]
    """The first one that has all that emitted code uses."""
    array: str
    """The type of a tensor argument in signatures."""
    result: str
    """The type of a tensor that is returned."""
    dtype_type: str
    """The type of a dtype in signatures."""
    context: frozenset[str]
    """The attributes of the context of a rule that are the framework's own."""
    namespaces: Mapping[str, str]
    """Modules whose functions have the names that gradspec's have, by `python_module`."""
    ops: Mapping[str, Spelling]
    """Spellings by the base name of an op, or its full name."""
    kernels: Mapping[str, Spelling]
    """Spellings of what computes an op, by its full name; its rules stay those of the entry."""
    absent: frozenset[str]
    """Public names of gradspec that mean something else in the framework."""
    primitives: Mapping[str, Spelling]
    """Spellings of functions of NumPy and SciPy."""
    roots: Mapping[str, str]
    """The modules that have functions of NumPy and SciPy by the same names."""
    same: frozenset[str]
    """The functions of NumPy and SciPy that have the same name in their module of `roots`."""
    numbers: Mapping[str, Spelling]
    """Functions of plain numbers."""
    lifted: frozenset[str]
    """Functions that take no plain number in the place of a tensor."""
    lift: Spelling | None
    """A number as a tensor of the dtype of another."""
    dtype: Spelling
    """A dtype by its name."""
    fused: Mapping[Expr, Spelling]
    """Arithmetic on tensors of one shape that is one function; its names stand for any tensors."""
    fused_once: Mapping[Expr, Spelling]
    """The same, by functions that have no derivative."""
    convert: str | None = None
    """The function that makes tensors of what else may be given."""
    is_tensor: Spelling | None = None
    """The test for what is a tensor, where nothing else is converted."""
    is_float: Spelling | None = None
    """The test for tensors of real floats, where that is worth while before promotion."""
    square: Spelling | None = None
    """The square of a tensor, where that is faster than the operator."""
    requires_grad: Spelling | None = None
    """The test whether a gradient is needed, where that can be told."""

    def op(self, op: OpSpec, called: str, given: frozenset[str] = frozenset()) -> Spelling | None:
        """The framework's own function for an op that is called by this name, with arguments."""
        for name in (op.name, op.signature.name, called):
            if (found := _find(self.ops, name, given)) is not None:
                return found
        if op.is_private or op.signature.name in self.absent:
            return None
        if "function" not in op.variants:
            return None
        module = op.python_module.split(",")[0].strip() or "torch"
        root = self.namespaces.get(module)
        if root is None:
            return None
        name = op.signature.name.removeprefix(f"{module}_")
        return Spelling(f"{root}.{name}{AS_CALLED}")

    def ignores(self, function: str, argument: str) -> bool:
        """Return whether an argument makes no difference to what a call is spelled as."""
        spelling = self.ops.get(f"{function} {argument}")
        return spelling is not None and argument not in spelling.arguments

    def primitive(self, function: str, given: frozenset[str]) -> Spelling | None:
        """The framework's own function for one of NumPy or SciPy that is called with arguments."""
        if (found := _find(self.primitives, function, given)) is not None:
            return found
        root, _, name = function.partition(".")
        if function not in self.same:
            return None
        return Spelling(f"{self.roots[root]}.{name}{AS_CALLED}")


@functools.cache
def framework(name: str) -> Framework:
    """Read the table of a framework."""
    text = (files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    same = table["primitives"].get("same", {})
    return Framework(
        name=name,
        title=table["title"],
        version=table["version"],
        oldest=tuple(map(int, table["oldest"].split("."))),
        array=table["array"],
        result=table["result"],
        dtype_type=table["dtype_type"],
        context=frozenset(table.get("context", "").split()),
        namespaces=table.get("namespaces", {}),
        ops=_spellings(table["ops"]),
        kernels=_spellings(table.get("kernels", {})),
        absent=frozenset(table.get("absent", "").split()),
        primitives=_spellings(table["primitives"]["other"]),
        roots=table["primitives"]["roots"],
        same=frozenset(f"{root}.{n}" for root, names in same.items() for n in names.split()),
        numbers=_spellings(table["numbers"]),
        lifted=frozenset(table.get("lifted", "").split()),
        lift=_optional(table, "lift"),
        dtype=Spelling(table["dtype"]),
        fused=_patterns(table.get("fused", {})),
        fused_once=_patterns(table.get("fused_once", {})),
        convert=table.get("convert"),
        is_tensor=_optional(table, "is_tensor"),
        is_float=_optional(table, "is_float"),
        square=_optional(table, "square"),
        requires_grad=_optional(table, "requires_grad"),
    )


def _find(known: Mapping[str, Spelling], name: str, given: frozenset[str]) -> Spelling | None:
    special = (f"{name} {argument}" for argument in sorted(given))
    return next((known[each] for each in (*special, name) if each in known), None)


def _spellings(texts: Mapping[str, str]) -> dict[str, Spelling]:
    return {name: Spelling(text, frozenset(name.split()[1:])) for name, text in texts.items()}


def _patterns(texts: Mapping[str, str]) -> dict[Expr, Spelling]:
    return {
        pattern: Spelling(spelling)
        for text, spelling in texts.items()
        if (pattern := parse(text).expression) is not None
    }


def _optional(table: Mapping[str, Any], key: str) -> Spelling | None:
    return Spelling(table[key]) if key in table else None
