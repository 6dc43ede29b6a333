"""The source code and the data that a proof depends on beside the generated blocks."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..ir.walk import calls
from ..spec.model import OpSpec, Table
from ..spec.own_kernels import MODULE, OwnKernels
from ..spec.runtime_files import runtime_directory

_HERE = Path(__file__).parent


@functools.cache
def prover_digest() -> str:
    """Digest the prover and the runtime's core: if one changes, every proof is due again."""
    files = [*sorted(_HERE.rglob("*.py")), *(runtime_directory() / f"{name}.py" for name in _CORE)]
    digest = hashlib.sha256()
    for file in files:
        if not {file.name, file.parent.name} & _NOT_THE_PROOF:
            digest.update(hashlib.sha256(_read(file)).digest())
    return digest.hexdigest()


_CORE = (
    *("core/accumulate_grad", "core/apply_modes", "core/constants", "core/node"),
    *("batching/arrangement", "batching/batched", "batching/call", "batching/indexing"),
    *("batching/rules", "core/levels"),
    *("core/strides", "core/tensor", "dispatch/absent", "dispatch/dispatch"),
    *("dispatch/unbroadcast", "fast/summation", "forward_ad/dual"),
    *("forward_ad/inplace_tangents", "forward_ad/tangent_layout", "graph/engine"),
    *("graph/leaf_gradients", "graph/saved_values", "kernels/reductions/unbroadcast"),
)

_NOT_THE_PROOF = {
    *("lock.py", "sources.py", "workers.py", "verdict.py", "derive.py"),
    *("parent.py", "pool.py"),
    *("difference.py", "repair.py", "smallest_call.py"),
    *("backends.py", "batch.py", "certificate.py", "recorder.py", "recheck"),
}
"""Files and folders that decide nothing about whether a formula is right."""


def _read(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def kernel_sources(names: Iterable[str], own: OwnKernels | None = None) -> str:
    """The source of the kernels that a block calls, with the kernels and helpers they call.

    Those of a package of one's own (`own_kernels.name`) may use all that is in their file.
    """
    definitions = _kernel_definitions()
    found: dict[str, str] = {}
    stack = sorted(names)
    if own is not None and any(name.startswith(f"{MODULE}.") for name in stack):
        found[MODULE] = own.text
    while stack:
        name = stack.pop()
        if name in definitions and name not in found:
            source, mentioned = definitions[name]
            found[name] = source
            stack += sorted(mentioned)
    return "\n".join(found[name] for name in sorted(found))


@functools.cache
def _kernel_definitions() -> dict[str, tuple[str, frozenset[str]]]:
    """Every top-level name of the kernels: its source, and the names that it mentions.

    Where two files define the same name, both definitions stand for it.
    """
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for file in sorted((runtime_directory() / "kernels").rglob("*.py")):
        for name, source, mentioned in _definitions(file.read_text(encoding="utf-8")):
            before, mentioned_before = found.get(name, ("", frozenset()))
            found[name] = (before + source, mentioned_before | mentioned)
    return found


def _definitions(text: str) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each name, its source, and the names that are read in it."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
            case ast.Assign(targets=targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                continue
        mentioned = _names_in(node)
        if isinstance(node, ast.FunctionDef):  # in its body a parameter hides what is called so
            params = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
            body = frozenset().union(*map(_names_in, node.body))
            around = map(_names_in, (node.args, *node.decorator_list))
            mentioned = (body - params).union(*around)
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        yield from ((name, source, mentioned - {name}) for name in names)


def _names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def definition_calls(spec: OpSpec, table: Table) -> set[str]:
    """The ops that the definition calls to which a kernel is compared, with all overloads."""
    if spec.kernel is None or spec.forward is None:
        return set()
    called = {call.function for call in calls(spec.forward.block)}
    return {op.name for name in called for op in table.overloads(name)}


def examples_of(spec: OpSpec) -> str:
    """Name what the spec says to prove an op with, as text."""
    return repr(
        (
            [example.args for example in spec.examples],
            [requirement.formula.text for requirement in spec.requires],
            spec.domain,
            spec.kinks,
            [(condition.text, reason) for condition, reason in spec.unproved],
            spec.batch.text if spec.batch else "",
            spec.complex,
            spec.is_pointwise,
            spec.proof,
            spec.forward.text if spec.kernel and spec.forward else "",
            spec.output_differentiability,
            spec.changing_outputs,
            [type(rule).__name__ for _, rule in (*spec.vjps, *spec.jvps)],
        )
    )
