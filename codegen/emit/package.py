"""A whole generated package: a module a family, methods and namespaces."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from ..diagnostics import Diagnostic, SpecError
from ..render.context import ARRAY, GENERATED_PACKAGE, ModuleContext, function_name, public_name
from ..render.resolve import Resolver
from ..spec.model import OpSpec, Table
from ..spec.own_kernels import OwnKernels
from ..spec.runtime_files import runtime_abi
from ..spec.vocabulary import FORMULA
from .batching import BATCHING, BatchFunction, as_composite, batching_module
from .environment import template
from .functions import array_function, composite_function, recorded_function, result_type
from .gradients import node_view
from .imports import imports
from .methods import methods, name_view
from .names import aten_signature, node_names, untyped_signature
from .ownership import NAMES
from .saves import plan_saves
from .scopes import renamed_params, scoped
from .tangents import jvp_view, linear_in
from .views import (
    ArrayFunctionView,
    FunctionView,
    JvpView,
    ModuleView,
    NameView,
    OpView,
    OriginView,
    RegistrationView,
    StampView,
)

_OUR_ORIGIN = OriginView("make codegen", "the table in specs/")

_NAMES = "Names of the ops for users and for the runtime; the ops themselves are one folder up."

_METHODS_HEADER = """The ops that are methods and operators of `Tensor`, as type checkers read them.

At run time each is made when it is first used, as the table `METHODS` of the package says."""

_OPS_HEADER = """The ops that the runtime calls as `ops.cat`, as type checkers read them.

