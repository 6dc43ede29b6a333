"""The reference: which names its pages show, and that no public name is forgotten."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from types import ModuleType

import pytest

from atlas.reference import NAMESPACES, public_names, reference_page

COMPLETE = (
    *("gradspec.nn", "gradspec.optim", "gradspec.optim.lr_scheduler", "gradspec.distributions"),
    *("gradspec.func", "gradspec.compiler", "gradspec.utils.data", "gradspec.autograd"),
)


@pytest.mark.parametrize("module", COMPLETE)
def test_every_public_name_is_on_one_page(module: str) -> None:
    there = importlib.import_module(module)
    names = {name for name in there.__all__ if not isinstance(getattr(there, name), ModuleType)}
    # Objects, not functions or classes: the registries `biject_to` and `transform_to`.
    names = {name for name in names if hasattr(getattr(there, name), "__qualname__")}
    shown = Counter(
        heading
        for namespace in NAMESPACES.values()
        for heading in re.findall(r"heading: (\S+)", reference_page(namespace, ()))
    )
    elsewhere = {"gradspec.distributions": "gradspec.distributions.transforms"}
    places = (module, elsewhere.get(module, module))
    counts = {name: max(shown[f"{place}.{name}"] for place in places) for name in names}
    assert {name: count for name, count in counts.items() if count != 1} == {}


def test_every_function_of_the_top_level_is_on_a_page_or_in_the_atlas() -> None:
    import gradspec as gs
    from gradspec_codegen.pipeline import builtin_table

    ops = {op.signature.name for op in builtin_table().ops}
    shown = "".join(reference_page(namespace, ops) for namespace in NAMESPACES.values())
    missing = []
    for name, found in vars(gs).items():
        home = getattr(found, "__module__", None) or ""
        is_written = home.startswith("gradspec.") and hasattr(found, "__qualname__")
        if is_written and not name.startswith("_") and not home.startswith("gradspec.generated."):
            there = (f"::: {home}.{found.__qualname__}\n", f"`{name}`")
            missing += [name] * (not any(text in shown for text in there))
    assert missing == []


def test_modules_show_their_own_functions_or_what_they_gather() -> None:
    names = public_names("gradspec.linalg")
    assert names["matrix_norm"] == "gradspec.functions.linear_algebra.linalg.matrix_norm"
    assert names["eigh"].startswith("gradspec.generated.")
    names = public_names("gradspec.fft")
    assert names["fftn"] == "gradspec.fft.fftn"
    assert "normalize_dim" not in names


def test_names_lead_to_where_they_are_written() -> None:
    names = public_names("gradspec.nn")
    assert names["Linear"] == "gradspec.nn.linear.Linear"
    assert "functional" not in names
    assert public_names("gradspec.nn.functional")["leaky_relu_"] == ""
    assert [*public_names("gradspec.nn", ["bilinear"])] == ["Bilinear"]


def test_ops_are_led_to_the_atlas() -> None:
    page = reference_page(NAMESPACES["nn_functional"], {"gelu", "relu", "log_sigmoid"})
    assert "[`gelu`](../atlas/gelu.md)" in page
    assert "[`relu_`](../atlas/relu.md)" in page
    assert "[`logsigmoid`](../atlas/log_sigmoid.md)" in page
    assert "gradspec.nn.functional.gelu\n" not in page
    assert "heading: gradspec.nn.functional.embedding_bag\n" in page
    assert "Of the same kind are `leaky_relu_`" in page
