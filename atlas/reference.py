"""The reference: a page for each public namespace, from its docstrings; ops are in the atlas."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .sources import ROOT


@dataclass(frozen=True, slots=True)
class Namespace:
    """One page: its title, what it says first, and the modules whose public names it shows."""

    title: str
    about: str
    modules: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """Files of the first module whose names are here; all if there are none."""


_FUNCTIONS = tuple(
    f"functions.{name}"
    for name in (
        *(
            "creation",
            "progressions",
            "conversion",
            "histograms",
            "foreign_memory",
            "new_tensors",
            "spectral.windows",
            "composites",
            "splitting",
        ),
        *("linear_algebra.einsum", "elements", "unique", "finite_differences", "strided"),
        *("linear_algebra.low_rank", "storages"),
        *("spectral.short_time_fourier", "predicates", "promotion", "printing"),
    )
)
_FUNCTIONS += ("core.modes", "core.random_generator", "random", "dtypes.promotion", "dtypes.limits")
_FUNCTIONS += ("core.devices", "core.threads", "fast.allocator", "graph.anomaly")
_OLDER: tuple[str, ...] = ("functions.properties", "functions.legacy", "functions.segments")
_OLDER += ("functions.linear_algebra.old_linalg", "functions.linear_algebra.reflectors")
_OLDER += ("core.memory_format", "inplace.requires_grad", "inplace.resize", "inplace.fill_copy")
_OLDER += tuple(
    f"nn.{name}"
    for name in (
        *("top_level", "composed", "fake_quantization", "losses.native", "native_functions"),
        *("recurrent.functions", "activations.functions"),
    )
)
_LAYERS = (
    *("layers", "linear", "transposed", "bilinear", "bags", "dropouts.modules", "lazy_modules"),
    *("parameter", "normalization.modules", "paddings", "pooling.modules", "pooling.fractional"),
    "resampling.modules",
)
_NETWORKS = (
    *("recurrent.modules", "recurrent.cells", "attention.modules", "attention.transformer"),
)
_OBJECTIVES = ("losses.modules", "losses.adaptive", "losses.options")
_BASES = ("module", "containers", "activations.modules")

NAMESPACES = {
    "gradspec": Namespace(
        "gradspec: functions",
        "What is no op: creation, modes, random numbers, settings, and functions that are composed"
        " of ops. [Ops](../atlas/index.md) are in the atlas.",
        ("gradspec",),
        _FUNCTIONS,
    ),
    "gradspec_more": Namespace(
        "gradspec: settings and older names",
        "What the top level has besides: settings, properties, names of older programs, and"
        " functions of networks by their native names.",
        ("gradspec",),
        ("switches", *_OLDER),
    ),
    "linalg": Namespace(
        "gradspec.linalg and gradspec.fft",
        "Functions that are composed of ops; the ops themselves are in the atlas.",
        ("gradspec.linalg", "gradspec.fft"),
    ),
    "tensor": Namespace(
        "Tensor",
        "The tensor itself; [ops](../atlas/index.md) are its other methods.",
        ("gradspec",),
        ("core.tensor",),
    ),
    "autograd": Namespace(
        "gradspec.autograd",
        "Gradients: the backward pass, modes, custom functions, hooks, checks.",
        (
            "gradspec.autograd",
            *(f"gradspec.autograd.{name}" for name in ("graph", "functional", "forward_ad")),
            "gradspec.autograd.profiler",
        ),
    ),
    "func": Namespace(
        "gradspec.func",
        "Transforms of functions, in any composition ([more](../training.md)).",
        ("gradspec.func",),
    ),
    "compiler": Namespace(
        "gradspec.compiler",
        "Compiled functions ([tutorial](../tutorials/compiled.md), [rules](../compile.md)).",
        ("gradspec.compiler",),
    ),
    "nn": Namespace(
        "gradspec.nn", "Modules, containers and activations.", ("gradspec.nn",), _BASES
    ),
    "nn_layers": Namespace(
        "gradspec.nn: layers",
        "Parameters, and the layers that have them; pooling, padding, resampling.",
        ("gradspec.nn",),
        _LAYERS,
    ),
    "nn_networks": Namespace(
        "gradspec.nn: recurrence and attention",
        "Recurrent networks, attention, transformers.",
        ("gradspec.nn",),
        _NETWORKS,
    ),
    "nn_losses": Namespace("gradspec.nn: losses", "Losses.", ("gradspec.nn",), _OBJECTIVES),
    "nn_functional": Namespace(
        "gradspec.nn.functional",
        "Functions of neural networks. Those that are ops have a page in the atlas.",
        ("gradspec.nn.functional",),
    ),
    "nn_utils": Namespace(
        "gradspec.nn.init and gradspec.nn.utils",
        "Initialisation, clipping, parametrizations, pruning, packed sequences.",
        (
            "gradspec.nn.init",
            "gradspec.nn.utils",
            *(f"gradspec.nn.utils.{name}" for name in ("parametrizations", "parametrize")),
            *(f"gradspec.nn.utils.{name}" for name in ("prune", "rnn")),
        ),
    ),
    "optim": Namespace(
        "gradspec.optim",
        "Optimizers, schedules, averages of weights.",
        ("gradspec.optim", "gradspec.optim.lr_scheduler", "gradspec.optim.swa_utils"),
    ),
    "distributions": Namespace(
        "gradspec.distributions",
        "What distributions have in common; discrete and basic continuous ones; divergences.",
        ("gradspec.distributions",),
        (
            *("distribution", "exponential_family", "kl", "continuous", "generalized_pareto"),
            *("halves", "discrete", "counts"),
        ),
    ),
    "distributions_more": Namespace(
        "gradspec.distributions: more",
        "Gamma and its relatives, mixtures, and what is made by transforms.",
        ("gradspec.distributions",),
        (
            *("gammas", "continuous_bernoulli", "von_mises", "mixture", "relaxed", "images"),
            *("matrices", "low_rank", "transformed"),
        ),
    ),
    "distributions_transforms": Namespace(
        "gradspec.distributions: transforms",
        "Transforms with their Jacobians, and constraints.",
        ("gradspec.distributions.transforms", "gradspec.distributions.constraints"),
    ),
    "utils": Namespace(
        "gradspec.utils",
        "Datasets and loaders of batches; checkpoints.",
        ("gradspec.utils.data", "gradspec.utils.checkpoint"),
    ),
    "masked": Namespace("gradspec.masked", "Masked reductions.", ("gradspec.masked",)),
    "others": Namespace(
        "gradspec.overrides, amp, accelerator",
        "Types of one's own, and what programs ask that chooses nothing here.",
        ("gradspec.overrides", "gradspec.amp", "gradspec.accelerator", "gradspec.cuda"),
    ),
    "viz": Namespace("gradspec.viz", "Pictures.", ("gradspec.viz",)),
    "serialization": Namespace("gradspec.serialization", "Files.", ("gradspec.serialization",)),
}


def stage_reference(target: Path, ops: Collection[str]) -> list[str]:
    """Write the pages, and the folder in which the package is found; return the pages' names.

    `ops` are the names that have a page in the atlas.
    """
    packages = target.parent / "packages"
    packages.mkdir(exist_ok=True)
    link = packages / "gradspec"
    if not link.exists():
        link.symlink_to(ROOT / "runtime", target_is_directory=True)
    (target / "reference").mkdir(exist_ok=True)
    for name, namespace in NAMESPACES.items():
        text = reference_page(namespace, ops)
        (target / "reference" / f"{name}.md").write_text(text, encoding="utf-8")
    return [f"reference/{name}.md" for name in NAMESPACES]


def reference_page(namespace: Namespace, ops: Collection[str]) -> str:
    """Return a page as Markdown: what mkdocstrings is to show, in the order of the files."""
    parts = [f"# {namespace.title}\n\n{namespace.about}\n"]
    has_sections = len(namespace.modules) > 1
    for module in namespace.modules:
        if has_sections:
            parts.append(f"## {module}\n")
        found = public_names(module, namespace.parts)
        of_ops = {name: _op_of(home) for name, home in found.items() if _is_generated(home)}
        if of_ops:
            links = (
                f"[`{name}`](../atlas/{op}.md)" if op in ops else f"`{name}`"
                for name, op in of_ops.items()
            )
            parts.append(f"In the atlas: {', '.join(links)}.\n")
        parts += [
            f"::: {home}\n    options:\n      heading: {module}.{name}\n"
            f"      toc_label: {name}\n      heading_level: {2 + has_sections}\n"
            for name, home in found.items()
            if home and not _is_generated(home)
        ]
        made = [f"`{name}`" for name, home in found.items() if not home]
        if made:
            parts.append(f"Of the same kind are {', '.join(made)}.\n")
    return "\n".join(parts)


def public_names(module: str, parts: Collection[str] = ()) -> dict[str, str]:
    """Return the public functions and classes of a module, and where each is written.

    That is empty for those that are made when the module is imported, such as `leaky_relu_`. What
    no file of `parts` defines is left out. Names of one file stand together, and the files in the
    order of `parts`, or of their first names.
    """
    there = importlib.import_module(module)
    names = getattr(there, "__all__", None)
    files: dict[str, dict[str, str]] = {f"{module}.{part}": {} for part in parts}
    for name in names or sorted(vars(there)):
        found = getattr(there, name)
        home = getattr(found, "__module__", None) or ""
        if not hasattr(found, "__qualname__") or not home.startswith("gradspec."):
            continue
        if home in files or not parts:
            is_own = names or parts or home.startswith((_place(module), _GENERATED))
            if is_own and not name.startswith("_"):
                files.setdefault(home, {})[name] = _where(home, found.__qualname__)
    return {name: home for members in files.values() for name, home in members.items()}


def _place(module: str) -> str:
    """Return the modules that define the names of a module without a list of public ones.

    That is the module itself, or its package if it only gathers names.
    """
    return module if _written_in(module) else f"{module.rpartition('.')[0]}."


def _where(module: str, name: str) -> str:
    is_written = module.startswith(_GENERATED) or name in _written_in(module)
    return f"{module}.{name}" if is_written else ""


@cache
def _written_in(module: str) -> set[str]:
    """The functions and classes that stand in the source of a module."""
    path = importlib.import_module(module).__file__
    assert path is not None
    text = Path(path).read_text(encoding="utf-8")
    return set(re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE))


_GENERATED = "gradspec.generated."


def _op_of(home: str) -> str:
    """The op of a generated function; functions that write in place belong to the same."""
    return home.rpartition(".")[2].removesuffix("_")


def _is_generated(home: str) -> bool:
    return home.startswith(_GENERATED)
