"""From the tree to the sources of the site, and from these to the site."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradspec_codegen.pipeline import Plan, plan
from gradspec_codegen.target import Target, builtin_spec

from .accuracy import measured
from .benchmarks import benchmarks_page
from .code import code_of
from .compiled import c_of
from .facts import OpFacts, facts_of
from .fonts import write_math_font
from .pages import index_page, op_page, page_name, private_page
from .reference import stage_reference
from .sources import ROOT, first_existing, stage_documents, stage_table

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "docs"
SOURCES, SITE, CACHE = BUILD / "sources", BUILD / "site", BUILD / "atlas"

Progress = Callable[[str], None]


def build(progress: Progress) -> Path:
    """Build the whole site, and return its folder."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    SOURCES.mkdir(parents=True)
    pages = stage_documents(SOURCES)
    (SOURCES / "benchmarks.md").write_text(benchmarks_page(), encoding="utf-8")
    pages += ["benchmarks.md", *stage_table(SOURCES)]
    stage_atlas(SOURCES, progress)
    ops = {path.stem for path in (SOURCES / "atlas").glob("*.md")}
    pages += stage_reference(SOURCES, ops)
    stage_theme(SOURCES)
    progress("The pages are set")
    _run_mkdocs(pages)
    return SITE


def stage_atlas(target: Path, progress: Progress) -> None:
    """Write the pages of the atlas; those of an unchanged tree are taken from the last run."""
    state = CACHE / _digest()
    if not state.is_dir():
        progress("The table is read")
        unfinished = CACHE / f"unfinished-{os.getpid()}"
        shutil.rmtree(CACHE, ignore_errors=True)
        unfinished.mkdir(parents=True)
        target_ = Target(builtin_spec(), ROOT / "generated")
        write_atlas(plan(target_), target_, unfinished, progress)
        unfinished.rename(state)
    shutil.copytree(state, target / "atlas")


def write_atlas(planned: Plan, target: Target, folder: Path, progress: Progress) -> None:
    """Write the pages of every op of a plan, and their index."""
    errors = measured()
    progress("Code is emitted for every framework")
    sources = code_of(planned.table.ops, planned)
    names: dict[str, list[OpFacts]] = {}
    for number, op in enumerate(planned.table.ops):
        if number % 100 == 0:
            progress(f"Ops are described: {number} of {len(planned.table.ops)}")
        found = facts_of(op, planned, target, errors)
        sources[op.name, "c"] = c_of(found.program)
        names.setdefault(op.signature.name, []).append(found)
    for name, ops in names.items():
        text = op_page(name, ops, sources, names)
        (folder / page_name(name)).write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(index_page(names), encoding="utf-8")
    (folder / "private.md").write_text(private_page(names), encoding="utf-8")


def stage_theme(target: Path) -> None:
    """Copy style and script, and make the font of what the formulas say."""
    (target / "theme").mkdir()
    for path in (HERE / "theme").iterdir():
        shutil.copy(path, target / "theme" / path.name)
    texts = (
        re.sub(r"&#x([0-9A-Fa-f]+);", lambda found: chr(int(found[1], 16)), formula)
        for path in (target / "atlas").glob("*.md")
        for formula in re.findall(r"<math.*?</math>", path.read_text(encoding="utf-8"), re.DOTALL)
    )
    write_math_font(texts, target / "theme" / "math.woff")


def _digest() -> str:
    """A digest of all that the atlas is made of."""
    found = hashlib.sha256()
    folders = ("atlas", "codegen", "generated", "runtime", "specs")
    paths = [p for f in folders for p in sorted((ROOT / f).rglob("*")) if p.is_file()]
    paths += [
        ROOT / "benchmarks" / "accuracy" / name
        for name in ("measured.json", "calls.json", "along.py")
    ]
    for path in paths:
        if "__pycache__" not in path.parts and path.suffix not in (".css", ".js") and path.exists():
            found.update(str(path.relative_to(ROOT)).encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:24]


_MANUAL = ("spec.md", "proof.md", "accuracy.md", "audit.md", "equivalent_mutants.md")
_GUIDES = ("training.md", "compile.md", "targets.md", "numpy.md", "performance.md")
_DIFFERENCES = ("differences.md", "names.md", "coverage.md")
_PROJECT = ("readme.md", "design.md", "pytorch_sources.md", "contributing.md", "changelog.md")


def navigation(pages: Sequence[str]) -> list[Any]:
    """The tabs of the site; pages without a file are left out."""
    tutorials = [page for page in _TUTORIALS if page in pages]
    tutorials += sorted({p for p in pages if p.startswith("tutorials/")} - {*tutorials})
    return [
        {"Start": first_existing(("index.md", "install.md", "playground.md"), pages)},
        {"Tutorials": tutorials},
        {"Atlas": ["atlas/index.md", "atlas/private.md"]},
        {"Manual": first_existing(_MANUAL, pages)},
        {"Guides": first_existing((*_GUIDES, "benchmarks.md"), pages)},
        {"PyTorch": first_existing(_DIFFERENCES, pages)},
        {"Reference": [page for page in pages if page.startswith("reference/")]},
        {"Project": first_existing(_PROJECT, pages)},
    ]


_TUTORIALS = tuple(
    f"tutorials/{name}.md"
    for name in (
        *("first_op", "own_package", "refutation", "two_outputs", "kinks", "stable_rules"),
        *("frameworks", "compiled", "from_pytorch", "from_numpy", "from_autograd", "from_jax"),
        "pictures",
    )
)


def _run_mkdocs(pages: Sequence[str]) -> None:
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config

    config = load_config(
        str(HERE / "mkdocs.yml"),
        docs_dir=str(SOURCES),
        site_dir=str(SITE),
        nav=navigation(pages),
    )
    config.plugins.on_startup(command="build", dirty=False)
    mkdocs_build(config)
    config.plugins.on_shutdown()
