"""A whole generated package: a module a family, methods and namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..render.context import ModuleContext, function_name
from ..render.resolve import Resolver
from ..render.to_threads import LIMITS
from ..spec.model import OpSpec, Table
from .environment import template
from .functions import (
    array_function,
    composite_function,
    recorded_function,
    result_type,
)
from .gradients import jvp_view, node_view
from .names import aten_signature, node_names, spelled
from .saves import plan_saves
from .views import (
    ArrayFunctionView,
    Form,
    FunctionView,
    JvpView,
    ModuleView,
    NameView,
    OpView,
    RegistrationView,
)

GENERATED_PACKAGE = "gradspec.generated"

_RUNTIME_NAMES = {
    "gradspec.broadcast": ("reduce_to", "reduce_to_differentiable"),
    "gradspec.dispatch": ("all_tensors", "any_edge", "dispatch", "edges_of", "lift_number"),
    "gradspec.elementwise": (
        "SEVERAL",
        "cosine",
        "cosine_and_sine",
        "sine",
        "sine_and_cosine",
        "slope_of_sine",
    ),
    "gradspec.errors": ("complex_gradient", "complex_refused", "failure"),
    "gradspec.later": ("Later",),
    "gradspec.limits": ("MANY", "at_least", "at_most"),
    "gradspec.log_sums": ("log_of_sum",),
    "gradspec.modes": ("current_mode", "finish", "is_recording"),
    "gradspec.node": ("FREED", "Node", "OutputEdge", "freed_graph", "next_sequence_nr"),
    "gradspec.overloads": ("overloaded",),
    "gradspec.powers": ("power",),
    "gradspec.promotion": (
        "FIRST_COMPLEX",
        "LAST_COMPLEX",
        "LAST_INTEGER",
        "any_complex",
        "is_complex",
        "plain_number",
        "promote",
        "promote_to_float",
    ),
    "gradspec.registry": ("Op", "register"),
    "gradspec.result": ("Result",),
    "gradspec.saved": (
        "arrays_of",
        "attach_outputs",
        "check_version",
        "check_versions",
        "likeness",
        "materialize",
        "materialize_tensors",
        "outlines",
        "output_of",
        "versions",
    ),
    "gradspec.tensor": ("Tensor", "share_alias", "share_alias_with_all", "wrap"),
    "gradspec.threads": (*LIMITS, "in_threads"),
    "gradspec.types": ("DTypeLike", "Number", "Primals", "Tangents"),
}
"""What generated code may need of the runtime."""

_RUNTIME_MODULES = {
    "constants": "from gradspec import constants",
    "kernels": "from gradspec import kernels",
    "sp": "from gradspec import scipy_special as sp",
}


_AUGMENTED = (
    *("add__", "sub__", "mul__", "truediv__", "floordiv__", "mod__", "pow__"),
    *("and__", "or__", "xor__"),
)
"""Operators that have an augmented form: `x += y` is `x.__iadd__(y)`."""


@dataclass(slots=True)
class GeneratedOp:
    """The source of one op and what it depends on: what a proof is keyed by."""

    source: str
    calls: frozenset[str]
    kernels: frozenset[str]


@dataclass(slots=True)
class GeneratedPackage:
    """Files by relative path, and the ops by full name."""

    files: dict[str, str] = field(default_factory=dict)
    ops: dict[str, GeneratedOp] = field(default_factory=dict)


@dataclass(slots=True)
class _Draft:
    """An op whose formulas have been rendered."""

    op: OpSpec
    function: FunctionView
    jvp: JvpView | None
    array_function: ArrayFunctionView | None = None
    calls: set[str] = field(default_factory=set)
    kernels: set[str] = field(default_factory=set)


class PackageBuilder:
    """Renders every op of a table; `base` holds the ops of the packages it builds on."""

    def __init__(self, table: Table, package: str, base: Table | None = None) -> None:
        self.package = package
        self.table = table
        everything = Table((*(base.ops if base else ()), *table.ops))
        self.resolver = Resolver(everything)
        self.node_names = node_names(everything)
        own = {op.name for op in table.ops}
        self.home = {
            op.name: package if op.name in own else GENERATED_PACKAGE for op in everything.ops
        }
        self.families = list(dict.fromkeys(op.family for op in table.ops))
        self.contexts = {
            family: ModuleContext(family, package, self.home, self.resolver)
            for family in self.families
        }
        self.drafts: dict[str, _Draft] = {}
        self.borrowed: dict[str, list[ArrayFunctionView]] = {family: [] for family in self.families}

    def build(self) -> GeneratedPackage:
        """All files of the package."""
        for op in self.table.ops:
            self._draft(op)
        self._add_array_functions()
        result = GeneratedPackage()
        for family in self.families:
            result.files[f"{family}.py"] = self._module(family, result.ops)
        if self.package == GENERATED_PACKAGE:
            names = self._methods()
            result.files["methods.py"] = template("methods.py.j2").render(
                names=names, families=sorted({name.module for name in names})
            )
        for namespace in self._namespaces():
            path = "__init__.py" if namespace == "torch" else f"{namespace}_names.py"
            result.files[path] = self._namespace(namespace)
        return result

    # ---- ops

    def _draft(self, op: OpSpec) -> None:
        context = self.contexts[op.family]
        context.calls, context.kernels = set(), set()
        if op.composite is not None:
            draft = _Draft(op, composite_function(op, context), None)
        else:
            name = self.node_names.get(op.name)
            plan = plan_saves(op) if name else None
            node = node_view(op, name, plan, context) if name and plan else None
            function = recorded_function(op, context, node, plan)
            draft = _Draft(op, function, jvp_view(op, context))
        draft.calls, draft.kernels = context.calls, context.kernels
        self.drafts[op.name] = draft

    def _add_array_functions(self) -> None:
        """Definitions on arrays for the ops that formulas call; each may need further ones."""
        done: set[tuple[str, str]] = set()
        while True:
            wanted = {
                (self.drafts[name].op.family if name in self.drafts else family, name)
                for family, context in self.contexts.items()
                for name in context.array_functions
            } - done
            if not wanted:
                return
            for family, name in sorted(wanted):
                done.add((family, name))
                self._add_array_function(name, self.contexts[family])

    def _add_array_function(self, name: str, context: ModuleContext) -> None:
        draft = self.drafts.get(name)
        if draft is None:
            # An op of the base, whose own package may do without this function.
            context.calls, context.kernels = set(), set()
            borrowed = array_function(self.resolver.table.by_name(name), context)
            self.borrowed[context.family].append(borrowed)
        else:
            context.calls, context.kernels = draft.calls, draft.kernels
            draft.array_function = array_function(draft.op, context)

    # ---- files

    def _module(self, family: str, ops: dict[str, GeneratedOp]) -> str:
        context = self.contexts[family]
        blocks = [
            template("array_function.py.j2").render(function=view).strip("\n")
            for view in self.borrowed[family]
        ]
        for draft in self.drafts.values():
            if draft.op.family != family:
                continue
            view = OpView(result_type(draft.op), draft.array_function, draft.function, draft.jvp)
            source = template("op.py.j2").render(op=view).strip("\n")
            ops[draft.op.name] = GeneratedOp(
                source, frozenset(draft.calls), frozenset(draft.kernels)
            )
            blocks.append(source)
        overloaded = tuple(self._overloaded(family))
        words = ["Op register", "Later TYPE_CHECKING"] if context.families else ["Op register"]
        body = "\n".join([*blocks, *words, *(f"overloaded {n}" for n, _ in overloaded)])
        module = ModuleView(
            family,
            tuple(self._imports(context, body)),
            tuple(
                (f"{package}.{name}", f"{name}_ops") for package, name in sorted(context.families)
            ),
            tuple(sorted(context.constants.items())),
            overloaded,
            tuple(self._registrations(family)),
        )
        return template("module.py.j2").render(module=module, blocks=blocks)

    def _overloaded(self, family: str) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Base names that several ops share, in the family of the first of them."""
        for name in dict.fromkeys(op.signature.name for op in self.table.ops):
            siblings = self.resolver.table.overloads(name)
            if len(siblings) > 1 and siblings[0].family == family:
                context = self.contexts[family]
                yield name, tuple(context.function(op) for op in siblings)

    def _imports(self, context: ModuleContext, body: str) -> Iterable[str]:
        read = set(re.findall(r"[A-Za-z_]\w*", body))
        yield from _standard_imports(read)
        names = [name for name in ("asanyarray", "ndarray") if name in read]
        names += sorted(f"{name} as np_{name}" for name in context.numpy)
        yield ""
        if names:
            yield f"from numpy import {', '.join(names)}"
            yield ""
        yield from sorted(_RUNTIME_MODULES[module] for module in context.modules)
        for module, runtime_names in _RUNTIME_NAMES.items():
            used = [name for name in runtime_names if name in read]
            if used:
                yield f"from {module} import {', '.join(used)}"

    def _registrations(self, family: str) -> Iterable[RegistrationView]:
        for draft in self.drafts.values():
            op = draft.op
            if op.family == family:
                promotes = tuple(spelled(name) for name in op.promotes)
                smooth = op.composite is not None or bool(op.differentiable_params)
                jvp = draft.jvp.name if draft.jvp else ""
                yield RegistrationView(
                    op.name, draft.function.name, aten_signature(op), promotes, jvp, smooth
                )

    def _methods(self) -> list[NameView]:
        names: dict[str, NameView] = {}
        for op in self.table.ops:
            for entry in self._methods_of(op):
                names.setdefault(entry.name, entry)
        return list(names.values())

    def _methods_of(self, op: OpSpec) -> Iterable[NameView]:
        base = op.signature.name
        spread = _is_variadic(op) and len(self.resolver.table.overloads(base)) == 1
        if "method" in op.variants:
            for name in (base, *op.aliases):
                yield self._name(op, name, "variadic" if spread else "")
                if op.inplace:
                    yield self._name(op, f"{name}_", "in_place")
        for operator in op.operators:
            answer = self._name(op, operator)
            if self._answers_alone(op, operator):
                function = function_name(op, self.resolver)
                answer = replace(answer, function=function, module=op.family)
            yield answer
            if op.inplace and operator.removeprefix("__") in _AUGMENTED:
                yield self._name(op, f"__i{operator.removeprefix('__')}", "in_place")

    def _answers_alone(self, op: OpSpec, operator: str) -> bool:
        """Whether no other overload takes this operator, so that none has to be chosen."""
        siblings = self.resolver.table.overloads(op.signature.name)
        return all(operator not in each.operators for each in siblings if each is not op)

    def _namespaces(self) -> list[str]:
        found = {module for op in self.table.ops for module in _namespaces_of(op)}
        return sorted(found | {"torch"})

    def _namespace(self, namespace: str) -> str:
        names: dict[str, NameView] = {}
        for op in self.table.ops:
            if namespace in _namespaces_of(op) and "function" in op.variants:
                if op.is_private:
                    continue
                for name in (op.signature.name, *op.aliases):
                    # PyTorch's op `linalg_inv` is the function `linalg.inv`.
                    found = self._name(op, name.removeprefix(f"{namespace}_"))
                    names.setdefault(found.name, found)
        ordered = sorted(names.values(), key=lambda n: n.name)
        if namespace == "torch" and self.package == GENERATED_PACKAGE:
            return template("library.py.j2").render(
                names=ordered,
                methods=self._methods(),
                waiting=self._ops_of(self.families),
                package=self.package,
            )
        is_top = namespace == "torch"
        absent = set(self.families) - {n.module for n in ordered} if is_top else ()
        return template("namespace.py.j2").render(
            doc=f"The ops of the table{'' if is_top else f' in the namespace {namespace}'}.",
            names=ordered,
            waiting=self._ops_of(sorted(absent)),
            package=self.package,
        )

    def _ops_of(self, families: Iterable[str]) -> dict[str, list[str]]:
        """The base names of the ops of each family."""
        return {
            family: list(
                dict.fromkeys(op.signature.name for op in self.table.ops if op.family == family)
            )
            for family in families
        }

    def _name(self, op: OpSpec, name: str, form: Form = "") -> NameView:
        base = op.signature.name
        first = self.resolver.table.overloads(base)[0]
        return NameView(name, first.family, base, form, name in ("__eq__", "__ne__"))


def _standard_imports(read: set[str]) -> Iterable[str]:
    if "Sequence" in read:
        yield "from collections.abc import Sequence"
    typing = [name for name in ("TYPE_CHECKING", "Any") if name in read]
    if typing:
        yield f"from typing import {', '.join(typing)}"


def _is_variadic(op: OpSpec) -> bool:
    """Whether `x.view(2, 3)` may be written for `x.view((2, 3))`."""
    positional = [p for p in op.signature.params if not p.keyword_only]
    if len(positional) != 2:
        return False
    type_ = positional[1].type
    return type_.is_list and type_.base == "int" and type_.size is None


def _namespaces_of(op: OpSpec) -> tuple[str, ...]:
    if not op.python_module:
        return ("torch",)
    return tuple(word.strip() for word in op.python_module.split(","))
