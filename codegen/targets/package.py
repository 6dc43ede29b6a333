"""The package of ops for a framework: its files, and what they need of gradspec's table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from ..diagnostics import Diagnostic, Span, SpecError
from ..emit.environment import template
from ..emit.views import OriginView
from ..prove.report.lock import Entry
from ..render.resolve import Resolver
from ..spec.model import OpSpec, Table
from .frameworks import Framework
from .jax_op import jax_op
from .naming import Naming, function_name, used_names
from .own_modules import Looked, look_for_kernels
from .refusals import refusal, refusals
from .renderer import BASE, EmittedModule, sibling
from .sharding import SHARDING, sharded_op
from .torch_op import torch_op

_SUPPORT = "_support"

_BUILDERS: Mapping[str, Callable[[OpSpec, EmittedModule, str], object]] = {
    "torch": torch_op,
    "jax": jax_op,
}


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another module of the package, and its name in one."""

    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class Exported:
    """A function that the package offers, its module, and what it is called there."""

    module: str
    function: str
    inside: str


class FrameworkPackage:
    """Renders the ops of a table for a framework; formulas may call `everything`."""

    def __init__(
        self,
        table: Table,
        everything: Table,
        framework: Framework,
        origin: OriginView,
        folders: Sequence[Path] = (),
    ) -> None:
        """Modules of the user's are looked for in `folders`; without any, not at all."""
        self._table = table
        self._resolver = Resolver(everything)
        self._framework = framework
        self._origin = origin
        self._own = {op.name: op.family for op in table.ops}
        self._naming = Naming(table.ops)
        self._borrowed: list[OpSpec] = []
        """The ops that are defined as well, as formulas call them."""
        self._looked = look_for_kernels(table.ops, framework, folders) if folders else Looked()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Warnings about functions of the user's that could not be looked for."""
        return self._looked.unknown

    def files(self, proofs: Mapping[str, Entry]) -> dict[str, str]:
        """All files; `proofs` are told in the docstrings.

        Raises SpecError with every reason why an op cannot be emitted.
        """
        self._naming = Naming(self._resolver.table.ops)
        marked = self._modules(proofs)
        used = set().union(*map(used_names, marked.values()))
        self._naming = Naming((*self._table.ops, *self._borrowed), used)
        files = self._modules(proofs)
        title = self._title
        support = self._header(
            f"Functions that the ops of this package share; they need {title} alone."
        )
        files[f"{_SUPPORT}.py"] = template(
            f"frameworks/{self._framework.name}_support.py.j2"
        ).render(header=support)
        whole = [op for op in self._table.ops if op.custom_op and self._framework.name == "torch"]
        if whole:
            files[f"{SHARDING}.py"] = self._sharding(whole, proofs)
        files["__init__.py"] = self._init(bool(whole))
        return files

    def _sharding(self, whole: Sequence[OpSpec], proofs: Mapping[str, Entry]) -> str:
        """The module that tells how ops may be split among devices."""
        return template("frameworks/torch_sharding.py.j2").render(
            header=self._header("How the ops may be split among devices: DTensor is told."),
            modules=[Sibling(name, sibling(name)) for name in sorted({op.family for op in whole})],
            ops=[sharded_op(op, self._naming, proofs.get(op.name)) for op in whole],
        )

    def function(self, op: OpSpec) -> str:
        """Name the function of an op in its module, once the files have been made."""
        return self._naming.function(op)

    def _modules(self, proofs: Mapping[str, Entry]) -> dict[str, str]:
        """The modules with ops. Raises SpecError with every reason why one cannot be emitted."""
        found = self._refused()
        refused = {each.span for each in found}
        borrowed: dict[str, Span] = {}
        files = {}
        families = dict.fromkeys(op.family for op in self._table.ops)
        for family in families:
            module = self._module(family)
            ops = [op for op in self._table.ops if op.family == family and op.span not in refused]
            files[f"{family}.py"] = self._rendered(module, ops, proofs, found)
            borrowed = module.borrowed | borrowed
        files |= self._base(borrowed, found)
        if found:
            raise SpecError(list(dict.fromkeys(found)))
        return files

    @property
    def _title(self) -> str:
        return self._framework.title

    def _module(self, name: str) -> EmittedModule:
        return EmittedModule(name, self._framework, self._resolver, self._naming, self._own)

    def _rendered(
        self,
        module: EmittedModule,
        ops: Iterable[OpSpec],
        proofs: Mapping[str, Entry],
        found: list[Diagnostic],
        places: Mapping[str, Span] = MappingProxyType({}),
        about: str = "",
    ) -> str:
        views = []
        build = _BUILDERS[self._framework.name]
        for op in ops:
            module.place = places.get(op.name)
            try:
                views.append(build(op, module, self._doc(op, proofs)))
            except SpecError as error:
                found += error.diagnostics
        about = about or f"The ops of the family `{module.name}` for {self._title}."
        siblings = [Sibling(name, sibling(name)) for name in sorted(module.siblings)]
        return template(f"frameworks/{self._framework.name}_module.py.j2").render(
            header=self._header(about), ops=views, siblings=siblings
        )

    def _base(self, borrowed: dict[str, Span], found: list[Diagnostic]) -> dict[str, str]:
        """The module of what formulas call, and the framework lacks; with what that calls."""
        if not borrowed:
            return {}
        known = dict(borrowed)
        about = f"Ops of gradspec that the others call, and {self._title} does not have."
        while True:
            module = self._module(BASE)
            module.own = self._own | dict.fromkeys(known, BASE)
            mistakes: list[Diagnostic] = []
            ops = [self._resolver.table.by_name(name) for name in known]
            text = self._rendered(module, ops, {}, mistakes, known, about)
            if not module.borrowed:
                found += mistakes
                self._borrowed = ops
                return {f"{BASE}.py": text}
            known |= module.borrowed

    def _refused(self) -> list[Diagnostic]:
        """Refuse what no framework can be given, all at once."""
        found = list(self._looked.missing)
        for op in self._table.ops:
            if len(self._table.overloads(op.signature.name)) > 1:
                message = (
                    f"`{op.signature.name}` has overloads, which {self._title} would not tell apart"
                )
                found.append(refusal(op, message, "give each of them a name of its own"))
            found += refusals(op, self._framework)
        return found

    def _doc(self, op: OpSpec, proofs: Mapping[str, Entry]) -> str:
        lines = [op.summary]
        entry = proofs.get(op.name)
        if op.kinks:
            lines += ["", "The gradient at its kinks, by convention:", ""]
            lines += [f"    {factor} * grad where {condition}" for condition, factor in op.kinks]
        if entry is not None:
            count = entry.identities
            lines += ["", f"{entry.status.capitalize()} by gradspec: {count} identities."]
        text = "\n    ".join(lines).replace("\n    \n", "\n\n")
        return text if len(lines) == 1 else f"{text}\n    "

    def _header(self, about: str) -> str:
        made = f"Generated by `{self._origin.command}` from {self._origin.source}"
        return f"{about}\n\n{made}; change that, not this.\n"

    def _init(self, is_sharded: bool) -> str:
        public = [op for op in self._table.ops if not op.is_private]
        names = [
            Exported(op.family, name, inside)
            for op in public
            for name, inside in (
                (function_name(op), self._naming.function(op)),
                *((alias, self._naming.alias(alias)) for alias in op.aliases),
            )
        ]
        families = {op.family for op in self._table.ops}
        hides = any(name.function in families for name in names)
        about = f"Ops for {self._title}, with the derivatives that gradspec has proved."
        return template("frameworks/framework_package.py.j2").render(
            header=self._header(about),
            framework=self._framework.name,
            title=self._title,
            oldest=self._framework.oldest,
            sharding=SHARDING if is_sharded else "",
            modules=sorted(families) if hides else [],
            names=sorted(names, key=lambda name: name.function),
            stamp=f"gradspec {version('gradspec')} for {self._title} {self._framework.version}",
        )
