"""Imports go one way, and files stay short enough to be read."""

from __future__ import annotations

import ast
import sys
from collections import Counter

import pytest

from gradspec_codegen.spec.primitives import kernel_modules

from .source_tree import HANDWRITTEN, ROOT, Import, imports, is_in, parse, python_files

CODEGEN_LAYERS = {
    "gradspec_codegen.ir": ("gradspec_codegen.ir",),
    "gradspec_codegen.diagnostics": (),
    "gradspec_codegen.spec": (
        "gradspec_codegen.spec",
        "gradspec_codegen.ir",
        "gradspec_codegen.diagnostics",
    ),
    "gradspec_codegen.render": (
        "gradspec_codegen.render",
        "gradspec_codegen.spec",
        "gradspec_codegen.ir",
        "gradspec_codegen.diagnostics",
    ),
    "gradspec_codegen.prove": (
        "gradspec_codegen.prove",
        "gradspec_codegen.render",
        "gradspec_codegen.spec",
        "gradspec_codegen.ir",
        "gradspec_codegen.diagnostics",
    ),
    "gradspec_codegen.emit": (
        "gradspec_codegen.emit",
        "gradspec_codegen.templates",
        "gradspec_codegen.render",
        "gradspec_codegen.spec",
        "gradspec_codegen.ir",
        "gradspec_codegen.diagnostics",
    ),
}
"""The modules of the generator that a layer may import."""

RUNTIME_LEAVES = (
    "absent",
    "broadcast",
    "constants",
    "dispatch",
    "errors",
    "inplace",
    "kernels",
    "later",
    "limits",
    "log_sums",
    "modes",
    "node",
    "numpy_warnings",
    "overloads",
    "powers",
    "promotion",
    "registry",
    "result",
    "saved",
    "scipy_special",
    "tensor",
    "elementwise",
    "threads",
    "types",
)
"""The modules of the runtime that generated code may import."""

PUBLIC_NAMESPACES = (
    "gradspec",
    "gradspec.functions.complex_parts",
    "gradspec.fft",
    "gradspec.linalg",
    "gradspec.nn.activation_functions",
    "gradspec.nn.attention",
    "gradspec.nn.cells",
    "gradspec.nn.composed",
    "gradspec.nn.functional",
    "gradspec.nn.loss_functions",
    "gradspec.nn.normalization_functions",
    "gradspec.nn.resampling_functions",
    "gradspec.nn.window_functions",
    "gradspec.special",
)
"""The modules that show generated functions to users; the rest of the runtime knows none."""

MAX_FILE = 600
"""One subject, one file: splitting a subject at 400 lines made synonyms for it."""

MAX_FILES = 30
"""Files in a folder of tests."""

MAX_TEMPLATE = 45
MAX_FUNCTION = 60


def violations(imported: str, allowed: tuple[str, ...], importers: str) -> list[Import]:
    """Imports of `imported` by `importers` of something that is not in `allowed`."""
    return [
        found
        for found in imports()
        if is_in(found.importer, importers)
        and is_in(found.imported, imported)
        and not any(is_in(found.imported, package) for package in allowed)
    ]


def listed(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_the_tree_was_read() -> None:
    importers = {found.importer for found in imports()}
    assert {"gradspec.graph.engine", "gradspec.generated", "gradspec_codegen.ir.parse"} <= importers
    assert any(found.imported == "gradspec.generated.methods.TensorMethods" for found in imports())


@pytest.mark.parametrize("layer", CODEGEN_LAYERS)
def test_layers_of_the_generator(layer: str) -> None:
    found = violations("gradspec_codegen", CODEGEN_LAYERS[layer], layer)
    assert not found, listed(found)


def test_only_proof_workers_import_the_runtime() -> None:
    found = [
        use
        for use in violations("gradspec", (), "gradspec_codegen")
        if not (is_in(use.importer, "gradspec_codegen.prove") and use.in_function)
    ]
    assert not found, listed(found)


def test_the_runtime_does_not_know_the_generator() -> None:
    found = violations("gradspec_codegen", (), "gradspec")
    assert not found, listed(found)


def test_generated_code_imports_runtime_leaves_and_its_siblings() -> None:
    allowed = (*(f"gradspec.{leaf}" for leaf in RUNTIME_LEAVES), "gradspec.generated")
    found = violations("gradspec", allowed, "gradspec.generated")
    assert not found, listed(found)


def test_only_public_namespaces_import_generated_code() -> None:
    found = [
        use
        for use in violations("gradspec.generated", (), "gradspec")
        if use.importer not in PUBLIC_NAMESPACES
        and not is_in(use.importer, "gradspec.generated")
        and not use.for_types_only
    ]
    assert not found, listed(found)


def test_the_runtime_needs_numpy_alone() -> None:
    known = {*sys.stdlib_module_names, "numpy", "gradspec"}
    found = [
        use
        for use in imports()
        if is_in(use.importer, "gradspec")
        and not use.for_types_only
        and not use.in_function
        and use.imported.partition(".")[0] not in known
    ]
    assert not found, listed(found)


def test_imports_inside_a_package_are_relative() -> None:
    absolute = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder, package in (("runtime", "gradspec"), ("codegen", "gradspec_codegen"))
        for path in python_files(folder)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ImportFrom) and not node.level and is_in(node.module or "", package)
    ]
    assert not absolute


def test_no_file_is_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*HANDWRITTEN)
    }
    assert lengths
    assert {path: length for path, length in lengths.items() if length > MAX_FILE} == {}


def test_no_function_is_long() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": length
        for path in python_files(*HANDWRITTEN)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := body_length(node)) > MAX_FUNCTION
    }
    assert long == {}


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code: the signature and the docstring may be as long as their readers need."""
    documented = ast.get_docstring(function) is not None and len(function.body) > 1
    first = function.body[1 if documented else 0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_templates_are_short() -> None:
    templates = list((ROOT / "codegen" / "templates").glob("*.j2"))
    assert templates
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in templates}
    assert {name: length for name, length in lengths.items() if length > MAX_TEMPLATE} == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    names = {path.stem for path in python_files(*HANDWRITTEN)}
    assert not names & {"utils", "util", "helpers", "misc", "common"}


def test_no_kernel_module_has_the_name_of_a_kernel() -> None:
    kernels = {name.removeprefix("kernels.") for name in kernel_modules()}
    assert kernels
    assert not kernels & {path.stem for path in python_files("runtime/kernels")}


def test_no_folder_of_tests_is_full() -> None:
    found = Counter(path.parent for path in (ROOT / "tests").rglob("*.*") if path.is_file())
    counts = {folder: n for folder, n in found.items() if folder.name != "__pycache__"}
    assert counts
    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}
