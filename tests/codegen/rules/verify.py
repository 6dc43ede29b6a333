"""Tell by differences of numbers if the wrong entries are wrong, and the right ones right."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gradspec.dispatch.registry import BY_NAME, OPS, import_all
from gradspec_codegen import auto
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table

from ..proving import own_table
from .corpus import Claim, RuleEntry
from .differences import Differences

MODES = ("VJP", "JVP", "VJP of VJP", "VJP of JVP", "JVP of VJP")


def verify(entry: RuleEntry) -> str:
    """Say by which numbers a wrong entry is wrong, or a right one; empty if by none."""
    with generated(entry) as (spec, op):
        if entry.is_wrong:
            found = [_try(spec, op, claim) for claim in entry.claims]
            missing = [c for c, text in zip(entry.claims, found, strict=True) if not text]
            if missing or not found:
                return "" if not missing else f"NOT WRONG: {missing[0].mode} at {missing[0].call}"
            return "; ".join(found)
        claims = entry.claims or tuple(_of_examples(spec))
        return "; ".join(
            f"{claim.mode} at {claim.call}: {text}"
            for claim in claims
            if (text := _try(spec, op, claim))
        )


@contextlib.contextmanager
def generated(entry: RuleEntry) -> Iterator[tuple[OpSpec, Any]]:
    """Generate and import an op without a proof, and forget it afterwards."""
    import_all()
    known = [(each, dict(each)) for each in (BY_NAME, OPS)]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ops.yaml"
        path.write_text(entry.text, encoding="utf-8")
        table = load_table(path, base=own_table())
        table = auto.fill_in(table, Table((*own_table().ops, *table.ops)), {})
        package = Path(name) / f"corpus_{entry.name}"
        package.mkdir()
        files = PackageBuilder(table, package.name, own_table()).build().files
        for file, text in files.items():
            (package / file).write_text(text, encoding="utf-8")
        sys.path.insert(0, name)
        try:
            spec = table.ops[-1]
            module = importlib.import_module(f"{package.name}.ops")
            yield spec, getattr(module, spec.signature.name)
        finally:
            sys.path.remove(name)
            for each, before in known:
                each.clear()
                each.update(before)  # type: ignore[arg-type]


def _try(spec: OpSpec, op: Any, claim: Claim) -> str:
    values = arguments(spec, claim.call)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        looked = Differences(spec, op, values, claim.mode, claim.dtype, claim.output)
        return looked.find() or ""


def arguments(spec: OpSpec, call: str) -> dict[str, Any]:
    """The arguments of a call that a comment makes."""
    scope = {"np": np, "drawn": drawn, "inf": np.inf, "ones": np.ones, "zeros": np.zeros}
    given = eval(f"dict({call})", scope)  # the text is the corpus's own
    tensors = {p.name: p.type for p in spec.signature.tensor_params}
    return {
        name: _tensor(value, tensors[name].is_list) if name in tensors else value
        for name, value in given.items()
    }


def drawn(*shape: int, seed: int = 0) -> Any:
    """Random numbers of a shape, none close to zero."""
    rng = np.random.default_rng([seed, *shape])
    return rng.uniform(0.3, 2, shape) * rng.choice((-1.0, 1.0), shape)


def _tensor(value: Any, is_list: bool) -> Any:
    if value is None:
        return None
    if is_list:
        return [None if item is None else np.asarray(item) for item in value]
    return np.asarray(value)


def _of_examples(spec: OpSpec) -> Iterator[Claim]:
    """Claims about a right entry: in every mode it is right at each of its examples."""
    for example in spec.examples:
        parts = [
            f"{name}={_shown(spec, name, value, seed)}"
            for seed, (name, value) in enumerate(example.args)
        ]
        for mode in MODES:
            yield Claim(mode, ", ".join(parts))
        yield Claim("VJP", ", ".join(parts), "float32")


def _shown(spec: OpSpec, name: str, value: Any, seed: int) -> str:
    types = {p.name: p.type for p in spec.signature.tensor_params}
    if name not in types or value is None:
        return f"np.dtype({value!r})" if value in ("float32", "float64") else repr(value)
    if types[name].is_list:
        return f"[{', '.join(_array(spec, name, item, n) for n, item in enumerate(value))}]"
    return _array(spec, name, value, seed)


def _array(spec: OpSpec, name: str, value: Any, seed: int) -> str:
    if isinstance(value, Mapping):
        ((kind, data),) = value.items()
        numbers = {"int": "int64", "bool": "bool", "float": "float64"}
        if kind in numbers:
            return f"np.array({data!r}, {numbers[kind]!r})"
        shape = ", ".join(map(str, data))
        if kind == "complex":
            return f"drawn({shape}, seed={seed}) + 1j * drawn({shape}, seed={seed + 1})"
        value = data
    shape = ", ".join(map(str, value))
    text = f"drawn({shape}, seed={seed})" if shape else f"drawn(seed={seed})"
    if any(argument == name for argument, _ in spec.domain):
        conditions = [condition for argument, condition in spec.domain if argument == name]
        if "unit" in conditions:
            return f"{text} / 2.5"
        if "negative" in conditions:
            return f"-abs({text})"
        return f"abs({text})"
    return text