At run time `ops` of `gradspec.dispatch.registry` finds each when it is first used."""


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
    """Renders every op of a table; `base` holds the ops of the packages it builds on.

    A package with a base is a user's: it has a stamp, and may have kernels.
    """

    def __init__(
        self,
        table: Table,
        package: str,
        base: Table | None = None,
        *,
        origin: OriginView = _OUR_ORIGIN,
        kernels: OwnKernels | None = None,
    ) -> None:
        self.package = package
        self.table = table
        self.base = base
        self.origin = origin
        self.kernels = kernels
        everything = Table((*(base.ops if base else ()), *table.ops))
        self.resolver = Resolver(everything)
        self.node_names = node_names(everything)
        own = {op.name for op in table.ops}
        self.home = {
            op.name: package if op.name in own else GENERATED_PACKAGE for op in everything.ops
        }
        self.families = list(dict.fromkeys(op.family for op in table.ops))
        self.inner_names: dict[str, dict[str, str]] = {}
        self.contexts = {family: self._context(family) for family in self.families}
        self.drafts: dict[str, _Draft] = {}
        self.borrowed: dict[str, list[ArrayFunctionView]] = {family: [] for family in self.families}

    def build(self) -> GeneratedPackage:
        """All files of the package."""
        for op in self.table.ops:
            try:
                self._draft(op)
            except RecursionError:
                message = f"the formulas of `{op.name}` are nested too deeply"
                help = "name parts of them in blocks: `part = ...`, `return ...`"
                raise SpecError([Diagnostic("GS033", op.span, message, help)]) from None
        self._add_array_functions()
        result = GeneratedPackage()
        for family in self.families:
            result.files[f"{family}.py"] = self._module(family, result.ops)
        declared = {
            op.name: self.batch_function(as_composite(op, op.batch))
            for op in self.table.ops
            if op.batch
        }
        result.files[f"{BATCHING}.py"] = self.batching_module(
            declared, dict.fromkeys(declared, (FORMULA,))
        )
        if self.base is None:
            result.files |= self._names()
        for namespace in self._namespaces():
            result.files[self._path(namespace)] = self._namespace(namespace)
        return result

    def _names(self) -> dict[str, str]:
        """The folder of names, but for the public namespaces."""
        names = methods(self.table, self.base, self.resolver)
        return {
            f"{NAMES}/__init__.py": template("header.py.j2").render(header=self._header(_NAMES)),
            f"{NAMES}/methods.py": template("methods.py.j2").render(
                names=names,
                families=sorted({name.module for name in names}),
                header=self._header(_METHODS_HEADER),
            ),
            f"{NAMES}/ops.pyi": template("ops.pyi.j2").render(
                names=self._base_names(), header=self._header(_OPS_HEADER)
            ),
        }

    def _path(self, namespace: str) -> str:
        """The file of a public namespace: small packages of one's own have no folder for it."""
        if namespace == "torch":
            return "__init__.py"
        return f"{NAMES}/{namespace}.py" if self.base is None else f"{namespace}_names.py"

    def batching_module(
        self,
        functions: Mapping[str, BatchFunction],
        rules: Mapping[str, Iterable[str]],
    ) -> str:
        """The module with the batching rules of ops, and with formulas, to be tried or rules."""
        header = self._header(
            "Rules by which ops act on several examples at once: `gradspec.batching`."
        )
        return batching_module(self._context(BATCHING), functions, rules, header)

    def batch_function(self, op: OpSpec) -> BatchFunction:
        """The batching rule that a composite stands for; SpecError if it calls what is no op."""
        context = self._context(BATCHING)
        in_function, _ = scoped(op, self._batch_code)
        view = composite_function(in_function, context)
        body = view.body and replace(view.body, signature=untyped_signature(in_function))
        signature = untyped_signature(in_function, public=True)
        return BatchFunction(
            replace(view, signature=signature, body=body, further=None, returns="Any"), context
        )

    def _batch_code(self, op: OpSpec) -> str:
        function = composite_function(op, self._context(BATCHING))
        if function.body is not None:
            function = replace(function, signature=function.body.signature, body=None, further=None)
        return template("op.py.j2").render(op=OpView(None, None, function, None))

    # ---- ops

    def _context(self, family: str) -> ModuleContext:
        own_kernels = self.kernels.names if self.kernels else frozenset[str]()
        return ModuleContext(
            family, self.package, self.home, self.resolver, self.inner_names, own_kernels
        )

    def _code_of(self, op: OpSpec) -> str:
        """The code of an op, whatever the module turns out to need for it."""
        context = self._context(op.family)
        draft = self._drafted(op, op, context)
        definition = array_function(op, context) if op.definition else None
        function = draft.function
        if function.body is not None:
            function = replace(function, signature=function.body.signature, body=None, further=None)
        source = template("op.py.j2").render(op=OpView(None, None, function, draft.jvp))
        array = template("array_function.py.j2").render(function=definition) if definition else ""
        return f"{source}\n{array}"

    def _draft(self, op: OpSpec) -> None:
        in_function, elsewhere = scoped(op, self._code_of)
        self.inner_names[op.name] = renamed_params(elsewhere)
        self.drafts[op.name] = self._drafted(in_function, elsewhere, self.contexts[op.family])

    def _drafted(self, in_function: OpSpec, elsewhere: OpSpec, context: ModuleContext) -> _Draft:
        """An op as its function is rendered, and as its node and its rules are."""
        context.calls, context.kernels = set(), set()
        if in_function.composite is not None:
            draft = _Draft(elsewhere, composite_function(in_function, context), None)
        else:
            name = self.node_names.get(in_function.name)
            plan = plan_saves(elsewhere) if name else None
            node = node_view(elsewhere, name, plan, context) if name and plan else None
            plan = plan_saves(in_function) if name else None
            function = recorded_function(in_function, context, node, plan)
            draft = _Draft(elsewhere, function, jvp_view(elsewhere, context))
        draft.calls, draft.kernels = context.calls, context.kernels
        return draft

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
        registrations = []
        for draft in self.drafts.values():
            if draft.op.family != family:
                continue
            kind = result_type(draft.op, self.base is None)
            view = OpView(kind, draft.array_function, draft.function, draft.jvp)
            source = template("op.py.j2").render(op=view).strip("\n")
            blocks.append(source)
            registration = _registration(draft)
            registrations.append(registration)
            registered = template("registration.py.j2").render(op=registration)
            ops[draft.op.name] = GeneratedOp(
                f"{source}\n\n\n{registered}\n",
                frozenset(draft.calls),
                frozenset(draft.kernels),
            )
        overloaded = tuple(self._overloaded(family))
        words = ["Op register mute", *(["LazyModule TYPE_CHECKING"] if context.families else [])]
        body = "\n".join(
            [*blocks, *words, *(f"overloaded {n} {functions}" for n, _, functions in overloaded)]
        )
        module = ModuleView(
            family,
            tuple(imports(context, body)),
            tuple(sorted(context.families)),
            tuple(sorted(context.constants.items())),
            overloaded,
            tuple(registrations),
        )
        header = self._header(f"The ops of the family `{family}`.")
        return template("module.py.j2").render(module=module, blocks=blocks, header=header)

    def _overloaded(self, family: str) -> Iterable[tuple[str, str, tuple[str, ...]]]:
        """Base names that several ops share, in the family of the first of them."""
        for name in dict.fromkeys(op.signature.name for op in self.table.ops):
            siblings = self.resolver.table.overloads(name)
            if len(siblings) > 1 and siblings[0].family == family:
                functions = tuple(map(self.contexts[family].function, siblings))
                if any(op.takes_out for op in siblings):
                    functions += ("write_out=write_out",)
                yield public_name(name, self.resolver), name, functions

    def _header(self, about: str) -> str:
        """The docstring of a generated file."""
        made = f"Generated by `{self.origin.command}` from {self.origin.source}"
        return f"{about}\n\n{made}; change that, not this.\n"

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
                    found = name_view(op, name.removeprefix(f"{namespace}_"), self.resolver)
                    names.setdefault(found.name, found)
        ordered = sorted(names.values(), key=lambda n: n.name)
        if namespace == "torch":
            kind = "library" if self.base is None else "extension"
            return template(f"{kind}.py.j2").render(
                names=ordered,
                methods=methods(self.table, self.base, self.resolver),
                waiting=self._ops_of(self.families),
                further=self._further_functions(),
                header=self._header(
                    "The ops of {}; a family is imported when one of its ops is first used.".format(
                        "the table" if self.base is None else self.origin.source
                    )
                ),
                origin=self.origin,
                stamp=StampView(runtime_abi(), version("gradspec")),
            )
        doc = f"The ops of the table in the namespace {namespace}."
        return template("namespace.py.j2").render(
            names=ordered,
            package=".." if self.base is None else ".",
            header=self._header(doc),
        )

    def _base_names(self) -> list[NameView]:
        """Every op, also those that users do not see, by its base name; and further functions."""
        names = {op.signature.name: op for op in reversed(self.table.ops)}
        found = [name_view(op, name, self.resolver) for name, op in names.items()]
        for family, functions in self._further_functions().items():
            found += [NameView(name, family, name) for name in functions]
        return sorted(found, key=lambda each: each.name)

    def _further_functions(self) -> dict[str, list[str]]:
        """The functions of each family that `ops` has by other names than base names."""
        overloads = {
            (op.family, name)
            for op in self.table.ops
            if (name := function_name(op, self.resolver)) != op.signature.name
        }
        called = {each for context in self.contexts.values() for each in context.table_functions}
        arrays = {(family, name) for family, name in called if name.startswith(ARRAY)}
        found = sorted(overloads | arrays)
        return {
            family: [name for _, name in functions]
            for family, functions in itertools.groupby(found, key=lambda each: each[0])
        }

    def _ops_of(self, families: Iterable[str]) -> dict[str, list[str]]:
        """The base names of the ops of each family."""
        return {
            family: list(
                dict.fromkeys(op.signature.name for op in self.table.ops if op.family == family)
            )
            for family in families
        }


def _registration(draft: _Draft) -> RegistrationView:
    """Return the registration of an op."""
    op = draft.op
    public = {p.name: p.public for p in op.signature.params}
    return RegistrationView(
        op=op.name,
        function=draft.function.name,
        signature=aten_signature(op),
        promotes=tuple(public[name] for name in op.promotes),
        int_to_float=op.int_to_float,
        linear_in=tuple(public[name] for name in linear_in(op)),
        jvp=draft.jvp.name if draft.jvp else "",
        differentiable=op.composite is not None or bool(op.recorded_params),
    )


def _namespaces_of(op: OpSpec) -> tuple[str, ...]:
    if not op.python_module:
        return ("torch",)
    return tuple(word.strip() for word in op.python_module.split(","))
