"""Imports go one way, and files stay short enough to be read."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import resolve_name
from pathlib import Path

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

RUNTIME_LAYERS = (
    "dtypes",
    "core",
    "fast",
    "kernels",
    "dispatch",
    "batching",
    "forward_ad",
    "graph",
    "inplace",
    "functions",
    "generated",
    "random linalg fft masked special ops return_types",
    "quasirandom signal",
    "numpy_overrides",
    "autograd",
    "nn",
    "amp distributed multiprocessing",
    "_C accelerator backends cuda distributions func jit optim profiler serialization "
    "switches testing viz",
    "utils",
    "compiler",
    "function_modes",
    "overrides extension",
    "tensor_methods",
)
"""The folders and root modules of the runtime, bottom to top; those of one layer know none of it.

What an upper layer defines for `Tensor` and `Node` is named in `tensor_methods` and copied into
them, so that no lower layer imports it.
"""

RUNTIME_LEAVES = (
    "core.apply_modes",
    "core.constants",
    "dtypes.kinds",
    "core.lazy",
    "core.modes",
    "core.node",
    "core.numel",
    "core.numpy_warnings",
    "core.tensor",
    "dtypes.promotion",
    "dtypes.whole_numbers",
    "core.types",
    "dispatch.absent",
    "dispatch.dispatch",
    "dispatch.named_results",
    "dispatch.numbers_given",
    "dispatch.op_errors",
    "dispatch.overloads",
    "dispatch.registry",
    "dispatch.unbroadcast",
    "fast",
    "graph.saved_values",
    "inplace.keywords",
    "inplace.ops",
    "kernels",
)
"""The modules of the runtime that generated code may import."""

PUBLIC_NAMESPACES = (
    "gradspec",
    "gradspec.fft",
    "gradspec.linalg",
    "gradspec.nn.activations.functions",
    "gradspec.nn.attention.dot_product",
    "gradspec.nn.composed",
    "gradspec.nn.functional",
    "gradspec.nn.losses.functions",
    "gradspec.nn.losses.native",
    "gradspec.nn.normalization.functions",
    "gradspec.nn.pooling.functions",
    "gradspec.nn.recurrent.cells",
    "gradspec.nn.resampling.functions",
    "gradspec.special",
    "gradspec.tensor_methods",
)
"""The modules that show generated functions to users; the rest of the runtime knows none."""

MAX_FILE = 600
"""One subject, one file: splitting a subject at 400 lines made synonyms for it."""

MAX_FILES = 30
"""Files in a folder."""

MAX_TEMPLATE = 45
MAX_TARGET_TEMPLATE = 200
"""Lines of a template for another framework, which holds a whole op, or the module that ops use."""
MAX_FUNCTION = 60


def violations(imported: str, allowed: tuple[str, ...], importers: str) -> list[Import]:
    """Find imports of `imported` by `importers` of something that is not in `allowed`."""
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
    methods = "gradspec.generated.names.methods.TensorMethods"
    assert any(found.imported == methods for found in imports())


@pytest.mark.parametrize("layer", CODEGEN_LAYERS)
def test_layers_of_the_generator(layer: str) -> None:
    found = violations("gradspec_codegen", CODEGEN_LAYERS[layer], layer)
    assert not found, listed(found)


def test_only_workers_import_the_runtime() -> None:
    workers = ("gradspec_codegen.prove", "gradspec_codegen.lint.computed")
    found = [
        use
        for use in violations("gradspec", (), "gradspec_codegen")
        if not (any(is_in(use.importer, each) for each in workers) and use.in_function)
    ]
    assert not found, listed(found)


def test_the_runtime_does_not_know_the_generator() -> None:
    found = violations("gradspec_codegen", (), "gradspec")
    assert not found, listed(found)


def runtime_imports() -> list[Import]:
    """Find every import of the runtime by itself that is run, late ones included."""
    found = [
        use
        for use in imports()
        if is_in(use.importer, "gradspec")
        and is_in(use.imported, "gradspec")
        and not use.for_types_only
    ]
    return found + lazy_modules()


def lazy_modules() -> list[Import]:
    """Find what `LazyModule` imports in modules of the runtime.

    Generated families have none: they call ops of each other by the registry's `ops`.
    """
    found = []
    for path in python_files("runtime", "generated"):
        inside = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(("gradspec", *inside[inside[0] == "runtime" :]))
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "LazyModule":
                imported = resolve_name(ast.literal_eval(node.args[0]), module.rpartition(".")[0])
                found.append(Import(module, imported, path, node.lineno, True, False))
    return found


LAYER_OF = {name: layer for layer, names in enumerate(RUNTIME_LAYERS) for name in names.split()}


def upward(found: list[Import]) -> list[Import]:
    """Filter the imports that lead from a layer to one above it, or aside to another part."""
    return [
        use
        for use in found
        if (part := part_of(use.importer)) != (other := part_of(use.imported))
        and LAYER_OF[part] <= LAYER_OF[other]
    ]


def part_of(module: str) -> str:
    """Return the folder or root module of the runtime that a module is in."""
    return module.split(".")[1]


def below_the_root(found: list[Import]) -> list[Import]:
    """Drop the imports by or of the package itself, which shows all names to users."""
    return [use for use in found if use.importer != "gradspec" and use.imported != "gradspec"]


def test_every_part_of_the_runtime_has_a_layer() -> None:
    assert {part_of(use.importer) for use in below_the_root(runtime_imports())} == set(LAYER_OF)


def test_no_layer_of_the_runtime_imports_one_above() -> None:
    found = upward(below_the_root(runtime_imports()))
    assert not found, listed(found)


def test_an_upward_import_is_found() -> None:
    (late,) = [
        use
        for use in runtime_imports()
        if use.importer == "gradspec.functions.numpy_protocol" and use.in_function
    ]
    assert late.imported == "gradspec.functions.printing.tensor_repr"
    moved = replace(late, importer="gradspec.core.tensor")
    assert upward([late, moved]) == [moved]
    (lazy,) = (
        use for use in lazy_modules() if use.imported == "gradspec.functions.linear_algebra.linalg"
    )
    assert upward([replace(lazy, importer="gradspec.core.tensor")])
    assert not [use for use in lazy_modules() if is_in(use.importer, "gradspec.generated")]
    aside = replace(late, importer="gradspec.optim.sgd", imported="gradspec.viz.graph")
    assert upward([aside]) == [aside]


def module_graph(found: list[Import]) -> dict[str, set[str]]:
    """Map each module to the modules that it imports."""
    modules = {use.importer for use in imports()}
    graph: dict[str, set[str]] = {use.importer: set() for use in found}
    for use in found:
        imported = use.imported
        while imported not in modules and "." in imported:
            imported = imported.rpartition(".")[0]
        if imported not in (use.importer, "gradspec", "gradspec_codegen"):
            graph[use.importer].add(imported)
    return graph


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Find the modules that import themselves through others, by dropping those that do not."""
    left = {module: set(imported) for module, imported in graph.items()}
    while True:
        ends = {module for module, imported in left.items() if not imported & left.keys()}
        ends |= left.keys() - {name for imported in left.values() for name in imported}
        if not ends:
            return sorted(left)
        for module in ends:
            del left[module]


