"""The pages of the atlas as Markdown with HTML in it: one for each name of an op, and the index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from .accuracy import libraries
from .along import along_picture
from .code import highlighted
from .errors import as_html, errors_picture, written
from .facts import OpFacts
from .mathml import mathml

HERE = Path(__file__).parent

TITLES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "c": "C, compiled"}


def page_name(name: str) -> str:
    """The file of an op's page; file names may not tell capitals apart."""
    return f"{name}.md"


@cache
def environment() -> Environment:
    """The templates, with what they call."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"math": _math, "code": _code, "titles": TITLES}
    made.globals |= {"errors": errors_picture, "along": along_picture}
    made.globals |= {"written": written, "libraries": libraries}
    made.filters["ticked"] = as_html
    return made


def op_page(
    name: str,
    ops: Sequence[OpFacts],
    sources: Mapping[tuple[str, str], str],
    known: Iterable[str],
) -> str:
    """The page of all overloads of one name."""
    text = (
        environment()
        .get_template("op.md.j2")
        .render(
            name=name,
            ops=ops,
            sources=sources,
            known=set(known),
            spellings=spellings(name, ops),
            is_private=ops[0].op.is_private,
        )
    )
    # Markdown ends a block of HTML at an empty line, and no more than one separates blocks.
    return re.sub(r"\n{3,}", "\n\n", text)


def spellings(name: str, ops: Sequence[OpFacts]) -> list[str]:
    """Other words under which people look for an op."""
    words = [name.replace("_", " "), name.replace("_", ""), f"torch.{name}", f"gs.{name}"]
    for each in ops:
        words += [*each.op.aliases, each.told.node, each.op.name]
        words += [f"{place.strip()}.{name}" for place in each.op.python_module.split(",")]
    title = "".join(part.capitalize() for part in name.split("_"))
    return [word for word in dict.fromkeys([*words, title]) if word and word != name]


def index_page(names: Mapping[str, Sequence[OpFacts]]) -> str:
    """The table of all ops that users call, with its filters."""
    rows = [_row(name, ops) for name, ops in names.items() if not ops[0].op.is_private]
    choices = {key: sorted({value for row in rows for value in row[key]}) for key in _FILTERS}
    return (
        environment()
        .get_template("index.md.j2")
        .render(rows=sorted(rows, key=lambda row: row["name"]), choices=choices)
    )


def private_page(names: Mapping[str, Sequence[OpFacts]]) -> str:
    """The ops that formulas alone call, by family."""
    families: dict[str, list[str]] = {}
    for name, ops in sorted(names.items()):
        if ops[0].op.is_private:
            families.setdefault(ops[0].op.family, []).append(name)
    return (
        environment()
        .get_template("private.md.j2")
        .render(families=dict(sorted(families.items())), names=names)
    )


_FILTERS = ("family", "status", "complex", "batching")


def _row(name: str, ops: Sequence[OpFacts]) -> dict[str, Any]:
    plain = re.sub(r"[\W_]", "", name).lower()
    words = [re.sub(r"[\W_]", "", word).lower() for word in spellings(name, ops)]
    found: dict[str, list[str]] = {
        "family": [each.op.family for each in ops],
        "status": [each.status for each in ops],
        "complex": [each.complex for each in ops],
        "batching": [each.batching for each in ops],
    }
    return {
        "name": name,
        "kinks": any(each.op.kinks for each in ops),
        # What contains the name is found by the name.
        "find": " ".join(w for w in dict.fromkeys(words) if not _adds_nothing(w, plain)),
        **{key: list(dict.fromkeys(values)) for key, values in found.items()},
    }


_PREFIXES = ("torch", "gs", "special", "linalg", "nn", "fft", "tensor")


def _adds_nothing(word: str, name: str) -> bool:
    """Return whether a word is the name, or the name behind that of a module."""
    return word == name or any(word == f"{prefix}{name}" for prefix in _PREFIXES)


def _math(tex: str, label: str = "") -> str:
    return mathml(tex, label)


def _code(text: str, language: str = "python") -> str:
    return highlighted(text, language)