def test_no_modules_of_the_runtime_import_each_other() -> None:
    assert circles(module_graph(runtime_imports())) == []


def test_no_modules_of_the_generator_import_each_other() -> None:
    found = [
        use
        for use in imports()
        if is_in(use.importer, "gradspec_codegen")
        and is_in(use.imported, "gradspec_codegen")
        and not use.for_types_only
    ]
    graph = module_graph(found)
    assert "gradspec_codegen.differentiate.choose" in graph["gradspec_codegen.auto"]
    assert circles(graph) == []


def test_a_circle_is_found() -> None:
    graph = module_graph(runtime_imports())
    assert "gradspec.core.node" in graph["gradspec.core.tensor"]
    graph["gradspec.core.node"].add("gradspec.core.tensor")
    assert circles(graph) == ["gradspec.core.node", "gradspec.core.tensor"]


def test_generated_code_imports_runtime_leaves_and_its_siblings() -> None:
    allowed = (*(f"gradspec.{leaf}" for leaf in RUNTIME_LEAVES), "gradspec.generated")
    found = violations("gradspec", allowed, "gradspec.generated")
    assert not found, listed(found)
    used = {use.imported for use in imports() if is_in(use.importer, "gradspec.generated")}
    unused = [leaf for leaf in allowed if not any(is_in(name, leaf) for name in used)]
    assert unused == []


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


def test_the_picture_of_the_house_is_whole() -> None:
    named = set(re.findall(r"`([\w.]+/?)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for top in ("runtime", "codegen")
        for path in (ROOT / top).iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert {"graph/", "prove/"} <= there
    assert there - named == {"__main__.py"}


UNCLEAR_OPENING = re.compile(
    r"(What|Whether|How|Where|Which|Of|That|There|When|Why|As|If|So many|Whatever|Whoever)\b"
)
"""Openings of docstrings that neither do something nor name it."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines and texts of docstrings, those of assignments included."""
    for node in ast.walk(parse(path)):
        for statement in node.body if isinstance(getattr(node, "body", None), list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip()


def test_docstrings_open_with_a_verb_or_name_the_thing() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in python_files(*HANDWRITTEN)
        for line, text in docstrings(path)
        if UNCLEAR_OPENING.match(text)
    ]
    assert not found, "\n".join(found)


def test_templates_are_short() -> None:
    templates = list((ROOT / "codegen" / "templates").rglob("*.j2"))
    assert templates
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in templates}
    of_targets = {name for name in lengths if name.startswith(("torch_", "jax_"))}
    assert {n for n in lengths.keys() - of_targets if lengths[n] > MAX_TEMPLATE} == set()
    assert {n for n in of_targets if lengths[n] > MAX_TARGET_TEMPLATE} == set()


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


def test_no_folder_of_modules_is_full() -> None:
    counts = Counter(
        path.parent
        for top in ("runtime", "codegen", "generated", "specs", "benchmarks", "atlas")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    )
    assert counts[ROOT / "generated"] > 1
    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}
